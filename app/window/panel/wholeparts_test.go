package panel

import (
	"testing"
	"unicode/utf8"
)

// TestWholeParts checks that a text that is too wide loses whole parts, never letters or digits.
func TestWholeParts(t *testing.T) {
	const text = "Firefox · 43 spans · 1 thread · 482.3 ms"
	for _, x := range []struct {
		width, atEnd int
		want         string
	}{
		{50, 1, text}, {50, 0, text}, {40, 0, text},
		{37, 1, "Firefox · 43 spans … · 482.3 ms"},
		{30, 1, "Firefox … · 482.3 ms"}, {3, 1, "Firefox … · 482.3 ms"},
		{39, 0, "Firefox · 43 spans · 1 thread …"}, {25, 0, "Firefox · 43 spans …"}, {3, 0, "Firefox …"},
	} {
		if got := WholeParts(text, x.atEnd, func(s string) bool { return utf8.RuneCountInString(s) <= x.width }); got != x.want {
			t.Errorf("%d wide, with %d at the end: %q, want %q", x.width, x.atEnd, got, x.want)
		}
	}
	if got := WholeParts("perf script", 1, func(string) bool { return false }); got != "perf script" {
		t.Errorf("a single part became %q", got)
	}
}
