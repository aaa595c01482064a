package ui

import (
	"image"
	"image/color"
	"math/rand/v2"
	"strings"
	"testing"

	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/render/theme"
)

// TestCachedLabelsAreAsNew measures more texts than are cached, in many styles, and again
// with another shaper: each size must be that of a text shaped anew.
func TestCachedLabelsAreAsNew(t *testing.T) {
	u := &UI{Context: layout.Context{Ops: new(op.Ops)}, Theme: theme.Dark, Shaper: NewShaper(), Labels: new(Labels)}
	r := rand.New(rand.NewPCG(1, 2))
	seen, hits := map[labelKey]bool{}, 0
	for i := range 3 * mostLabels {
		if i == 2*mostLabels {
			u.Shaper = NewShaper()
			clear(seen)
		}
		u.Metric = unit.Metric{PxPerDp: 1, PxPerSp: 1 + float32(r.IntN(2))}
		s := strings.Repeat("name ", 1+r.IntN(6)) + string(rune('a'+r.IntN(4)))
		st := Style{Size: 11 + float32(r.IntN(3)), Color: color.NRGBA{A: 255}, Lines: r.IntN(3), Mono: r.IntN(2) == 0}
		width := 40 + 60*r.IntN(3)
		if k := (labelKey{s, width, st, u.Metric.PxPerSp}); seen[k] {
			hits++
		} else {
			seen[k] = true
		}
		_, got := u.record(width, s, st)
		plain := *u
		plain.Labels = nil
		if _, want := plain.record(width, s, st); got != want {
			t.Fatalf("%q in %d pixels, %+v: %v, drawn anew %v", s, width, st, got, want)
		}
		if n := len(u.Labels.recent) + len(u.Labels.older); n > 2*mostLabels {
			t.Fatalf("%d texts are cached", n)
		}
	}
	if hits < 50 {
		t.Fatalf("only %d texts were requested again", hits)
	}
	if u.Text(image.Rect(0, 0, 100, 20), "text", Style{Size: 12}).X == 0 {
		t.Fatal("a text has no width")
	}
}
