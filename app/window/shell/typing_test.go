package shell

import (
	"image"
	"strings"
	"testing"
	"time"

	"gioui.org/io/input"
	"gioui.org/io/key"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/render/theme"
)

// TestWhatIsTypedAtOnceTakesTheNamesPlace types into the line for a file's name
// right after the frame that opened it, as the window does: what a key types
// goes where the router says the selection is.
func TestWhatIsTypedAtOnceTakesTheNamesPlace(t *testing.T) {
	s := New(theme.Dark)
	defer s.Close()
	var ops op.Ops
	var router input.Router
	frame := func() {
		ops.Reset()
		s.Layout(layout.Context{Ops: &ops, Now: time.Now(), Source: router.Source(),
			Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}, Constraints: layout.Exact(image.Pt(1000, 700))})
		router.Frame(&ops)
	}
	frame()
	s.askSave("A name", "offered.png", func(string) error { return nil })
	folder := strings.TrimSuffix(s.Chooser.Editor.Text(), "offered.png")
	frame()
	for i, letter := range "ab" {
		at := router.EditorState().Selection.Range
		router.Queue(key.EditEvent{Range: at, Text: string(letter)})
		if i == 0 { // the first letter takes the name's place, the next is behind it
			n := len([]rune(folder)) + 1
			router.Queue(key.SelectionEvent(key.Range{Start: n, End: n}))
		}
		frame()
	}
	if got := s.Chooser.Editor.Text(); got != folder+"ab" {
		t.Errorf("the line has %q, not %q", got, folder+"ab")
	}
}
