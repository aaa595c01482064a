//go:build linux

package shell

import (
	"image"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"gioui.org/io/input"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"
	"golang.org/x/sys/unix"

	"ashlar/app/cli"
	"ashlar/ingest/recording"
	"ashlar/render/theme"
)

// BenchmarkFrame measures the processor time of laying out and drawing a frame
// of 1280x720 while the view moves, at several zooms, over the recording that
// ASHLAR_BENCH_FILE names, or a spall1 trace in ASHLAR_BENCH_DIR, or the
// built-in one.
func BenchmarkFrame(b *testing.B) {
	s := New(theme.Dark)
	defer s.Close()
	if f := benchFile(); f != "" {
		s.Open(f)
	} else {
		s.OpenDemo()
	}
	whole := func(*recording.Recording) (int64, int64, bool) { return 0, 0, false }
	if err := s.Settle(cli.StackView{}, whole); err != nil {
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
	b.Run("snapshot", func(b *testing.B) { // a new state of a file that loads
		for b.Loop() {
			p.timeline.plan, p.timeline.densityOf, p.flame.key, p.timeline.pictKey = nil, densityKey{}, flameKey{}, pictKey{}
			frame()
		}
	})
	for _, zoom := range []struct {
		name   string
		factor int64
	}{{"all", 1}, {"tenth", 10}, {"hundredth", 100}, {"thousandth", 1000}, {"100000th", 100000}, {"closest", 1 << 40}} {
		b.Run(zoom.name, func(b *testing.B) {
			p.view = p.view.Fit(p.rec.Start, p.rec.End)
			p.view = p.view.Zoom(1/float64(zoom.factor), float64(p.laneWidth())/2, p.laneWidth(), p.rec.Start, p.rec.End)
			p.moved = true
			bars, step := 0, .013
			runtime.LockOSThread() // to measure its own processor time: others may be busy
			defer runtime.UnlockOSThread()
			cpu := threadTime()
			for i := 0; b.Loop(); i++ {
				if i%32 == 31 {
					step = -step
				}
				p.panBy(step)
				frame()
				bars += s.Bars
			}
			b.ReportMetric((threadTime()-cpu).Seconds()*1000/float64(b.N), "cpu-ms/frame")
			b.ReportMetric(float64(bars)/float64(b.N), "bars/frame")
		})
	}
}

func benchFile() string {
	if f := os.Getenv("ASHLAR_BENCH_FILE"); f != "" {
		return f
	}
	if dir := os.Getenv("ASHLAR_BENCH_DIR"); dir != "" {
		if all, err := filepath.Glob(filepath.Join(dir, "spall1-*.spall")); err == nil && len(all) > 0 {
			return all[len(all)-1]
		}
	}
	return ""
}

// threadTime is the processor time of the calling thread.
func threadTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano())
}
