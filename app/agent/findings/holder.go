package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ashlar/app/core/evidence"
	"ashlar/app/core/view"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/repeat"
	"ashlar/ingest/query/waits"
)

// holder names who holds a lock that threads wait for. Wake-ups show the holder; without them,
// it looks for spans that coincide with waits for a lock.
func (l *look) holder(r rule) error {
	if !l.rec.HasTime || l.rec.Duration() <= 0 {
		return nil
	}
	if l.rec.Counts.States == 0 {
		return l.lockSpans(r)
	}
	all, err := l.Locks(l.ctx)
	if err != nil {
		return err
	}
	for i := range all {
		k := &all[i]
		if k.Kind != waits.Locks || len(k.Holders) == 0 || k.Waits < 10 {
			continue
		}
		lost, dear := l.lostShare(k), false
		if 20*k.Held < l.rec.Duration() {
			if dear = lost >= dearLock && 100*k.Held >= l.rec.Duration(); !dear {
				continue
			}
		}
		of := func(n Number, field string) Number {
			return n.by(fmt.Sprintf("locks[%d].%s", i, field), "locks", evidence.File(l.rec), "-n", "0")
		}
		// Holders are sorted, the longest in total first.
		h := k.Holders[0]
		in := l.holdsIn(k, &h)
		var f Finding
		switch {
		case 2*h.Held >= k.Held && in.name != "":
			by := "a " + l.threadWord() + " that is not recorded"
			if h.Track != recording.NoTrack {
				by = l.on(h.Track)
			}
			f = Finding{Function: in.function, Size: timePart(h.Held, l.rec.Duration())}.saying("%s on %s holds the lock of %s in %s, median %s, longest %s: %s of the %s in which %ss waited for it.",
				quoted(in.name), by, quoted(k.Title(l.rec)), of(plural(h.Count, "hold"), "holders[0].count"), of(duration(h.Median), "holders[0].median"), of(duration(h.Longest), "holders[0].longest"),
				part(h.Held, k.Held).over(fmt.Sprintf("locks[%d].holders[0].sum", i), fmt.Sprintf("locks[%d].holds_derived.sum", i), "locks", evidence.File(l.rec), "-n", "0"), of(duration(k.Held), "holds_derived.sum"), l.threadWord())
		case dear || 10*k.Held >= l.rec.Duration():
			f = l.inTurn(k, i, of)
		}
		if f.Claim == "" {
			continue
		}
		f.say(" %s of %s lost %s", of(plural(k.Waits, "wait"), "waits"), of(plural(k.Waiters, l.threadWord()), "waiters"), of(duration(k.Lost), "lost"))
		if dear {
			f.say(", %s of the time in which they had work", percentage(lost))
		}
		f.say(".")
		l.add(r, f, view.State{Tab: "blocked"}, "locks", evidence.File(l.rec))
		return nil
	}
	return nil
}

// dearLock is the share of their time with work that threads lose to a lock that is held
// rarely, but while many want it.
const dearLock = .1

// lostShare returns the share of the waiting threads' time with work that they lost to a
// lock: the time in which they ran, were runnable or in system calls, or waited for the lock.
func (l *look) lostShare(k *waits.Lock) float64 {
	on := map[int]bool{}
	var work int64
	for i := range k.Losers {
		if t := k.Losers[i].Track; !on[t] {
			on[t] = true
			in := &l.rec.Tracks[t].InState
			ran := in[recording.Running] + in[recording.Collecting] + in[recording.Runnable] + in[recording.InSystemCall]
			if in[recording.Running] == 0 { // only waits are recorded
				ran = max(0, l.rec.Duration()-in[recording.Blocked])
			}
			recording.Add(&work, ran)
		}
	}
	if k.Lost <= 0 {
		return 0
	}
	return float64(k.Lost) / (float64(k.Lost) + float64(work))
}

// holdsIn returns what a thread does while it holds a lock.
func (l *look) holdsIn(k *waits.Lock, h *waits.Holder) place {
	if len(waits.Functions(l.rec, h.Call)) > 0 {
		name := ownFunction(l.rec, h.Call)
		return place{name, name}
	}
	if h.Track == recording.NoTrack {
		return place{}
	}
	return l.mostlyIn(h.Track, k.Holds)
}

