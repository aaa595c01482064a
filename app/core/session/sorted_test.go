package session

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortFirst compares the first of sorted items with a stable sort of all.
func TestSortFirst(t *testing.T) {
	type item struct{ of, at int }
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 10, 500} {
		for _, kinds := range []int{1, 3, 1000} {
			all := make([]item, n)
			for i := range all {
				all[i] = item{r.IntN(kinds), i}
			}
			want := slices.Clone(all)
			slices.SortStableFunc(want, func(x, y item) int { return cmp.Compare(x.of, y.of) })
			for _, most := range []int{1, 7, n - 1, n, n + 1} {
				most = max(1, most)
				got := SortFirst(slices.Clone(all), most, func(x, y item) int { return cmp.Or(cmp.Compare(x.of, y.of), cmp.Compare(x.at, y.at)) })
				if !slices.Equal(got, want[:min(most, n)]) {
					t.Errorf("the first %d of %d items with %d keys are %v", most, n, kinds, got)
				}
			}
		}
	}
}

// TestSortedShowsTheFirstRows checks what a table shows while all its rows are sorted,
// and the first of them, which here takes until they are released: the old rows, then the
// first ones, at last all. A scrolled table keeps the old rows. Few rows are there at once.
func TestSortedShowsTheFirstRows(t *testing.T) {
	type rows struct{ key, most int }
	page, release, woken := make(chan struct{}), make(chan struct{}), make(chan struct{}, 9)
	made := func(k, most int) rows {
		if most > FirstPage {
			<-release
		} else {
			<-page
		}
		return rows{k, min(most, ManyRows+1)}
	}
	wake := func() { woken <- struct{}{} }
	var s Sorted[int, rows]
	defer s.Stop()
	update := func(k int, keep bool, want rows, busy bool) {
		t.Helper()
		if got, is := s.Update(k, ManyRows+1, keep, wake, made); got != want || is != busy {
			t.Errorf("key %d shows %v, busy %v; want %v, %v", k, got, is, want, busy)
		}
	}
	first, all := rows{1, FirstPage}, rows{1, ManyRows + 1}
	update(1, false, rows{}, true)
	page <- struct{}{}
	<-woken
	update(1, true, first, true) // there are no old rows to keep
	release <- struct{}{}
	<-woken
	update(1, false, all, false)
	update(2, true, all, true)
	page <- struct{}{}
	<-woken
	update(2, true, all, true)
	update(2, false, rows{2, FirstPage}, true)
	release <- struct{}{}
	<-woken
	update(2, true, rows{2, ManyRows + 1}, false)

	close(release)
	if got, busy := s.Update(3, ManyRows, false, wake, made); got != (rows{3, ManyRows + 1}) || busy {
		t.Errorf("few rows are %v, busy %v", got, busy)
	}
}
