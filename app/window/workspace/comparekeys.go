package workspace

// focusByKey gives a side the focus when the keyboard has come to its timeline.
func (c *Comparison) focusByKey(d *Workspace) {
	for i, p := range c.Panes {
		in := d.Focus.Shown && d.Focus.In(&p.Lanes) // where it is at first, nobody has chosen
		if in && !c.keyIn[i] {
			c.FocusOn(d, i)
		}
		c.keyIn[i] = in
	}
}
