package repeat

import (
	"cmp"
	"math"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
)

// An Argument is a value of an argument that is typical of slow calls. Slow is the number
// of slow calls with the value, Others the number of other calls with it.
type Argument struct {
	Key, Value   string
	Slow, Others int
	P            float64 // probability of such a difference by chance, over all values tried
}

// Argument returns the value that is most typical of the slow calls, nil unless at least 90
// % of them and at most 10 % of the others have one.
func (l *Loop) Argument(s *Slow) *Argument {
	if l.rec.Args == nil {
		return nil
	}
	type member struct{ key, value string }
	count := map[member]*[2]int{}
	for part, of := range [][]int{s.Calls, s.Others} {
		for _, i := range of {
			ref := l.lane.Args(l.Spans[i])
			if ref == 0 {
				continue
			}
			for _, m := range calls.Members(l.rec.Args(ref)) {
				k := member{m.Key, m.Value}
				if count[k] == nil {
					if part == 1 { // no slow call has it
						continue
					}
					count[k] = new([2]int)
				}
				count[k][part]++
			}
		}
	}
	var best *Argument
	for k, n := range count {
		if 10*n[0] < 9*len(s.Calls) || 10*n[1] > len(s.Others) {
			continue
		}
		a := &Argument{k.key, k.value, n[0], n[1], math.Min(1, Chance(n[0], len(s.Calls), n[1], len(s.Others))*float64(len(count)))}
		if a.P < rare && (best == nil || cmp.Or(cmp.Compare(a.P, best.P), cmp.Compare(a.Key, best.Key), cmp.Compare(a.Value, best.Value)) < 0) {
			best = a
		}
	}
	return best
}

// rare is the probability below which an association counts.
const rare = 1e-4

// Chance returns the one-sided p-value of Fisher's exact test: of na and nb things, a and b
// have a mark; the result is the probability that at least a of the na have it if the marks
// are distributed by chance.
func Chance(a, na, b, nb int) float64 {
	log := func(n int) float64 { v, _ := math.Lgamma(float64(n + 1)); return v }
	choose := func(n, k int) float64 { return log(n) - log(k) - log(n-k) }
	marks, all := a+b, na+nb
	p := 0.
	for k := a; k <= min(na, marks); k++ {
		if marks-k <= nb {
			p += math.Exp(choose(na, k) + choose(nb, marks-k) - choose(all, marks))
		}
	}
	return math.Min(1, p)
}

// A Callee is a function that adds time to the slow calls: its self time and its number of
// calls, each per call of the loop, among the slow ones and the others.
type Callee struct {
	Function            recording.FuncID
	SlowTime, OtherTime int64
	SlowCalls, Others   float64
	// Share is the part of the difference between slow and other calls that is in its self
	// time, and Whole the part that is in its calls.
	Share, Whole float64
}

// Callees returns the functions that add most of the time to the slow calls, the largest
// share first. The loop's own code is among them.
func (l *Loop) Callees(s *Slow) (all []Callee) {
	slow, others := l.selves(s.Calls), l.selves(s.Others)
	more := 0.
	for f, v := range slow {
		a, b := float64(v.time)/float64(len(s.Calls)), float64(others[f].time)/float64(len(s.Others))
		all = append(all, Callee{Function: f, SlowTime: int64(a), OtherTime: int64(b), SlowCalls: float64(v.calls) / float64(len(s.Calls)), Others: float64(others[f].calls) / float64(len(s.Others)), Share: a - b,
			Whole: float64(v.total)/float64(len(s.Calls)) - float64(others[f].total)/float64(len(s.Others))})
	}
	for _, i := range s.Calls {
		more += float64(l.Duration(i)) / float64(len(s.Calls))
	}
	for _, i := range s.Others {
		more -= float64(l.Duration(i)) / float64(len(s.Others))
	}
	for i := range all {
		all[i].Share /= max(more, 1)
		all[i].Whole /= max(more, 1)
	}
	order.By(all, func(a, b Callee) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Function, b.Function))
	})
	return all
}

// Chosen reports whether a function that the loop calls is slow in more of the slow calls than
// by chance: a disturbance by other programs hits a function as often as it runs.
func (l *Loop) Chosen(s *Slow, f recording.FuncID) bool {
	var usual, all int64
	for _, i := range s.Others {
		usual += l.selfOf(f, i)
		all += l.Duration(i)
	}
	hits := 0
	for _, i := range s.Calls {
		if more := l.selfOf(f, i) - usual/int64(len(s.Others)); 2*more >= l.Duration(i)-s.Median {
			hits++
		}
	}
	return AtLeast(hits, len(s.Calls), float64(usual)/float64(max(1, all))) < rare
}

// selfOf returns the self time of a callee f within call i of the loop.
func (l *Loop) selfOf(f recording.FuncID, i int) (time int64) {
	start, end := l.Start(i), l.End(i)
	all := l.rec.Tracks[l.Track].Lanes
	for _, row := range l.below {
		lane := &all[row]
		for k := lane.Search(start); k < lane.Len() && lane.Start(k) < end; k++ {
			call := lane.Call(k)
			d := min(end, lane.End(k)) - max(start, lane.Start(k))
			if l.rec.Func(call) == f {
				time += d
			}
			if up := l.rec.Calls.Parent(call); up != recording.NoCall && l.rec.Func(up) == f {
				time -= d
			}
		}
	}
	return time
}

type self struct{ time, calls, total int64 }

// selves returns each function's self time, total and number of calls within the loop's calls
// with the given indices. The loop's own calls all count for its function, even if their names
// differ in digits.
func (l *Loop) selves(of []int) map[recording.FuncID]self {
	sums := make([]self, l.rec.Functions.Len())
	own := &sums[l.Function]
	all := l.rec.Tracks[l.Track].Lanes
	for _, i := range of {
		start, end := l.Start(i), l.End(i)
		own.time += end - start
		own.total += end - start
		own.calls++
		for _, row := range l.below {
			lane := &all[row]
			for k := lane.Search(start); k < lane.Len() && lane.Start(k) < end; k++ {
				call := lane.Call(k)
				d, v := min(end, lane.End(k))-max(start, lane.Start(k)), &sums[l.rec.Func(call)]
				v.time += d
				v.total += d
				v.calls++
				if row == l.below[0] {
					own.time -= d
				} else if up := l.rec.Calls.Parent(call); up != recording.NoCall {
					sums[l.rec.Func(up)].time -= d
				}
			}
		}
	}
	used := map[recording.FuncID]self{}
	for f, v := range sums {
		if v.calls > 0 {
			used[recording.FuncID(f)] = v
		}
	}
	return used
}
