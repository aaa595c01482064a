package headless

import (
	"image/color"
	"testing"

	"ashlar/app/window/shell"
	"ashlar/app/window/workspace"
	"ashlar/render/theme"
)

// TestNoViewIsBlank shows every panel for recordings with hardly any data: a panel
// without content must say so.
func TestNoViewIsBlank(t *testing.T) {
	for name, content := range map[string]string{
		"sums.folded":   "main;work 10\nmain 5\n",
		"spans.json":    `[{"name":"main","ph":"X","ts":1,"dur":100,"pid":1,"tid":1},{"name":"work","ph":"X","ts":2,"dur":98,"pid":1,"tid":1}]`,
		"instants.json": `[{"name":"tick","ph":"i","ts":1,"pid":1,"tid":1,"s":"t"}]`,
	} {
		for i := range workspace.Panels {
			tab := workspace.Panels[i].Name
			t.Run(name+"/"+tab, func(t *testing.T) {
				s := shell.New(theme.Dark)
				defer s.Close()
				file(name, content)(t, s)
				s.Open("ashlar:1?file=" + name + "&tab=" + tab)
				if err := s.Finish(); err != nil {
					t.Fatal(err)
				}
				drawn := s.Snapshot()
				img, err := Draw(drawn, 1100, 700, 1)
				if err != nil {
					t.Fatal(err)
				}
				in := drawn.Pane.Bounds.Lower.Inset(2)
				if in.Dx() < 600 || in.Dy() < 200 {
					t.Fatalf("the view is at %v", in)
				}
				seen := map[color.Color]int{}
				for y := in.Min.Y; y < in.Max.Y; y++ {
					for x := in.Min.X; x < in.Max.X; x++ {
						seen[img.At(x, y)]++
					}
				}
				most, all := 0, 0
				for _, n := range seen {
					most, all = max(most, n), all+n
				}
				if all-most < 40 {
					t.Errorf("the view has %d pixels that are not background", all-most)
				}
			})
		}
	}
}
