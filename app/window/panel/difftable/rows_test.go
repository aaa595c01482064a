package difftable

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ashlar/app/core/session"
	"ashlar/ingest/query/compare"
)

// TestRowsAreInOrder compares the rows of all columns with a stable sort of those that
// pass the filters, and the first page with the first of all.
func TestRowsAreInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	statuses := []compare.Status{compare.Same, compare.Changed, compare.New, compare.Gone}
	table := new(compare.Table)
	for range 3 * session.FirstPage {
		table.Rows = append(table.Rows, compare.Row{Name: fmt.Sprint("f", r.IntN(99)), Module: fmt.Sprint("m", r.IntN(5)), Status: statuses[r.IntN(4)],
			ASelf: r.Int64N(9), BSelf: r.Int64N(9), ATotal: 9 + r.Int64N(9), BTotal: 9 + r.Int64N(9)})
	}
	for by := range DifferenceColumns {
		for i := range 8 {
			k := tableKey{table: table, by: by, backward: i&1 > 0, total: i&2 > 0}
			k.filters[FilterNew] = i&4 > 0
			var want []compare.Row
			for _, x := range table.Rows {
				if moves := x.ASelf != x.BSelf; k.total && x.ATotal != x.BTotal || !k.total && moves || x.OneSided() {
					if x.Status == compare.New || !k.filters[FilterNew] && x.Status != compare.Same {
						want = append(want, x)
					}
				}
			}
			slices.SortStableFunc(want, func(x, y compare.Row) int {
				if k.backward {
					return columns[by].order(&y, &x, k.total)
				}
				return columns[by].order(&x, &y, k.total)
			})
			got := arrange(k, len(table.Rows))
			if !slices.Equal(got.Found, want) || !got.modules {
				t.Errorf("by %s, %+v: the rows are not in that order", columns[by].key, k.filters)
			}
			if page := arrange(k, session.FirstPage).Found; !slices.Equal(page, want[:min(len(want), session.FirstPage)]) {
				t.Errorf("by %s: the first page is not the first of the rows", columns[by].key)
			}
		}
	}
}
