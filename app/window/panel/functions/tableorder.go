package functions

import (
	"cmp"
	"math"

	"ashlar/app/core/session"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/search"
)

// Order sorts the rows of a table.
type Order struct {
	ordered
	busy bool // not all rows are sorted yet
	rows session.Sorted[OrderKey, *ordered]
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

// Update takes a finished result and starts sorting if necessary. keep is set if the rows
// are scrolled.
func (o *Order) Update(k OrderKey, keep bool, wake func()) {
	var d *ordered
	if d, o.busy = o.rows.Update(k, len(k.Of.TableRows()), keep, wake, arrange); d != nil {
		o.ordered = *d
	}
}

// Stop cancels the background work.
func (o *Order) Stop() { o.rows.Stop() }

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
func Arrange(k OrderKey) []analyze.Row { return arrange(k, math.MaxInt).Rows }

// arrange is Arrange for at most limit rows, with facts about all rows.
func arrange(k OrderKey, limit int) *ordered {
	a := k.Of
	from := a.TableRows()
	o := &ordered{Of: a, counts: len(from) == 0, modules: a.By == analyze.ByThread && len(a.Rec.Processes) > 1}
	for i := range from {
		o.modules = o.modules || from[i].Module != ""
		o.counts = o.counts || a.Metric().Decimals != 0 || from[i].Count != from[i].Self
	}
	if number := ColumnInfos[k.By].Number; number != nil {
		o.Rows = sortBy(k, limit, func(r *analyze.Row) int64 { return number(a, r) })
	} else {
		o.Rows = sortBy(k, limit, func(r *analyze.Row) string { return k.By.cell(a, r, true) })
	}
	return o
}

// sortBy returns at most limit rows, ordered by the keys that of returns. Only keys and
// indices are sorted, because rows are large.
func sortBy[K cmp.Ordered](k OrderKey, limit int, of func(*analyze.Row) K) []analyze.Row {
	type key struct {
		of K
		at int32
	}
	from, sign := k.Of.TableRows(), -1
	if k.Ascending {
		sign = 1
	}
	keys := make([]key, 0, len(from))
	for i := range from {
		if k.Of.Search == nil || searched(k.Of, &from[i]) {
			keys = append(keys, key{of(&from[i]), int32(i)})
		}
	}
	keys = session.SortFirst(keys, limit, func(x, y key) int { return cmp.Or(sign*cmp.Compare(x.of, y.of), cmp.Compare(x.at, y.at)) })
	rows := make([]analyze.Row, len(keys))
	for i := range keys {
		rows[i] = from[keys[i].at]
	}
	return rows
}
