package widget

import (
	"image"
	"testing"

	"ashlar/render/flame"
)

// TestTipsLeaveCallees checks that a tooltip above a point of a flamegraph ends above the
// bar at the point, wherever in the bar the point is; that without room it is below the
// point; and that no tooltip leaves the window.
func TestTipsLeaveCallees(t *testing.T) {
	px := func(dp float32) int { return int(2 * dp) }
	window, size := image.Pt(1200, 800), image.Pt(300, 120)
	for y := 0; y < window.Y; y += 7 {
		for x := 0; x < window.X; x += 50 {
			at := image.Pt(x, y)
			for _, above := range []bool{false, true} {
				box := tipBox(at, size, window, above, px)
				if !box.In(image.Rectangle{Max: window}) {
					t.Fatalf("at %v, above %v: the box %v leaves the window", at, above, box)
				}
				room := y-px(flame.BarHeight)-size.Y > px(8)
				if over := box.Max.Y <= y-px(flame.BarHeight); above && room && !over {
					t.Fatalf("at %v: the box %v covers the bar at the point", at, box)
				}
				if !above && y+size.Y < window.Y-px(24) && box.Min.Y <= y {
					t.Fatalf("at %v: the box %v is not below the point", at, box)
				}
			}
		}
	}
}
