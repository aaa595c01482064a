package decodetest

import (
	"fmt"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/model/recording"
)

// Sniffer is the Sniff function of a format.
type Sniffer func(head []byte, whole bool) (decode.Confidence, error)

// Sniffs checks the confidence of a format for several contents.
func Sniffs(t *testing.T, sniff Sniffer, whole bool, contents map[string]decode.Confidence) {
	t.Helper()
	for content, want := range contents {
		if got, err := sniff([]byte(content), whole); got != want || err != nil {
			t.Errorf("%q: %v %v, want %v", content, got, err, want)
		}
	}
}

// mostFuzzed is the maximum number of bytes to decode in a fuzz test; larger inputs take
// too long.
const mostFuzzed = 1 << 16

// Fuzz feeds arbitrary bytes to a decoder, which must return with a balanced ledger.
func Fuzz(f *testing.F, to Decoder, sniff Sniffer) {
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) > mostFuzzed {
			return
		}
		for _, whole := range []bool{false, true} {
			sniff(content, whole)
		}
		Bytes(t, to, content, 0)
	})
}

// FuzzParts feeds arbitrary bytes to a decoder in small chunks. The result of describe must
// be the same as for the whole input at once.
func FuzzParts[T any](f *testing.F, to Decoder, sniff Sniffer, describe func(*recording.Recording) T) {
	f.Fuzz(func(t *testing.T, content []byte, chunk int) {
		if len(content) > mostFuzzed {
			return
		}
		sniff(content, true)
		made := func(chunk int) string {
			r, err := Bytes(t, to, content, chunk)
			return fmt.Sprint(err, r.Ledger, r.Warnings, describe(r))
		}
		chunk = 1 + chunk&63
		if whole, parts := made(0), made(chunk); whole != parts {
			t.Fatalf("in chunks of %d\n%s\nwhole\n%s", chunk, parts, whole)
		}
	})
}
