package compare

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare/match"
	"ashlar/ingest/query/compare/stats"
)

// By is the grouping of a table's rows: stacks, or any grouping of the tables of single
// recordings.
type By = analyze.By

// Some groupings of tables.
const (
	ByFunction    = analyze.ByFunction
	ByModule      = analyze.ByModule
	ByFile        = analyze.ByFile
	ByThread      = analyze.ByThread
	ByStack    By = "stack"
)

// ParseBy parses a grouping named on the command line.
func ParseBy(s string) (By, error) {
	if By(s) == ByStack {
		return ByStack, nil
	}
	b, err := analyze.ParseBy(s)
	if b.OfWaits() {
		return "", fmt.Errorf("two recordings cannot be compared by %s; use thread or state", s)
	}
	if err != nil {
		err = fmt.Errorf("cannot group by %q: use function, package, name, category, module, file, line, state, thread or stack, or context:KEY, arg:KEY", s)
	}
	return b, err
}

// Row is one line of a table of differences, in the common metric's units.
type Row struct {
	// Name is the function, module, file, thread, stack (functions from the outermost,
	// joined by ;), or other grouping of the row. Module is set for functions and stacks
	// (the module of the innermost function). NameB and ModuleB are the names in B if
	// they differ; both are empty if the row is not in B.
	Name, Module, NameB, ModuleB string
	// Key is the index of the function in Matching.Funcs or of the stack's node in
	// Comparison.Tree; in other groupings it has no meaning.
	Key int32
	// Rule is the rule that matched the two sides.
	Rule   match.Rule
	Status Status
	// A function that occurs several times in one stack counts that stack once in ATotal
	// and BTotal.
	ASelf, BSelf, ATotal, BTotal int64
	// Self and Total are the confidences of the differences; nil if unknown.
	Self, Total *Confidence

	group int32 // index in the table's groups
}

// DeltaSelf returns B's self value minus A's.
func (r *Row) DeltaSelf() int64 { return recording.Saturated(r.BSelf, -r.ASelf) }

// DeltaTotal returns B's total minus A's.
func (r *Row) DeltaTotal() int64 { return recording.Saturated(r.BTotal, -r.ATotal) }

// OneSided reports whether the row is in A or in B only.
func (r *Row) OneSided() bool { return r.Status == New || r.Status == Gone }

// Confidence returns the confidence by which the row is sorted: the confidence of the
// difference in self, or in total if self is equal on both sides.
func (r *Row) Confidence() *Confidence {
	if r.Self == nil || r.DeltaSelf() == 0 && r.DeltaTotal() != 0 {
		return r.Total
	}
	return r.Self
}

// Table is a comparison by functions, stacks, threads or any other grouping.
type Table struct {
	By   By
	Rows []Row
	// Moved is the sum of the absolute differences in self of all rows, and Change the
	// difference of which those are shares: the sum of the differences or, if that is small
	// beside some row's because they cancel each other, Moved.
	Moved, Change int64
	// Whole is the confidence of the difference of the totals; nil if unknown or if
	// normalising makes both equal.
	Whole *Confidence
	// Judged reports whether Rows have their confidences, as far as these are known.
	Judged bool
	// Common is the factor by which all rows changed, the cost in B per cost in A of a
	// typical row, estimated from single runs; 0 if unknown.
	Common float64

	self, total [][]int64    // by recording and group, scaled
	spread      [2][]float64 // variances of self by sampling, by side and group; nil if unknown

	tests []float64 // p-values of the differences in self, NaN for too few samples
}

// Q returns the q-value of another difference in self with the given p-value: the share of
// false alarms among all differences of the table that are at least this certain.
func (t *Table) Q(p float64) float64 {
	qs := stats.Discoveries(append(slices.Clone(t.tests), p))
	return min(1, 2*qs[len(qs)-1])
}

// mostShare is the largest share of a change that a row may have.
const mostShare = 4

// Table lists the rows, largest difference in self first, then in total, then by name.
// Rows that are the same on both sides are included. Threads are not nested, so their
// self and total are the same.
//
// For traces, confidences need a pass over all spans, which is the only slow part; sure
// requests it. Other confidences are always present.
func (c *Comparison) Table(ctx context.Context, by By, sure bool) (*Table, error) {
	g, err := c.group(ctx, by)
	if err != nil {
		return nil, err
	}
	var s *spanTable
	if sure && c.Method() == FromDurations {
		tables, err := c.spans(ctx, g)
		if err != nil {
			return nil, err
		}
		s = tables[0]
		s.shifts = true
	}
	return c.table(ctx, g, s)
}

// table makes a table of groups; s holds the durations of their spans, or is nil.
func (c *Comparison) table(ctx context.Context, g *groups, s *spanTable) (*Table, error) {
	t := &Table{By: g.by, Rows: g.rows, self: g.self, total: g.total, spread: g.spread}
	for i := range t.Rows {
		t.Rows[i].group = int32(i)
	}
	if err := c.judge(ctx, g, t, s); err != nil {
		return nil, err
	}
	t.Rows = slices.DeleteFunc(t.Rows, func(r Row) bool { return r.Status == "" })
	SortRows(t.Rows)
	for i := range t.Rows {
		recording.Add(&t.Moved, recording.Abs(t.Rows[i].DeltaSelf()))
		recording.Add(&t.Change, t.Rows[i].DeltaSelf())
	}
	if len(t.Rows) > 0 && recording.Abs(t.Rows[0].DeltaSelf())/mostShare > recording.Abs(t.Change) {
		t.Change = t.Moved
	}
	return t, ctx.Err()
}

// SortRows sorts rows by the absolute difference in self, then in total, then by name.
func SortRows(rows []Row) {
	slices.SortFunc(rows, func(a, b Row) int {
		if c := cmp.Compare(recording.Abs(b.DeltaSelf()), recording.Abs(a.DeltaSelf())); c != 0 {
			return c
		}
		if c := cmp.Compare(recording.Abs(b.DeltaTotal()), recording.Abs(a.DeltaTotal())); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Module, b.Module), cmp.Compare(a.NameB, b.NameB), cmp.Compare(a.Key, b.Key))
	})
}

// SortRowsByTotal sorts rows by the absolute difference in total, then as [SortRows].
func SortRowsByTotal(rows []Row) {
	SortRows(rows)
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Compare(recording.Abs(b.DeltaTotal()), recording.Abs(a.DeltaTotal()))
	})
}

// A RunValue is the cost of a row in one recording, in the common metric's units, normalised
// like the comparison.
type RunValue struct{ Self, Total int64 }

// RunsOf returns the costs of a table's row in the recordings of each side, in the order of
// c.Runs. Their means are the row's costs.
func (c *Comparison) RunsOf(t *Table, row *Row) (sides [2][]RunValue) {
	for r := range c.Runs {
		side, n := c.sideOf(r)
		tens := int64(1)
		if c.Normalize == Raw { // the decimals were added for means
			for range c.Metric.Guard {
				tens *= 10
			}
		}
		whole := func(part int64) (v int64) {
			for range n {
				recording.Add(&v, part)
			}
			if v < 0 {
				return (v - tens/2) / tens * tens
			}
			return (v + tens/2) / tens * tens
		}
		sides[side] = append(sides[side], RunValue{whole(t.self[r][row.group]), whole(t.total[r][row.group])})
	}
	return sides
}
