package shell

import (
	"strings"
	"testing"
)

// TestATitleThatIsTypedComesFirst: whoever types a command's whole title, in
// whatever case, and presses Return gets that command; its beginning comes before
// titles that have it further on.
func TestATitleThatIsTypedComesFirst(t *testing.T) {
	b := newBench(t, someTrace)
	b.openPalette()
	first := func(text string) string {
		b.Chooser.SetText(text)
		b.Chooser.Refresh()
		if len(b.Chooser.Lines) == 0 {
			return ""
		}
		return b.Chooser.Lines[0].Title
	}
	for _, c := range Commands {
		for _, text := range []string{c.Title, strings.ToUpper(c.Title), " " + c.Title + " "} {
			if got := first(text); got != c.Title {
				t.Errorf("%q has %q first", text, got)
			}
		}
	}
	for text, want := range map[string]string{"calls": "Calls", "function table": "Table of functions", "heat": "Heatmap"} {
		if got := first(text); got != want {
			t.Errorf("%q has %q first, not %q", text, got, want)
		}
	}
}
