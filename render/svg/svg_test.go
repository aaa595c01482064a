package svg

import (
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"ashlar/render/raster"
)

var white, black = raster.Pack(color.NRGBA{255, 255, 255, 255}), raster.Pack(color.NRGBA{0, 0, 0, 255})

func text(t *testing.T, c *Canvas, title string) string {
	t.Helper()
	var b strings.Builder
	if err := c.Write(&b, title); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// parse checks that s is well-formed XML and returns the contents of its text elements.
func parse(t *testing.T, s string) (texts []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(s))
	in := false
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, s)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			if in = tok.Name.Local == "text"; in {
				texts = append(texts, "")
			}
		case xml.EndElement:
			in = false
		case xml.CharData:
			if in {
				texts[len(texts)-1] += string(tok)
			}
		}
	}
}

func TestTextStaysText(t *testing.T) {
	f := raster.Regular(12)
	c := New(2000, 100, white)
	names := []string{"std::vector<int, std::allocator>::at", `a&b"c'd`, "]]>", "<!-- -->", "长い名前", "שלום", "x\ty"}
	for i, n := range names {
		f.Draw(c, 5, 10+10*i, n, black, 0, 2000)
	}
	f.Draw(c, 5, 90, "bad \x00\x1b\u009b\xff\ufffe end", black, 0, 2000)
	got := parse(t, text(t, c, "<title> & more"))
	names[6] = "x y"
	for i, n := range append(names, "bad \ufffd\ufffd\ufffd\ufffd\ufffd end") {
		if got[i] != n {
			t.Errorf("text %d is %q, want %q", i, got[i], n)
		}
	}
}

// TestOrderOfText checks that a viewer shows the letters of a name with bidi controls and
// separators in the order in which the window draws them, and that the source contains
// none of these characters.
func TestOrderOfText(t *testing.T) {
	f := raster.Regular(12)
	c := New(2000, 100, white)
	names := []string{"abc\u202egpj.exe", "a\u202dשb", "line\u2028sep\u2029par", "\u2068שלום\u2069 12", "a\u200eb\u061cc"}
	want := []string{"abc\u202bgpj.exe", "a\u202aשb", "line sep par", "\u2068שלום\u2069 12", "a\u200eb\u061cc"}
	for i, n := range names {
		f.Draw(c, 5, 10+10*i, n, black, 0, 2000)
	}
	out := text(t, c, strings.Join(names, " "))
	for i, got := range parse(t, out) {
		if got != want[i] {
			t.Errorf("text %d is %q, want %q", i, got, want[i])
		}
	}
	if i := strings.IndexFunc(out, func(r rune) bool { return unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) }); i >= 0 {
		t.Errorf("the source contains %q", out[i:i+3])
	}
}

func TestTextOutOfSightIsLeftOut(t *testing.T) {
	f := raster.Regular(12)
	c := New(100, 50, white)
	f.Draw(c, 200, 20, "right", black, 0, 1000)
	f.Draw(c, -200, 20, "left", black, 0, 100)
	f.Draw(c, 5, 900, "below", black, 0, 100)
	f.Draw(c, 5, 20, "seen", black, 0, 100)
	if got := parse(t, text(t, c, "")); len(got) != 1 || got[0] != "seen" {
		t.Errorf("%q", got)
	}
}

// TestLooksLikeACanvas draws random shapes on both kinds of canvas and compares the
// pixels with the SVG as drawn by rsvg-convert.
func TestLooksLikeACanvas(t *testing.T) {
	program, err := exec.LookPath("rsvg-convert")
	if err != nil {
		t.Skip("rsvg-convert (librsvg2-bin) is not installed")
	}
	for seed := range uint64(4) {
		const w, h = 200, 120
		r := rand.New(rand.NewPCG(seed, 8))
		c, ref := New(w, h, white), raster.NewCanvas(w, h, white)
		for range 300 {
			x, y := r.IntN(w+40)-20, r.IntN(h+40)-20
			x1, y1 := x+r.IntN(40), y+r.IntN(25)
			col := raster.Color(r.Uint32() | 0xff000000)
			switch r.IntN(3) {
			case 0:
				c.Rect(x, y, x1, y1, col)
				ref.Rect(x, y, x1, y1, col)
			case 1:
				a := uint32(r.IntN(256))
				c.Shade(x, y, x1, y1, col, a)
				ref.Shade(x, y, x1, y1, col, a)
			case 2:
				c.Bar(x, y, x1, y1, col, 2)
				ref.Bar(x, y, x1, y1, col, 2)
			}
		}
		got := convert(t, program, text(t, c, "shapes"))
		bad := 0
		for y := range h {
			for x := range w {
				r, g, b, _ := got(x, y)
				p := ref.Img.RGBAAt(x, y)
				if far(r, p.R) || far(g, p.G) || far(b, p.B) {
					bad++
				}
			}
		}
		// Antialiasing differs at corners.
		if bad > w*h/50 {
			t.Errorf("seed %d: %d of %d pixels differ", seed, bad, w*h)
		}
	}
}

func far(a uint32, b uint8) bool {
	d := int(a>>8) - int(b)
	return d > 12 || d < -12
}

// convert draws an SVG with a program and returns its pixels.
func convert(t *testing.T, program, svg string) func(x, y int) (r, g, b, a uint32) {
	t.Helper()
	in, out := filepath.Join(t.TempDir(), "in.svg"), filepath.Join(t.TempDir(), "out.png")
	if err := os.WriteFile(in, []byte(svg), 0o644); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command(program, in, "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", program, err, msg)
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
	return func(x, y int) (r, g, b, a uint32) { return img.At(x, y).RGBA() }
}

func TestPartsHaveTheirOwnPlace(t *testing.T) {
	c := New(100, 100, white)
	c.Part(10, 20, 60, 70, func(p *Canvas) {
		if w, h := p.Size(); w != 50 || h != 50 {
			t.Errorf("a part of 50 by 50 is %d by %d", w, h)
		}
		p.Rect(0, 0, 100, 5, black)
		p.Part(5, 5, 10, 10, func(p *Canvas) { p.Rect(-3, 1, 2, 2, black) })
	})
	s := text(t, c, "")
	parse(t, s)
	for _, want := range []string{"M10 20h50v5h-50z", "M15 26h2v1h-2z"} {
		if !strings.Contains(s, want) {
			t.Errorf("%s is not in\n%s", want, s)
		}
	}
}

func ExampleCanvas() {
	c := New(40, 20, white)
	c.Bar(2, 2, 38, 18, black, 2)
	if err := c.Write(os.Stdout, "a bar"); err != nil {
		fmt.Println(err)
	}
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="40" height="20" viewBox="0 0 40 20">
	// <title>a bar</title>
	// <style>path{shape-rendering:crispEdges}path.l{shape-rendering:auto}</style>
	// <g font-family="Roboto, 'Helvetica Neue', Arial, sans-serif" xml:space="preserve">
	// <path fill="#ffffff" d="M0 0h40v20h-40z"/>
	// <rect x="2" y="2" width="36" height="16" rx="2" fill="#000000"/>
	// </g>
	// </svg>
}
