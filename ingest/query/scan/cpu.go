package scan

import (
	"context"

	"ashlar/ingest/input/memory"
	"ashlar/ingest/model/recording"
)

// CPU returns how long each span ran on CPU, nil if the recording does not contain this.
// It is computed once per recording.
func CPU(ctx context.Context, rec *recording.Recording) (*recording.OnCPU, error) {
	if rec.CPU == nil {
		return nil, nil
	}
	return rec.CPUTimes.Of(func() (*recording.OnCPU, error) {
		if err := memory.NeedEach(int(rec.Counts.Spans), 8, "CPU time"); err != nil {
			return nil, err
		}
		of := &recording.OnCPU{Spans: make([][][]int64, len(rec.Tracks)), Outer: make([]int64, len(rec.Tracks))}
		for ti, t := range rec.Tracks {
			of.Spans[ti] = make([][]int64, len(t.Lanes))
			for li := range t.Lanes {
				of.Spans[ti][li] = make([]int64, t.Lanes[li].Len())
			}
		}
		items := Cut(Lanes(rec, recording.Scope{})...)
		err := Spread(ctx, len(items), func(_, i int) { cpuOf(ctx, rec, &items[i], of.Spans[items[i].Track][items[i].Row]) })
		if err != nil {
			return nil, err
		}
		for ti, lanes := range of.Spans {
			of.Outer[ti] = outerCPU(rec.Tracks[ti], lanes)
		}
		return of, ctx.Err()
	})
}

// cpuOf computes the CPU times of a stretch of a lane, into the lane's column.
func cpuOf(ctx context.Context, rec *recording.Recording, s *Stretch, to []int64) {
	for k := s.First; k < s.Last; k++ {
		if k%1024 == 0 && ctx.Err() != nil {
			return
		}
		if to[k] = recording.Missing; s.Lane.HasArgs() {
			if ps, known := rec.SpanCPU(s.Lane, k); known {
				to[k] = ps
			}
		}
	}
}

// outerCPU sums up the CPU times of a track's spans that have one and are not inside
// another span that has one. For spans without a CPU time, such as unfinished ones, their
// inner spans count.
func outerCPU(t *recording.Track, columns [][]int64) int64 {
	sum := int64(recording.Missing)
	var above []bool // by span of the lane above: it has a CPU time, or is inside a span that does
	for li, column := range columns {
		l, here, all, k := &t.Lanes[li], make([]bool, len(column)), true, 0
		for i, ps := range column {
			if li > 0 {
				up, at := &t.Lanes[li-1], l.Start(i)
				for k < up.Len() && up.End(k) <= at {
					k++
				}
				here[i] = k < up.Len() && up.Start(k) <= at && above[k]
			}
			if ps != recording.Missing && !here[i] {
				here[i], sum = true, max(sum, 0)
				recording.Add(&sum, ps)
			}
			all = all && here[i]
		}
		if all {
			break
		}
		above = here
	}
	return sum
}
