package raster

import (
	"math/rand/v2"
	"testing"

	"github.com/go-text/typesetting/font"

	"ashlar/render/fonts"
	"ashlar/testdata/names"
	"ashlar/testdata/rounds"
)

// drawAll draws and measures a name in every way that pictures do.
func drawAll(t *testing.T, f *Face, s string) {
	t.Helper()
	c := NewCanvas(160, 24, 0xff000000)
	for _, w := range []float32{12, 45.5, 150} {
		for _, fit := range []string{f.Fit(s, w), f.Cut(s, w), f.Middle(s, w)} {
			f.Draw(c, 1, 16, fit, 0xffffffff, 0, int(w))
		}
		f.Wrap(s, w, 3)
	}
	f.Draw(c, 1, 16, s, 0xffffffff, 0, 160)
	if w := f.Measure(s); w < 0 || w > float32(len(s))*4*f.size+1 {
		t.Errorf("%+q is %v wide", s, w)
	}
	if f.fallen {
		t.Errorf("%+q could not be shaped", s)
		f.fallen = false
	}
}

func TestAnyUnicodeIsDrawn(t *testing.T) {
	systemFonts(t)
	f := Regular(12)
	drawAll(t, f, "thr\u05d0 \u2068abc\u2069 \u05d1 x")
	r := rand.New(rand.NewPCG(1, 2))
	for range rounds.Of(3000) {
		drawAll(t, f, names.Random(r))
	}
}

func FuzzDraw(f *testing.F) {
	fonts.System.Start(nil)
	for _, p := range names.Pieces {
		f.Add(p)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		f.Add(names.Random(r))
	}
	face := Regular(12)
	f.Fuzz(func(t *testing.T, s string) { drawAll(t, face, s) })
}

// TestRunsHaveEachCharacterOnce checks that the bidi runs cover a text exactly once;
// characters outside of them would not be drawn.
func TestRunsHaveEachCharacterOnce(t *testing.T) {
	f := Regular(12)
	r := rand.New(rand.NewPCG(5, 6))
	for range rounds.Of(3000) {
		text := f.drawable(names.Random(r))
		at := 0
		for _, run := range f.runs(text) {
			if run.Start != at || run.End <= at {
				t.Fatalf("runs of %+q: %v", string(text), f.runs(text))
			}
			at = run.End
		}
		if at != len(text) {
			t.Fatalf("runs of %+q end at %d of %d", string(text), at, len(text))
		}
	}
}

// TestPanicOfOneLabel checks that a panic while shaping a text or reading a font replaces
// the letters of that label only.
func TestPanicOfOneLabel(t *testing.T) {
	f := Regular(12)
	l := f.guarded("a\u0301bc", func() *line { panic("as a library does") })
	if !f.fallen || len(l.glyphs) != 4 || l.width != 4*f.Advance(missing) || len(l.advances) != 4 {
		t.Errorf("fallen %v, %d glyphs, %v wide, want 4 of %v each", f.fallen, len(l.glyphs), l.width, f.Advance(missing))
	}
	f.fallen = false
	if g := f.other(&placed{face: new(font.Face), gid: 1}, 0); !f.fallen || g.mask == nil {
		t.Error("a glyph of a broken font has no frame")
	}
	f.fallen = false
	if f.Measure("\u05d0\u0301") <= 0 || f.fallen {
		t.Error("the next label fell too")
	}
}
