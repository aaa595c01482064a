package heatmap

import (
	"context"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/golden"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

// sampled returns a recording of one minute of samples: a pulse at 300 ms of every
// second, a busy period from 20 s to 30 s, and a pause from 40 s to 41.5 s.
func sampled() *recording.Recording {
	r := rand.New(rand.NewPCG(2, 2))
	b := recording.NewBuilder()
	b.AddEvent(recording.Event{Name: "cycles", Basis: recording.FromSamples, Metrics: []recording.Metric{{Name: "samples", PerSample: recording.SampleOne}}})
	call := b.Stack([]recording.FrameID{b.FunctionFrame(b.Function(recording.Function{Name: "f"}))})
	t := b.Track(recording.TrackKey{PID: 1, TID: 1})
	t.Sample(0, 0, call, -1, nil)
	for ms := int64(1); ms < 60_000; ms++ {
		in := ms % 1000
		pulse := in >= 300 && in < 340 && r.IntN(2) == 0
		busy := ms >= 20_000 && ms < 30_000 && r.IntN(4) == 0
		pause := ms >= 40_000 && ms < 41_500
		if (pulse || busy || r.IntN(30) == 0) && !pause {
			t.Sample(0, ms*1e9, call, -1, nil)
		}
	}
	return b.Finish()
}

func grid(t *testing.T, rec *recording.Recording) *Grid {
	t.Helper()
	g, err := NewGrid(context.Background(), rec, analyze.Query{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func picture(g *Grid, th *theme.Theme, scale float32) *Picture {
	return &Picture{Grid: g, Theme: th, Font: raster.Regular(11 * scale), Scale: scale}
}

func TestGoldenPictures(t *testing.T) {
	g := grid(t, sampled())
	golden.Paint(t, "dark", 640, 300, theme.Dark, picture(g, theme.Dark, 1).Paint)
	golden.Paint(t, "light-scale2", 800, 420, theme.Light, picture(g, theme.Light, 2).Paint)
	p := picture(g, theme.Dark, 1)
	p.Selected = true
	p.From, p.To = g.Range(Cell{20, 0}, Cell{29, 49})
	golden.Paint(t, "selected", 640, 300, p.Theme, p.Paint)
}

func TestGridHoldsEverySample(t *testing.T) {
	rec := sampled()
	g := grid(t, rec)
	if g.Column != 1e12 || g.Rows != 50 || g.Cols != 60 {
		t.Fatalf("%d columns of %d picoseconds and %d rows", g.Cols, g.Column, g.Rows)
	}
	s := rec.Tracks[0].Samples[0]
	var sum int64
	for col := range g.Cols {
		for row := range g.Rows {
			c := Cell{col, row}
			from, to := g.Time(c)
			n := int64(s.Search(to) - s.Search(from)) // count in another way
			if g.Count(c) != n {
				t.Fatalf("cell %v has %d, want %d", c, g.Count(c), n)
			}
			sum += n
		}
	}
	if sum != int64(s.Len()) || g.Sum != sum {
		t.Errorf("%d samples in the cells, %d in the recording", sum, s.Len())
	}
}

// TestEveryPixelFindsItsCell checks for every pixel that At returns a cell whose box, or
// the gap beside it, contains the pixel.
func TestEveryPixelFindsItsCell(t *testing.T) {
	g := grid(t, sampled())
	for _, size := range [][2]int{{640, 300}, {97, 80}, {1000, 77}, {3000, 700}} {
		p := picture(g, theme.Dark, 1)
		golden.Draw(size[0], size[1], p.Theme, p.Paint)
		seen := map[Cell]bool{}
		for y := range size[1] {
			for x := range size[0] {
				c, ok := p.At(x, y)
				ax0, ay0, ax1, ay1 := p.area()
				if in := x >= ax0 && x < ax1 && y >= ay0 && y < ay1; ok != in {
					t.Fatalf("pixel %d, %d: found %v, want %v", x, y, ok, in)
				}
				if !ok {
					continue
				}
				seen[c] = true
				if c.Col < 0 || c.Row < 0 || c.Col >= g.Cols || c.Row >= g.Rows {
					t.Fatalf("pixel %d, %d is in cell %v", x, y, c)
				}
				if x0, y0, x1, y1 := p.Box(c); x < x0 || x > x1 || y < y0 || y > y1 {
					t.Fatalf("pixel %d, %d is in cell %v, which is %d..%d, %d..%d", x, y, c, x0, x1, y0, y1)
				}
			}
		}
		if size[0] >= 640 && size[1] >= 300 && len(seen) != g.Cols*g.Rows {
			t.Errorf("%v: only %d of %d cells can be hit", size, len(seen), g.Cols*g.Rows)
		}
	}
}

func TestRangeCoversBothCells(t *testing.T) {
	g := grid(t, sampled())
	a, b := Cell{7, 40}, Cell{9, 2}
	from, to := g.Range(b, a)
	if f, _ := g.Time(a); f != from || from != 7_800e9 {
		t.Errorf("the range begins at %d, want %d", from, f)
	}
	if _, e := g.Time(b); e != to || to != 9_060e9 {
		t.Errorf("the range ends at %d, want %d", to, e)
	}
}

func TestNothingToSee(t *testing.T) {
	b := recording.NewBuilder()
	b.AddEvent(recording.Event{Name: "bytes", Metrics: []recording.Metric{{Name: "bytes"}}})
	g := grid(t, b.Finish())
	if said, _ := g.Empty(); said == "" {
		t.Error("a recording without time has a heatmap")
	}
	p := picture(g, theme.Dark, 1)
	golden.Draw(300, 100, p.Theme, p.Paint)
	if _, ok := p.At(150, 50); ok {
		t.Error("a cell is hit where there is none")
	}
}
