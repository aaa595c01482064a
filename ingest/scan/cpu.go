package scan

import (
	"context"

	"ashlar/ingest/memory"
	"ashlar/ingest/recording"
)

// CPU is how long each span ran on a processor, by track, lane and span, in
// picoseconds, recording.Missing where it does not tell; nil where none does. It is
// found once a recording.
func CPU(ctx context.Context, rec *recording.Recording) ([][][]int64, error) {
	if rec.CPUTimes == nil {
		return nil, nil
	}
	return rec.CPUTimes.Of(func() ([][][]int64, error) {
		if err := memory.NeedEach(int(rec.Counts.Spans), 8, "the time on processors"); err != nil {
			return nil, err
		}
		columns := make([][][]int64, len(rec.Tracks))
		for ti, t := range rec.Tracks {
			columns[ti] = make([][]int64, len(t.Lanes))
			for li := range t.Lanes {
				columns[ti][li] = make([]int64, t.Lanes[li].Len())
			}
		}
		items := Cut(Lanes(rec, recording.Scope{})...)
		err := Spread(ctx, len(items), func(_, i int) {
			s := &items[i]
			to := columns[s.Track][s.Row]
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
		})
		return columns, err
	})
}
