// Package rounds sets how often randomised tests repeat.
package rounds

import "testing"

// Of is n in a full run and an eighth of it in a short one: with the race detector, where
// everything takes five to ten times as long and each round locks as the others do, and
// while somebody waits.
func Of[T int | int64 | uint64](n T) T {
	if testing.Short() {
		return max(1, n/8)
	}
	return n
}
