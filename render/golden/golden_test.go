package golden

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ashlar/render/raster"
	"ashlar/render/svg"
)

// watched records that a check failed, without failing the test.
type watched struct {
	testing.TB
	failed bool
}

func (w *watched) Errorf(string, ...any)     { w.failed = true }
func (w *watched) Fatalf(f string, a ...any) { w.TB.Fatalf(f, a...) }

func fails(t *testing.T, check func(t testing.TB)) bool {
	w := &watched{TB: t}
	check(w)
	return w.failed
}

const kept = "../../testdata/golden/"

// TestALostLabelIsSeen paints out each text and each button of golden pictures, one at a
// time: Unlike must notice every one, and Lost every large button.
func TestALostLabelIsSeen(t *testing.T) {
	if *update {
		t.Skip("pictures are being written anew")
	}
	if testing.Short() {
		t.Skip("SKIPPED: compares each picture a hundred times; runs without the race detector")
	}
	for _, name := range []string{"demo-dark", "demo-light", "compare-trace-dark", "welcome-dark", "views/functions-dark"} {
		b, err := os.ReadFile(kept + name + ".svg")
		if err != nil {
			t.Fatal(err)
		}
		good, err := readPNG(kept + name + ".png")
		if err != nil {
			t.Fatal(err)
		}
		texts, buttons := 0, 0
		deep := 0 // nesting depth of pasted pictures, which have their own coordinates
		for line := range strings.Lines(string(b)) {
			line = strings.TrimSuffix(line, "\n")
			r, what := image.Rectangle{}, ""
			if pasted.MatchString(line) {
				deep++
			} else if line == "</svg>" {
				deep--
			} else if deep > 0 {
				continue
			} else if m := button.FindStringSubmatch(line); m != nil {
				r, what = rect(m[1:]), "a button"
				buttons++
			} else if m := label.FindStringSubmatch(line); m != nil && strings.HasPrefix(line, "<text ") {
				r, what = textBox(line, m), "a text"
				texts++
			}
			if what == "" {
				continue
			}
			bad := RGBA(good)
			ground := good.RGBAAt(r.Min.X-2, r.Min.Y+r.Dy()/2)
			draw.Draw(bad, r, image.NewUniform(ground), image.Point{}, draw.Src)
			if len(Unlike(good, bad)) == 0 {
				t.Errorf("%s: %s at %v is painted out, and nothing is noticed: %s", name, what, r, line)
			}
			if what == "a button" && r.Dx() > 40 && r.Dy() > 20 && len(Lost(good, bad, 2*Tile)) == 0 {
				t.Errorf("%s: %s at %v is lost, and nothing is noticed: %s", name, what, r, line)
			}
		}
		if fails(t, func(t testing.TB) { CheckPixels(t, kept+name, good) }) {
			t.Errorf("%s is not like itself", name)
		}
		draw.Draw(good, image.Rect(20, 10, 36, 26), image.NewUniform(color.Black), image.Point{}, draw.Src)
		if !fails(t, func(t testing.TB) { CheckPixels(t, kept+name, good) }) {
			t.Errorf("%s passes with a hole in it", name)
		}
		if texts < 10 || buttons < 2 {
			t.Errorf("%s has %d texts and %d buttons only", name, texts, buttons)
		}
	}
}

// button matches the background rectangle of a button.
var button = regexp.MustCompile(`^<rect x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)" rx="\d+" fill="#\w{6}"/>$`)

func TestShapesAreComparedToTheLetter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	page := func(text string, shift int) *svg.Canvas {
		lanes := svg.New(400, 40, white)
		for x := range 100 {
			lanes.Rect(4*x, 10, 4*x+2+shift*(x/99), 30, raster.Color(0xff000000+uint32(x)))
		}
		c := svg.New(400, 100, white)
		raster.Regular(12).Draw(c, 5, 90, text, black, 0, 400)
		c.Paste(0, 20, lanes)
		return c
	}
	var b bytes.Buffer
	if err := page("spans", 0).Write(&b, ""); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".svg", []byte(condense(b.String())), 0o644); err != nil {
		t.Fatal(err)
	}
	if strings.Count(condense(b.String()), "\n") > 20 {
		t.Errorf("a hundred bars are not condensed:\n%s", condense(b.String()))
	}
	check := func(text string, shift int) bool {
		return fails(t, func(t testing.TB) { CheckShapes(t, path, page(text, shift), "") })
	}
	if check("spans", 0) {
		t.Error("the same shapes are called others")
	}
	if *update {
		return
	}
	if !check("spams", 0) {
		t.Error("another letter is not noticed")
	}
	if !check("spans", 1) {
		t.Error("one bar in a hundred that is a pixel wider is not noticed")
	}
}

// TestCondensedKeepsTheOrder checks that condensing distinguishes a label on a bar from a
// label hidden below it.
func TestCondensedKeepsTheOrder(t *testing.T) {
	page := func(first bool) string {
		lanes := svg.New(400, 40, white)
		for x := range 50 {
			lanes.Rect(4*x, 10, 4*x+2, 30, black)
		}
		if first {
			lanes.Rect(250, 10, 390, 30, black)
		}
		raster.Regular(12).Draw(lanes, 260, 25, "hidden", white, 0, 400)
		if !first {
			lanes.Rect(250, 10, 390, 30, black)
		}
		c := svg.New(400, 40, white)
		c.Paste(0, 0, lanes)
		var b bytes.Buffer
		if err := c.Write(&b, ""); err != nil {
			t.Fatal(err)
		}
		return condense(b.String())
	}
	if page(true) == page(false) {
		t.Error("a text on a bar and one under it are the same")
	}
}

var white, black = raster.Pack(color.NRGBA{255, 255, 255, 255}), raster.Pack(color.NRGBA{0, 0, 0, 255})

// TestGoldensWeighLittle limits the size of the golden files: each change of a picture
// adds its whole size to the repository, each change of shapes only lines.
func TestGoldensWeighLittle(t *testing.T) {
	weight := map[string]int64{}
	err := filepath.Walk("../..", func(path string, f os.FileInfo, err error) error {
		if err == nil && strings.Contains(path, "testdata") {
			weight[filepath.Ext(path)] += f.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for ext, most := range map[string]int64{".svg": 1700 << 10, ".png": 500 << 10} {
		if n := weight[ext]; n == 0 || n > most {
			t.Errorf("the golden %s files have %d bytes, want at most %d", ext, n, most)
		}
	}
	t.Logf("%d bytes of SVG, %d of PNG", weight[".svg"], weight[".png"])
}
