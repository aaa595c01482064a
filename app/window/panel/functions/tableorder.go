package functions

import (
	"cmp"
	"context"
	"slices"

	"ashlar/app/core/session"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/search"
)

// Order sorts the rows of a table. Many rows are sorted in the background; until that is
// done the previous rows stay.
type Order struct {
	ordered
	busy   bool
	Orders session.Async[OrderKey, *ordered]
}

type OrderKey struct {
	Of        *session.Answer
	By        Column
	Ascending bool
}

// ordered holds the sorted rows of an answer.
type ordered struct {
	Of      *session.Answer
	Rows    []analyze.Row
	modules bool // a row has a module
	counts  bool // a row has a count that differs from its self
}

// ManyRows is the maximum number of rows that are sorted within a frame.
const ManyRows = 20_000

// Update takes a finished result and starts sorting if necessary.
func (o *Order) Update(k OrderKey, wake func()) {
	if len(k.Of.TableRows()) <= ManyRows {
		wake = nil
	}
	d, of, ok := o.Orders.Ask(k, wake, func(context.Context) (*ordered, error) { return Arrange(k), nil })
	if o.busy = of != k; ok {
		o.ordered = *d
	}
}

// searched reports whether a row matches the search.
func searched(a *session.Answer, r *analyze.Row) bool {
	switch {
	case a.By == analyze.ByThread && a.Search.Field() == search.InThread:
		return r.Track >= 0 && a.Search.MatchTrack(a.Rec.Tracks[r.Track])
	case a.Found != nil && a.ByFunction():
		return a.Found.Matches(r.Func)
	}
	f := r.Function(a.Rec)
	return a.Search.MatchFunction(&f)
}

// Arrange filters the rows by the answer's search and sorts them. The input is sorted by
// self, heaviest first; the sort is stable.
func Arrange(k OrderKey) *ordered {
	a := k.Of
	from := a.TableRows()
	rows := make([]analyze.Row, 0, len(from))
	counts, modules := len(from) == 0, a.By == analyze.ByThread && len(a.Rec.Processes) > 1
	for i := range from {
		modules = modules || from[i].Module != ""
		counts = counts || a.Metric().Decimals != 0 || from[i].Count != from[i].Self
		if a.Search != nil {
			if !searched(a, &from[i]) {
				continue
			}
		}
		rows = append(rows, from[i])
	}
	sign := -1
	if k.Ascending {
		sign = 1
	}
	switch number := ColumnInfos[k.By].Number; {
	case number != nil:
		// Sort only keys and indices, because rows are large.
		type key struct {
			n  int64
			at int32
		}
		keys := make([]key, len(rows))
		for i := range rows {
			keys[i] = key{number(a, &rows[i]), int32(i)}
		}
		slices.SortFunc(keys, func(x, y key) int { return cmp.Or(sign*cmp.Compare(x.n, y.n), cmp.Compare(x.at, y.at)) })
		sorted := make([]analyze.Row, len(rows))
		for i := range keys {
			sorted[i] = rows[keys[i].at]
		}
		rows = sorted
	default:
		slices.SortStableFunc(rows, func(x, y analyze.Row) int {
			return sign * cmp.Compare(k.By.cell(a, &x, true), k.By.cell(a, &y, true))
		})
	}
	return &ordered{a, rows, modules, counts}
}
