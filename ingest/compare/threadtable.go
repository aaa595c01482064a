package compare

import (
	"context"
	"slices"

	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
)

// groupThreads makes rows of threads.
func (c *Comparison) groupThreads(ctx context.Context, g *groups) error {
	m := MatchThreads(c.recs, c.match)
	n := len(c.Runs)
	for f := range m.Funcs {
		x := &m.Funcs[f]
		row := Row{Name: x.Name, Key: int32(f), Rule: x.Rule()}
		for r, i := range x.In {
			if side, _ := c.sideOf(r); side == 1 && i >= 0 {
				if other := c.recs[r].Tracks[i].Title(); other != row.Name && x.Rule() != Unmatched {
					row.NameB = other
				}
				break
			}
		}
		g.rows = append(g.rows, row)
	}
	none := int32(len(g.rows))
	g.rows = append(g.rows, Row{Name: "[no thread]", Key: -1})
	here := [2][]bool{make([]bool, none+1), make([]bool, none+1)}
	g.self, g.count, g.track = make([][]int64, n), make([][]int64, n), make([][]int32, n)
	order := make([]int32, none+1)
	for i := range order {
		order[i] = int32(i)
	}
	for r := range c.Runs {
		run := &c.Runs[r]
		g.track[r] = append(slices.Clone(m.IDs[r]), none)
		rows, err := analyze.ByTrack(ctx, run.Rec, run.query)
		if err != nil {
			return err
		}
		side, _ := c.sideOf(r)
		self := make([]int64, none+1)
		g.byTrack(r, rows, func(k int32, row *analyze.Row) {
			recording.Add(&self[k], row.Self)
			here[side][k] = true
		})
		if g.self[r], err = run.factor.share(self, order); err != nil {
			return err
		}
		if err := c.threadCounts(ctx, g, r, rows); err != nil {
			return err
		}
	}
	g.total, g.countTotal = g.self, g.count
	for side := range g.spread {
		g.spread[side] = c.threadSpread(g, side)
		g.spreadTotal[side] = g.spread[side]
	}
	g.finish(c, here)
	return nil
}

func (g *groups) byTrack(r int, rows []analyze.Row, f func(k int32, row *analyze.Row)) {
	for i := range rows {
		k := g.track[r][len(g.track[r])-1]
		if t := rows[i].Track; t >= 0 {
			k = g.track[r][t]
		}
		f(k, &rows[i])
	}
}

// threadCounts finds the numbers of samples behind the threads' values. They
// come from the same records as those behind calls.
func (c *Comparison) threadCounts(ctx context.Context, g *groups, r int, rows []analyze.Row) error {
	run := &c.Runs[r]
	if run.behind == nil {
		return nil
	}
	g.count[r] = make([]int64, len(g.rows))
	metric := run.query.Metric
	ev := &run.Rec.Events[run.query.Event]
	if !countsSamples(&ev.Metrics[metric]) {
		for k := range ev.Metrics {
			if countsSamples(&ev.Metrics[k]) {
				q := run.query
				q.Metric = k
				more, err := analyze.ByTrack(ctx, run.Rec, q)
				if err != nil {
					return err
				}
				g.byTrack(r, more, func(k int32, row *analyze.Row) { g.count[r][k] += row.Self })
				return nil
			}
		}
	}
	// In proportion to the weight, where only calls tell.
	all := float64(run.Weights.Sum)
	g.byTrack(r, rows, func(k int32, row *analyze.Row) {
		if all != 0 {
			g.count[r][k] += int64(float64(row.Self) / all * float64(run.behind.Sum))
		}
	})
	return nil
}

func (c *Comparison) threadSpread(g *groups, side int) []float64 {
	out := make([]float64, len(g.rows))
	for r := range c.Runs {
		if s, _ := c.sideOf(r); s != side {
			continue
		}
		if g.count[r] == nil {
			return nil
		}
		for i, v := range g.self[r] {
			if v != 0 {
				out[i] += float64(v) * float64(v) / float64(max(1, g.count[r][i]))
			}
		}
	}
	return out
}
