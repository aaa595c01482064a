package headless

import (
	"fmt"
	"image/color"
	"testing"

	"ashlar/app/window/shell"
	"ashlar/app/window/workspace"
	"ashlar/render/theme"
)

// TestNoViewIsBlank shows every panel for recordings with hardly any data: a panel
// without content must say so.
func TestNoViewIsBlank(t *testing.T) {
	deep := "["
	for i := range 12 { // deep enough to reach into the area that is checked for pixels
		deep += fmt.Sprintf(`{"name":"work %d","ph":"X","ts":%d,"dur":%d,"pid":1,"tid":1},`, i, 1+i, 100-2*i)
	}
	deep = deep[:len(deep)-1] + "]"
	for name, content := range map[string]string{
		"sums.folded":   "main;work 10\nmain 5\n",
		"spans.json":    deep,
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
				img := still(t, s)
				top := 400 // below the tabs; they are higher up without a timeline
				if !s.Doc().Recording().HasTime {
					top = 140
				}
				seen := map[color.Color]int{}
				for y := top; y < 660; y++ {
					for x := 20; x < 740; x++ {
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
