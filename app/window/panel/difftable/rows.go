package difftable

import (
	"slices"

	"ashlar/app/core/session"
	"ashlar/app/window/comparison"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/search"
)

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

// refresh rebuilds the rows if the answer or the choices have changed.
func (t *Panel) refresh(c *comparison.Comparison, a *session.CompareAnswer) {
	total := c.Options.Total
	k := tableKey{a.Table, t.By, t.Backward, t.Filters, total, c.Sides[c.Focus].Search.Pattern}
	if t.of == k {
		return
	}
	t.of = k
	t.Found = t.Found[:0]
	for i := range a.Table.Rows {
		if r := &a.Table.Rows[i]; t.keeps(r, total) && (k.search == nil || k.search.MatchFunction(&recording.Function{Name: r.Name, Module: r.Module})) {
			t.Found = append(t.Found, *r)
		}
	}
	slices.SortStableFunc(t.Found, func(x, y compare.Row) int {
		k := columns[t.By].order(&x, &y, total)
		if t.Backward {
			k = -k
		}
		return k
	})
}

// keeps reports whether a row passes the filters. Rows that are equal on both sides never
// do.
func (t *Panel) keeps(r *compare.Row, total bool) bool {
	d := delta(r, total)
	f := &t.Filters
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

// refreshed causes the rows to be filtered and sorted again.
func (t *Panel) refreshed() { t.of = tableKey{} }
