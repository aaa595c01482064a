package workspace

import "ashlar/app/window/comparison"

// Each side of a comparison can be followed. A pane takes over a reloaded recording by
// itself; here the rest of the comparison is updated.

// takeOver updates the comparison for a side whose pane may just have taken over a
// reloaded recording. The changes must not count as the user's.
func (c *Comparison) takeOver(d *Workspace, side int) {
	p := c.Panes[side]
	if !p.renewed {
		return
	}
	p.renewed = false
	c.Link.Call, c.Link.Twin = nil, nil // a call's index may now mean another call
	c.Node, c.Hover = -1, -1
	c.LastLinked = c.LinkedState()
	c.History.seen.Sides[side], c.History.shown.Sides[side] = c.Spot(d).Sides[side], c.Spot(d).Sides[side]
}

// following begins the status line if nothing is wrong.
const following = "Following · "

// followText returns the status text about following, "" if no file is followed.
func (c *Comparison) followText() (said string) {
	for i, p := range c.Panes {
		switch text, wrong := p.FollowText(); {
		case wrong:
			return comparison.SideName(i) + ": " + text
		case text != "":
			said = following
		}
	}
	return said
}
