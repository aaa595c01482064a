package headless

import (
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/app/cli"
	"ashlar/app/shell"
	"ashlar/app/sourcefile"
	"ashlar/ingest/recording"
	"ashlar/render/theme"
	"ashlar/testdata/gen/synth"
)

var update = flag.Bool("update", false, "write the golden pictures anew")

// picture is one golden picture.
type picture struct {
	name    string
	open    func(t *testing.T, s *shell.Shell)
	view    shell.View
	theme   *theme.Theme
	w, h    int
	scale   float32
	ranged  bool
	event   string
	metric  string
	failing bool // the recording cannot be shown: the picture says so
	from    int64
	to      int64
}

func demo(_ *testing.T, s *shell.Shell) { s.OpenDemo() }

// file opens a small file with the given content, by a relative name so that
// the picture does not depend on where the test runs.
func file(name, content string) func(*testing.T, *shell.Shell) {
	return func(t *testing.T, s *shell.Shell) {
		t.Chdir(t.TempDir())
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		s.Open(name)
	}
}

// at opens what an address names.
func at(keys string) func(*testing.T, *shell.Shell) {
	return func(_ *testing.T, s *shell.Shell) { s.Open("ashlar:1?" + keys) }
}

const marked = "file=demo:&select=600ms..650ms&mark=384.8ms:slow,505ms..746ms:gc,f:regexp.(*Regexp).MatchString:/srv/checkout/bin/checkout:why%3F&function=regexp.(*Regexp).MatchString:/srv/checkout/bin/checkout"

// source opens a recording beside the source file that it names by another
// machine's path, with its function and its lines shown.
func source(t *testing.T, s *shell.Shell) {
	t.Chdir(t.TempDir())
	lines := []string{"package shop", "", "// total adds the prices up, the slow way.", "func total(cart []item) (sum int) {", "\tfor i := range cart {", "\t\tsum += price(cart[i])", "\t}", "\treturn sum", "}", "",
		"func price(it item) int {", "\tp := lookup(it.name) // the slow part", "\tif it.sale {", "\t\treturn p - p/10", "\t}", "\treturn p", "}"}
	rec := header + `{"type":"dso","id":1,"name":"/bin/shop"}` + "\n"
	for i, l := range []int{5, 6, 12, 14, 16} {
		rec += fmt.Sprintf(`{"type":"frame","id":%d,"func":"shop.%s","dso":1,"kind":"user","srcline":"/build/shop/total.go:%d"}`+"\n", i+1, map[bool]string{true: "total", false: "price"}[l < 10], l)
	}
	for i, x := range []struct {
		frames string
		n      int
	}{{"1", 3}, {"2", 2}, {"3,2", 71}, {"4,2", 6}, {"5,2", 14}} {
		rec += fmt.Sprintf(`{"type":"stack","id":"s%d","frames":[%s],"context":{"event":"cycles"},"weights":[{"metric":"samples","value":%d}]}`+"\n", i, x.frames, x.n)
	}
	if err := os.MkdirAll("src/shop", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"src/shop/total.go": strings.Join(lines, "\n") + "\n", "shop.spaa": rec} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.Roots = []sourcefile.Root{{To: "src"}}
	s.Open("ashlar:1?file=shop.spaa&tab=source&function=shop.price:/bin/shop")
}

