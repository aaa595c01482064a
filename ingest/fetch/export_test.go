package fetch

import "time"

// SetToContinue sets the longest pause in an answer of a known length until the returned
// function is called.
func SetToContinue(d time.Duration) (restore func()) {
	was := toContinue
	toContinue = d
	return func() { toContinue = was }
}

// SetToExplain sets the time limit for an error message until the returned function is
// called.
func SetToExplain(d time.Duration) (restore func()) {
	was := toExplain
	toExplain = d
	return func() { toExplain = was }
}

// SetDownload sets the limits of downloads by build id until the returned function is called.
func SetDownload(most, kept int64, d time.Duration) (restore func()) {
	wasMost, wasKept, was := mostDownload, mostKept, toDownload
	mostDownload, mostKept, toDownload = most, kept, d
	return func() { mostDownload, mostKept, toDownload = wasMost, wasKept, was }
}
