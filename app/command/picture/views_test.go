package picture

import (
	"slices"
	"testing"

	"ashlar/app/command"
	"ashlar/app/window/desk"
)

// TestRenderKnowsEveryPanel: what --view calls a panel is that panel in the window,
// and there is nothing else.
func TestRenderKnowsEveryPanel(t *testing.T) {
	one, two := desk.PanelNames()
	for _, c := range []struct {
		panels, views []string
		with          string
	}{{one, cli.Views, ""}, {two, cli.CompareViews, "b"}} {
		var tabs []string
		for _, v := range c.views {
			if parts, st := viewOf(cli.RenderOptions{View: v, With: c.with}); parts == desk.Lower {
				tabs = append(tabs, st.Tab)
				if !slices.Contains(c.panels, st.Tab) {
					t.Errorf("--view %s is of the panel %q, which there is not", v, st.Tab)
				}
			}
		}
		for _, p := range c.panels {
			if !slices.Contains(tabs, p) {
				t.Errorf("no --view draws the panel %s", p)
			}
		}
	}
}
