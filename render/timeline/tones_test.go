package timeline

import (
	"context"
	"fmt"
	"image/color"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/scan"
	"ashlar/render/golden"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

// TestBarsHaveTwoTones draws spans that were partly off CPU, in full and cut at the edges
// of the view, and compares the number of pixels of each tone with the spans' CPU times.
func TestBarsHaveTwoTones(t *testing.T) {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	b.SetCPU(func(ref uint64) (int64, bool) { return int64(ref) - 1, ref != 7 })
	frame := b.FunctionFrame(b.Function(recording.Function{Name: "f"}))
	tr := b.Track(recording.TrackKey{TID: 1})
	var want [6]int64 // CPU time of each span; the file does not state the last one's
	for i := range want {
		ref := uint64(7)
		if want[i] = 100; i < 5 {
			want[i] = int64(i) * 25
			ref = uint64(want[i]) + 1
		}
		tr.Span(int64(i)*100, int64(i+1)*100, frame, ref, false)
	}
	rec := b.Finish()
	cpu, err := scan.CPU(context.Background(), rec)
	if err != nil {
		t.Fatal(err)
	}
	const gutter, h = 100, 60
	for _, th := range theme.All {
		palette := &theme.Palette{Theme: th, Mode: theme.ByFunction}
		runs := palette.On(rec, 0, rec.Tracks[0].Lanes[0].Call(0))
		for _, view := range []View{{From: 0, To: 600}, {From: 50, To: 550}} {
			w := gutter + 4*int(view.Span())
			plan := NewPlan(rec, Layout{Scale: 1, OnCPU: cpu})
			if got := plan.note(&plan.Rows[0]); got != "1 · 42 % on CPU" && got != "42 % on CPU" {
				t.Errorf("the thread's name says %q", got)
			}
			draw := func(of *recording.OnCPU) (tones [6][2]int) {
				face := raster.Regular(11.5)
				pic := Picture{Rec: rec, Plan: plan, View: view, Palette: palette, Gutter: gutter, Fonts: Fonts{face, face, face}, OnCPU: of}
				img := golden.Draw(w, h, th, pic.Paint)
				y := plan.laneTop(&plan.Rows[0], 0) + 2
				for x := gutter; x < w; x++ {
					c := img.RGBAAt(x, y)
					i := min(5, view.Time(float64(x-gutter)+.5, w-gutter)/100)
					switch c {
					case rgba(runs):
						tones[i][0]++
					case rgba(th.Waiting(runs)):
						tones[i][1]++
					}
				}
				return tones
			}
			for i, tones := range draw(cpu) {
				from, to := max(view.From, int64(i)*100), min(view.To, int64(i+1)*100)
				ran := max(0, min(to, int64(i)*100+want[i])-from)
				if d := int64(tones[0]) - 4*ran; d < -4 || d > 4 {
					t.Errorf("%s, %v: span %d has %d pixels that run, want %d", th.Name, view, i, tones[0], 4*ran)
				}
				if d := int64(tones[1]) - 4*(to-from-ran); d < -4 || d > 4 {
					t.Errorf("%s, %v: span %d has %d pixels that wait, want %d", th.Name, view, i, tones[1], 4*(to-from-ran))
				}
			}
			for i, tones := range draw(nil) {
				if tones[1] != 0 {
					t.Errorf("%s: nothing is known, and span %d has %d pixels that wait", th.Name, i, tones[1])
				}
			}
		}
	}
}

// TestUnfinishedBarsAreSeen checks that a span that never ended fades towards its end, but
// shows its colour at any width.
func TestUnfinishedBarsAreSeen(t *testing.T) {
	for _, length := range []int64{1, 2, 3, 8, 40} {
		b := recording.NewBuilder()
		b.AddEvent(recording.SpanEvent())
		tr := b.Track(recording.TrackKey{TID: 1})
		tr.Span(0, 10, b.FunctionFrame(b.Function(recording.Function{Name: "whole"})), 0, false)
		tr.Span(100-length, 100, b.FunctionFrame(b.Function(recording.Function{Name: "f"})), 0, true)
		rec := b.Finish()
		const gutter, w, h = 100, 300, 60
		palette := &theme.Palette{Theme: theme.Light, Mode: theme.ByFunction}
		want := palette.On(rec, 0, rec.Tracks[0].Lanes[0].Call(1))
		if length < 6 {
			want = theme.Light.Thin(want) // see TestLinesAreSeen
		}
		plan := NewPlan(rec, Layout{Scale: 2})
		face := raster.Regular(11.5)
		pic := Picture{Rec: rec, Plan: plan, View: View{From: 0, To: 200}, Palette: palette, Gutter: gutter, Fonts: Fonts{face, face, face}}
		img := golden.Draw(w, h, theme.Light, pic.Paint)
		y, seen := plan.laneTop(&plan.Rows[0], 0)+8, 0
		for x := gutter + 50; x < w; x++ {
			if img.RGBAAt(x, y) == rgba(want) {
				seen++
			}
		}
		if seen < int(length)/2 || seen == 0 || length > 20 && seen >= int(length) {
			t.Errorf("of %d pixels of an unfinished span, %d have its colour", length, seen)
		}
	}
}

// TestLinesAreSeen checks that a short span by itself is a line of a deeper colour, one dp
// wide at every scale, in a light theme, and that one of many side by side is not.
func TestLinesAreSeen(t *testing.T) {
	for _, scale := range []float32{1, 2} {
		b := recording.NewBuilder()
		b.AddEvent(recording.SpanEvent())
		tr := b.Track(recording.TrackKey{TID: 1})
		frame := b.FunctionFrame(b.Function(recording.Function{Name: "f"}))
		add := func(at int64) { tr.Span(at, at+1, frame, 0, false) }
		add(20)
		for at := range int64(30) {
			add(50 + at)
		}
		add(120)
		b.Cover(0, 200)
		rec := b.Finish()
		const gutter, w, h = 100, 300, 60
		palette := &theme.Palette{Theme: theme.Light, Mode: theme.ByFunction}
		usual := palette.On(rec, 0, rec.Tracks[0].Lanes[0].Call(0))
		plan := NewPlan(rec, Layout{Scale: scale})
		face := raster.Regular(11.5)
		pic := Picture{Rec: rec, Plan: plan, View: View{From: 0, To: 200}, Palette: palette, Gutter: gutter, Fonts: Fonts{face, face, face}}
		img := golden.Draw(w, h, theme.Light, pic.Paint)
		y := plan.laneTop(&plan.Rows[0], 0) + 8
		var got []string
		for x := gutter; x < w; x++ {
			switch img.RGBAAt(x, y) {
			case rgba(usual):
				got = append(got, "usual")
			case rgba(theme.Light.Thin(usual)):
				got = append(got, fmt.Sprintf("deep at %d", x-gutter))
			}
		}
		want := slices.Repeat([]string{"usual"}, 30)
		line := func(at int) (dp []string) {
			for i := range int(scale) {
				dp = append(dp, fmt.Sprintf("deep at %d", at+i))
			}
			return dp
		}
		if want = slices.Concat(line(20), want, line(120)); !slices.Equal(got, want) {
			t.Errorf("at %v pixels a dp: %v\nwant %v", scale, got, want)
		}
	}
}

func rgba(c color.NRGBA) color.RGBA { return color.RGBA{c.R, c.G, c.B, 0xff} }
