package shell

import (
	"testing"
	"unicode/utf8"
)

// TestFewerParts checks that a text that is too wide loses whole parts, and its last part last.
func TestFewerParts(t *testing.T) {
	const text = "Firefox · 43 spans · 1 thread · 482.3 ms"
	for width, want := range map[int]string{
		50: text,
		39: "Firefox · 43 spans · … · 482.3 ms",
		32: "Firefox · … · 482.3 ms",
		3:  "Firefox · … · 482.3 ms",
	} {
		if got := fewerParts(text, func(s string) bool { return utf8.RuneCountInString(s) <= width }); got != want {
			t.Errorf("%d wide: %q, want %q", width, got, want)
		}
	}
}
