package shell

import (
	"strings"
	"testing"

	"ashlar/app/core/view"
)

// TestInvalidPartsAreNamed checks that the window names an invalid search, transform or
// filter of an address, and shows the rest of it.
func TestInvalidPartsAreNamed(t *testing.T) {
	b := newBench(t, someTrace)
	for part, want := range map[string]string{
		"find=name:/(/":       "the address has an invalid search: /(/ is not a regular expression",
		"transform=focus:/(/": "the address has an invalid transform: /(/ is neither",
		"transform=rotate":    `the address has an invalid transform: unknown transform "rotate"`,
		"calls-filter=a~(":    "the address has an invalid filter of calls: ",
	} {
		v, err := view.Parse("ashlar:1?file=" + b.Pane.Path + "&select=10us..20us&" + part)
		if err != nil {
			t.Fatal(err)
		}
		b.Visit(v)
		b.until(want, func() bool { return strings.Contains(b.Note.Text, want) })
		if got := b.Address().String(); !strings.Contains(got, "select=10us..20us") {
			t.Errorf("%s: it shows %s", part, got)
		}
	}
}
