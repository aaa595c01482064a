package headless

import (
	"testing"

	"ashlar/app/window/shell"
	"ashlar/render/theme"
)

// TestGoldenWelcome draws the page shown while no file is open.
func TestGoldenWelcome(t *testing.T) {
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
			check(t, s, name, c.w, c.h, 1)
		})
	}
}
