// Package rounds sets how often randomised tests repeat.
package rounds

import "testing"

// Of returns n in a full run, an eighth of n in a short run, for people who wait for the
// result, and a quarter of that with the race detector: it makes everything take five to
// ten times as long, and each round takes the same locks as the others.
func Of[T int | int64 | uint64](n T) T {
	if raced {
		n /= 4
	}
	if testing.Short() {
		n /= 8
	}
	return max(1, n)
}
