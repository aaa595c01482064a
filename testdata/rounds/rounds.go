// Package rounds sets how often randomised tests repeat.
package rounds

import "testing"

// Of returns n in a full run and an eighth of n in a short run. Short runs are for people
// who wait for the result, and for the race detector: it makes everything take five to
// ten times as long, and each round takes the same locks as the others.
func Of[T int | int64 | uint64](n T) T {
	if testing.Short() {
		return max(1, n/8)
	}
	return n
}
