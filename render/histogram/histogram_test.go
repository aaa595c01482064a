package histogram

import (
	"context"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/recording"
	"ashlar/ingest/spans"
	"ashlar/render/golden"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

// durations are those of calls with a long tail and a second mode.
func durations(t *testing.T, n int) *spans.Durations {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 3))
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	f := b.FunctionFrame(b.Function(recording.Function{Name: "f"}))
	tb := b.Track(recording.TrackKey{TID: 1})
	at := int64(0)
	for range n {
		d := 2e8 + int64(r.ExpFloat64()*3e8)
		if r.IntN(10) == 0 {
			d = 9e9 + int64(r.ExpFloat64()*2e9)
		}
		tb.Begin(at, f, 0)
		at += d
		tb.End(at)
	}
	d, err := spans.DurationsOf(context.Background(), b.Finish(), recording.Scope{}, []recording.FuncID{f0})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const f0 = recording.FuncID(0)

func picture(d *spans.Durations, th *theme.Theme, scale float32) *Picture {
	return &Picture{Of: d, Theme: th, Font: raster.Regular(11 * scale), Name: raster.Medium(11 * scale), Scale: scale, Hover: -1}
}

func TestGoldenPictures(t *testing.T) {
	d := durations(t, 5000)
	golden.Paint(t, "log-dark", 640, 260, theme.Dark, picture(d, theme.Dark, 1).Paint)
	p := picture(d, theme.Light, 1)
	p.Linear, p.Hover = true, 3
	golden.Paint(t, "linear-light", 640, 260, p.Theme, p.Paint)
	golden.Paint(t, "log-scale2", 900, 400, theme.Dark, picture(d, theme.Dark, 2).Paint)
}

func TestEveryPixelFindsItsBin(t *testing.T) {
	for _, linear := range []bool{false, true} {
		p := picture(durations(t, 300), theme.Dark, 1)
		p.Linear = linear
		for _, w := range []int{640, 101, 90} {
			golden.Draw(w, 200, p.Theme, p.Paint)
			ax0, ay0, ax1, ay1 := p.area()
			for x := range w {
				i := p.At(x, (ay0+ay1)/2)
				if in := x >= ax0 && x < ax1; in != (i >= 0) {
					t.Fatalf("pixel %d finds bin %d", x, i)
				}
				if i < 0 {
					continue
				}
				if x0, _, x1, _ := p.Box(i); x < x0 || x >= x1 {
					t.Fatalf("pixel %d of %d finds bin %d, which is %d..%d", x, w, i, x0, x1)
				}
			}
			if p.At((ax0+ax1)/2, ay1) >= 0 || p.At((ax0+ax1)/2, ay0-1) >= 0 {
				t.Error("a bin is found beside the bars")
			}
		}
	}
}

// TestMarksLieInTheirBins: a length is drawn within the bin that counts it, and
// longer ones lie further right.
func TestMarksLieInTheirBins(t *testing.T) {
	d := durations(t, 2000)
	for _, linear := range []bool{false, true} {
		p := picture(d, theme.Dark, 1)
		p.Linear = linear
		golden.Draw(5000, 200, p.Theme, p.Paint)
		last := -1.0
		for _, v := range []int64{d.Min, d.Median, d.P90, d.P99, d.P999, d.Max} {
			x := p.X(v)
			i := p.At(int(x), 100)
			if i < 0 || v < p.Bins()[i].From || v >= p.Bins()[i].To {
				t.Errorf("%d lies at %v in bin %d", v, x, i)
			}
			if x < last {
				t.Errorf("%d lies left of what is shorter", v)
			}
			last = x
		}
	}
}

func TestNoCalls(t *testing.T) {
	p := picture(&spans.Durations{}, theme.Dark, 1)
	golden.Draw(100, 50, p.Theme, p.Paint)
	if p.At(70, 45) != -1 {
		t.Error("a bin is found where there is none")
	}
}
