package findings

import (
	"slices"

	"ashlar/app/core/evidence"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// owners returns for each call of the tree the innermost function of the program itself in its
// stack, or nobody. ok is false if no function can be recognized as library code.
func (l *look) owners() (of []recording.FuncID, ok bool) {
	library, ok := analyze.Library(l.rec)
	of = make([]recording.FuncID, len(l.weights.Self))
	for c := range of {
		of[c] = nobody
		if c == 0 {
			continue
		}
		if f := l.rec.Func(recording.CallID(c)); !library[f] {
			of[c] = f
		} else if up := l.rec.Calls.Parent(recording.CallID(c)); up != recording.NoCall {
			of[c] = of[up]
		}
	}
	return of, ok
}

// owned returns the arguments of top that print the self cost of a function of the program with
// the library code that it calls, at the path function.self.
func (l *look) owned(f recording.Function) []string {
	return l.withMetric("top", evidence.File(l.rec), "--hide-library", "--callees-of", typed(l.rec, f), "-n", "1")
}

// nobody stands for no function.
const nobody = ^recording.FuncID(0)

// byOwner sums up the costs of owners. Stacks without an owner count for their innermost
// function.
func (l *look) byOwner(owners []recording.FuncID) map[recording.FuncID]int64 {
	cost := map[recording.FuncID]int64{}
	for c := 1; c < min(len(owners), len(l.weights.Self)); c++ {
		self, f := l.weights.Self[c], owners[c]
		if self == 0 {
			continue
		}
		if f == nobody {
			f = l.rec.Func(recording.CallID(c))
		}
		cost[f] += self
	}
	return cost
}

// ofCode reports whether the costs are samples of running code, rather than of memory, of
// waiting for locks or of the states of threads.
func (l *look) ofCode() bool {
	return l.weights != nil && l.sampled() && l.metric.Kind == recording.Sum && l.event.Basis != recording.FromStates && l.event.Metric("contentions") < 0 && l.event.Metric("alloc_space") < 0
}

// own charges each stack to the innermost function of the program itself, so that library
// code counts for its callers.
func (l *look) own(r rule) error {
	if !l.ofCode() {
		return nil
	}
	owners, ok := l.owners()
	if !ok {
		return nil
	}
	waits := l.waiting()
	cost := map[recording.FuncID]int64{}
	for c, f := range owners {
		if self := l.weights.Self[c]; f != nobody && self != 0 && (waits == nil || !waits[c]) {
			cost[f] += self
		}
	}
	id, sum := most(cost)
	delete(cost, id)
	_, next := most(cost)
	busy := l.busy()
	sure, ok := l.above(sum, busy, .5)
	for _, c := range []struct {
		times int64
		least float64
	}{{2, .4}, {3, .25}} {
		if !ok && next > 0 && sum >= c.times*next {
			sure, ok = l.above(sum, busy, c.least)
		}
	}
	if !ok {
		return nil
	}
	f := l.rec.Functions.At(int(id))
	if slices.ContainsFunc(l.out, func(x Finding) bool { return x.Rule == "hot" && x.Function == f.Name }) {
		return nil
	}
	all := l.counted(sum, "function.self", "--hide-library", "--callees-of", typed(l.rec, f))
	l.add(r, Finding{Function: f.Name, Size: l.sizeOf(sum, busy), Confidence: sure}.saying("%s and the library code below it have %s (%s) of %s.", quoted(f.Name), all.sum, all.share, l.costName()),
		of(f, "callers"), "top", evidence.File(l.rec), "--callees-of", typed(l.rec, f))
	return nil
}
