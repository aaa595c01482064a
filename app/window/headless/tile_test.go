package headless

import (
	"image"
	"testing"

	"gioui.org/op"

	"ashlar/app/core/view"
	"ashlar/app/desktop/outfile"
	"ashlar/app/window/drawing"
	"ashlar/app/window/shell"
	"ashlar/render/theme"
)

// replaced makes tests overwrite pictures.
var replaced = outfile.Options{Replace: true}

// TestTiles checks that a picture drawn in parts equals one drawn at once.
func TestTiles(t *testing.T) {
	s := shell.New(theme.Light)
	defer s.Close()
	s.OpenDemo()
	settle(t, s, view.Stacks{})
	size := image.Rect(0, 0, 1000, 640)
	var ops op.Ops
	laid := drawing.Frame(s, &ops, size.Dx(), size.Dy(), 1)
	want, err := drawTiled(laid, size, 1000)
	if err != nil {
		t.Fatal(err)
	}
	got, err := drawTiled(laid, size, 333)
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for i, v := range want.Pix {
		most = max(most, int(v)-int(got.Pix[i]), int(got.Pix[i])-int(v))
	}
	if most > 3 { // of 255; antialiasing may differ slightly at the edges of shapes
		t.Errorf("pixels differ by up to %d", most)
	}
}

// TestLargePictures draws pictures larger than a GPU texture may be and checks that they
// are filled to their far edges.
func TestLargePictures(t *testing.T) {
	s := shell.New(theme.Dark)
	defer s.Close()
	s.OpenDemo()
	settle(t, s, view.Stacks{})
	for _, size := range []image.Point{{16384, 500}, {600, 16384}} {
		img, err := Draw(s, size.X, size.Y, 1)
		if err != nil {
			t.Fatal(err)
		}
		if img.Rect.Max != size {
			t.Fatalf("the picture is %v, want %v", img.Rect.Max, size)
		}
		// The status line fills the last rows over the whole width.
		for _, x := range []int{0, size.X / 2, size.X - 1} {
			if c := img.RGBAAt(x, size.Y-3); c.A != 255 {
				t.Errorf("%v: nothing is drawn at %d of the last rows", size, x)
			}
		}
	}
}
