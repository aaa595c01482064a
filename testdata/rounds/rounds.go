// Package rounds sets how often randomised tests repeat.
package rounds

import "testing"

// Of returns n in a full run and an eighth of it in a short one. Short runs are for the
// race detector, with which everything takes five to ten times as long and each round
// takes the same locks as the others, and for runs that somebody waits for.
func Of[T int | int64 | uint64](n T) T {
	if testing.Short() {
		return max(1, n/8)
	}
	return n
}
