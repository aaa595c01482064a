package shell

import (
	"strings"
	"testing"
)

// TestSelectedAfterTheOtherIsOver selects a time at which the other recording has ended
// or not begun. Nothing must be selected there, not its last moment either, and the
// status line must say so.
func TestSelectedAfterTheOtherIsOver(t *testing.T) {
	s := compared(t, "before.json", "after.json")
	c := s.Versus
	a, b := c.Panes[0], c.Panes[1]
	c.Focus, c.Linked = 0, true
	a.Scope.Ranged, a.Scope.From, a.Scope.To = true, a.Rec.Start, a.Rec.Start+a.Rec.Duration()/2
	for _, x := range []struct {
		anchor int64
		out    bool
	}{{0, false}, {2 * b.Rec.Duration(), true}, {-2 * b.Rec.Duration(), true}, {b.Rec.Duration() / 2, false}} {
		c.Panes[0].Anchor, c.Panes[1].Anchor = 0, x.anchor
		c.SelectMatching()
		_, said, _, _ := c.Status()
		if out := c.Outside() == 1; out != x.out || strings.Contains(said, "B has no data at the selected time") != x.out {
			t.Errorf("anchored at %d: %d to %d of %d to %d is outside: %v, and %q is said", x.anchor, b.Scope.From, b.Scope.To, b.Rec.Start, b.Rec.End, out, said)
		}
		if inside := b.Scope.To > b.Rec.Start && b.Scope.From < b.Rec.End && b.Scope.From < b.Scope.To; inside == x.out {
			t.Errorf("anchored at %d: %d to %d are selected of %d to %d", x.anchor, b.Scope.From, b.Scope.To, b.Rec.Start, b.Rec.End)
		}
	}
}
