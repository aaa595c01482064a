package timeline

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/render/golden"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/testdata/rounds"
)

// both returns a recording whose threads alternate between spans and samples.
func both(t *testing.T, threads int) *recording.Recording {
	t.Helper()
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	event := b.AddEvent(recording.Event{Metrics: []recording.Metric{{Name: "samples", PerSample: recording.SampleOne}}})
	r := rand.New(rand.NewPCG(9, 10))
	frame := func() recording.FrameID {
		return b.FunctionFrame(b.Function(recording.Function{Name: string(rune('a'+r.IntN(26))) + "func"}))
	}
	for th := range threads {
		tr := b.Track(recording.TrackKey{PID: 1, TID: int64(th + 1)})
		at := int64(0)
		for range 40000 {
			at += r.Int64N(1000)
			switch {
			case th%2 == 1:
				tr.Sample(event, at, b.Stack([]recording.FrameID{frame(), frame(), frame()}), -1, []int64{1})
			case tr.Depth() < 8 && r.IntN(2) == 0:
				tr.Begin(at, frame(), 0)
			default:
				tr.End(at)
			}
		}
	}
	return b.Finish()
}

// TestGatheredPicturesAreAsNew draws a series of views, reusing what was gathered, on
// several goroutines. Every pixel must equal that of a new picture drawn on one
// processor.
func TestGatheredPicturesAreAsNew(t *testing.T) {
	rec := both(t, 8)
	plans := []*Plan{NewPlan(rec, Layout{Scale: 1, Event: 1}), NewPlan(rec, Layout{Scale: 1, Event: 1, Sort: SortBusy}),
		NewPlan(rec, Layout{Scale: 1, Event: 1, Pinned: []int{3}, Hold: 180})}
	if n := slices.IndexFunc(plans[0].Rows, func(r Row) bool { return r.hasSamples() }); n < 0 {
		t.Fatal("no row has samples")
	}
	face := raster.Regular(11.5)
	palette := &theme.Palette{Theme: theme.Dark, Mode: theme.ByFunction}
	marks := []func(recording.FuncID) bool{nil, func(f recording.FuncID) bool { return f == 3 }, func(f recording.FuncID) bool { return f%2 == 0 }}
	odd := func(track, lane, i, n int) bool { return (track+lane+i)%2 == 1 }
	var kept Gathered
	r := rand.New(rand.NewPCG(7, 8))
	plan, view, h, markAt := plans[0], View{From: rec.Start, To: rec.End}, 400, odd
	again := 0
	for range rounds.Size(60, 15) {
		switch r.IntN(6) {
		case 0:
			view = view.Zoom(.5+r.Float64(), 500, 1000, rec.Start, rec.End)
		case 1:
			view.Scroll = r.IntN(200)
		case 2:
			plan = plans[r.IntN(3)]
		case 3:
			h = 200 + r.IntN(300)
		case 4:
			markAt = nil
		case 5:
			markAt = odd
		}
		mark, dim := marks[r.IntN(len(marks))], r.IntN(2) == 0
		draw := func(g *Gathered) []byte {
			pic := Picture{Rec: rec, Plan: plan, View: view, Palette: palette, Gutter: 170, Fonts: Fonts{face, face, face},
				Mark: mark, MarkAt: markAt, DimOthers: dim, Gathered: g}
			if g != nil && markAt == nil && g.of == (gatheredOf{plan: plan, view: view, w: 1170, h: h, gutter: 170}) {
				again++
			}
			return golden.Draw(1170, h, theme.Dark, pic.Paint).Pix
		}
		got := draw(&kept)
		procs := runtime.GOMAXPROCS(1)
		want := draw(nil)
		runtime.GOMAXPROCS(procs)
		if !bytes.Equal(got, want) {
			t.Fatalf("the view %+v differs from one drawn anew", view)
		}
	}
	if again == 0 {
		t.Fatal("nothing was drawn from what had been gathered")
	}
}

// TestPannedPicturesAreAsNew pans and scrolls a view, reusing what was gathered for the
// last picture: every pixel must equal that of a new picture. The spans begin and end at
// pixel boundaries, are empty, are long, or are far narrower than a pixel.
func TestPannedPicturesAreAsNew(t *testing.T) {
	const pixel = 20_000 // picoseconds per pixel, when everything is visible
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	r := rand.New(rand.NewPCG(3, 4))
	for th := range 6 {
		tr := b.Track(recording.TrackKey{PID: 1, TID: int64(th + 1)})
		at, depth := int64(0), 0
		for at < 1000*pixel {
			switch k := r.IntN(1000); {
			case k == 0:
				at += r.Int64N(5 * pixel)
			case k < 20:
				at = (at/pixel + 1) * pixel
			case k < 200: // no gap
			default:
				at += r.Int64N([]int64{60, 300, 3000, 3 * pixel / 4, 200, 1000}[th])
			}
			if depth < 5 && r.IntN(2) == 0 {
				tr.Begin(at, b.FunctionFrame(b.Function(recording.Function{Name: string(rune('a'+r.IntN(26))) + "func"})), 0)
				depth++
			} else if depth > 0 {
				tr.End(at)
				depth--
			}
		}
	}
	rec := b.Finish()
	face := raster.Regular(11.5)
	palette := &theme.Palette{Theme: theme.Dark, Mode: theme.ByFunction}
	plan := NewPlan(rec, Layout{Scale: 1})
	const w, gutter = 670, 170
	view := View{From: rec.Start, To: rec.Start + 1000*pixel}
	var kept Gathered
	h, panned, scrolled, times := 400, 0, 0, 200
	if testing.Short() {
		times = rounds.Size(40, 15)
	}
	for range times {
		switch r.IntN(8) {
		case 0:
			view = view.Zoom(.5+r.Float64(), 250, w-gutter, rec.Start, rec.End)
		case 1:
			view.Scroll = r.IntN(200)
		case 2:
			h = 200 + r.IntN(300)
		case 3:
			view = view.Fit(rec.Start, rec.End)
		default:
			view = view.Pan(float64(r.IntN(900)-450)/float64(1+r.IntN(30)), w-gutter, rec.Start, rec.End)
		}
		draw := func(g *Gathered) []byte {
			pic := Picture{Rec: rec, Plan: plan, View: view, Palette: palette, Gutter: gutter, Fonts: Fonts{face, face, face}, Gathered: g}
			if g != nil {
				now := gatheredOf{plan: plan, view: view, w: w, h: h, gutter: gutter}
				px := view.Span() / (w - gutter)
				if px*(w-gutter) != view.Span() {
					px = 0
				}
				switch by, ok := g.of.moved(now, px); {
				case ok && by != 0:
					panned++
				case ok && g.of != now:
					scrolled++
				}
			}
			return golden.Draw(w, h, theme.Dark, pic.Paint).Pix
		}
		got, want := draw(&kept), draw(nil)
		if !bytes.Equal(got, want) {
			t.Fatalf("the view %+v, %d high, differs from one drawn anew", view, h)
		}
	}
	if panned < times/10 || scrolled < times/40 {
		t.Fatalf("only %d of the pictures have moved by pixels and %d by rows", panned, scrolled)
	}
}

func TestShareDoesEachOnce(t *testing.T) {
	for _, goroutines := range []int{0, 1, 2, 4, 9} {
		for n := range 20 {
			did := make([]atomic.Int32, n)
			share(n, goroutines, func(i int) { did[i].Add(1) })
			for i := range did {
				if k := did[i].Load(); k != 1 {
					t.Fatalf("%d goroutines did item %d of %d %d times", goroutines, i, n, k)
				}
			}
		}
	}
}
