package raster

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestPooledCanvasesStayUntilTheFourthRequest requests canvases of many sizes: none may
// share memory with one of the three before it, whether its memory is new, kept or was
// prepared in the background.
func TestPooledCanvasesStayUntilTheFourthRequest(t *testing.T) {
	var p Pool
	r := rand.New(rand.NewPCG(5, 6))
	var last []*Canvas
	w, h := 300, 200
	for i := range 400 {
		switch r.IntN(8) {
		case 0:
			w, h = 1+r.IntN(600), 1+r.IntN(400)
		case 1:
			w += 3
		case 2:
			time.Sleep(time.Millisecond) // memory is being prepared
		}
		c := p.Canvas(w, h, Color(i))
		if width, height := c.Size(); width != w || height != h || len(c.pix) != w*h || c.Img.Stride != 4*w {
			t.Fatalf("canvas of %d by %d pixels, requested were %d by %d", width, height, w, h)
		}
		last = append(last, c)
		for k := max(0, i-3); k <= i; k++ {
			for x, v := range last[k].pix {
				if v != uint32(k) {
					t.Fatalf("pixel %d of canvas %d is %d after canvas %d of %d by %d pixels", x, k, v, i, w, h)
				}
			}
		}
		if i > 3 {
			last[i-4] = nil
		}
	}
}
