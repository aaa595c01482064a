package repeat

import (
	"cmp"
	"math"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

// A Phase is a stretch of the calls of a loop, from First to Last, most of which call a
// function that the others rarely call: In of them and Out of the others.
type Phase struct {
	Function             recording.FuncID
	First, Last, In, Out int
	// Time is the time of the function's calls in the stretch, and Self their self time.
	Time, Self int64
	P          float64 // probability by chance, over all functions and stretches
}

const (
	shortest  = 10        // calls in a phase, and outside of it
	mostPhase = 2_000_000 // spans below a loop that are examined
)

// seenIn is the calls of a loop that call a function, in order.
type seenIn struct {
	in         []int32
	time, self []int64
}

// Phases returns the phases of a loop, that with the longest time first.
func (l *Loop) Phases() (all []Phase) {
	n, rows := len(l.Spans), l.rec.Tracks[l.Track].Lanes
	spans := 0
	for _, row := range l.below {
		spans += rows[row].Len()
	}
	if spans > mostPhase || n < 2*shortest {
		return nil
	}
	of := make([]seenIn, l.rec.Functions.Len())
	next := make([]int, len(l.below)) // the next span of each lane
	for depth, row := range l.below {
		next[depth] = rows[row].Search(l.Start(0))
	}
	for i := range n {
		start, end := l.Start(i), l.End(i)
		for depth, row := range l.below {
			lane := &rows[row]
			k := next[depth]
			for ; k < lane.Len() && lane.Start(k) < end; k++ {
				if lane.Start(k) < start {
					continue
				}
				c := lane.Call(k)
				d := min(end, lane.End(k)) - lane.Start(k)
				of[l.rec.Func(c)].add(i, d, d)
				if up := l.rec.Calls.Parent(c); depth > 0 && up != recording.NoCall {
					of[l.rec.Func(up)].add(i, 0, -d)
				}
			}
			next[depth] = k
		}
	}
	used := 0
	for f := range of {
		if len(of[f].in) > 0 {
			used++
		}
	}
	for f := range of {
		if recording.FuncID(f) == l.Function || len(of[f].in) < shortest || len(of[f].in) > n-shortest/2 {
			continue
		}
		p := of[f].phase(n)
		p.Function = recording.FuncID(f)
		in := p.Last - p.First + 1
		out := n - in
		if in < shortest || out < shortest || 5*p.In < 2*in || 2*p.In*out < 5*p.Out*in {
			continue
		}
		p.P = math.Min(1, Chance(p.In, in, p.Out, out)*float64(used)*float64(n)*float64(n))
		if p.P < rare {
			all = append(all, p)
		}
	}
	order.By(all, func(a, b Phase) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Function, b.Function))
	})
	return all
}

// add adds a call of the function in call i of the loop, the last so far.
func (s *seenIn) add(i int, time, self int64) {
	k := len(s.in) - 1
	if k < 0 || int(s.in[k]) != i {
		s.in, s.time, s.self = append(s.in, int32(i)), append(s.time, 0), append(s.self, 0)
		k++
	}
	s.time[k] += time
	s.self[k] += self
}

// phase returns the stretch of n calls with the largest sum of scores: those that call the
// function have a positive one, the others a negative one.
func (s *seenIn) phase(n int) (best Phase) {
	// A stretch in which fewer calls than on average, and half more, call it, has a negative sum.
	rate := math.Min(.9, math.Max(.2, 1.5*float64(len(s.in))/float64(n)))
	var sum, most float64
	from, before := 0, -1 // start of the stretch, in s.in, and the call before
	for k, i := range s.in {
		sum -= rate * float64(int(i)-before-1)
		if before = int(i); sum <= 0 {
			sum, from = 0, k
		}
		if sum += 1 - rate; sum > most {
			most = sum
			best = Phase{First: int(s.in[from]), Last: int(i), In: k - from + 1}
		}
	}
	best.Out = len(s.in) - best.In
	for k, i := range s.in {
		if int(i) >= best.First && int(i) <= best.Last {
			best.Time += s.time[k]
			best.Self += s.self[k]
		}
	}
	return best
}
