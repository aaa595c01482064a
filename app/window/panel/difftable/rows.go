package difftable

import (
	"cmp"

	"ashlar/app/core/session"
	"ashlar/app/window/comparison"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/search"
)

// found holds the rows that are shown, of an answer's table.
type found struct {
	of      *session.CompareAnswer
	Found   []compare.Row
	modules bool // some row of the table has a module
}

type tableKey struct {
	table    *compare.Table
	by       DifferenceColumn
	backward bool
	filters  Filters
	total    bool
	search   *search.Pattern
}

// Filters choose the rows to show. If none of the first four is set, the rows of all four
// are shown: those that cost more, cost less, are new or are gone.
type Filters [filterCount]bool

// The row filters.
const (
	filterWorse = iota
	filterBetter
	FilterNew
	FilterGone
	FilterSure
	filterCount
)

// FilterWords are the labels of the row filters.
var FilterWords = [filterCount]string{"More in B", "Less in B", "New", "Gone", "Beyond noise"}

func (t *Panel) key(c *comparison.Comparison, a *session.CompareAnswer) tableKey {
	return tableKey{a.Table, t.By, t.Backward, t.Filters, c.Options.Total, c.Sides[c.Focus].Search.Pattern}
}

// refresh starts sorting the rows of an answer if the answer or the choices have changed,
// and takes those that are ready. If wake is nil, all are ready. It returns the answer to
// which the rows belong, nil for none.
func (t *Panel) refresh(c *comparison.Comparison, a *session.CompareAnswer, wake func()) *session.CompareAnswer {
	d, busy := t.rows.Update(t.key(c, a), len(a.Table.Rows), t.Down > 0, wake, func(k tableKey, most int) *found {
		f := arrange(k, most)
		f.of = a
		return f
	})
	if t.busy = busy; d != nil {
		t.found = *d
	}
	return t.answer(a)
}

// answer returns the answer to which the rows belong: a, unless its rows are still being
// sorted.
func (t *Panel) answer(a *session.CompareAnswer) *session.CompareAnswer {
	if a != nil && t.of != nil && t.of.Table == a.Table {
		return a
	}
	return t.of
}

// Stop cancels the background work.
func (t *Panel) Stop() { t.rows.Stop() }

// arrange returns the rows that pass the filters and the search, sorted, at most limit of
// them; equal rows are in the order of the table.
func arrange(k tableKey, limit int) *found {
	all := k.table.Rows
	f := new(found)
	var at []int32
	for i := range all {
		r := &all[i]
		f.modules = f.modules || r.Module != ""
		if k.filters.keep(r, k.total) && (k.search == nil || k.search.MatchFunction(&recording.Function{Name: r.Name, Module: r.Module})) {
			at = append(at, int32(i))
		}
	}
	at = session.SortFirst(at, limit, func(x, y int32) int {
		order := columns[k.by].order(&all[x], &all[y], k.total)
		if k.backward {
			order = -order
		}
		return cmp.Or(order, cmp.Compare(x, y))
	})
	f.Found = make([]compare.Row, len(at))
	for i, x := range at {
		f.Found[i] = all[x]
	}
	return f
}

// keep reports whether a row passes the filters. Rows that are equal on both sides never
// do.
func (f *Filters) keep(r *compare.Row, total bool) bool {
	d := delta(r, total)
	if r.Status == compare.Same || d == 0 && r.Status == compare.Changed {
		return false
	}
	kinds := f[filterWorse] || f[filterBetter] || f[FilterNew] || f[FilterGone]
	kind := f[filterWorse] && d > 0 || f[filterBetter] && d < 0 || f[FilterNew] && r.Status == compare.New || f[FilterGone] && r.Status == compare.Gone
	if kinds && !kind {
		return false
	}
	conf := sureOf(r, total)
	return !f[FilterSure] || conf != nil && !comparison.IsNoise(conf)
}
