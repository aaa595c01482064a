package headless

import (
	"path/filepath"
	"testing"

	"ashlar/app/shell"
	"ashlar/render/theme"
)

// TestWelcome draws the page that is shown while nothing is open.
func TestWelcome(t *testing.T) {
	for name, c := range map[string]struct {
		theme *theme.Theme
		w, h  int
	}{
		"welcome-dark":   {theme.Dark, 1000, 640},
		"welcome-light":  {theme.Light, 1280, 800},
		"welcome-narrow": {theme.Dark, 480, 400},
	} {
		t.Run(name, func(t *testing.T) {
			s := shell.New(c.theme)
			defer s.Close()
			img, err := Draw(s, c.w, c.h, 1)
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
