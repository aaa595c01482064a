package main

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIconsAreGenerated compares the pictures in the tree with those drawn now, by pixels,
// because Go versions may compress differently.
func TestIconsAreGenerated(t *testing.T) {
	want := files()
	entries, err := os.ReadDir("../icons")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(want) {
		t.Errorf("the folder icons has %d files, the design gives %d", len(entries), len(want))
	}
	for name, b := range want {
		have, err := os.ReadFile(filepath.Join("../icons", name))
		if err != nil {
			t.Error(err)
			continue
		}
		if !bytes.Equal(pixels(t, name, have), pixels(t, name, b)) {
			t.Errorf("icons/%s is not what the design gives: run go generate ./assets/desktop", name)
		}
	}
}

func pixels(t *testing.T, name string, b []byte) []byte {
	if !strings.HasSuffix(name, ".png") {
		return b
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var out []byte
	r := img.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			r, g, b, a := img.At(x, y).RGBA()
			out = append(out, byte(r>>8), byte(g>>8), byte(b>>8), byte(a>>8))
		}
	}
	return append(out, byte(r.Dx()), byte(r.Dy()))
}

// TestStonesAreSquared checks small icons: in the wall, all stones begin and end on whole
// pixels, so a row has no more colours than stones, joints and background.
func TestStonesAreSquared(t *testing.T) {
	for _, n := range []int{16, 24, 32, 48} {
		img := raster(app(n), n)
		fewest := n
		for y := n / 2; y < n; y++ {
			seen := map[[4]uint8]bool{}
			for x := n / 4; x < n*3/4; x++ {
				c := img.NRGBAAt(x, y)
				seen[[4]uint8{c.R, c.G, c.B, c.A}] = true
			}
			if len(seen) > 1 {
				fewest = min(fewest, len(seen))
			}
		}
		if fewest > 4 {
			t.Errorf("at %d pixels the clearest row of stones has %d colours: its joints are blurred", n, fewest)
		}
	}
}

func TestStonesBreakJoint(t *testing.T) {
	for _, w := range [][][]stone{wall, lowWall} {
		for i, course := range w {
			for j, s := range course {
				if s.from >= s.to {
					t.Errorf("stone %d of course %d is %v to %v wide", j, i, s.from, s.to)
				}
				if i == 0 || j == 0 {
					continue
				}
				for _, below := range w[i-1][1:] {
					if d := s.from - below.from; d > -.03 && d < .03 {
						t.Errorf("the joint at %v of course %d stands on the one below", s.from, i)
					}
				}
			}
		}
	}
}

func TestSVGIsWellFormed(t *testing.T) {
	for _, name := range []string{"app.svg", "document.svg"} {
		d := xml.NewDecoder(bytes.NewReader(files()[name]))
		shapes := 0
		for {
			tok, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if e, ok := tok.(xml.StartElement); ok && e.Name.Local != "svg" {
				shapes++
			}
		}
		if shapes < len(wall)*2 {
			t.Errorf("%s has %d shapes", name, shapes)
		}
	}
}
