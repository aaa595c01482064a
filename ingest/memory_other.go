//go:build !linux

package ingest

// available is not known here; GOMEMLIMIT still counts.
func available() (int64, bool) { return 0, false }
