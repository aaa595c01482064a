//go:build linux

package shell

import (
	"os"
	"path/filepath"
	"testing"

	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/render/theme"
	"ashlar/testdata/gen/synth"
)

// openOdd opens an odd trace and waits for its answers.
func openOdd(tb testing.TB, name string) (*Shell, *framer) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name+".json")
	file, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := synth.WriteOdd(file, name); err != nil {
		tb.Fatal(err)
	}
	if err := file.Close(); err != nil {
		tb.Fatal(err)
	}
	s := New(theme.Dark)
	tb.Cleanup(s.Close)
	s.Open(path)
	if err := s.Finish(); err != nil {
		tb.Fatal(err)
	}
	f := &framer{shell: s}
	f.frame()
	return s, f
}

// BenchmarkOdd measures the CPU time of frames of the odd traces while the view pans,
// while rows scroll, with all lanes open, with a selected bar or set of calls, and while
// the table scrolls.
func BenchmarkOdd(b *testing.B) {
	for _, name := range synth.Odds() {
		s, f := openOdd(b, name)
		p := s.Pane
		run := func(what string, change func(i int)) {
			b.Run(name+"/"+what, func(b *testing.B) {
				f.measure(b, change)
			})
		}
		pan := func(i int) {
			if i%64 < 32 {
				p.PanBy(.013)
			} else {
				p.PanBy(-.013)
			}
		}
		p.ZoomAt(.5, 500)
		run("pan", pan)
		run("scroll", func(i int) { p.ScrollTo(i * 37 % max(1, p.Plan.Height)) })
		p.PickFirst()
		f.frame()
		run("picked", pan)
		p.Scope.Calls = &recording.CallSet{Text: "*[slowest 100000]"}
		if err := s.Finish(); err != nil {
			b.Fatal(err)
		}
		run("set", pan)
		p.Scope.Calls = nil
		p.FoldAll(true)
		f.frame()
		run("open", func(i int) { p.ScrollTo(i * 37 % max(1, p.Plan.Height)) })
		p.ZoomAt(.01, 500)
		run("close", pan)
		p.Tab = panel.Functions
		f.frame()
		run("table", func(i int) { p.Table.Down += 3 * 22 }) // one wheel notch
		run("far", func(i int) { p.Table.Down = i * 7919 * 22 % max(1, 22*len(p.Table.Order.Rows)) })
	}
}
