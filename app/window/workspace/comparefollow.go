package workspace

import "ashlar/app/window/comparison"

// Each side of a comparison can be followed: a pane takes over what was read again
// as it does by itself, and here the rest of the comparison takes the new numbers
// over.

// takeOver follows a side's pane, which may just have taken over a recording that
// was read again. Nothing of that was done by a person.
func (c *Comparison) takeOver(d *Workspace, side int) {
	p := c.Panes[side]
	if !p.renewed {
		return
	}
	p.renewed = false
	c.Link.Call, c.Link.Twin = nil, nil // by its number a call may be another one now
	c.Node, c.Hover = -1, -1
	c.LastLinked = c.LinkedState()
	c.History.seen.Sides[side], c.History.shown.Sides[side] = c.Spot(d).Sides[side], c.Spot(d).Sides[side]
}

// following begins the status line if nothing is wrong.
const following = "Following · "

// followText says in the status line how following goes, "" if no file is followed.
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
