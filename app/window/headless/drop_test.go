package headless

import (
	"image"
	"strings"
	"testing"

	"ashlar/app/core/view"
	"ashlar/app/desktop/drop"
	"ashlar/app/window/shell"
	"ashlar/render/theme"
)

// TestGoldenDrags draws the drop zones and their texts while files are held over the window.
func TestGoldenDrags(t *testing.T) {
	three := &drop.Files{Paths: []string{"/runs/before.spaa", "/runs/after.spaa", "/runs/third.spaa"}}
	for name, c := range map[string]struct {
		theme *theme.Theme
		open  bool
		over  drop.Over
	}{
		"drag-first":   {theme.Light, false, drop.Over{Held: true, At: image.Pt(300, 300), Files: &drop.Files{Paths: []string{"/runs/two\nlines ü.spaa"}}}},
		"drag-left":    {theme.Dark, true, drop.Over{Held: true, At: image.Pt(300, 300), Files: &drop.Files{Paths: []string{"/runs/after.spaa"}}}},
		"drag-right":   {theme.Light, true, drop.Over{Held: true, At: image.Pt(700, 300), Files: &drop.Files{Paths: []string{"/runs/after.spaa"}}}},
		"drag-several": {theme.Dark, true, drop.Over{Held: true, At: image.Pt(700, 300), Files: three}},
		"drag-above-a": {theme.Dark, true, drop.Over{Held: true, At: image.Pt(700, 200), Files: &drop.Files{Paths: []string{"/runs/after.spaa"}}}},
		"drag-above-b": {theme.Light, true, drop.Over{Held: true, At: image.Pt(300, 330), Files: &drop.Files{Paths: []string{"/runs/after.spaa"}}}},
		"drag-refused": {theme.Light, true, drop.Over{Held: true, At: image.Pt(700, 300), Refused: drop.NotFiles}},
	} {
		t.Run(name, func(t *testing.T) {
			s := shell.New(c.theme)
			defer s.Close()
			switch {
			case strings.HasPrefix(name, "drag-above"):
				twinFiles(t)
				s.Open("before.json")
				s.OpenBeside("after.json")
				s.Run("A above or beside B")
				if err := s.Finish(); err != nil {
					t.Fatal(err)
				}
			case c.open:
				s.OpenDemo()
				settle(t, s, view.Stacks{})
			}
			s.DragOver(c.over)
			check(t, s, name, 1000, 640, 1)
		})
	}
}
