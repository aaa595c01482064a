package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare/match"
)

// listed reports whether the rows of a grouping are listed per recording instead of taken
// from the tree. That applies to threads, lines, states, and values of labels and
// arguments, because these are not functions that both sides could share. It fails if the
// recordings do not have this grouping.
func (c *Comparison) listed(by By) (bool, error) {
	for r := range c.Runs {
		run := &c.Runs[r]
		fail := func(text string, args ...any) (bool, error) {
			return false, fmt.Errorf("%s: %w", run.Rec.Source.Path, fmt.Errorf(text, args...))
		}
		key, context := by.ContextKey()
		_, argument := by.ArgumentKey()
		switch {
		case by == analyze.ByCategory && !analyze.HasCategories(run.Rec):
			return fail("only Chrome traces have categories; compare by module")
		case by == analyze.ByState && run.query.Basis(run.Rec) != analyze.States:
			return fail("%s has no thread states", c.Metric.Common.Name)
		case context && r == 0 && !slices.ContainsFunc(c.recs, func(rec *recording.Recording) bool { return slices.Contains(analyze.ContextKeys(rec), key) }):
			return fail("unknown context key %q", key)
		case argument && len(c.transforms) > 0:
			return fail("transforms remove the arguments of spans; leave out --%s", c.transforms[0].Op)
		}
		if !context && !argument && by != ByThread && by != analyze.ByLine && by != analyze.ByState {
			return false, nil
		}
	}
	return true, nil
}

// list returns a recording's rows in a grouping that is listed; w are the query's
// weights.
func (c *Comparison) list(ctx context.Context, run *Run, by By, q analyze.Query, w *analyze.Weights) ([]analyze.Row, error) {
	if by == analyze.ByState {
		return analyze.StateRows(ctx, run.Rec, q, c.transforms...)
	}
	if key, ok := by.ContextKey(); ok {
		return analyze.ByContext(ctx, run.Rec, q, key, c.transforms...)
	}
	if key, ok := by.ArgumentKey(); ok {
		return analyze.ByArgument(ctx, run.Rec, q, key)
	}
	rows := analyze.TableOf(run.Rec, w, by, c.transforms...)
	for i := range rows {
		r := &rows[i]
		r.Name = r.Place + "  " + r.Name
	}
	return rows, nil
}

// groupListed makes rows from the recordings' own lists, matched by name.
func (c *Comparison) groupListed(ctx context.Context, g *groups) error {
	n := len(c.Runs)
	lists, counts := make([][]analyze.Row, n), make([][]analyze.Row, n)
	at := map[string]int{}
	for r := range c.Runs {
		run := &c.Runs[r]
		var err error
		if lists[r], err = c.list(ctx, run, g.by, run.query, run.Weights); err != nil {
			return fmt.Errorf("%s: %w", run.Rec.Source.Path, err)
		}
		if g.by == analyze.ByLine && run.behind != nil {
			counts[r], err = c.list(ctx, run, g.by, run.query, run.behind)
		} else {
			counts[r], err = c.countsOf(run, lists[r], func(q analyze.Query) ([]analyze.Row, error) { return c.list(ctx, run, g.by, q, nil) })
		}
		if err != nil {
			return err
		}
		for i := range lists[r] {
			if name := lists[r][i].Name; at[name] == 0 {
				g.rows = append(g.rows, Row{Name: name, Key: -1})
				at[name] = len(g.rows)
			}
		}
	}
	here := [2][]bool{make([]bool, len(g.rows)), make([]bool, len(g.rows))}
	for r := range c.Runs {
		self, total, err := c.listedValues(r, len(g.rows), at, lists[r])
		if err != nil {
			return err
		}
		side, _ := c.sideOf(r)
		for i := range lists[r] {
			here[side][at[lists[r][i].Name]-1] = true
		}
		g.self, g.total = append(g.self, self), append(g.total, total)
		count, countTotal := []int64(nil), []int64(nil)
		if c.Runs[r].behind != nil {
			count, countTotal = make([]int64, len(g.rows)), make([]int64, len(g.rows))
			for i := range counts[r] {
				if k := at[counts[r][i].Name] - 1; k >= 0 {
					count[k] += counts[r][i].Self
					countTotal[k] += counts[r][i].Total
				}
			}
		}
		g.count, g.countTotal = append(g.count, count), append(g.countTotal, countTotal)
	}
	for i := range g.rows {
		if here[0][i] && here[1][i] {
			g.rows[i].Rule = match.RuleName
		}
	}
	for side := range g.spread {
		g.spread[side], g.spreadTotal[side] = c.spreadOf(g.self, g.count, side), c.spreadOf(g.total, g.countTotal, side)
	}
	g.finish(c, here)
	return nil
}

// listedValues returns the scaled values of a recording's rows.
func (c *Comparison) listedValues(r, rows int, at map[string]int, list []analyze.Row) (self, total []int64, err error) {
	self, total = make([]int64, rows), make([]int64, rows)
	order := make([]int32, rows)
	for i := range order {
		order[i] = int32(i)
	}
	for i := range list {
		k := at[list[i].Name] - 1
		recording.Add(&self[k], list[i].Self)
		recording.Add(&total[k], list[i].Total)
	}
	f := &c.Runs[r].factor
	if self, err = f.share(self, order); err != nil {
		return nil, nil, err
	}
	for k, v := range total {
		var e error
		total[k], e = f.round(v)
		err = errors.Join(err, e)
	}
	return self, total, err
}
