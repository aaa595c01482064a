package findings

import (
	"fmt"
	"slices"

	"ashlar/app/core/evidence"
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/repeat"
	"ashlar/ingest/query/waits"
	"ashlar/render/units"
)

// holder names who holds a lock for which threads wait: from wake-ups, or else what
// coincides with spans that wait for a lock.
func (l *look) holder(r rule) error {
	if !l.rec.HasTime || l.rec.Duration() <= 0 {
		return nil
	}
	if l.rec.Counts.States == 0 {
		return l.lockSpans(r)
	}
	all, err := waits.Of(l.ctx, l.rec, recording.Scope{})
	if err != nil {
		return err
	}
	for i := range all {
		k := &all[i]
		if k.Kind != waits.Locks || len(k.Holders) == 0 || 20*k.Held < l.rec.Duration() || k.Waits < 10 {
			continue
		}
		// The holders of one function, on whatever thread.
		h := k.Holders[0]
		names := waits.Functions(l.rec, h.Call)
		if len(names) == 0 || 2*h.Held < k.Held {
			continue
		}
		name := ownFunction(l.rec, h.Call)
		by := "a thread that is not recorded"
		if h.Track != recording.NoTrack {
			by = l.on(h.Track)
		}
		f := Finding{Claim: fmt.Sprintf("%s on %s holds the lock of %s in %s, median %s, longest %s: %s of the %s in which it was waited for. %s of %s lost %s.",
			quoted(name), by, quoted(k.Title(l.rec)), units.Plural(int64(h.Count), "hold"), units.Duration(h.Median), units.Duration(h.Longest), units.Percent(h.Held, k.Held), units.Duration(k.Held),
			units.Plural(int64(k.Waits), "wait"), units.Plural(int64(k.Waiters), l.rec.ThreadWord(recording.NoTrack)), units.Duration(k.Lost)),
			Function: name, Size: timePart(h.Held, l.rec.Duration())}
		l.add(r, f, view.State{Tab: "blocked"}, "locks", evidence.File(l.rec))
		return nil
	}
	return nil
}

// ownFunction returns the innermost function of a stack that is the program's own.
func ownFunction(rec *recording.Recording, c recording.CallID) string {
	name := ""
	for ; c != recording.NoCall; c = rec.Calls.Parent(c) {
		f := rec.Functions.At(int(rec.Func(c)))
		if f.State != recording.NoState {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if !f.Library() {
			return f.Name
		}
	}
	return name
}

// lockSpans looks for what other threads do while spans wait for a lock.
func (l *look) lockSpans(r rule) error {
	if l.weights == nil || l.sampled() || l.query.Metric != recording.SpanTime {
		return nil
	}
	waited := l.classed(locking, 0)
	if 20*waited.total < l.sum {
		return nil
	}
	var times []repeat.Range
	on := map[int]bool{}
	for i, t := range l.rec.Tracks {
		if t.Kind != recording.ThreadTrack {
			continue
		}
		for row := range t.Lanes {
			lane := &t.Lanes[row]
			for s := range lane.Len() {
				if l.classes[l.rec.Func(lane.Call(s))]&locking != 0 {
					times = append(times, repeat.Range{From: lane.Start(s), To: lane.End(s)})
					on[i] = true
				}
			}
		}
	}
	if len(times) < 20 {
		return nil
	}
	// Compare long waits with short ones.
	slices.SortFunc(times, func(a, b repeat.Range) int { return compareInts(b.To-b.From, a.To-a.From) })
	var long int64
	n := 0
	for n < len(times)/2 && (n < 4 || 10*long < 8*waited.total) {
		long += times[n].To - times[n].From
		n++
	}
	byTime := func(a, b repeat.Range) int { return compareInts(a.From, b.From) }
	slow, rest := times[:n], times[n:]
	slices.SortFunc(slow, byTime)
	slices.SortFunc(rest, byTime)
	all, err := repeat.Overlaps(l.ctx, l.rec, func(track int) bool { return !on[track] || len(on) > 1 }, slow, rest)
	if err != nil || len(all) == 0 {
		return err
	}
	id, _ := most(waited.first)
	f, by := l.rec.Functions.At(int(id)), l.rec.Functions.At(int(all[0].Function))
	l.add(r, Finding{Claim: fmt.Sprintf("%s takes %s. %s", quoted(f.Name), l.amount(waited.total), l.overlapText(&all[0], "long waits")),
		Function: by.Name, Thread: l.rec.Tracks[all[0].Track].Name, Size: l.size(waited.total)}, of(by, "calls"), "calls", evidence.File(l.rec), analyze.RefTo(by).Typed(l.rec))
	return nil
}
