package picture

import (
	"slices"
	"testing"

	"ashlar/app/command"
	"ashlar/app/window/workspace"
)

// TestRenderKnowsEveryPanel: what --view calls a panel is that panel in the window,
// and there is nothing else.
func TestRenderKnowsEveryPanel(t *testing.T) {
	one, two := workspace.PanelNames()
	for _, c := range []struct {
		panels, views []string
		with          string
	}{{one, command.Views, ""}, {two, command.CompareViews, "b"}} {
		var tabs []string
		for _, v := range c.views {
			if parts, st := viewOf(command.RenderOptions{View: v, With: c.with}); parts == workspace.Lower {
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
