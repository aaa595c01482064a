package ui

import (
	"image"
	"testing"

	"gioui.org/f32"
	"gioui.org/io/input"
	"gioui.org/io/pointer"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"
	"gioui.org/widget"

	"ashlar/render/theme"
)

// TestClickFollowsThePointer checks that a button is drawn as hovered in the frame in which
// the pointer comes, and no longer in the frame in which it leaves: no other frame may follow.
func TestClickFollowsThePointer(t *testing.T) {
	var router input.Router
	var b widget.Clickable
	u := &UI{Context: layout.Context{Ops: new(op.Ops), Source: router.Source(), Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}}, Theme: theme.Dark}
	frame := func(at f32.Point) (hovered bool) {
		router.Queue(pointer.Event{Kind: pointer.Move, Source: pointer.Mouse, Position: at})
		u.Ops.Reset()
		u.Click(&b, image.Rect(10, 10, 50, 30), func(h bool) { hovered = h })
		router.Frame(u.Ops)
		return hovered
	}
	out, in := f32.Pt(90, 90), f32.Pt(20, 20)
	frame(out)
	for i, at := range []f32.Point{in, in, out, out, in, out} {
		if got := frame(at); got != (at == in) {
			t.Errorf("pointer %d is at %v, and the button is hovered: %v", i, at, got)
		}
	}
}
