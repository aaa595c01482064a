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
// done, the first of them are shown if the column has numbers, else the previous rows.
type Order struct {
	ordered
	busy   bool
	first  OrderKey // the order of which only the first rows are shown
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
	switch o.busy = of != k; {
	case !o.busy || ok && !k.pages():
		o.first, o.ordered = OrderKey{}, *d
	case k.pages() && o.first != k:
		o.first, o.ordered = k, *firstPage(k)
	}
}

// pages reports whether the first rows can be found much sooner than all can be sorted.
func (k OrderKey) pages() bool { return ColumnInfos[k.By].Number != nil && k.Of.Search == nil }

// FirstPage is the number of rows shown while all are being sorted.
const FirstPage = 200

// firstPage returns the first FirstPage rows of Arrange without sorting the others.
func firstPage(k OrderKey) *ordered {
	a, number := k.Of, ColumnInfos[k.By].Number
	from := a.TableRows()
	sign := -1
	if k.Ascending {
		sign = 1
	}
	type key struct {
		n  int64
		at int
	}
	best := make([]key, 0, FirstPage+1) // sorted
	for i := range from {
		x := key{number(a, &from[i]), i}
		if len(best) == FirstPage && sign*cmp.Compare(x.n, best[FirstPage-1].n) >= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, x, func(x, y key) int { return cmp.Or(sign*cmp.Compare(x.n, y.n), cmp.Compare(x.at, y.at)) })
		best = slices.Insert(best, at, x)
		best = best[:min(len(best), FirstPage)]
	}
	o := newOrdered(a)
	for _, x := range best {
		o.Rows = append(o.Rows, from[x.at])
	}
	return o
}

// newOrdered returns the facts about all rows of an answer, without the rows.
func newOrdered(a *session.Answer) *ordered {
	from := a.TableRows()
	o := &ordered{Of: a, counts: len(from) == 0, modules: a.By == analyze.ByThread && len(a.Rec.Processes) > 1}
	for i := range from {
		o.modules = o.modules || from[i].Module != ""
		o.counts = o.counts || a.Metric().Decimals != 0 || from[i].Count != from[i].Self
	}
	return o
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
	for i := range from {
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
	o := newOrdered(a)
	o.Rows = rows
	return o
}
