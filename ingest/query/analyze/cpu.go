package analyze

import (
	"context"
	"runtime"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/scan"
)

// OfProcessors reports whether a query of spans asks for their CPU time, or for the rest
// of their time.
func (q *Query) OfProcessors(rec *recording.Recording) bool {
	return rec.Events[q.Event].Basis == recording.FromSpans && q.Metric >= recording.SpanCPU
}

// cpuVisit receives the time of a span on CPU, or waiting. from is the call of the parent
// span, whose time includes it, or recording.NoCall if that span is not added up.
type cpuVisit func(worker int, s *scan.Stretch, call, from recording.CallID, ps int64)

// cpuOf visits the spans of a query that have a CPU time and lie entirely in its range.
// It counts the other spans, because the CPU time of a part of a span is unknown.
func cpuOf(ctx context.Context, rec *recording.Recording, q *Query, visit cpuVisit) (untold int64, err error) {
	known, err := scan.CPU(ctx, rec)
	if err != nil || known == nil {
		return 0, err
	}
	columns := known.Spans
	above, stretches := lanesAbove(rec), map[[2]int]scan.Stretch{}
	lanes := q.lanes(rec)
	for _, s := range lanes {
		stretches[[2]int{s.Track, s.Row}] = s
	}
	items := scan.Cut(lanes...)
	left := make([]int64, runtime.GOMAXPROCS(0))
	err = scan.Spread(ctx, len(items), func(worker, i int) {
		s := &items[i]
		w := cpuWalk{rec: rec, q: q, column: columns[s.Track][s.Row]}
		w.from, w.to = q.Scope.Bounds(rec)
		for l := s.Lane; ; {
			row, ok := above[l]
			up, counts := stretches[[2]int{s.Track, row}]
			if !ok || !counts {
				break
			}
			w.above = append(w.above, laneAbove{Stretch: up, column: columns[s.Track][row]})
			l = up.Lane
		}
		left[worker] += w.visit(worker, s, visit)
	})
	for _, n := range left {
		untold += n
	}
	return untold, err
}

// lanesAbove returns, for each lane, the index of the lane with the parents of its spans.
func lanesAbove(rec *recording.Recording) map[*lanes.Lane]int {
	above := map[*lanes.Lane]int{}
	for _, t := range rec.Tracks {
		for _, lanes := range t.Columns(&rec.Calls) {
			for k := range lanes[1:] {
				above[&t.Lanes[lanes[k+1]]] = lanes[k]
			}
		}
	}
	return above
}

// cpuWalk walks a stretch together with the lanes above it that the query includes,
// nearest first.
type cpuWalk struct {
	rec      *recording.Recording
	q        *Query
	from, to int64
	column   []int64
	above    []laneAbove
}

// laneAbove is the position of a walk in a lane above.
type laneAbove struct {
	scan.Stretch
	column  []int64
	at, run int // index in Runs; earlier spans contain none of the spans to come
}

func (w *cpuWalk) visit(worker int, s *scan.Stretch, visit cpuVisit) (untold int64) {
	for i := range w.above {
		up := &w.above[i]
		up.at = up.Lane.Search(s.Lane.Start(s.First) - 1)
	}
	s.Each(func(first int, starts, ends []int64, calls []recording.CallID) {
		for k, c := range calls {
			v, ok := w.value(w.column, first+k, starts[k], ends[k])
			if !ok {
				untold++
				continue
			}
			visit(worker, s, c, w.parent(starts[k], ends[k], w.rec.Calls.Parent(c)), v)
		}
	})
	return untold
}

// value returns the metric of a span, if known.
func (w *cpuWalk) value(column []int64, i int, start, end int64) (ps int64, ok bool) {
	if v := column[i]; v != recording.Missing && start >= w.from && end <= w.to {
		if w.q.Metric == recording.SpanWaiting {
			v = end - start - v
		}
		return v, true
	}
	return 0, false
}

