package widget

import (
	"image"

	"gioui.org/io/key"

	"ashlar/ingest/query/analyze"
	"ashlar/render/flame"
	"ashlar/render/ui"
)

// A Bar is a bar of a flamegraph, for moving by keys; there may be two pictures, one
// above the other.
type Bar struct {
	X0, X1 float64
	Y      int
	pic    int
	Node   int32
	Tree   *analyze.Tree
}

func BarsOf(bs []Bar, n int, pic *flame.Picture) []Bar {
	for i := range pic.Bars {
		if b := &pic.Bars[i]; b.Row >= pic.First {
			bs = append(bs, Bar{b.X0, b.X1, pic.RowTop(b.Row), n, b.Node, pic.Tree})
		}
	}
	return bs
}

// BarOf returns the bar of a node of a tree. If there is none, it returns a bar of the
// node other, preferring one in the second picture.
func BarOf(bs []Bar, t *analyze.Tree, node, other int32) *Bar {
	var found *Bar
	for i := range bs {
		b := &bs[i]
		if t != nil && t == b.Tree && node == b.Node {
			return b
		}
		if b.Node == other && (found == nil || b.pic > 0) {
			found = b
		}
	}
	return found
}

// Beside returns the next bar in a direction, as the bars are drawn; nil for none.
func Beside(bs []Bar, from *Bar, dir key.Name) *Bar {
	if from == nil {
		return nil
	}
	var best *Bar
	for i := range bs {
		b := &bs[i]
		better := best == nil
		switch dir {
		case key.NameLeftArrow:
			if b == from || b.Y != from.Y || b.X1 > from.X0+.5 {
				continue
			}
			better = better || b.X0 > best.X0
		case key.NameRightArrow:
			if b == from || b.Y != from.Y || b.X0 < from.X1-.5 {
				continue
			}
			better = better || b.X0 < best.X0
		default:
			d := b.Y - from.Y
			if dir == key.NameUpArrow {
				d = -d
			}
			if d <= 0 || b.X1 <= from.X0 || b.X0 >= from.X1 {
				continue
			}
			if best != nil {
				e := max(best.Y-from.Y, from.Y-best.Y)
				better = d < e || d == e && b.X1-b.X0 > best.X1-best.X0
			}
		}
		if better {
			best = b
		}
	}
	return best
}

// Outline draws a frame w pixels thick around a node's bar of a picture in r.
func Outline(u *ui.UI, pic *flame.Picture, r image.Rectangle, node int32, c ui.Colour, w int) {
	for i := range pic.Bars {
		b := &pic.Bars[i]
		if b.Node != node || b.Row < pic.First {
			continue
		}
		y := pic.RowTop(b.Row)
		u.At(r, func(u *ui.UI) {
			r := image.Rect(int(b.X0), y, max(int(b.X0)+1, int(b.X1)), y+u.Px(flame.BarHeight)-1)
			if r.Dx() < 3*w {
				u.Fill(r, c)
			} else {
				u.Border(r, 0, w, c)
			}
		})
	}
}
