// Package order sorts lists by a comparison, compiled once for all types of elements.
package order

import "sort"

// By sorts a list stably by compare, which is as for [slices.SortFunc]. Unlike package slices
// it does not compile a whole sort for each type: that takes 10 KB each. It is for lists
// that are not so long that the sort's speed counts.
func By[T any](list []T, compare func(a, b T) int) { sort.Stable(&by[T]{list, compare}) }

type by[T any] struct {
	list    []T
	compare func(a, b T) int
}

func (s *by[T]) Len() int           { return len(s.list) }
func (s *by[T]) Less(i, j int) bool { return s.compare(s.list[i], s.list[j]) < 0 }
func (s *by[T]) Swap(i, j int)      { s.list[i], s.list[j] = s.list[j], s.list[i] }
