package shell

import (
	"image"
	"testing"
	"time"

	"gioui.org/io/input"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/render/theme"
)

// TestCopiedNamesHaveNoControlCharacters copies a name that would change a terminal's state
// if it were pasted there.
func TestCopiedNamesHaveNoControlCharacters(t *testing.T) {
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
	s.CopyLater("run\x1b]0;title\x07 \x00größe\n\tnext")
	frame()
	if _, got, ok := router.WriteClipboard(); !ok || string(got) != "run·]0;title· ·größe\n\tnext" {
		t.Errorf("the clipboard has %q", got)
	}
}
