//go:build linux

package shell

import (
	"os"
	"testing"

	"ashlar/app/core/view"
	"ashlar/render/theme"
)

// BenchmarkCompareFrame measures the CPU time of frames of two recordings side by side
// while their view moves, and while the selected function changes. ASHLAR_BENCH_FILE and
// ASHLAR_BENCH_FILE_B name the recordings; without the latter, the built-in recording is
// compared with itself.
func BenchmarkCompareFrame(b *testing.B) {
	s := New(theme.Dark)
	defer s.Close()
	if f := os.Getenv("ASHLAR_BENCH_FILE_B"); f != "" {
		s.Open(benchFile())
		s.OpenBeside(f)
	} else {
		s.OpenDemo()
		s.OpenBeside(view.Demo)
	}
	if err := s.Finish(); err != nil {
		b.Fatal(err)
	}
	fr := &framer{shell: s}
	fr.frame()
	for _, zoom := range []struct {
		name   string
		factor float64
	}{{"all", 1}, {"hundredth", 100}, {"100000th", 100000}} {
		b.Run("pan/"+zoom.name, func(b *testing.B) {
			s.Pane.FitAll()
			s.Pane.ZoomAt(1/zoom.factor, float64(s.Pane.LaneWidth())/2)
			step := .013
			fr.measure(b, func(i int) {
				if i%32 == 31 {
					step = -step
				}
				s.Pane.PanBy(step)
			})
		})
	}
	b.Run("choose", func(b *testing.B) {
		a := s.Versus.Answer()
		fr.measure(b, func(i int) { s.Versus.Choose(a, int32((i*7)%min(50000, len(a.Compared.Matching.Funcs)))) })
	})
}
