package headless

import (
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"eliasnaur.com/font/roboto/robotomedium"
	"eliasnaur.com/font/roboto/robotoregular"
	"golang.org/x/image/font/gofont/gomono"

	"ashlar/app/shell"
	"ashlar/render/theme"
)

// likeShapes holds the shapes of what a shell shows against its picture: they
// are well-formed, have their text as text and nothing as pixels, and another
// program draws them alike.
func likeShapes(t *testing.T, s *shell.Shell, want *image.RGBA, scale float32) {
	t.Helper()
	size := want.Bounds().Size()
	path := filepath.Join(t.TempDir(), "x.svg")
	if err := WriteSVG(path, SVG(s, size.X, size.Y, scale), s.OpenName(), io.Discard); err != nil {
		t.Fatal(err)
	}
	n := elements(t, path)
	if n["text"] == 0 || n["image"] > 0 {
		t.Errorf("the shapes have %d texts and %d images", n["text"], n["image"])
	}
	got := drawnByOthers(t, path)
	if got.Bounds() != want.Bounds() {
		t.Fatalf("the shapes are %v, want %v", got.Bounds(), want.Bounds())
	}
	if d := unlike(got, want); d > likeEnough {
		t.Errorf("%.2f %% of the shapes look unlike the picture", 100*d)
		if err := WritePNG(filepath.Join(t.ArtifactDir(), "shapes.png"), got, nil); err != nil {
			t.Error(err)
		}
	}
}

// likeEnough is which part of a picture may be unlike in shapes, and visible how
// much, of 255: letters are smoothed differently.
const (
	likeEnough = .01
	visible    = 36
)

// unlike is the part of the blocks of 4 by 4 pixels whose mean colours differ
// visibly.
func unlike(a image.Image, b *image.RGBA) float64 {
	const n = 4
	bad, all := 0, 0
	for y := 0; y+n <= b.Rect.Dy(); y += n {
		for x := 0; x+n <= b.Rect.Dx(); x += n {
			var d [3]int
			for k := range n * n {
				r, g, bl, _ := a.At(x+k%n, y+k/n).RGBA()
				c := b.RGBAAt(x+k%n, y+k/n)
				d[0], d[1], d[2] = d[0]+int(r>>8)-int(c.R), d[1]+int(g>>8)-int(c.G), d[2]+int(bl>>8)-int(c.B)
			}
			all++
			for _, v := range d {
				if v > visible*n*n || v < -visible*n*n {
					bad++
					break
				}
			}
		}
	}
	return float64(bad) / float64(all)
}

// TestUnlikePictures makes sure that a wrong picture is told from a right one:
// another tab, another function, or the same at another time.
func TestUnlikePictures(t *testing.T) {
	views := []string{"", "&tab=functions", "&tab=heatmap", "&tab=about", "&tab=callers&function=runtime.mallocgc:/srv/checkout/bin/checkout", "&show=600ms..800ms", "&find=json", "&transform=invert"}
	pictures := make([]*image.RGBA, len(views))
	for i, keys := range views {
		pictures[i] = picture{open: at("file=demo:" + keys)}.draw(t)
	}
	for i := range views {
		for k := range i {
			d := unlike(pictures[i], pictures[k])
			if d <= likeEnough {
				t.Errorf("%q and %q differ in %.2f %% only", views[i], views[k], 100*d)
			}
		}
	}
	if d := unlike(picture{open: demo, theme: theme.Light}.draw(t), pictures[0]); d < .9 {
		t.Errorf("dark and light differ in %.2f %% only", 100*d)
	}
}

// drawnByOthers draws an SVG with rsvg-convert, which gets the fonts of the
// window: else letters would be of others.
func drawnByOthers(t *testing.T, path string) image.Image {
	t.Helper()
	program, err := exec.LookPath("rsvg-convert")
	if err != nil {
		t.Fatal("rsvg-convert is missing: install the package librsvg2-bin (make test does it on Debian and Ubuntu)")
	}
	dir := t.TempDir()
	for name, data := range map[string][]byte{
		"regular.ttf": robotoregular.TTF, "medium.ttf": robotomedium.TTF, "mono.ttf": gomono.TTF,
		"fonts.conf": []byte(fmt.Sprintf(`<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>%s</dir><cachedir>%s/cache</cachedir><include ignore_missing="yes">/etc/fonts/fonts.conf</include></fontconfig>`, dir, dir)),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "x.png")
	cmd := exec.Command(program, path, "-o", out)
	cmd.Env = append(os.Environ(), "FONTCONFIG_FILE="+filepath.Join(dir, "fonts.conf"))
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	img, err := readPNG(out)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// elements reads the file as XML and counts its elements by name.
func elements(t *testing.T, path string) map[string]int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(string(b)))
	n := map[string]int{}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		if e, ok := tok.(xml.StartElement); ok {
			n[e.Name.Local]++
		}
	}
}
