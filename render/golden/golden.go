// Package golden compares pictures drawn by tests with reviewed copies in the repository.
//
// Most copies are stored as shapes, in an SVG file that is compared byte by byte and
// whose diffs are readable. A few are also stored as pixels and compared by tiles,
// because people see pixels; but a change of one word stores a whole new picture in the
// repository.
package golden

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ashlar/render/raster"
	"ashlar/render/svg"
	"ashlar/render/theme"
)

var update = flag.Bool("update", false, "write what is kept of pictures anew, where it differs")

// CheckShapes fails the test unless the shapes equal the file path.svg. With -update it
// writes the file instead.
func CheckShapes(t testing.TB, path string, c *svg.Canvas, title string) {
	t.Helper()
	path += ".svg"
	var b bytes.Buffer
	if err := c.Write(&b, title); err != nil {
		t.Fatal(err)
	}
	got := condense(b.String())
	want, err := os.ReadFile(path)
	switch {
	case err == nil && string(want) == got:
		return
	case *update:
		if err := write(path, []byte(got)); err != nil {
			t.Fatal(err)
		}
		return
	case errors.Is(err, os.ErrNotExist):
		t.Fatalf("there is no %s: draw it with go test -update, and look at it", path)
	case err != nil:
		t.Fatal(err)
	}
	out := filepath.Join(t.ArtifactDir(), filepath.Base(path))
	if err := write(out, b.Bytes()); err != nil {
		t.Error(err)
	}
	t.Errorf("the shapes are not those of %s; they are in %s (-artifacts keeps them), and -update keeps them from now on:\n%s", path, out, firstDifference(string(want), got))
}

// firstDifference returns the first lines that differ between two texts.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	n := 0
	for n < min(len(w), len(g))-1 && w[n] == g[n] {
		n++
	}
	part := func(sign string, lines []string) string {
		var s strings.Builder
		for _, l := range lines[n:min(n+4, len(lines))] {
			s.WriteString(sign + l + "\n")
		}
		return s.String()
	}
	return fmt.Sprintf("line %d:\n%s%s", n+1, part("- ", w), part("+ ", g))
}

// Paint compares a picture of w by h pixels, painted on the theme's background, with the
// shapes in testdata/NAME.svg.
func Paint(t testing.TB, name string, w, h int, th *theme.Theme, paint func(on raster.Surface)) {
	t.Helper()
	c := svg.New(w, h, raster.Pack(th.Background))
	paint(c)
	page := svg.New(w, h, raster.Pack(th.Background))
	page.Paste(0, 0, c)
	CheckShapes(t, filepath.Join("testdata", name), page, name)
}

// Draw draws a picture on a canvas of the theme's background.
func Draw(w, h int, th *theme.Theme, paint func(on raster.Surface)) *image.RGBA {
	c := raster.NewCanvas(w, h, raster.Pack(th.Background))
	paint(c)
	return c.Img
}

// CheckPixels fails the test if tiles of a picture differ visibly from the file path.png.
// With -update it writes the file instead, in at most 256 colours.
func CheckPixels(t testing.TB, path string, got *image.RGBA) {
	t.Helper()
	path += ".png"
	want, err := readPNG(path)
	if err == nil && want.Bounds().Size() == got.Bounds().Size() && len(Unlike(want, got)) == 0 {
		return
	}
	switch {
	case *update:
		few := fewColours(got, nil)
		d := Unlike(RGBA(few), got)
		if len(d) > 0 { // try again, with the colours of the differing tiles first
			few = fewColours(got, d)
			d = Unlike(RGBA(few), got)
		}
		if len(d) > 0 {
			t.Errorf("%s would be unlike the picture at %v: it has too many colours", path, d)
		} else if err := writePNG(path, few); err != nil {
			t.Fatal(err)
		}
		return
	case errors.Is(err, os.ErrNotExist):
		t.Fatalf("there is no %s: draw it with go test -update, and look at it", path)
	case err != nil:
		t.Fatal(err)
	case want.Bounds().Size() != got.Bounds().Size():
		t.Fatalf("the picture is %v, want %v", got.Bounds().Size(), want.Bounds().Size())
	}
	out := filepath.Join(t.ArtifactDir(), filepath.Base(path))
	if err := writePNG(out, got); err != nil {
		t.Error(err)
	}
	t.Errorf("the picture is not that of %s at %v; it is in %s (-artifacts keeps it), and -update keeps it from now on", path, Unlike(want, got), out)
}

// Tile is the width and height of the compared tiles, in pixels: smaller than a button,
// about the height of a label.
const Tile = 8

// unlike is the largest allowed difference between the means of a channel in a tile, of
// 255. Letters with different antialiasing have the same mean.
const unlike = 6

