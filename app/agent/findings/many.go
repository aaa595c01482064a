package findings

import (
	"fmt"
	"slices"
	"strings"

	"ashlar/app/core/evidence"
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/repeat"
)

// many looks for a function that calls another very often, such as a query for each row.
func (l *look) many(r rule) error {
	devices, err := l.gpus()
	if err != nil || !l.ofSpans() || len(devices) > 0 {
		return err // programs launch a GPU's work in many small calls
	}
	type pair struct{ outer, inner recording.FuncID }
	type sums struct{ outerCalls, innerCalls, outer, inner int64 }
	// Add up the total time of each call in the tree, then of each pair of caller and callee.
	total := l.total()
	n := len(total)
	of := map[pair]*sums{}
	for c := 1; c < n; c++ {
		up := l.rec.Calls.Parent(recording.CallID(c))
		if up == recording.NoCall || l.weights.Count[up] < 10 || l.weights.Count[c] < 20*l.weights.Count[up] {
			continue
		}
		k := pair{l.rec.Func(up), l.rec.Func(recording.CallID(c))}
		s := of[k]
		if s == nil {
			s = new(sums)
			of[k] = s
		}
		s.outerCalls += l.weights.Count[up]
		s.innerCalls += l.weights.Count[c]
		recording.Add(&s.outer, total[up])
		recording.Add(&s.inner, total[c])
	}
	var best pair
	var most *sums
	for k, s := range of {
		if 5*s.inner >= 2*s.outer && 5*s.inner >= l.sum && (most == nil || s.inner > most.inner || s.inner == most.inner && (k.inner < best.inner || k.inner == best.inner && k.outer < best.outer)) {
			best, most = k, s
		}
	}
	if most == nil {
		return nil
	}
	f, g := l.rec.Functions.At(int(best.outer)), l.rec.Functions.At(int(best.inner))
	each := float64(most.innerCalls) / float64(most.outerCalls)
	inner, outer := plural(most.innerCalls, "call"), count(most.outerCalls)
	inner, outer = l.allCalls(inner, best.inner, most.innerCalls), l.allCalls(outer, best.outer, most.outerCalls)
	times, share := plain(each, strings.TrimSuffix(fmt.Sprintf("%.1f", each), ".0")), part(most.inner, most.outer)
	l.callees(best.outer, best.inner, &share, most.inner, most.outer, &inner, &outer, nil)
	if inner.args != nil && outer.args != nil {
		times = times.over(inner.path, evidence.Command(l.rec, outer.args...)+" # "+outer.path, inner.args...)
	}
	l.add(r, Finding{Function: g.Name, Size: l.size(most.inner)}.saying("In each call of %s, %s is called %s times (%s in %s) and takes %s of the time.", quoted(f.Name), quoted(g.Name),
		times, inner, outer, share), view.State{Function: new(g.FuncName()), Tab: "statistics"}, "stats", evidence.File(l.rec), "--function", typed(l.rec, g))
	return nil
}

// part looks for a function that takes most of the time of repeating calls.
func (l *look) part(r rule) error {
	loops, err := l.repeating()
	if err != nil || !l.ofSpans() || len(l.devices) > 0 {
		return err
	}
	if slices.ContainsFunc(l.out, func(x Finding) bool { return x.Rule == "many" || x.Rule == "outlier" || x.Rule == "join" }) {
		return nil
	}
	loops = slices.DeleteFunc(slices.Clone(loops[:min(len(loops), mostLoops)]), func(o repeat.Loop) bool { return o.Numbered })
	sums := l.insides(loops)
	for i := range loops {
		o := &loops[i]
		whole, of := sums[o.Function].whole, sums[o.Function].of
		id, sum := most(of)
		if isWait(l.rec.Functions.At(int(id)).Name) {
			continue
		}
		others := 0
		for f, t := range of {
			if f != id && 100*t >= whole {
				others++
			}
		}
		if others < 2 || 10*sum < 7*whole || 4*sum < l.sum {
			continue
		}
		f := l.rec.Functions.At(int(id))
		share, beside := part(sum, whole), plural(len(of)-1, "other function")
		l.callees(o.Function, id, &share, sum, whole, nil, nil, &beside)
		l.add(r, Finding{Function: f.Name, Size: l.size(sum)}.saying("%s takes %s of the time of %s of %s, without waits; these call %s.",
			quoted(f.Name), share, l.allCalls(plural(len(o.Spans), "call"), o.Function, int64(len(o.Spans))), quoted(o.Name), beside), view.State{Function: new(f.FuncName()), Tab: "statistics"}, "stats", evidence.File(l.rec), "--function", typed(l.rec, f))
		return nil
	}
	return nil
}

// isWait reports whether a function waits, by its name, such as Jobs::waitForAll.
func isWait(name string) bool {
	name = name[strings.LastIndexAny(name, ":./ ")+1:]
	return strings.HasPrefix(name, "wait") || strings.HasPrefix(name, "Wait")
}

// inside is the time of a function: whole, and without waits that of its callees.
type inside struct {
	whole int64
	of    map[recording.FuncID]int64
}

// insides returns the times of the functions of loops.
func (l *look) insides(loops []repeat.Loop) map[recording.FuncID]*inside {
	sums := make([]*inside, l.rec.Functions.Len())
	byFunction := map[recording.FuncID]*inside{}
	for i := range loops {
		if f := loops[i].Function; sums[f] == nil {
			sums[f] = &inside{of: map[recording.FuncID]int64{}}
			byFunction[f] = sums[f]
		}
	}
	total := l.total()
	busy := total
	if idle := l.waiting(); idle != nil {
		busy = l.sumUp(func(c int) bool { return !idle[c] })
	}
	for c := 1; c < len(total); c++ {
		id := recording.CallID(c)
		f := l.rec.Func(id)
		if in := sums[f]; in != nil {
			recording.Add(&in.whole, total[c])
		}
		if up := l.rec.Calls.Parent(id); up != recording.NoCall {
			if in := sums[l.rec.Func(up)]; in != nil {
				in.of[f] += busy[c]
			}
		}
	}
	return byFunction
}

// total returns the total of each call of the tree. It must not be changed.
func (c *Costs) total() []int64 {
	if c.totals == nil {
		c.totals = c.sumUp(func(int) bool { return true })
	}
	return c.totals
}

// sumUp returns the total of each call of the tree, from the self costs of some.
func (c *Costs) sumUp(of func(call int) bool) []int64 {
	total := make([]int64, min(c.rec.Calls.Len(), len(c.weights.Self)))
	for call := range total {
		if of(call) {
			total[call] = c.weights.Self[call]
		}
	}
	for call := len(total) - 1; call > 0; call-- {
		recording.Add(&total[c.rec.Calls.Parent(recording.CallID(call))], total[call])
	}
	return total
}

// allCalls sets stats as the command that recomputes a number of calls, provided that they are all
// the calls of a function.
func (l *look) allCalls(n Number, f recording.FuncID, calls int64) Number {
	for _, r := range l.Rows() {
		if r.Func == f && r.IsFunction(l.rec) && r.Count == calls {
			return n.by("count", l.withMetric("stats", evidence.File(l.rec), "--function", typed(l.rec, l.rec.Functions.At(int(f))))...)
		}
	}
	return n
}
