package shell

import (
	"image"
	"os"
	"testing"
	"time"

	"gioui.org/io/input"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/ingest/recording"
	"ashlar/render/theme"
)

// BenchmarkFrame measures the processor time of laying out and drawing a frame
// of 1280x720 while the view moves, at several zooms, over the recording that
// ASHLAR_BENCH_FILE names (or the built-in one).
func BenchmarkFrame(b *testing.B) {
	s := New(theme.Dark)
	defer s.Close()
	if f := os.Getenv("ASHLAR_BENCH_FILE"); f != "" {
		s.Open(f)
	} else {
		s.OpenDemo()
	}
	whole := func(*recording.Recording) (int64, int64, bool) { return 0, 0, false }
	if err := s.Settle(whole); err != nil {
		b.Fatal(err)
	}
	var router input.Router
	var ops op.Ops
	frame := func() {
		ops.Reset()
		s.Layout(layout.Context{Ops: &ops, Now: time.Now(), Source: router.Source(),
			Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}, Constraints: layout.Exact(image.Pt(1280, 720))})
		router.Frame(&ops)
	}
	frame()
	p := s.pane
	for _, zoom := range []struct {
		name   string
		factor int64
	}{{"all", 1}, {"tenth", 10}, {"hundredth", 100}, {"thousandth", 1000}, {"100000th", 100000}, {"closest", 1 << 40}} {
		b.Run(zoom.name, func(b *testing.B) {
			p.view = p.view.Fit(p.rec.Start, p.rec.End)
			p.view = p.view.Zoom(1/float64(zoom.factor), float64(p.laneWidth())/2, p.laneWidth(), p.rec.Start, p.rec.End)
			p.moved = true
			bars, step := 0, .013
			for i := 0; b.Loop(); i++ {
				if i%32 == 31 {
					step = -step
				}
				p.panBy(step)
				frame()
				bars += s.Bars
			}
			b.ReportMetric(float64(bars)/float64(b.N), "bars/frame")
		})
	}
}
