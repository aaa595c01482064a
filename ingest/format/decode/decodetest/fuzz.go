package decodetest

import (
	"fmt"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/model/recording"
)

// Sniffer is the function of a format that recognises it.
type Sniffer func(head []byte, whole bool) (decode.Confidence, error)

// Sniffs checks how sure a format is that contents are of it.
func Sniffs(t *testing.T, sniff Sniffer, whole bool, contents map[string]decode.Confidence) {
	t.Helper()
	for content, want := range contents {
		if got, err := sniff([]byte(content), whole); got != want || err != nil {
			t.Errorf("%q: %v %v, want %v", content, got, err, want)
		}
	}
}

// mostFuzzed is the most bytes that a decoder is tried with: what more do takes its time.
const mostFuzzed = 1 << 16

// Fuzz tries whatever bytes: a decoder comes to an end, and its ledger is balanced.
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

// FuzzParts feeds arbitrary bytes to a decoder in small chunks. The result must equal that
// for the whole input, as told describes it.
func FuzzParts[T any](f *testing.F, to Decoder, sniff Sniffer, told func(*recording.Recording) T) {
	f.Fuzz(func(t *testing.T, content []byte, chunk int) {
		if len(content) > mostFuzzed {
			return
		}
		sniff(content, true)
		made := func(chunk int) string {
			r, err := Bytes(t, to, content, chunk)
			return fmt.Sprint(err, r.Ledger, r.Warnings, told(r))
		}
		chunk = 1 + chunk&63
		if whole, parts := made(0), made(chunk); whole != parts {
			t.Fatalf("in chunks of %d\n%s\nwhole\n%s", chunk, parts, whole)
		}
	})
}
