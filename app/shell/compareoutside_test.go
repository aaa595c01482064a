package shell

import (
	"strings"
	"testing"
)

// TestSelectedAfterTheOtherIsOver: what one side selects where the other one has
// ended, or not begun, is nothing there, not its last moment, and it is said.
func TestSelectedAfterTheOtherIsOver(t *testing.T) {
	s := compared(t, "before.json", "after.json")
	c := s.versus
	a, b := c.panes[0], c.panes[1]
	c.focus, c.link.on = 0, true
	a.sel.Ranged, a.sel.From, a.sel.To = true, a.rec.Start, a.rec.Start+a.rec.Duration()/2
	for _, x := range []struct {
		anchor int64
		out    bool
	}{{0, false}, {2 * b.rec.Duration(), true}, {-2 * b.rec.Duration(), true}, {b.rec.Duration() / 2, false}} {
		c.link.anchors = [2]int64{0, x.anchor}
		c.selectAlike()
		_, said, _ := c.status()
		if out := c.outside() == 1; out != x.out || strings.Contains(said, "B has nothing at the selected time") != x.out {
			t.Errorf("anchored at %d: %d to %d of %d to %d is outside: %v, and %q is said", x.anchor, b.sel.From, b.sel.To, b.rec.Start, b.rec.End, out, said)
		}
		if inside := b.sel.To > b.rec.Start && b.sel.From < b.rec.End && b.sel.From < b.sel.To; inside == x.out {
			t.Errorf("anchored at %d: %d to %d are selected of %d to %d", x.anchor, b.sel.From, b.sel.To, b.rec.Start, b.rec.End)
		}
	}
}
