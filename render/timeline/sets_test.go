package timeline

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
	"ashlar/render/golden"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

// TestOutsideOfSetsIsFaded draws spans with sets of calls and checks their colours: a
// span that is in a call of a set has its function's colour, all others are faded.
func TestOutsideOfSetsIsFaded(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 16))
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	var frames []recording.FrameID
	for _, name := range []string{"parse", "read", "tick"} {
		frames = append(frames, b.FunctionFrame(b.Function(recording.Function{Name: name})))
	}
	tr := b.Track(recording.TrackKey{TID: 1})
	at := int64(0)
	for range 120 {
		if at += 20 + r.Int64N(20); tr.Depth() > 3 || tr.Depth() > 0 && r.IntN(2) == 0 {
			tr.End(at)
		} else {
			tr.Begin(at, frames[r.IntN(3)], 0)
		}
	}
	for tr.Depth() > 0 {
		at += 30
		tr.End(at)
	}
	rec := b.Finish()
	set := func(text string) *recording.CallSet {
		in, err := calls.Bind(context.Background(), rec, recording.Scope{}.Of(&recording.CallSet{Text: text}))
		if err != nil {
			t.Fatal(err)
		}
		return in.Calls
	}
	plan := NewPlan(rec, Layout{Scale: 1})
	face := raster.Regular(11.5)
	palette := &theme.Palette{Theme: theme.Dark, Mode: theme.ByFunction}
	view := View{From: rec.Start, To: rec.End}
	const w, h, gutter = 3000, 120, 100
	tr0 := rec.Tracks[0]
	inside := func(text []string, lane, i int) bool {
		l := &tr0.Lanes[lane]
		for ; lane >= 0; lane-- {
			up := &tr0.Lanes[lane]
			for k := range up.Len() {
				if up.Start(k) > l.Start(i) || up.End(k) < l.End(i) {
					continue
				}
				for _, f := range text {
					switch name, took := rec.FuncName(up.Call(k)), up.End(k)-up.Start(k); f {
					case "read[..60ps]":
						if name == "read" && took < 60 {
							return true
						}
					case name:
						return true
					}
				}
			}
		}
		return false
	}
	for _, text := range [][]string{{}, {"parse"}, {"read[..60ps]"}, {"tick", "read[..60ps]"}} {
		pic := Picture{Rec: rec, Plan: plan, View: view, Palette: palette, Gutter: gutter, Fonts: Fonts{face, face, face}}
		for _, s := range text {
			pic.Sets = append(pic.Sets, set(s))
		}
		img := golden.Draw(w, h, theme.Dark, pic.Paint)
		faded := 0
		for lane := range tr0.Lanes {
			l := &tr0.Lanes[lane]
			for i := range l.Len() {
				x0, y0, x1, y1 := plan.Box(view, 0, lane, l.Start(i), l.End(i), w, gutter)
				want := palette.On(rec, 0, l.Call(i))
				if in := len(text) == 0 || inside(text, lane, i); !in {
					want = theme.Dark.Fade(want)
					faded++
				}
				c := img.RGBAAt((x0+x1)/2, y1-2)
				if x1-x0 > 8 && (c.R != want.R || c.G != want.G || c.B != want.B) {
					t.Fatalf("%v: %s of lane %d at %d..%d, %d..%d is %v, want %v", text, rec.FuncName(l.Call(i)), lane, x0, x1, y0, y1, c, want)
				}
			}
		}
		if (faded > 0) != (len(text) > 0) {
			t.Errorf("%v: %d are faded", text, faded)
		}
	}
}

// TestSetsAreGatheredAnew checks that what was gathered for one call set is not reused
// for another.
func TestSetsAreGatheredAnew(t *testing.T) {
	rec := both(t, 2)
	in, err := calls.Bind(context.Background(), rec, recording.Scope{}.Of(&recording.CallSet{Text: "*[slowest 40]"}))
	if err != nil {
		t.Fatal(err)
	}
	plan := NewPlan(rec, Layout{Scale: 1, Event: 1})
	face := raster.Regular(11.5)
	var kept Gathered
	draw := func(g *Gathered, sets ...*recording.CallSet) []byte {
		pic := Picture{Rec: rec, Plan: plan, View: View{From: rec.Start, To: rec.End}, Palette: &theme.Palette{Theme: theme.Dark}, Gutter: 100, Fonts: Fonts{face, face, face}, Gathered: g, Sets: sets}
		return golden.Draw(900, 300, theme.Dark, pic.Paint).Pix
	}
	whole := draw(nil)
	if !bytes.Equal(draw(&kept), whole) {
		t.Fatal("the first picture differs")
	}
	if bytes.Equal(draw(&kept, in.Calls), whole) {
		t.Error("nothing is faded outside of a set")
	}
	if !bytes.Equal(draw(&kept), whole) {
		t.Error("without a set something stays faded")
	}
}
