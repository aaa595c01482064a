package compare

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare/stats"
)

// mostDrawn is the number of spans of one function sampled per side.
const mostDrawn = 1 << 20

// A Distribution describes how long the spans of one function lasted on both sides, in
// picoseconds as recorded.
type Distribution struct {
	A, B Durations
	// Edges are the edges of the bins, evenly spaced on a logarithmic scale: bin i spans
	// Edges[i] to Edges[i+1]. Only the last bin includes its upper edge.
	Edges []float64
	// Shift is how the two sides differ, nil if a side has no spans. P is the probability
	// that chance alone makes them differ this much.
	Shift *Shift
	P     float64
}

// Durations summarizes one side of a Distribution.
type Durations struct {
	// N is the number of spans. If there are more than a million, the percentiles and
	// bins come from a random sample of a million.
	N                                int64
	Min, Median, Mean, P90, P99, Max float64
	// Bins are fractions of all spans.
	Bins []float64
}

// Distribution returns how long the spans of a function (an index in Matching.Funcs)
// lasted, with or without their children. It fails if a recording has no spans.
func (c *Comparison) Distribution(ctx context.Context, f int32, self bool, bins int) (*Distribution, error) {
	for r := range c.Runs {
		if c.Runs[r].Weights.Basis != analyze.Spans {
			return nil, errors.New(c.Runs[r].Rec.Source.Path + " has samples but no spans, so call durations are unknown")
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
	d.A, d.B = binned(a, d.Edges), binned(b, d.Edges)
	return d, nil
}

// gathered holds the spans of one function.
type gathered struct {
	drawn
	min, max float64
}

// gather samples the spans of a function on one side.
func (c *Comparison) gather(ctx context.Context, f int32, self bool, side int, into *gathered) error {
	into.min, into.max = math.Inf(1), math.Inf(-1)
	var all []source
	for r := range c.Runs {
		id := c.Matching.Funcs[f].In[r]
		if of, _ := c.sideOf(r); of != side || id < 0 {
			continue
		}
		parts, err := c.gatherRun(ctx, r, recording.FuncID(id), self, into)
		if err != nil {
			return err
		}
		all = append(all, source{parts, 1})
	}
	into.drawn = draw(all, mostDrawn, self, new(drawRoom))
	return nil
}

func (c *Comparison) gatherRun(ctx context.Context, r int, id recording.FuncID, self bool, into *gathered) ([]part, error) {
	run := &c.Runs[r]
	at := make([]int32, run.Rec.Calls.Len())
	at[0] = -1
	p := &pass{run: run, self: self, sums: []sums{{slotOf: func() []int32 { return at }, slots: 1, most: mostDrawn}}, depths: map[int]bool{}}
	for i := 1; i < len(at); i++ {
		call := recording.CallID(i)
		if at[i] = -1; run.Rec.Func(call) == id {
			at[i], p.depths[run.Rec.Calls.Depth(call)] = 0, true
		}
	}
	lows, highs := make([]int64, runtime.GOMAXPROCS(0)), make([]int64, runtime.GOMAXPROCS(0))
	for i := range lows {
		lows[i], highs[i] = math.MaxInt64, math.MinInt64
	}
	p.also = func(worker int, s *spanRun) {
		low, high := lows[worker], highs[worker]
		for j, call := range s.calls {
			if at[call] < 0 {
				continue
			}
			v := s.ends[j] - s.starts[j]
			if self {
				v = s.selfs[j]
			}
			low, high = min(low, v), max(high, v)
		}
		lows[worker], highs[worker] = low, high
	}
	if err := p.collect(ctx); err != nil {
		return nil, err
	}
	if low, high := slices.Min(lows), slices.Max(highs); low <= high {
		into.min, into.max = min(into.min, float64(low)), max(into.max, float64(high))
	}
	return p.sums[0].parts, nil
}

// edges returns bin edges that cover the values of both sides.
func edges(a, b *gathered, bins int) []float64 {
	low, high := math.Min(a.min, b.min), math.Max(a.max, b.max)
	if low > high {
		low, high = 0, 0
	}
	// Zero has no logarithm: durations of 0 count as 1 ps.
	l, h := math.Log(math.Max(1, low)), math.Log(math.Max(1, high))
	out := make([]float64, bins+1)
	for i := range out {
		out[i] = math.Exp(l + (h-l)*float64(i)/float64(bins))
	}
	out[0], out[bins] = low, high
	return out
}

// binned counts durations in the bins between edges.
func binned(d *gathered, edges []float64) Durations {
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
