package histogram

import (
	"math"
	"math/rand/v2"
	"testing"

	"ashlar/render/golden"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

// dots returns random calls; some of those that start between 4 s and 5 s are longer.
func dots(n int) (d *Dots, starts, took []int64) {
	r := rand.New(rand.NewPCG(5, 16))
	for range n {
		s := r.Int64N(9e12)
		t := 2e9 + int64(r.ExpFloat64()*1e9)
		if s > 4e12 && s < 5e12 && r.IntN(3) == 0 {
			t *= 9
		}
		starts, took = append(starts, s), append(took, t)
	}
	return NewDots(n, 0, 9e12, func(i int) (int64, int64) { return starts[i], took[i] }), starts, took
}

func dotPicture(d *Dots, th *theme.Theme) *DotPicture {
	return &DotPicture{Of: d, Theme: th, Font: raster.Regular(11), Scale: 1}
}

func TestGoldenDots(t *testing.T) {
	few, _, _ := dots(400)
	golden.Paint(t, "dots-few-dark", 640, 200, theme.Dark, dotPicture(few, theme.Dark).Paint)
	many, _, _ := dots(200_000)
	p := dotPicture(many, theme.Light)
	p.Linear = true
	golden.Paint(t, "dots-many-light", 640, 200, p.Theme, p.Paint)
}

// TestDotsArePointedAt compares At with a search for the nearest of all calls. At returns
// -1 if none is near.
func TestDotsArePointedAt(t *testing.T) {
	d, starts, took := dots(3000)
	r := rand.New(rand.NewPCG(6, 16))
	found, missed := 0, 0
	for _, linear := range []bool{false, true} {
		p := dotPicture(d, theme.Dark)
		p.Linear = linear
		golden.Draw(700, 180, p.Theme, p.Paint)
		for range 2000 {
			x, y := r.Float64()*700, r.Float64()*180
			best, want := 36.0, -1
			for i := range starts {
				if q := math.Pow(p.X(starts[i])-x, 2) + math.Pow(p.Y(took[i])-y, 2); q < best {
					best, want = q, i
				}
			}
			got := p.At(x, y)
			if (got < 0) != (want < 0) || got >= 0 && math.Abs(math.Pow(p.X(starts[got])-x, 2)+math.Pow(p.Y(took[got])-y, 2)-best) > 1e-6 {
				t.Fatalf("at %.1f, %.1f is row %d, want %d", x, y, got, want)
			}
			if got < 0 {
				missed++
			} else {
				found++
			}
		}
	}
	if found < 100 || missed < 100 {
		t.Errorf("%d were found and %d not: nothing is tried", found, missed)
	}
}

// TestDotsAreAllDrawn checks that every call has a dot at its position.
func TestDotsAreAllDrawn(t *testing.T) {
	d, starts, took := dots(500)
	p := dotPicture(d, theme.Dark)
	img := golden.Draw(640, 200, p.Theme, p.Paint)
	for i := range starts {
		x, y := int(p.X(starts[i])), int(p.Y(took[i]))
		lit := false
		for dy := -2; dy <= 2; dy++ {
			for dx := -2; dx <= 2; dx++ {
				c := img.RGBAAt(x+dx, y+dy)
				lit = lit || c.B > c.R+60 // the accent colour
			}
		}
		if !lit {
			t.Fatalf("call %d at %d, %d is not seen", i, x, y)
		}
	}
	for _, at := range []int64{1e9, 5e12} {
		if got := p.Time(p.X(at)); math.Abs(float64(got-at)) > 2e7 {
			t.Errorf("the time %d comes back as %d", at, got)
		}
	}
	for _, length := range []int64{3e9, 4e10} {
		if got := p.Took(p.Y(length)); math.Abs(float64(got-length)) > 1e6 {
			t.Errorf("the duration %d comes back as %d", length, got)
		}
	}
}