// trace opens a made-up trace of 20,000 records.
func trace(t *testing.T, s *shell.Shell) {
	t.Chdir(t.TempDir())
	f, err := os.Create("trace.spall")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := synth.Write(f, synth.Options{Kind: "spall3", Records: 20000, Threads: 4, Seed: 7}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s.Open("trace.spall")
}

const header = `{"type":"header","format":"spaa","version":"1.0","source_tool":"perf","frame_order":"leaf_to_root","events":[{"name":"cycles","kind":"hardware","sampling":{"mode":"frequency","primary_metric":"samples"}}],"stack_id_mode":"local"}
`

const damaged = header + `{"type":"dso","id":1,"name":"/bin/app"}
{"type":"frame","id":1,"func":"main","dso":1,"kind":"user"}
{"type":"frame","id":2,"func":"sys_read","dso":9,"kind":"kernel"}
this is not a record
{"type":"stack","id":"a","frames":[2,1],"context":{"event":"cycles"},"weights":[{"metric":"samples","value":3}]}
{"type":"stack","id":"b","frames":[1,7],"context":{"event":"cycles"},"weights":[{"metric":"samples","value":5}]}
{"type":"stack","id":"c","frames":[1],"context":{"ev`

var pictures = []picture{
	{name: "demo-dark", open: demo},
	{name: "demo-light", open: demo, theme: theme.Light},
	{name: "demo-scale2", open: demo, w: 1600, h: 1000, scale: 2},
	{name: "demo-range", open: demo, ranged: true, from: 480e9, to: 900e9},
	{name: "demo-malloc", open: demo, event: "malloc"},
	{name: "trace-dark", open: trace},
	{name: "trace-timeline", open: trace, view: shell.Timeline, theme: theme.Light, ranged: true, from: 0, to: 100e6},
	{name: "trace-flame", open: trace, view: shell.Flame},
	{name: "source-dark", open: source},
	{name: "source-light", open: source, theme: theme.Light},
	{name: "marks-dark", open: at(marked)},
	{name: "marks-light", open: at(marked), theme: theme.Light},
	{name: "empty", open: file("empty.spaa", header)},
	{name: "empty-bytes", open: file("nothing.spall", ""), failing: true},
	{name: "unknown", open: file("song.mp3", "ID3\x03\x00\x00\x00\x00\x00\x00"), failing: true, theme: theme.Light},
	{name: "warnings", open: file("damaged.spaa", damaged)},
}

func TestGoldenPictures(t *testing.T) {
	dir, err := filepath.Abs("../../testdata/golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pictures {
		t.Run(p.name, func(t *testing.T) {
			compare(t, filepath.Join(dir, p.name+".png"), p.draw(t))
		})
	}
}

func (p picture) draw(t *testing.T) *image.RGBA {
	t.Helper()
	if p.theme == nil {
		p.theme = theme.Dark
	}
	if p.view == "" {
		p.view = shell.Both
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
	s.Choose(p.event, p.metric)
	err := s.Settle(cli.StackView{}, func(*recording.Recording) (int64, int64, bool) { return p.from, p.to, p.ranged })
	if (err != nil) != p.failing {
		t.Fatalf("opening: %v", err)
	}
	img, err := Draw(s, p.w, p.h, p.scale)
	if err != nil {
		t.Fatal(err)
	}
	likeShapes(t, s, img, p.scale)
	return img
}

// compare fails the test when a picture is not like the golden one. Edges may
// be smoothed a little differently by another version of the GL library; no
// more than one pixel in 200 may differ visibly.
func compare(t *testing.T, path string, got *image.RGBA) {
	t.Helper()
	if *update {
		if err := WritePNG(path, got, nil); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := readPNG(path)
	if errors.Is(err, os.ErrNotExist) {
		t.Fatalf("there is no golden picture %s: draw it with go test ./app/headless -update, and look at it", path)
	} else if err != nil {
		t.Fatal(err)
	}
	if want.Bounds() != got.Bounds() {
		t.Fatalf("the picture is %v, want %v", got.Bounds().Size(), want.Bounds().Size())
	}
	bad := 0
	diff := image.NewRGBA(got.Bounds())
	for y := range got.Bounds().Dy() {
		for x := range got.Bounds().Dx() {
			r, g, b, _ := want.At(x, y).RGBA()
			c := got.RGBAAt(x, y)
			if far(c.R, r) || far(c.G, g) || far(c.B, b) {
				bad++
				diff.SetRGBA(x, y, color.RGBA{255, 0, 0, 255})
			} else {
				diff.SetRGBA(x, y, color.RGBA{c.R / 4, c.G / 4, c.B / 4, 255})
			}
		}
	}
	if n := got.Bounds().Dx() * got.Bounds().Dy(); bad*200 > n {
		base := path[:len(path)-len(".png")]
		for name, img := range map[string]*image.RGBA{base + ".got.png": got, base + ".diff.png": diff} {
			if err := WritePNG(name, img, nil); err != nil {
				t.Error(err)
			}
		}
		t.Errorf("%d of %d pixels differ from %s; see the .got.png and .diff.png beside it", bad, n, filepath.Base(path))
	}
}

func far(a uint8, b uint32) bool {
	d := int(a) - int(b>>8)
	return d > 40 || d < -40
}

func readPNG(path string) (image.Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return png.Decode(f)
}

// TestComparingSeesDifferences makes sure that compare can fail.
func TestComparingSeesDifferences(t *testing.T) {
	a := image.NewRGBA(image.Rect(0, 0, 100, 100))
	path := filepath.Join(t.TempDir(), "a.png")
	if err := WritePNG(path, a, nil); err != nil {
		t.Fatal(err)
	}
	b := image.NewRGBA(a.Bounds())
	for i := range 60 {
		b.SetRGBA(i, 50, color.RGBA{200, 0, 0, 255})
	}
	seen := &testing.T{}
	done := make(chan struct{})
	go func() { defer close(done); compare(seen, path, b) }()
	<-done
	if !*update && !seen.Failed() {
		t.Error("a line of 60 pixels that is not in the golden picture was not noticed")
	}
}
