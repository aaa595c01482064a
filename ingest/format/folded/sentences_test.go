package folded

import (
	"strings"
	"testing"

	"ashlar/ingest/format/decode/decodetest"
)

// TestSentences checks the message for a text with one fault per case: the first warning
// and its place, or the error.
func TestSentences(t *testing.T) {
	for _, c := range []struct{ name, text, place, want string }{
		{"prose", "not a stack\nnor this\n", "", "none of 2 lines is a stack (frames with ';' between them, a space and a count)"},
		{"prose between", "a;b 1\nnot a stack\n", "line 2", "Line 2 is not a stack (frames with ';' between them, a space and a count) and was left out"},
		{"no count", "a;b 1\na;b\n", "line 2", "Line 2 has no count; it counts as 1"},
		{"a count too large", "b 1\na 99999999999999999999\n", "line 2", "Line 2 has a count beyond ±(2^63 − 1), which was limited"},
		{"a count too low", "b 1\na -9223372036854775808\n", "line 2", "Line 2 has a count beyond ±(2^63 − 1), which was limited"},
		{"too large together", "a 9223372036854775807\nb 1\n", "", `the total of metric "samples" exceeds 2^63 of its smallest unit (for times, 106 days); sums are limited to that`},
		{"decimals too fine", "a 9000000000000000000\nb 1.26\n", "line 2", "The count on line 2 has too many digits and was rounded"},
		{"more digits than fit", "a;b 14.2343983248722834234\n", "line 1", "The count on line 1 has too many digits and was rounded"},
		{"one count among twos", strings.Join(strings.Split("a;b a;c a;d a;e a;f a;g a;h a;i a;j a;k ", " "), " 1 2\n") + "a 3\n", "line 11", "Line 11 has one count instead of two; it counts as A"},
		{"half a letter", "\xFE\xFF\x00a\x00 \x001\x00\n\xD8\x00\x00 \x002", "", "1 UTF-16 code units (half of a pair, or cut off at the end) are invalid and shown as U+FFFD"},
	} {
		r, err := decodeBytes(t, []byte(c.text), 0)
		decodetest.Sentence(t, c.name, r, err, c.place, c.want)
	}
}
