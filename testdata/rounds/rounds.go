// Package rounds sets how much randomised tests do, in a short run and with the race
// detector.
package rounds

import "testing"

// Of returns n in a full run, an eighth of n in a short run, for people who wait for the
// result, and a quarter of that with the race detector: it makes everything take five to
// ten times as long, and each round takes the same locks as the others.
func Of[T int | int64 | uint64](n T) T {
	if Raced {
		n /= 4
	}
	if testing.Short() {
		n /= 8
	}
	return max(1, n)
}

// Size returns n, and few with the race detector: how large an input is of which the
// detector sees all in a small one.
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
