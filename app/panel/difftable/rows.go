package difftable

import (
	"cmp"
	"math"
	"slices"

	"ashlar/app/pair"
	"ashlar/app/session"
	"ashlar/ingest/compare"
	"ashlar/ingest/recording"
	"ashlar/ingest/search"
)

// values are A and B of a row, self or total.
func values(r *compare.Row, total bool) (a, b int64) {
	if total {
		return r.ATotal, r.BTotal
	}
	return r.ASelf, r.BSelf
}

func sureOf(r *compare.Row, total bool) *compare.Confidence {
	if total {
		return r.Total
	}
	return r.Self
}

type tableKey struct {
	table    *compare.Table
	by       DifferenceColumn
	backward bool
	filters  Filters
	total    bool
	search   *search.Pattern
}

// Filters say which rows are left; none of a kind set leaves all of it.
type Filters [filterCount]bool

// What rows can be filtered by.
const (
	filterWorse = iota
	filterBetter
	FilterNew
	FilterGone
	FilterSure
	filterCount
)

// FilterWords say what rows can be filtered by.
var FilterWords = [filterCount]string{"More in B", "Less in B", "New", "Gone", "Beyond noise"}

// refresh brings the rows in step with the answer and what was chosen.
func (t *Panel) refresh(c *pair.Pair, a *session.CompareAnswer) {
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
	t.sort(total)
}

// keeps reports whether the filters leave a row: what is the same on both sides is
// never a difference.
func (t *Panel) keeps(r *compare.Row, total bool) bool {
	a, b := values(r, total)
	f := &t.Filters
	if r.Status == compare.Same || a == b && r.Status == compare.Changed {
		return false
	}
	kinds := f[filterWorse] || f[filterBetter] || f[FilterNew] || f[FilterGone]
	kind := f[filterWorse] && b > a || f[filterBetter] && b < a || f[FilterNew] && r.Status == compare.New || f[FilterGone] && r.Status == compare.Gone
	if kinds && !kind {
		return false
	}
	conf := sureOf(r, total)
	return !f[FilterSure] || conf != nil && !pair.Noise(conf)
}

func (t *Panel) sort(total bool) {
	size := func(v int64) int64 { return max(v, -v) }
	delta := func(r *compare.Row) int64 {
		a, b := values(r, total)
		return b - a
	}
	ratio := func(r *compare.Row) float64 {
		a, b := values(r, total)
		if a == 0 {
			return math.Inf(1)
		}
		return math.Abs(math.Log(math.Max(1e-9, float64(b)/float64(a))))
	}
	level := func(r *compare.Row) float64 {
		if conf := sureOf(r, total); conf != nil {
			return conf.Level()
		}
		return -1
	}
	by := map[DifferenceColumn]func(x, y *compare.Row) int{
		ColumnDifference: func(x, y *compare.Row) int { return cmp.Compare(size(delta(y)), size(delta(x))) },
		columnShare:      func(x, y *compare.Row) int { return cmp.Compare(delta(y), delta(x)) },
		ColumnName:       func(x, y *compare.Row) int { return cmp.Compare(x.Name, y.Name) },
		columnModule:     func(x, y *compare.Row) int { return cmp.Compare(x.Module, y.Module) },
		columnA: func(x, y *compare.Row) int {
			a, _ := values(x, total)
			b, _ := values(y, total)
			return cmp.Compare(b, a)
		},
		columnB: func(x, y *compare.Row) int {
			_, a := values(x, total)
			_, b := values(y, total)
			return cmp.Compare(b, a)
		},
		columnChange: func(x, y *compare.Row) int { return cmp.Compare(ratio(y), ratio(x)) },
		columnSure:   func(x, y *compare.Row) int { return cmp.Compare(level(y), level(x)) },
		columnOther: func(x, y *compare.Row) int {
			a, b := values(x, !total)
			d, e := values(y, !total)
			return cmp.Compare(size(e-d), size(b-a))
		},
	}[t.By]
	slices.SortStableFunc(t.Found, func(x, y compare.Row) int {
		k := by(&x, &y)
		if t.Backward {
			k = -k
		}
		return k
	})
}

// refreshed makes the rows be filtered and sorted anew.
func (t *Panel) refreshed() { t.of = tableKey{} }
