package headless

import (
	"image"
	"path/filepath"
	"testing"

	"ashlar/app/cli"
	"ashlar/app/drop"
	"ashlar/app/shell"
	"ashlar/render/theme"
)

// TestDrag draws what is said while files are held over the window.
func TestDrag(t *testing.T) {
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
		"drag-refused": {theme.Light, true, drop.Over{Held: true, At: image.Pt(700, 300), Refused: drop.NotFiles}},
	} {
		t.Run(name, func(t *testing.T) {
			s := shell.New(c.theme)
			defer s.Close()
			if c.open {
				s.OpenDemo()
				settle(t, s, cli.StackView{})
			}
			s.DragOver(c.over)
			img, err := Draw(s, 1000, 640, 1)
			if err != nil {
				t.Fatal(err)
			}
			path, err := filepath.Abs("../../testdata/golden/" + name + ".png")
			if err != nil {
				t.Fatal(err)
			}
			compare(t, path, img)
			likeShapes(t, s, img, 1)
		})
	}
}
