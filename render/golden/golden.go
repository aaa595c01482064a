// Package golden compares pictures that tests draw with those that were looked
// at and kept.
package golden

import (
	"errors"
	"flag"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"ashlar/render/raster"
	"ashlar/render/theme"
)

var update = flag.Bool("update", false, "write the golden pictures anew")

// Check fails the test when a picture is not like testdata/NAME.png: more than
// one pixel in 500 differs visibly. With -update it writes the file instead.
func Check(t *testing.T, name string, got *image.RGBA) {
	t.Helper()
	path := filepath.Join("testdata", name+".png")
	if *update {
		if err := write(path, got); err != nil {
			t.Fatal(err)
		}
		return
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		t.Fatalf("there is no %s: draw it with go test -update, and look at it", path)
	} else if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if bad, all := Differ(want, got); bad*500 > all {
		out := filepath.Join(t.ArtifactDir(), name+".got.png")
		if err := write(out, got); err != nil {
			t.Error(err)
		}
		t.Errorf("%d of %d pixels differ from %s; what was drawn is in %s", bad, all, path, out)
	}
}

// Draw draws a picture on a canvas of the theme's background.
func Draw(w, h int, th *theme.Theme, paint func(on raster.Surface)) *image.RGBA {
	c := raster.NewCanvas(w, h, raster.Pack(th.Background))
	paint(c)
	return c.Img
}

// Differ counts the pixels that differ visibly; pictures of different sizes
// differ in all.
func Differ(a image.Image, b *image.RGBA) (bad, all int) {
	all = b.Rect.Dx() * b.Rect.Dy()
	if a.Bounds().Size() != b.Bounds().Size() {
		return all, all
	}
	for y := range b.Rect.Dy() {
		for x := range b.Rect.Dx() {
			r, g, bl, _ := a.At(x, y).RGBA()
			c := b.RGBAAt(x, y)
			if far(c.R, r) || far(c.G, g) || far(c.B, bl) {
				bad++
			}
		}
	}
	return bad, all
}

func far(a uint8, b uint32) bool {
	d := int(a) - int(b>>8)
	return d > 24 || d < -24
}

func write(path string, img image.Image) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = png.Encode(f, img)
	return errors.Join(err, f.Close())
}
