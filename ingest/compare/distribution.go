package compare

import (
	"context"
	"errors"
	"math"

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
	// Shift says how the two differ, P how often chance alone would make them
	// differ so much; Shift is nil where a side has none.
	Shift *Shift
	P     float64
}

// Durations sums one side of a Distribution up.
type Durations struct {
	// N is the number of spans; of more than a million, a million drawn at
	// random make the percentiles and the bins.
	N                                int64
	Min, Median, Mean, P90, P99, Max float64
	// Bins are parts of all spans.
	Bins []float64
}

// Distribution says how long the spans of a function (an index in
// Matching.Funcs) lasted: whole, or without their children. The error says that
// the recordings have no spans.
func (c *Comparison) Distribution(ctx context.Context, f int32, self bool, bins int) (*Distribution, error) {
	for r := range c.Runs {
		if c.Runs[r].Weights.Basis != analyze.Spans {
			return nil, errors.New(c.Runs[r].Rec.Source.Path + " has samples and no spans, so nothing says how long a call of a function lasted")
		}
	}
	var sides [2]gathered
	for side := range sides {
		if err := c.gather(ctx, f, self, side, &sides[side]); err != nil {
			return nil, err
		}
	}
	a, b := &sides[0], &sides[1]
	d := &Distribution{P: stats.Ranks(a.kept, b.kept), Edges: edges(a, b, max(1, bins)), Shift: shift(a.kept, b.kept)}
	d.A, d.B = durations(a, d.Edges), durations(b, d.Edges)
	return d, nil
}

// gathered are the spans of one function.
type gathered struct {
	drawn
	min, max float64
}

// gather draws from the spans of a function on one side.
func (c *Comparison) gather(ctx context.Context, f int32, self bool, side int, into *gathered) error {
	into.min, into.max = math.Inf(1), math.Inf(-1)
	ds := newDraws(1, mostDrawn, func(int) string { return "" }, 0)
	for _, keep := range []bool{false, true} { // first they are counted
		if keep {
			ds.begin()
		}
		for r := range c.Runs {
			id := c.Matching.Funcs[f].In[r]
			if of, _ := c.sideOf(r); of != side || id < 0 {
				continue
			}
			if err := c.gatherRun(ctx, r, recording.FuncID(id), self, keep, ds, into); err != nil {
				return err
			}
		}
	}
	ds.end()
	into.drawn = ds.rows[0]
	return nil
}

func (c *Comparison) gatherRun(ctx context.Context, r int, id recording.FuncID, self, keep bool, ds *draws, into *gathered) error {
	run := &c.Runs[r]
	w := newSpanWalk(run, self && keep)
	is := make([]bool, run.Rec.Calls.Len())
	w.depths = map[int]bool{}
	for i := 1; i < len(is); i++ {
		if call := recording.CallID(i); run.Rec.Func(call) == id {
			is[i], w.depths[run.Rec.Calls.Depth(call)] = true, true
		}
	}
	counts := make([]int64, len(is))
	chosen := run.query.Scope.TrackTest()
	for ti := range run.Rec.Tracks {
		if !chosen(ti) {
			continue
		}
		if !keep {
			w.count(ti, counts)
			continue
		}
		err := w.each(ctx, ti, func(s *spanRun) {
			for j, call := range s.calls {
				if !is[call] {
					continue
				}
				v := float64(s.ends[j] - s.starts[j])
				if self {
					v = float64(s.selfs[j])
				}
				into.min, into.max = min(into.min, v), max(into.max, v)
				ds.add(0, 1, v, v*v)
				ds.pass(0, v)
			}
		})
		if err != nil {
			return err
		}
	}
	for i, n := range counts {
		if is[i] {
			ds.expect(0, n)
		}
	}
	return nil
}

// edges spans the values of both sides.
func edges(a, b *gathered, bins int) []float64 {
	low, high := math.Min(a.min, b.min), math.Max(a.max, b.max)
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

func durations(d *gathered, edges []float64) Durations {
	out := Durations{N: d.n, Bins: make([]float64, len(edges)-1)}
	if d.n == 0 {
		return out
	}
	out.Min, out.Max, out.Mean = d.min, d.max, d.sum/float64(d.n)
	kept := durationsOf(d.kept)
	out.Median, out.P90, out.P99 = stats.Quantile(kept, .5), stats.Quantile(kept, .9), stats.Quantile(kept, .99)
	k := 0
	for _, v := range kept {
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
