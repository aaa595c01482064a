package picture

import (
	"slices"
	"testing"

	"ashlar/app/command"
	"ashlar/app/window/workspace"
)

// TestRenderKnowsEveryPanel checks that --view has exactly one name for each panel of the
// window.
func TestRenderKnowsEveryPanel(t *testing.T) {
	one, two := workspace.PanelNames()
	for _, c := range []struct {
		panels [][2]string
		views  []string
		with   string
	}{{one, command.Views, ""}, {two, command.CompareViews, "b"}} {
		var tabs, panels []string
		for _, p := range c.panels {
			panels = append(panels, p[0])
		}
		for _, v := range c.views {
			if parts, st := viewOf(command.RenderOptions{View: v, With: c.with}); parts == workspace.Lower {
				tabs = append(tabs, st.Tab)
				if !slices.Contains(panels, st.Tab) {
					t.Errorf("--view %s is of the panel %q, which there is not", v, st.Tab)
				}
			}
		}
		for _, p := range panels {
			if !slices.Contains(tabs, p) {
				t.Errorf("no --view draws the panel %s", p)
			}
		}
	}
}
