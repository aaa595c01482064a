package shell

import (
	"strings"
	"testing"

	"gioui.org/io/key"

	"ashlar/app/core/manual"
	"ashlar/testdata/rounds"
)

// TestManualInTheWindow turns through all pages of the manual with keys and checks that
// no word is missing.
func TestManualInTheWindow(t *testing.T) {
	rounds.Unraced(t)
	b := newBench(t, "a;b 1\n")
	b.press(key.NameF1, 0)
	if b.Chooser == nil {
		t.Fatal("F1 opens nothing")
	}
	b.Chooser.Refresh()
	b.Chooser.Take(0)
	for range 3 { // the text field of the chooser gives up the keyboard focus
		b.frame()
	}
	for i, p := range manual.Pages() {
		if !b.Help || b.reading == nil || b.reading.at != i {
			t.Fatalf("page %d is not shown: %+v", i, b.reading)
		}
		got := strings.Join(strings.Fields(strings.Join(b.reading.lines, " ")), " ")
		for _, block := range p.Blocks[1:] {
			for _, run := range block.Text {
				for _, word := range strings.Fields(run.Text) {
					if !strings.Contains(got, word) {
						t.Errorf("the page %s lacks the word %q", p.Topic, word)
					}
				}
			}
		}
		b.press(key.NamePageDown, 0)
		if down := b.reading.Down; len(b.reading.lines) > 60 && down == 0 {
			t.Errorf("the page %s has %d lines and does not scroll", p.Topic, len(b.reading.lines))
		}
		b.press(key.NameRightArrow, 0)
		b.frame()
		if b.reading.Down != 0 {
			t.Errorf("the page behind %s begins at %d", p.Topic, b.reading.Down)
		}
	}
	b.press(key.NameEscape, 0)
	if b.Help {
		t.Error("Esc does not close the page")
	}
	b.press("?", 0)
	if !b.Help || b.reading != nil {
		t.Error("? does not show the keys")
	}
}
