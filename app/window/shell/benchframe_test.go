//go:build linux

package shell

import (
	"image"
	"runtime"
	"slices"
	"testing"
	"time"

	"gioui.org/io/input"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"
	"golang.org/x/sys/unix"
)

// framer lays out frames of 1280x720.
type framer struct {
	shell  *Shell
	router input.Router
	ops    op.Ops
}

func (f *framer) frame() {
	f.ops.Reset()
	f.shell.Layout(layout.Context{Ops: &f.ops, Now: time.Now(), Source: f.router.Source(),
		Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}, Constraints: layout.Exact(image.Pt(1280, 720))})
	f.router.Frame(&f.ops)
}

// measure reports the time of frames between which change is called. It also reports the
// CPU time of this thread, because the machine may be busy.
func (f *framer) measure(b *testing.B, change func(i int)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var times, walls []time.Duration
	bars := 0
	for i := 0; b.Loop(); i++ {
		began, cpu := time.Now(), threadTime()
		change(i)
		f.frame()
		times, walls = append(times, threadTime()-cpu), append(walls, time.Since(began))
		bars += f.shell.Bars
	}
	var sum time.Duration
	for _, t := range times {
		sum += t
	}
	slices.Sort(times)
	slices.Sort(walls)
	b.ReportMetric(sum.Seconds()*1000/float64(b.N), "cpu-ms/frame")
	b.ReportMetric(times[len(times)/2].Seconds()*1000, "median-cpu-ms")
	b.ReportMetric(times[len(times)*99/100].Seconds()*1000, "p99-cpu-ms")
	b.ReportMetric(walls[len(walls)*99/100].Seconds()*1000, "p99-ms")
	b.ReportMetric(float64(bars)/float64(b.N), "bars/frame")
}

// threadTime returns the CPU time of the calling thread.
func threadTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano())
}
