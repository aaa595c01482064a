package headless

import (
	"encoding/xml"
	"errors"
	"image"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/app/cli"
	"ashlar/app/shell"
	"ashlar/ingest/recording"
	"ashlar/render/theme"
)

// shapes are pictures that are drawn both as pixels and as shapes.
var shapes = []picture{
	{name: "timeline", open: demo, view: shell.Timeline},
	{name: "flame", open: demo, view: shell.Flame},
	{name: "light", open: demo, view: shell.Timeline, theme: theme.Light, scale: 1.5},
	{name: "range", open: demo, view: shell.Timeline, ranged: true, from: 480e9, to: 900e9},
	{name: "trace", open: trace, view: shell.Timeline},
	{name: "trace-flame", open: trace, view: shell.Flame, theme: theme.Light},
	{name: "both", open: demo, view: shell.Both},
	{name: "empty", open: file("empty.spaa", header), view: shell.Both},
}

func TestSVG(t *testing.T) {
	program, _ := exec.LookPath("rsvg-convert")
	for _, p := range shapes {
		t.Run(p.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.svg")
			p.writeSVG(t, path)
			wellFormed(t, path)
			if p.view == shell.Both {
				return // the window has more around them
			}
			if program == "" {
				t.Fatal("rsvg-convert is missing: install the package librsvg2-bin (make test does it on Debian and Ubuntu)")
			}
			out := filepath.Join(t.TempDir(), "x.png")
			if msg, err := exec.Command(program, path, "-o", out).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, msg)
			}
			got, err := readPNG(out)
			if err != nil {
				t.Fatal(err)
			}
			want := p.draw(t)
			if got.Bounds() != want.Bounds() {
				t.Fatalf("it is %v, want %v", got.Bounds(), want.Bounds())
			}
			bad, all := different(got, want), want.Bounds().Dx()*want.Bounds().Dy()
			t.Logf("%.2f %% of the pixels differ", 100*float64(bad)/float64(all))
			// Letters are of another font, where Roboto is not installed; all
			// else has its place.
			if bad*100 > 4*all {
				t.Errorf("%d of %d pixels differ", bad, all)
			}
		})
	}
}

func different(a image.Image, b *image.RGBA) int {
	n := 0
	for y := range b.Bounds().Dy() {
		for x := range b.Bounds().Dx() {
			r, g, bl, _ := a.At(x, y).RGBA()
			if c := b.RGBAAt(x, y); far(c.R, r) || far(c.G, g) || far(c.B, bl) {
				n++
			}
		}
	}
	return n
}

// writeSVG settles a shell as draw does and writes its shapes.
func (p picture) writeSVG(t *testing.T, path string) {
	t.Helper()
	if p.theme == nil {
		p.theme = theme.Dark
	}
	if p.w == 0 {
		p.w, p.h = 1000, 640
	}
	if p.scale == 0 {
		p.scale = 1
	}
	s := shell.New(p.theme)
	defer s.Close()
	s.View = p.view
	p.open(t, s)
	if err := s.Settle(cli.StackView{}, func(*recording.Recording) (int64, int64, bool) { return p.from, p.to, p.ranged }); err != nil {
		t.Fatal(err)
	}
	c, err := SVG(s, p.w, p.h, p.scale)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteSVG(path, c, p.name, io.Discard); err != nil {
		t.Fatal(err)
	}
}

// wellFormed reads the file as XML.
func wellFormed(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(string(b)))
	texts := 0
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "text" {
			texts++
		}
	}
	if texts == 0 {
		t.Error("there is no text in it")
	}
}
