package histogram

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/spans"
	"ashlar/render/golden"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

// durations returns the durations of random calls with a long tail and a second mode.
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

// TestEveryPixelHasOneBin checks that the bins lie side by side and fill the picture.
func TestEveryPixelHasOneBin(t *testing.T) {
	for _, linear := range []bool{false, true} {
		p := picture(durations(t, 300), theme.Dark, 1)
		p.Linear = linear
		for _, w := range []int{640, 101, 90} {
			golden.Draw(w, 200, p.Theme, p.Paint)
			ax0, ay0, ax1, ay1 := p.area()
			at := ax0
			for i := range p.Bins() {
				x0, y0, x1, y1 := p.Box(i)
				if x0 != at || x1 < x0 || y0 < ay0 || y1 != ay1 || (y0 < y1) != (p.Bins()[i].Count > 0) {
					t.Fatalf("bin %d of %d in %d pixels is at %d..%d, %d..%d", i, p.Bins()[i].Count, w, x0, x1, y0, y1)
				}
				at = x1
			}
			if at != ax1 {
				t.Errorf("the bins end at %d, the picture at %d", at, ax1)
			}
		}
	}
}

// TestMarksLieInTheirBins checks that a duration is drawn within the bin that counts it,
// and that longer ones are further right.
func TestMarksLieInTheirBins(t *testing.T) {
	d := durations(t, 2000)
	for _, linear := range []bool{false, true} {
		p := picture(d, theme.Dark, 1)
		p.Linear = linear
		golden.Draw(5000, 200, p.Theme, p.Paint)
		last := -1.0
		for _, v := range []int64{d.Min, d.Median, d.P90, d.P99, d.P999, d.Max} {
			x := p.X(v)
			i := slices.IndexFunc(p.Bins(), func(b spans.Bin) bool { return v >= b.From && v < b.To })
			if x0, _, x1, _ := p.Box(i); int(x) < x0 || int(x) > x1 {
				t.Errorf("%d lies at %v, its bin at %d..%d", v, x, x0, x1)
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
	if golden.Draw(100, 50, p.Theme, p.Paint); len(p.Bins()) > 0 {
		t.Error("there is a bin where there is none")
	}
}
