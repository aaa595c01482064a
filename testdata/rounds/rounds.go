// Package rounds scales down tests for short runs and for the race detector.
package rounds

import "testing"

// Of returns the number of rounds of a randomised test: n in a full run, n/8 in a short
// run, and a quarter of either with the race detector. The detector makes tests five to ten
// times as slow, and further rounds take the same locks again.
func Of[T int | int64 | uint64](n T) T {
	if Raced {
		n /= 4
	}
	if testing.Short() {
		n /= 8
	}
	return max(1, n)
}

// Size returns the size of an input: n, or few with the race detector, if a small input
// already shows the detector everything.
func Size[T int | int64 | uint64](n, few T) T {
	if Raced {
		return few
	}
	return n
}

// Unraced skips a test with the race detector, which would find nothing in it: the test
// starts no goroutines, or only those that other tests of the package start too.
func Unraced(t testing.TB) {
	t.Helper()
	if Raced {
		t.Skip("SKIPPED: no goroutines of its own; runs without the race detector")
	}
}
