//go:build linux

package shell

import (
	"image"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"gioui.org/io/input"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/app/cli"
	"ashlar/ingest/recording"
	"ashlar/render/theme"
	"ashlar/testdata/gen/synth"
)

// openOdd settles a shell on an odd trace and returns what lays out a frame.
func openOdd(tb testing.TB, name string) (*Shell, func()) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name+".json")
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := synth.WriteOdd(f, name); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	s := New(theme.Dark)
	tb.Cleanup(s.Close)
	s.Open(path)
	whole := func(*recording.Recording) (int64, int64, bool) { return 0, 0, false }
	if err := s.Settle(cli.StackView{}, whole); err != nil {
		tb.Fatal(err)
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
	return s, frame
}

// BenchmarkOdd measures, on the odd traces, the processor time of frames while
// the view moves in time, while rows scroll, while all lanes are open, and when
// a bar is picked.
func BenchmarkOdd(b *testing.B) {
	for _, name := range synth.Odds() {
		s, frame := openOdd(b, name)
		p := s.pane
		run := func(what string, change func(i int)) {
			b.Run(name+"/"+what, func(b *testing.B) {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				var times []time.Duration
				for i := 0; b.Loop(); i++ {
					cpu := threadTime()
					change(i)
					frame()
					times = append(times, threadTime()-cpu)
				}
				var sum time.Duration
				for _, t := range times {
					sum += t
				}
				slices.Sort(times)
				b.ReportMetric(sum.Seconds()*1000/float64(b.N), "cpu-ms/frame")
				b.ReportMetric(times[len(times)*99/100].Seconds()*1000, "p99-cpu-ms")
			})
		}
		pan := func(i int) {
			if i%64 < 32 {
				p.panBy(.013)
			} else {
				p.panBy(-.013)
			}
		}
		p.zoomAt(.5, 500)
		run("pan", pan)
		run("scroll", func(i int) { p.scrollTo(i * 37 % max(1, p.timeline.plan.Height)) })
		p.pickFirst()
		frame()
		run("picked", pan)
		p.foldAll(true)
		frame()
		run("open", func(i int) { p.scrollTo(i * 37 % max(1, p.timeline.plan.Height)) })
		p.zoomAt(.01, 500)
		run("close", pan)
	}
}
