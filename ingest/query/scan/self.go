package scan

import "ashlar/ingest/model/recording"

// Usage is a function's self time on a track and the number of its calls.
type Usage struct{ Time, Calls int64 }

// SelfTimes adds a track's spans to sums, by function. It returns the time of its outermost
// calls.
func SelfTimes(rec *recording.Recording, track int, sums []Usage) (whole int64) {
	t := rec.Tracks[track]
	for row := range t.Lanes {
		s := Stretch{Lane: &t.Lanes[row], Last: t.Lanes[row].Len()}
		s.Each(func(_ int, starts, ends []int64, calls []recording.CallID) {
			for i, c := range calls {
				d := ends[i] - starts[i]
				u := &sums[rec.Func(c)]
				u.Time += d
				u.Calls++
				if up := rec.Calls.Parent(c); up != recording.NoCall {
					sums[rec.Func(up)].Time -= d
				} else {
					whole += d
				}
			}
		})
	}
	return whole
}
