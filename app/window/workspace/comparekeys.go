package workspace

// focusByKey gives a side the focus when the keyboard focus enters its timeline.
func (c *Comparison) focusByKey(d *Workspace) {
	for i, p := range c.Panes {
		in := d.Focus.Shown && d.Focus.In(&p.Lanes) // the user did not choose the initial focus
		if in && !c.keyIn[i] {
			c.FocusOn(d, i)
		}
		c.keyIn[i] = in
	}
}
