package timeline

import (
	"math"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/render/golden"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

func TestZoomKeepsTheTimeUnderThePointer(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const w = 1100
	for range 2000 {
		from := r.Int64N(1 << 58)
		to := from + 1000 + r.Int64N(1<<r.IntN(56)+1)
		v := View{From: from, To: to}
		x := float64(r.IntN(w))
		at := v.Time(x, w)
		z := v.Zoom(.7, x, w, from, to)
		if d := math.Abs(z.X(at, w) - x); d > 1+float64(w)/float64(z.Span())*2 {
			t.Fatalf("zooming %v at %v moves the time there by %v pixels", v, x, d)
		}
		for range 200 {
			z = z.Zoom(1.5, x, w, from, to)
		}
		if z.From > from || z.To < to {
			t.Fatalf("zoomed out, %v does not show all of %d to %d", z, from, to)
		}
	}
}

// nested returns a recording with spans that nest deeply, on some threads.
func nested(threads, depth, spans int) *recording.Recording {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	r := rand.New(rand.NewPCG(5, 6))
	frame := func(i int) recording.FrameID {
		return b.FunctionFrame(b.Function(recording.Function{Name: string(rune('a'+i%26)) + "func"}))
	}
	for th := range threads {
		t := b.Track(recording.TrackKey{PID: 1, TID: int64(th + 1)})
		at := int64(0)
		for range spans {
			at += r.Int64N(1000)
			if t.Depth() < depth && r.IntN(2) == 0 {
				t.Begin(at, frame(r.IntN(40)), 0)
			} else {
				t.End(at)
			}
		}
	}
	return b.Finish()
}

// TestHitFindsWhatIsDrawn checks that the pointer finds every span that is drawn several
// pixels wide.
func TestHitFindsWhatIsDrawn(t *testing.T) {
	rec := nested(3, 6, 400)
	plan := NewPlan(rec, Layout{Scale: 1})
	const w, gutter = 1000, 170
	v := View{From: rec.Start, To: rec.End}
	for ri := range plan.Rows {
		row := &plan.Rows[ri]
		if row.Kind != TrackRow {
			continue
		}
		tr := rec.Tracks[row.Index]
		for lane := range row.Lanes {
			l := &tr.Lanes[lane]
			for i := range l.Len() {
				x0, y0, x1, y1 := plan.Box(v, ri, lane, l.Start(i), l.End(i), w, gutter)
				if x1-x0 < 3 {
					continue
				}
				h := At(rec, plan, v, (x0+x1)/2, (y0+y1)/2, w, gutter)
				if !h.Found || h.Track != row.Index || h.Lane != lane || h.Span != i {
					t.Fatalf("row %d lane %d span %d at %d..%d: found %+v", ri, lane, i, x0, x1, h)
				}
			}
		}
	}
}

// TestDrawnPixelsAreBusyTimes compares the pixels of a lane with its spans: inside a wide
// span they have its colour, far from any span the lane's.
func TestDrawnPixelsAreBusyTimes(t *testing.T) {
	rec := nested(1, 4, 3000)
	plan := NewPlan(rec, Layout{Scale: 1})
	th := theme.Dark
	const w, gutter = 1170, 170
	for _, v := range []View{{From: rec.Start, To: rec.End}, {From: rec.Start + 1000, To: rec.Start + 9000}} {
		face := raster.Regular(11.5)
		pic := Picture{Rec: rec, Plan: plan, View: v, Palette: &theme.Palette{Theme: th, Mode: theme.ByFunction}, Gutter: gutter, Fonts: Fonts{face, face, face}}
		c := golden.Draw(w, plan.Height, th, pic.Paint)
		row := &plan.Rows[len(plan.Rows)-1]
		for lane := range row.Lanes {
			y := row.Y + plan.laneTop(row, lane) + 1 // above the labels
			l := &rec.Tracks[0].Lanes[lane]
			for x := gutter; x < w; x++ {
				from, to := v.Time(float64(x-gutter), w-gutter), v.Time(float64(x-gutter+1), w-gutter)
				i := l.Search(from)
				busy := i < l.Len() && l.Start(i) < to
				nearby := i < l.Len() && l.Start(i) < to+2*(to-from) || i > 0 && l.End(i-1) > from-2*(to-from)
				px := c.RGBAAt(x, y)
				empty := px.R == th.Lane.R && px.G == th.Lane.G && px.B == th.Lane.B
				if !nearby && !empty {
					t.Fatalf("lane %d pixel %d has colour %v, but no span is near", lane, x, px)
				}
				inside := busy && l.Start(i) < from-2*(to-from) && l.End(i) > to+2*(to-from)
				if inside {
					want := th.Bar(ptr(rec.Functions.At(int(rec.Func(l.Call(i))))), theme.ByFunction)
					if px.R != want.R || px.G != want.G || px.B != want.B {
						t.Fatalf("lane %d pixel %d is %v, want %v", lane, x, px, want)
					}
				}
			}
		}
	}
}

func ptr[T any](v T) *T { return &v }

// TestPanMovesByWholePixels pans a view beyond the limits: it moves by whole pixels, so
// that pictures are reused, and stops less than a pixel before the limits.
func TestPanMovesByWholePixels(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	const from, to = 1_000_003, 9_000_000_019
	stopped := 0
	for range 200 {
		w := 300 + r.IntN(1500)
		v := View{From: from, To: to}.Zoom(.01+r.Float64(), float64(r.IntN(w)), w, from, to)
		px := v.Span() / int64(w)
		for range 20 {
			dx := float64(r.IntN(4*w) - 2*w)
			moved := v.Pan(dx, w, from, to)
			d := moved.From - v.From
			if d%px != 0 || moved.Span() != v.Span() {
				t.Fatalf("%+v moved to %+v by %v pixels of %d picoseconds", v, moved, dx, px)
			}
			if want := int64(dx) * px; d != want {
				stopped++
				if further := (View{From: moved.From + px, To: moved.To + px}); want > 0 && further.Clamp(from, to) == further {
					t.Fatalf("%+v stopped at %+v", v, moved)
				}
				if further := (View{From: moved.From - px, To: moved.To - px}); want < 0 && further.Clamp(from, to) == further {
					t.Fatalf("%+v stopped at %+v", v, moved)
				}
			}
			v = moved
		}
	}
	if stopped < 100 {
		t.Fatalf("only %d moves reached a limit", stopped)
	}
}
