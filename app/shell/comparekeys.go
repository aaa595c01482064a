package shell

// focusByKey gives a side the focus when the keyboard has come to its timeline.
func (c *comparison) focusByKey(s *Shell) {
	for i, p := range c.panes {
		in := s.Focus.Shown && s.Focus.In(&p.Lanes) // where it is at first, nobody has chosen
		if in && !c.keyIn[i] {
			c.focusOn(s, i)
		}
		c.keyIn[i] = in
	}
}
