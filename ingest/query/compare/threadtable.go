package compare

import (
	"context"
	"slices"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare/match"
)

// groupThreads makes the rows for threads.
func (c *Comparison) groupThreads(ctx context.Context, g *groups) error {
	m := match.Threads(c.recs, c.match)
	n := len(c.Runs)
	for f := range m.Funcs {
		x := &m.Funcs[f]
		row := Row{Name: x.Name, Key: int32(f), Rule: x.Rule()}
		for r, i := range x.In {
			if side, _ := c.sideOf(r); side == 1 && i >= 0 {
				if other := c.recs[r].Tracks[i].Title(); other != row.Name && x.Rule() != match.Unmatched {
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
		rows, err := analyze.ByTrack(ctx, run.Rec, run.query, c.transforms...)
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
		counts, err := c.countsOf(run, rows, func(q analyze.Query) ([]analyze.Row, error) {
			return analyze.ByTrack(ctx, run.Rec, q, c.transforms...)
		})
		if err != nil {
			return err
		}
		if run.behind != nil {
			g.count[r] = make([]int64, len(g.rows))
			g.byTrack(r, counts, func(k int32, row *analyze.Row) { g.count[r][k] += row.Self })
		}
	}
	g.total, g.countTotal = g.self, g.count
	for side := range g.spread {
		g.spread[side] = c.spreadOf(g.self, g.count, side)
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

// countsOf returns the numbers of samples behind rows of a recording, as Self and Total;
// nil if unknown. list lists the same rows for another metric. The numbers come from the
// same records as the weights by call.
func (c *Comparison) countsOf(run *Run, rows []analyze.Row, list func(analyze.Query) ([]analyze.Row, error)) ([]analyze.Row, error) {
	if run.behind == nil {
		return nil, nil
	}
	ev := &run.Rec.Events[run.query.Event]
	if countsSamples(&ev.Metrics[run.query.Metric]) {
		return rows, nil
	}
	for k := range ev.Metrics {
		if countsSamples(&ev.Metrics[k]) {
			q := run.query
			q.Metric = k
			return list(q)
		}
	}
	// If only calls have numbers of samples, distribute their sum in proportion to the
	// weights.
	out := slices.Clone(rows)
	all := float64(run.Weights.Sum)
	for i := range out {
		r := &out[i]
		if all == 0 {
			r.Self, r.Total = 0, 0
			continue
		}
		r.Self, r.Total = int64(float64(r.Self)/all*float64(run.behind.Sum)), int64(float64(r.Total)/all*float64(run.behind.Sum))
	}
	return out, nil
}

// spreadOf returns the variance of a side's values by row, from the number of samples; nil
// if that is unknown.
func (c *Comparison) spreadOf(values, counts [][]int64, side int) (out []float64) {
	for r := range c.Runs {
		if s, _ := c.sideOf(r); s != side {
			continue
		}
		if counts[r] == nil {
			return nil
		}
		if out == nil {
			out = make([]float64, len(values[r]))
		}
		for i, v := range values[r] {
			if v != 0 {
				out[i] += float64(v) * float64(v) / float64(max(1, counts[r][i]))
			}
		}
	}
	return out
}