// parent returns the call of the nearest span around another that has a CPU time. Spans
// without one are passed over.
func (w *cpuWalk) parent(start, end int64, call recording.CallID) recording.CallID {
	for i := range w.above {
		up := &w.above[i]
		k := up.around(start, end, call)
		if call == recording.NoCall || k < 0 || !up.has(k) {
			break
		}
		start, end = up.Lane.Start(k), up.Lane.End(k)
		if _, ok := w.value(up.column, k, start, end); ok {
			return call
		}
		call = w.rec.Calls.Parent(call)
	}
	return recording.NoCall
}

// around returns the span of a call that contains another span, -1 if there is none.
func (up *laneAbove) around(start, end int64, call recording.CallID) int {
	l := up.Lane
	for up.at < l.Len() && l.End(up.at) < start {
		up.at++
	}
	for k := up.at; k < l.Len() && l.Start(k) <= start; k++ {
		if l.Call(k) == call && l.End(k) >= end {
			return k
		}
	}
	return -1
}

// has reports whether a span of the lane is in the query.
func (up *laneAbove) has(k int) bool {
	if up.Runs == nil {
		return k >= up.First && k < up.Last
	}
	for up.run < len(up.Runs) && up.Runs[up.run].Last <= k {
		up.run++
	}
	for up.run > 0 && up.Runs[up.run-1].Last > k {
		up.run--
	}
	return up.run < len(up.Runs) && up.Runs[up.run].First <= k
}

// weighCPU adds up how long spans ran on CPU, or waited. The self time of a call is its
// own time minus the time of the nearest spans below it that have a CPU time.
func weighCPU(ctx context.Context, rec *recording.Recording, q *Query, w *Weights) error {
	all := make([][]int64, runtime.GOMAXPROCS(0))
	all[0] = make([]int64, rec.Calls.Len())
	var err error
	w.WithoutCPU, err = cpuOf(ctx, rec, q, func(worker int, _ *scan.Stretch, call, from recording.CallID, ps int64) {
		if all[worker] == nil {
			all[worker] = make([]int64, rec.Calls.Len())
		}
		recording.Add(&all[worker][call], ps)
		if from != recording.NoCall {
			recording.Add(&all[worker][from], -ps)
		}
	})
	w.Self = all[0]
	for _, sums := range all[1:] {
		for c, v := range sums {
			recording.Add(&w.Self[c], v)
		}
	}
	return err
}

// cpuByTrack is trackSums for CPU time.
func (s *sums) cpuByTrack(ctx context.Context, rec *recording.Recording, q *Query) error {
	counts := func(c recording.CallID) bool { return s.left == nil || s.left(c) }
	all := make([][]int64, runtime.GOMAXPROCS(0))
	for i := range all {
		all[i] = make([]int64, len(rec.Tracks))
	}
	_, err := cpuOf(ctx, rec, q, func(worker int, at *scan.Stretch, call, from recording.CallID, ps int64) {
		if counts(call) {
			recording.Add(&all[worker][at.Track], ps)
		}
		if from != recording.NoCall && counts(from) {
			recording.Add(&all[worker][at.Track], -ps)
		}
	})
	for i := range rec.Tracks {
		s.rows[i].Self = 0
		for _, sums := range all {
			recording.Add(&s.rows[i].Self, sums[i])
		}
	}
	return err
}

// Part returns, for each node of a tree, the sum of other weights of the same calls, in
// the node and below it. It is for weights that are part of the tree's, such as CPU time
// as a part of all time. It returns nil for inverted trees, which do not have that
// information.
func (t *Tree) Part(w *Weights) []int64 {
	if t.Inverted {
		return nil
	}
	out := make([]int64, len(t.Nodes))
	for c, v := range w.Self {
		if c < len(t.at) && t.at[c] >= 0 && v != 0 {
			recording.Add(&out[t.at[c]], v)
		}
	}
	for i := len(out) - 1; i > 0; i-- {
		recording.Add(&out[t.Nodes[i].Parent], out[i])
	}
	return out
}
