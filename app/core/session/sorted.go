package session

import (
	"context"
	"math"
	"slices"
)

// Sorted computes the rows R of a table that is filtered and sorted by a key K. Few rows
// are computed at once, so that no old ones show. Many are computed in the background;
// meanwhile the first of them, which are found much sooner, are shown, and before that the
// rows of the previous key. The zero value is ready to use.
type Sorted[K comparable, R any] struct {
	first, all Async[K, R]
	shown      R
	any        bool // shown is set
}

const (
	// ManyRows is the maximum number of rows that are sorted within a frame.
	ManyRows = 20_000
	// FirstPage is the number of rows shown while all are being sorted.
	FirstPage = 200
)

// Update asks for the rows of k, made from n rows by rows, which returns only the first
// most of them. It returns the rows to show, none before the first, and reports whether
// all rows of k are still being sorted. With keep, the list is scrolled, so the old rows
// are not replaced by a first page. wake is as for Async.Ask.
func (s *Sorted[K, R]) Update(k K, n int, keep bool, wake func(), rows func(k K, most int) R) (shown R, busy bool) {
	if n <= ManyRows {
		wake = nil
	}
	ask := func(a *Async[K, R], most int) (R, bool) {
		r, of, ok := a.Ask(k, wake, func(context.Context) (R, error) { return rows(k, most), nil })
		return r, ok && of == k
	}
	if _, of, ok := s.all.Last(); wake != nil && (!ok || of != k) {
		if page, ok := ask(&s.first, FirstPage); ok && (!keep || !s.any) {
			s.shown, s.any = page, true
		}
	}
	all, ok := ask(&s.all, math.MaxInt)
	if ok {
		s.first.Stop()
		s.shown, s.any = all, true
	}
	return s.shown, !ok
}

// Stop cancels the background work and forgets the rows.
func (s *Sorted[K, R]) Stop() {
	s.first.Stop()
	s.all.Stop()
	*s = Sorted[K, R]{}
}

// SortFirst sorts items and returns at most limit of them, which must be at least 1. A small
// limit takes much less time. compare must tell all items apart.
func SortFirst[T any](items []T, limit int, compare func(x, y T) int) []T {
	if limit >= len(items) {
		slices.SortFunc(items, compare)
		return items
	}
	first := make([]T, 0, limit+1)
	for _, x := range items {
		if len(first) == limit && compare(x, first[limit-1]) >= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(first, x, compare)
		first = slices.Insert(first, at, x)
		first = first[:min(len(first), limit)]
	}
	return first
}
