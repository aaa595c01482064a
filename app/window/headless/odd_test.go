package headless

import (
	"os"
	"testing"

	"ashlar/app/window/shell"
	"ashlar/app/window/workspace"
	"ashlar/render/theme"
	"ashlar/testdata/gen/synth"
)

// TestGoldenOdds compares pictures of unusual traces with golden ones: the whole window
// in the dark theme, the timeline alone in the light theme.
func TestGoldenOdds(t *testing.T) {
	for _, name := range synth.Odds() {
		open := func(t *testing.T, s *shell.Shell) {
			t.Chdir(t.TempDir())
			file := name + ".json"
			f, err := os.Create(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := synth.WriteOdd(f, name); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			s.Open(file)
		}
		for _, p := range []picture{
			{name: "odd-" + name, open: open},
			{name: "odd-" + name + "-light", open: open, theme: theme.Light, view: workspace.Upper, w: 700, h: 360},
		} {
			t.Run(p.name, func(t *testing.T) {
				p.check(t)
			})
		}
	}
}
