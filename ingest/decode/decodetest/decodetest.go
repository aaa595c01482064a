// Package decodetest has what the decoders' tests share.
package decodetest

import (
	"testing"

	"ashlar/ingest/recording"
)

// Balanced checks that the ledger accounts for every record: what was read was
// kept or left out, and what was repaired was kept.
func Balanced(t testing.TB, r *recording.Recording) {
	t.Helper()
	for _, l := range r.Ledger {
		if l.Read != l.Kept+l.LeftOut || l.Repaired > l.Kept {
			t.Errorf("ledger does not balance: %+v", l)
		}
	}
}

// Sentence checks what is said of a file with one thing wrong: the error, else the
// first warning and its place.
func Sentence(t testing.TB, name string, r *recording.Recording, err error, place, want string) {
	t.Helper()
	Balanced(t, r)
	at, got := "", ""
	switch {
	case err != nil:
		got = err.Error()
	case len(r.Warnings) > 0:
		at, got = r.Warnings[0].First, r.Warnings[0].Text
	}
	if at != place || got != want {
		t.Errorf("%s:\n got %s: %s\nwant %s: %s", name, at, got, place, want)
	}
}
