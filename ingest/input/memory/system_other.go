//go:build !linux

package memory

// available is not known here; GOMEMLIMIT still counts.
func available() (int64, bool) { return 0, false }

// addresses are not limited here.
func addresses() (int64, bool) { return 0, false }