// inTurn describes a lock that several threads hold in turn; the zero finding if it is always
// the same thread.
func (l *look) inTurn(k *waits.Lock, i int, of func(n Number, field string) Number) (f Finding) {
	threads, held := map[int]bool{}, map[string]int64{} // by function
	for i := range k.Holders {
		h := &k.Holders[i]
		if h.Track == recording.NoTrack {
			continue
		}
		threads[h.Track] = true
		// Count only holders whose stack at the release is known: other stacks of the thread may
		// be from after it.
		if name := ownFunction(l.rec, h.Call); name != "" {
			held[name] += h.Held
		}
	}
	if len(threads) < 2 {
		return Finding{}
	}
	f.Size = timePart(k.Held, l.rec.Duration())
	f.say("%s take turns holding the lock %s", of(plural(len(threads), l.threadWord()), "holds_derived.threads"), quoted(k.Title(l.rec)))
	for in, t := range held {
		if 2*t > k.Held {
			f.Function = in
			f.say(", mostly in %s", quoted(in))
		}
	}
	f.say(": %s, median %s, longest %s, together %s (%s of the recording).", of(plural(len(k.Holds), "hold"), "holds_derived.count"), of(duration(k.Median), "holds_derived.median"), of(duration(k.LongestHold), "holds_derived.longest"),
		of(duration(k.Held), "holds_derived.sum"), l.overAll(part(k.Held, l.rec.Duration()), fmt.Sprintf("locks[%d].holds_derived.sum", i), "locks", evidence.File(l.rec), "-n", "0"))
	return f
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
	if !l.ofSpans() {
		return nil
	}
	waited := l.classed(l.locks(), joining)
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
				if l.classes[l.rec.Func(lane.Call(s))]&l.locks() != 0 {
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
	order.By(times, func(a, b repeat.Range) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	var long int64
	n := 0
	for n < len(times)/2 && (n < 4 || 10*long < 8*waited.total) {
		long += times[n].To - times[n].From
		n++
	}
	byTime := func(a, b repeat.Range) int { return cmp.Compare(a.From, b.From) }
	slow, rest := times[:n], times[n:]
	order.By(slow, byTime)
	order.By(rest, byTime)
	elsewhere := func(track int) bool { return (!on[track] || len(on) > 1) && !l.rec.IsProcessor(track) }
	id, _ := most(waited.first)
	f := l.rec.Functions.At(int(id))
	amount, share := l.cost(id, waited.total)
	found := Finding{Size: l.size(waited.total)}.saying("%s takes %s (%s). ", quoted(f.Name), amount, share)
	add := func(by recording.FuncID, track int) {
		g := l.rec.Functions.At(int(by))
		found.Function, found.Thread = g.Name, l.rec.Tracks[track].Name
		l.add(r, found, of(g, "calls"), "calls", evidence.File(l.rec), analyze.RefTo(g).Typed(l.rec))
	}
	ends, err := repeat.Endings(l.ctx, l.rec, elsewhere, slow)
	if err != nil {
		return err
	}
	ends = slices.DeleteFunc(ends, func(e repeat.Ending) bool { return l.classes[e.Function]&l.locks() != 0 || on[e.Track] })
	if len(ends) > 0 {
		e := &ends[0]
		var ids []string
		for id, is := range l.classes {
			if is&l.locks() != 0 {
				ids = append(ids, strconv.Itoa(id))
			}
		}
		query := endsQuery("function_id IN ("+strings.Join(ids, ", ")+")", len(slow), e)
		found.say("%s of %s long waits end within %s of the end of a call of %s on %s (correlation, not proof).", l.sql(count(e.Hits), 0, 0, query), l.sql(count(e.Times), 0, 1, query), l.sql(duration(e.Within), 0, 2, query), quoted(l.rec.Functions.At(int(e.Function)).Name), l.on(e.Track))
		add(e.Function, e.Track)
		return nil
	}
	all, err := repeat.Overlaps(l.ctx, l.rec, elsewhere, slow, rest)
	if err != nil || len(all) == 0 {
		return err
	}
	l.sayOverlap(&found, &all[0], "long waits", func(n Number, _ string) Number { return n })
	add(all[0].Function, all[0].Track)
	return nil
}
