package compare

import (
	"context"
	"errors"
	"math"
	"slices"

	"ashlar/ingest/analyze"
	"ashlar/ingest/compare/stats"
	"ashlar/ingest/recording"
)

// mostDrawn is how many spans of one function are looked at a side.
const mostDrawn = 1 << 20

// Distribution is how long the spans of one function lasted, on both sides, in
// picoseconds as they were recorded.
type Distribution struct {
	A, B Durations
	// Edges are those of the bins, growing evenly in their logarithm: bin i goes
	// from Edges[i] to Edges[i+1], the last one with its end.
	Edges []float64
	// Shift tells how the two differ, P how often chance alone would make them
	// differ so much; Shift is nil where a side has none.
	Shift *Shift
	P     float64
}

// Durations sums one side of a Distribution up.
type Durations struct {
	// N is the number of spans; of more than a million, a million drawn at
	// random make all that follows.
	N                                int64
	Min, Median, Mean, P90, P99, Max float64
	// Bins are parts of all spans.
	Bins []float64
}

// Distribution tells how long the spans of a function (an index in
// Matching.Funcs) lasted: whole, or without their children. The error says that
// the recordings have no spans.
func (c *Comparison) Distribution(ctx context.Context, f int32, self bool, bins int) (*Distribution, error) {
	var sides [2]drawn
	for side := range sides {
		sides[side] = drawn{most: mostDrawn, dice: 1}
	}
	for r := range c.Runs {
		run := &c.Runs[r]
		if run.Weights.Basis != analyze.Spans {
			return nil, errors.New(run.Rec.Source.Path + " has samples and no spans, so nothing says how long a call of a function lasted")
		}
		id := c.Matching.Funcs[f].In[r]
		if id < 0 {
			continue
		}
		side, _ := c.sideOf(r)
		chosen := chosenTracks(run.query.Tracks)
		for ti, t := range run.Rec.Tracks {
			if !chosen(ti) {
				continue
			}
			err := eachSpan(ctx, run.Rec, t, self, func(s *span) {
				if run.Rec.Func(s.call) != recording.FuncID(id) || run.query.Ranged && (s.start < run.query.From || s.end > run.query.To) {
					return
				}
				if self {
					sides[side].add(float64(s.self))
				} else {
					sides[side].add(float64(s.end - s.start))
				}
			})
			if err != nil {
				return nil, err
			}
		}
	}
	a, b := &sides[0], &sides[1]
	slices.Sort(a.kept)
	slices.Sort(b.kept)
	d := &Distribution{P: stats.Ranks(a.kept, b.kept), Edges: edges(a.kept, b.kept, max(1, bins))}
	d.A, d.B = durations(a, d.Edges), durations(b, d.Edges)
	if a.n > 0 && b.n > 0 {
		d.Shift = &Shift{MedianA: d.A.Median, MedianB: d.B.Median}
		d.Shift.By, d.Shift.Low, d.Shift.High = stats.Shift(a.kept, b.kept)
	}
	return d, nil
}

// edges spans the values of both sides.
func edges(a, b []float64, bins int) []float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range [][]float64{a, b} {
		if len(s) > 0 {
			low, high = math.Min(low, s[0]), math.Max(high, s[len(s)-1])
		}
	}
	if low > high {
		low, high = 0, 0
	}
	// Zero has no logarithm: durations of none are put with those of 1 ps.
	l, h := math.Log(math.Max(1, low)), math.Log(math.Max(1, high))
	out := make([]float64, bins+1)
	for i := range out {
		out[i] = math.Exp(l + (h-l)*float64(i)/float64(bins))
	}
	out[0], out[bins] = low, high
	return out
}

func durations(d *drawn, edges []float64) Durations {
	out := Durations{N: d.n, Bins: make([]float64, len(edges)-1)}
	if d.n == 0 {
		return out
	}
	out.Min, out.Max, out.Mean = d.kept[0], d.kept[len(d.kept)-1], d.sum/float64(d.n)
	out.Median, out.P90, out.P99 = stats.Quantile(d.kept, .5), stats.Quantile(d.kept, .9), stats.Quantile(d.kept, .99)
	k := 0
	for _, v := range d.kept {
		for k+1 < len(out.Bins) && v >= edges[k+1] {
			k++
		}
		out.Bins[k]++
	}
	for i := range out.Bins {
		out.Bins[i] /= float64(len(d.kept))
	}
	return out
}
