package raster

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestStripsEqualShapesOnACanvas draws bars on a strip and, each with all its pixels, on a
// canvas: the pictures must be equal.
func TestStripsEqualShapesOnACanvas(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	var s Strip
	rounded := 0
	for range 300 {
		w, height, y, from := 20+r.IntN(80), 30, r.IntN(30)-10, r.IntN(10)
		h := 1 + r.IntN(24)
		plain, strip := NewCanvas(w, height, 0xff102030), NewCanvas(w, height, 0xff102030)
		line := s.Start(w)
		for x := range line {
			line[x] = Color(0xff000000 | uint32(x*7+h))
			plain.Rect(x, y, x+1, y+h, line[x])
		}
		s.Filled()
		for range r.IntN(12) {
			x0 := r.IntN(w+20) - 10
			x1, mid := x0+r.IntN(40), x0+r.IntN(40)
			col, second, a, radius := Color(0xff000000|r.Uint32N(1<<24)), Color(0xff000000|r.Uint32N(1<<24)), r.Uint32N(256), r.IntN(4)
			for _, on := range []Shapes{plain, &s} {
				switch a % 4 {
				case 0:
					on.Rect(x0, y, x1, y+h, col)
				case 1:
					on.Shade(x0, y, x1, y+h, col, a)
				case 2:
					on.Bar(x0, y, x1, y+h, col, radius)
				default:
					BarOfTwo(on, x0, mid, x1, y, y+h, col, second, radius)
				}
			}
			if radius > 0 && a%4 > 1 && x1-x0 >= 4*radius && h >= 4*radius {
				rounded++
			}
		}
		strip.Strip(&s, from, y, y+h)
		plain.Rect(0, y, from, y+h, 0xff102030)
		if !bytes.Equal(plain.Img.Pix, strip.Img.Pix) {
			t.Fatalf("strip of %d by %d pixels at %d differs from the same shapes on a canvas", w, h, y)
		}
	}
	if rounded < 100 {
		t.Fatalf("only %d bars had round corners", rounded)
	}
}
