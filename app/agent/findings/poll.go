package findings

import (
	"fmt"
	"slices"
	"strings"

	"ashlar/app/core/evidence"
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
)

// poll looks for functions that sleep again and again until something has happened.
func (l *look) poll(r rule) error {
	if l.rec.Duration() <= 0 {
		return nil
	}
	if l.rec.Counts.States > 0 {
		return l.pollStates(r)
	}
	if !l.ofSpans() {
		return nil
	}
	type sums struct{ outer, inner, took, slept int64 } // calls and times of a function and of the sleeps that it calls
	total, by := l.total(), map[recording.FuncID]*sums{}
	sleep := map[recording.FuncID]recording.FuncID{}
	for c := 1; c < len(total); c++ {
		id := recording.CallID(c)
		up := l.rec.Calls.Parent(id)
		if up == recording.NoCall || l.weights.Count[c] == 0 || l.classes[l.rec.Func(id)]&(idling|joining) != idling || l.weights.Count[c] < 3*l.weights.Count[up] || l.weights.Count[up] == 0 {
			continue
		}
		f := l.rec.Func(up)
		s := by[f]
		if s == nil {
			s = new(sums)
			by[f] = s
		}
		s.outer += l.weights.Count[up]
		s.inner += l.weights.Count[c]
		recording.Add(&s.took, total[up])
		recording.Add(&s.slept, total[c])
		sleep[f] = l.rec.Func(id)
	}
	var best *sums
	var id recording.FuncID
	for f, s := range by {
		if s.outer >= 10 && s.inner >= 50 && 5*s.slept >= 4*s.took && 10*s.took >= l.sum && (best == nil || s.took > best.took || s.took == best.took && f < id) {
			best, id = s, f
		}
	}
	if best == nil {
		return nil
	}
	f, g := l.rec.Functions.At(int(id)), l.rec.Functions.At(int(sleep[id]))
	each := float64(best.inner) / float64(best.outer)
	amount, share := l.cost(id, best.took)
	l.add(r, Finding{Function: f.Name, Size: l.size(best.took)}.saying("%s waits in steps: in %s it calls %s %s times (%s times a call), for %s of its time, and takes %s (%s of %s).",
		quoted(f.Name), l.allCalls(plural(best.outer, "call"), id, best.outer), quoted(g.Name), count(best.inner), plain(each, strings.TrimSuffix(fmt.Sprintf("%.1f", each), ".0")), part(best.slept, best.took), amount, share, l.costName()),
		of(f, "statistics"), "stats", evidence.File(l.rec), "--function", typed(l.rec, f))
	return nil
}

// Limits on the sleeps of a thread that polls.
const (
	fewestSleeps = 200
	longestSleep = 5e9 // median, in picoseconds (5 ms)
)

// pollStates looks for a thread that sleeps briefly at one place, and hardly runs in between. One
// that wakes others each time is paced, as a source of messages is.
func (l *look) pollStates(r rule) error {
	asleep := make([]bool, l.rec.Functions.Len())
	any := false
	for i := range asleep {
		f := l.rec.Functions.At(i)
		asleep[i] = f.State == recording.Blocked && strings.Contains(f.Name, "sleep") && !strings.Contains(f.Name, "sleeping") // which the scheduler says of all waits
		any = any || asleep[i]
	}
	if !any {
		return nil
	}
	locks, err := l.Locks(l.ctx)
	if err != nil {
		return err
	}
	woke := make([]int, len(l.rec.Tracks)) // waits that a thread ended
	for i := range locks {
		for _, p := range locks[i].Pairs {
			if p.Holder != recording.NoTrack {
				woke[p.Holder] += p.Count
			}
		}
	}
	type found struct {
		track       int
		call        recording.CallID
		sleeps, ran []int64
		time        int64
	}
	var best found
	for i, t := range l.rec.Tracks {
		lane := &t.States
		if lane.Len() < fewestSleeps || t.Kind != recording.ThreadTrack || l.rec.IsProcessor(i) || l.rec.OfRuntime(t) {
			continue
		}
		at := map[recording.CallID]*found{}
		var last recording.CallID // the stack of the sleep before, if the thread did not wait since then
		var awake, runnable int64 // the end of that sleep, and the time since then without a processor
		for k := range lane.Len() {
			c := lane.Call(k)
			switch state := l.rec.State(c); {
			case state == recording.Runnable:
				runnable += lane.Duration(k)
			case state == recording.Blocked && !asleep[l.rec.Func(c)]:
				last = recording.NoCall
			case state == recording.Blocked:
				x := at[c]
				if x == nil {
					x = &found{track: i, call: c}
					at[c] = x
				}
				x.sleeps = append(x.sleeps, lane.Duration(k))
				recording.Add(&x.time, lane.Duration(k))
				if last == c {
					x.ran = append(x.ran, lane.Start(k)-awake-runnable)
				}
				last, awake, runnable = c, lane.End(k), 0
			}
		}
		for c, x := range at {
			if len(x.ran) < fewestSleeps || 2*woke[i] > len(x.ran) || 4*x.time < l.rec.Duration() || x.time < best.time || x.time == best.time && (x.track > best.track || x.track == best.track && c > best.call) {
				continue
			}
			slices.Sort(x.sleeps)
			slices.Sort(x.ran)
			if s, w := x.sleeps[(len(x.sleeps)-1)/2], x.ran[(len(x.ran)-1)/2]; s <= longestSleep && 5*w <= s {
				best = *x
			}
		}
	}
	if best.time == 0 {
		return nil
	}
	t := l.rec.Tracks[best.track]
	state := l.rec.Functions.At(int(l.rec.Func(best.call)))
	where := l.placeOf(best.call)
	q := calls.Query{Functions: []string{typed(l.rec, state)}}
	only := append([]string{"calls", evidence.File(l.rec), q.String()}, l.threadFlag(best.track)...)
	f := Finding{Function: where.function, Thread: t.Name, Size: timePart(best.time, l.rec.Duration())}.saying("%s %s", l.kind(best.track), l.on(best.track))
	if where.name != "" {
		f.say(" in %s", quoted(where.name))
	}
	f.say(" waits in steps: it sleeps %s times, median %s, for %s of the recording, and runs for a median of %s in between.",
		count(len(best.sleeps)), duration(best.sleeps[(len(best.sleeps)-1)/2]), part(best.time, l.rec.Duration()), duration(best.ran[(len(best.ran)-1)/2]))
	l.add(r, f, view.State{Tab: "blocked"}, only...)
	return nil
}
