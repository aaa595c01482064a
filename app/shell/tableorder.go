package shell

import (
	"cmp"
	"context"
	"slices"

	"ashlar/app/session"
	"ashlar/ingest/analyze"
	"ashlar/ingest/search"
)

// order brings the rows of a table into the order they are shown in. Many rows are
// ordered beside the window; until that is done the last ones stay.
type order struct {
	ordered
	busy   bool
	orders session.Async[orderKey, *ordered]
}

type orderKey struct {
	of        *session.Answer
	by        column
	ascending bool
}

// ordered are rows of an answer in an order.
type ordered struct {
	of      *session.Answer
	rows    []analyze.Row
	modules bool // any row has one
}

// manyRows is how many are ordered within a frame.
const manyRows = 20_000

// update takes what is done and starts what is to do.
func (o *order) update(k orderKey, wake func()) {
	if len(k.of.TableRows()) <= manyRows {
		wake = nil
	}
	d, of, ok := o.orders.Ask(k, wake, func(context.Context) (*ordered, error) { return arrange(k), nil })
	if o.busy = of != k; ok {
		o.ordered = *d
	}
}

// searched tells whether a row is what is searched for.
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

// arrange filters the rows by the answer's search and sorts them. Rows come by
// self, heaviest first; what is equal stays in that order.
func arrange(k orderKey) *ordered {
	a := k.of
	from := a.TableRows()
	rows := make([]analyze.Row, 0, len(from))
	modules := false
	for i := range from {
		modules = modules || from[i].Module != ""
		if a.Search != nil {
			if !searched(a, &from[i]) {
				continue
			}
		}
		rows = append(rows, from[i])
	}
	sign := -1
	if k.ascending {
		sign = 1
	}
	switch number := columnInfos[k.by].number; {
	case number != nil:
		// The numbers alone are moved about: a row is large.
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
			return sign * cmp.Compare(k.by.cell(a, &x, true), k.by.cell(a, &y, true))
		})
	}
	return &ordered{a, rows, modules}
}