// Unlike returns the tiles in which two pictures of the same size differ visibly.
// Adjacent tiles in a row are joined.
func Unlike(a, b *image.RGBA) []image.Rectangle {
	return tiles(b.Rect.Size(), Tile, func(r image.Rectangle) bool { return difference(a, b, r) > unlike })
}

// tiles returns the tiles of a picture for which of returns true. Adjacent tiles in a row
// are joined.
func tiles(size image.Point, tile int, of func(r image.Rectangle) bool) []image.Rectangle {
	var all []image.Rectangle
	for y := 0; y < size.Y; y += tile {
		for x := 0; x < size.X; x += tile {
			r := image.Rect(x, y, min(x+tile, size.X), min(y+tile, size.Y))
			if !of(r) {
				continue
			}
			if n := len(all) - 1; n >= 0 && all[n].Min.Y == y && all[n].Max.X == x {
				all[n].Max.X = r.Max.X
			} else {
				all = append(all, r)
			}
		}
	}
	return all
}

// difference returns the largest difference, over the channels, between the means of two
// pictures in r.
func difference(a, b *image.RGBA, r image.Rectangle) float64 {
	var d [3]int
	for y := r.Min.Y; y < r.Max.Y; y++ {
		p, q := a.Pix[a.PixOffset(r.Min.X, y):][:4*r.Dx()], b.Pix[b.PixOffset(r.Min.X, y):][:4*r.Dx()]
		for ; len(p) > 0; p, q = p[4:], q[4:] {
			for c := range d {
				d[c] += int(p[c]) - int(q[c])
			}
		}
	}
	most := max(d[0], -d[0], d[1], -d[1], d[2], -d[2])
	return float64(most) / float64(r.Dx()*r.Dy())
}

// Lost returns the tiles in which one of two pictures, drawn by different programs, lacks
// something that the other has, such as a label or the background of a button. Programs
// differ in how dark letters are and where these end, but not in whether there are any.
func Lost(a, b *image.RGBA, tile int) []image.Rectangle {
	return tiles(b.Rect.Size(), tile, func(r image.Rectangle) bool {
		return lost(a, b, r) || lost(b, a, r) || difference(a, b, r) > 32
	})
}

// lost reports whether a is plain in and around r, allowing for shifted letters, while
// many pixels of r stand out in b.
func lost(a, b *image.RGBA, r image.Rectangle) bool {
	around := r.Inset(-max(1, r.Dx()/8)).Intersect(a.Rect)
	return standOut(a, around, 10, 1) == 0 && standOut(b, r, 40, math.MaxInt) >= r.Dx()*r.Dy()/14
}

// standOut counts the pixels in r that differ from the first pixel by more than by. It
// stops at most.
func standOut(img *image.RGBA, r image.Rectangle, by, most int) (n int) {
	first := img.RGBAAt(r.Min.X, r.Min.Y)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := img.Pix[img.PixOffset(r.Min.X, y):][:4*r.Dx()]
		for ; len(row) > 0 && n < most; row = row[4:] {
			if far(color.RGBA{row[0], row[1], row[2], row[3]}, first) > by {
				n++
			}
		}
	}
	return n
}

// far returns the distance of two colours: the largest difference in a channel.
func far(a, b color.RGBA) int {
	r, g, bl := int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B)
	return max(r, -r, g, -g, bl, -bl)
}

// fewColours reduces a picture to 256 of its colours, which takes a third of the bytes:
// the most frequent ones, then further ones that are distinct. Colours in the tiles of
// first have priority.
func fewColours(img *image.RGBA, first []image.Rectangle) *image.Paletted {
	n := map[color.RGBA]int{}
	for _, r := range first {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				n[img.RGBAAt(x, y)] += img.Rect.Dx() * img.Rect.Dy()
			}
		}
	}
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			n[img.RGBAAt(x, y)]++
		}
	}
	order := slices.SortedFunc(maps.Keys(n), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	for _, c := range order {
		near := func(p color.Color) bool { return far(p.(color.RGBA), c) < 12 }
		if len(palette) < 160 || len(palette) < 256 && !slices.ContainsFunc(palette, near) {
			palette = append(palette, c)
		}
	}
	out := image.NewPaletted(img.Rect, palette)
	index := map[color.RGBA]uint8{}
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			c := img.RGBAAt(x, y)
			i, ok := index[c]
			if !ok {
				i = uint8(palette.Index(c))
				index[c] = i
			}
			out.SetColorIndex(x, y, i)
		}
	}
	return out
}

func readPNG(path string) (*image.RGBA, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return RGBA(img), nil
}

// RGBA copies a picture into an RGBA image with its corner at 0, 0, which is quick to
// read.
func RGBA(img image.Image) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: img.Bounds().Size()})
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
	return out
}

func writePNG(path string, img image.Image) error {
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, img); err != nil {
		return err
	}
	return write(path, b.Bytes())
}

func write(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}
