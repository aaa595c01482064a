package ui

import (
	"image"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/render/fonts"
	"ashlar/render/raster"
	"ashlar/render/svg"
	"ashlar/render/theme"
	"ashlar/testdata/names"
	"ashlar/testdata/rounds"
)

// TestAnyUnicodeIsLaidOut lays out random Unicode names, because titles, tables and lists
// are shaped by another library than labels in pictures.
func TestAnyUnicodeIsLaidOut(t *testing.T) {
	fonts.System.Start(nil)
	r := rand.New(rand.NewPCG(1, 2))
	u := &UI{Context: layout.Context{Ops: new(op.Ops), Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}}, Theme: theme.Dark, Faces: new(raster.Faces), Shaper: NewShaper()}
	for i := range rounds.Of(1500) {
		u.Ops.Reset()
		if i%200 == 0 {
			u.Shaper = NewShaper() // with the fonts found so far
		}
		if u.Shapes = nil; i%2 == 0 {
			u.Shapes = svg.New(200, 100, 0)
		}
		s := names.Random(r)
		for _, st := range []Style{{Size: 13}, {Size: 12, Mono: true, Lines: 3}} {
			u.Text(image.Rect(0, 0, 5+r.IntN(150), 90), s, st)
			if d := u.Measure(s, st); d.X < 0 || d.X > 40*len(s) {
				t.Errorf("%+q takes %v", s, d)
			}
		}
	}
}

// TestLongText checks that a text of a megabyte is cut to about its visible part before it
// is shaped.
func TestLongText(t *testing.T) {
	u := &UI{Context: layout.Context{Ops: new(op.Ops), Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}}, Theme: theme.Dark, Faces: new(raster.Faces), Shaper: NewShaper()}
	u.Shapes = svg.New(200, 100, 0)
	for _, s := range []string{strings.Repeat("\u202e", 300_000), strings.Repeat("x", 1_000_000)} {
		if got := u.shapeable(150, s, Style{Size: 13, Lines: 2}); len(got) > 2*longestLine+len(raster.Ellipsis) || !strings.HasPrefix(s, strings.TrimSuffix(got, raster.Ellipsis)) {
			t.Errorf("%d bytes of %.9q are shaped", len(got), got)
		}
		began := time.Now()
		u.Text(image.Rect(0, 0, 150, 90), s, Style{Size: 13})
		if d := u.Measure(s, Style{Size: 13}); d.X < 0 || time.Since(began) > 2*time.Second {
			t.Errorf("%.9q takes %v and %s", s, d, time.Since(began))
		}
	}
}

func TestPanicOfOneText(t *testing.T) {
	u := &UI{Context: layout.Context{Ops: new(op.Ops), Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}}, Shaper: NewShaper()}
	if got := u.orBoxes("\u05d0b", func() { panic("as a library does") }); got != "\ufffd\ufffd" {
		t.Errorf("a text that cannot be shaped is drawn as %q", got)
	}
	if d := u.Measure("\u05d0b", Style{Size: 12}); d.X <= 0 {
		t.Error("the next text is not drawn")
	}
}

// TestOtherFontsInEveryStyle checks that characters from a system font have the same
// width in every weight. The box for a missing character is narrower.
func TestOtherFontsInEveryStyle(t *testing.T) {
	fonts.System.Start(nil)
	const text = "录制中文"
	Want(text)
	u := &UI{Context: layout.Context{Ops: new(op.Ops), Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}}, Shaper: NewShaper()}
	for _, st := range []Style{{Size: 20}, {Size: 20, Weight: Medium}, {Size: 20, Mono: true}} {
		if w := u.Measure(text, st).X; w != 4*20 {
			t.Errorf("%+v: four square characters of 20 pixels take %d", st, w)
		}
	}
}
