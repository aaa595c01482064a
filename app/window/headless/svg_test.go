package headless

import (
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"eliasnaur.com/font/roboto/robotomedium"
	"eliasnaur.com/font/roboto/robotoregular"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/sfnt"

	"ashlar/app/window/drawing"
	"ashlar/render/golden"
	"ashlar/render/pixels"
	"ashlar/render/svg"
)

// likeShapes checks a shell's shapes as SVG: the file is well-formed, has text elements
// and no images, and rsvg-convert draws it like the picture want.
func likeShapes(t *testing.T, shapes *svg.Canvas, want *image.RGBA, scale float32) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.svg")
	var b strings.Builder
	if err := shapes.Write(&b, t.Name()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Map(builtIn, b.String())), 0o644); err != nil {
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
	if d := golden.Lost(got, want, int(2*golden.Tile*scale)); len(d) > 0 {
		t.Errorf("the shapes look unlike the picture at %v", d)
		for name, img := range map[string]image.Image{"shapes.png": got, "pixels.png": want} {
			if err := drawing.WritePNG(filepath.Join(t.ArtifactDir(), name), replaced, img, nil); err != nil {
				t.Error(err)
			}
		}
	}
}

// likeOnCPU checks that the CPU draws the shapes like the GPU's picture want.
func likeOnCPU(t *testing.T, shapes *svg.Canvas, want *image.RGBA, scale float32) {
	t.Helper()
	got, err := pixels.Draw(shapes)
	if err != nil {
		t.Fatal(err)
	}
	if d := golden.Lost(got, want, int(2*golden.Tile*scale)); len(d) > 0 {
		t.Errorf("on the CPU it looks unlike the picture at %v", d)
		for name, img := range map[string]image.Image{"cpu.png": got, "gpu.png": want} {
			if err := drawing.WritePNG(filepath.Join(t.ArtifactDir(), name), replaced, img, nil); err != nil {
				t.Error(err)
			}
		}
	}
}

// builtIn returns r, or the replacement character if the window's own fonts lack r. The
// test uses no system fonts.
func builtIn(r rune) rune {
	if i, err := roboto.GlyphIndex(nil, r); err == nil && i == 0 && r >= 0x80 {
		return '\ufffd'
	}
	return r
}

var roboto = func() *sfnt.Font {
	f, err := sfnt.Parse(robotoregular.TTF)
	if err != nil {
		panic(err)
	}
	return f
}()

// drawnByOthers draws an SVG file with rsvg-convert, using the window's own fonts.
func drawnByOthers(t *testing.T, path string) *image.RGBA {
	t.Helper()
	program, err := exec.LookPath("rsvg-convert")
	if err != nil {
		t.Fatal("rsvg-convert is missing: install the package librsvg2-bin (make test does it on Debian and Ubuntu)")
	}
	dir := t.TempDir()
	for name, data := range map[string][]byte{
		"regular.ttf": robotoregular.TTF, "medium.ttf": robotomedium.TTF, "mono.ttf": gomono.TTF,
		"fonts.conf": []byte(fmt.Sprintf(`<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>%s</dir><cachedir>%s/cache</cachedir></fontconfig>`, dir, dir)),
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
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return golden.RGBA(img)
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
