//go:build linux

package shell

import (
	"image"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gioui.org/f32"
	"gioui.org/gpu/headless"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/window/panel"
	"ashlar/app/window/panel/flamegraph"
	"ashlar/ingest/model/recording"
	"ashlar/render/theme"
)

// BenchmarkFrame measures frames of 1280x720 while the view zooms, while it moves, at
// several zooms, and while the pointer moves; it also measures whole frames including the GPU. It uses the
// file named by ASHLAR_BENCH_FILE, else a spall1 trace in ASHLAR_BENCH_DIR, else the
// built-in recording.
func BenchmarkFrame(b *testing.B) {
	s := New(theme.Dark)
	defer s.Close()
	if path := benchFile(); path != "" {
		s.Open(path)
	} else {
		s.OpenDemo()
	}
	if err := s.Finish(); err != nil {
		b.Fatal(err)
	}
	f := &framer{shell: s}
	f.frame()
	p := s.Pane
	b.Run("snapshot", func(b *testing.B) { // a new snapshot of a loading file
		for b.Loop() {
			p.Flame.Drawn = flamegraph.FlameKey{}
			p.Forget()
			f.frame()
		}
	})
	b.Run("zoom", func(b *testing.B) { // from everything to a 10,000th and back
		p.View = p.View.Fit(p.Rec.Start, p.Rec.End)
		p.Moved = true
		f.measure(b, func(i int) {
			step := .9
			if i%180 >= 90 {
				step = 1 / step
			}
			p.View = p.View.Zoom(step, float64(p.LaneWidth())*float64(1+i%7)/8, p.LaneWidth(), p.Rec.Start, p.Rec.End)
		})
	})
	for _, zoom := range []struct {
		name   string
		factor int64
	}{{"all", 1}, {"tenth", 10}, {"hundredth", 100}, {"thousandth", 1000}, {"100000th", 100000}, {"closest", 1 << 40}} {
		look := func() {
			p.View = p.View.Fit(p.Rec.Start, p.Rec.End)
			p.View = p.View.Zoom(1/float64(zoom.factor), float64(p.LaneWidth())/2, p.LaneWidth(), p.Rec.Start, p.Rec.End)
			p.Moved = true
		}
		b.Run(zoom.name, func(b *testing.B) {
			look()
			step := .013
			f.measure(b, func(i int) {
				if i%32 == 31 {
					step = -step
				}
				p.PanBy(step)
			})
		})
		b.Run("hover/"+zoom.name, func(b *testing.B) { // the pointer moves to another bar in each frame
			look()
			f.measure(b, func(i int) {
				f.router.Queue(pointer.Event{Kind: pointer.Move, Source: pointer.Mouse, Position: f32.Pt(float32(200+i*37%1000), float32(120+i*5%200))})
			})
			f.router.Queue(pointer.Event{Kind: pointer.Move, Source: pointer.Mouse, Position: f32.Pt(2, 2)})
			f.frame()
		})
		b.Run("whole/"+zoom.name, func(b *testing.B) { // including the GPU
			win, err := headless.NewWindow(1280, 720)
			if err != nil {
				b.Skip(err)
			}
			defer win.Release()
			look()
			img := image.NewRGBA(image.Rect(0, 0, 1, 1))
			best := time.Duration(math.MaxInt64)
			for i := range 12 {
				p.Moved = true
				began := time.Now()
				p.PanBy(.013)
				f.frame()
				if err := win.Frame(&f.ops); err != nil {
					b.Fatal(err)
				}
				if err := win.Screenshot(img); err != nil { // waits for the GPU
					b.Fatal(err)
				}
				if i > 1 { // the first frames create textures
					best = min(best, time.Since(began))
				}
			}
			b.ReportMetric(best.Seconds()*1000, "whole-ms/frame")
		})
	}
}

// BenchmarkBrush measures frames while a drag over the picture of calls changes the
// selected calls, with Shift those of set B. It uses the function with the most calls, up
// to 4 Mi.
func BenchmarkBrush(b *testing.B) {
	s := New(theme.Dark)
	defer s.Close()
	if path := benchFile(); path != "" {
		s.Open(path)
	} else {
		s.OpenDemo()
	}
	if err := s.Finish(); err != nil {
		b.Fatal(err)
	}
	s.Do.Wake = func() {} // answers are computed in the background, as in a window
	f := &framer{shell: s}
	f.frame()
	p := s.Pane
	var most int64
	n := make([]int64, p.Rec.Functions.Len())
	for c, k := range p.Rec.SpanCount {
		if fn := p.Rec.Func(recording.CallID(c)); c > 0 && int(fn) < len(n) {
			n[fn] += k
		}
	}
	for fn, k := range n {
		if k > most && k <= 4<<20 {
			most, p.Pick = k, panel.Picked{Kind: panel.PickFunc, Fn: recording.FuncID(fn)}
		}
	}
	p.Tab = panel.Calls
	for a := p.Doc.Answer(); a == nil || a.List == nil; a = p.Doc.Answer() {
		f.frame()
		time.Sleep(10 * time.Millisecond)
	}
	f.frame()
	r := p.Bounds.Lower
	for _, shift := range []key.Modifiers{0, key.ModShift} {
		b.Run([]string{"one", "two"}[panel.Index(shift != 0)], func(b *testing.B) {
			at := func(x int) f32.Point { return f32.Pt(float32(r.Min.X+x), float32(r.Min.Y+90)) }
			event := func(kind pointer.Kind, x int) {
				f.router.Queue(pointer.Event{Kind: kind, Source: pointer.Mouse, Buttons: pointer.ButtonPrimary, Position: at(x), Modifiers: shift})
			}
			p.Scope, p.Against = recording.Scope{}, nil
			p.Tab = panel.Calls
			f.frame()
			event(pointer.Press, 60)
			f.measure(b, func(i int) {
				event(pointer.Move, 80+i*7%600)
				time.Sleep(8 * time.Millisecond)
			})
			if p.Scope.Calls == nil || (p.Against == nil) != (shift == 0) {
				b.Fatalf("the drag selects nothing: %+v", p.Scope)
			}
			event(pointer.Release, 80)
			f.frame()
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
