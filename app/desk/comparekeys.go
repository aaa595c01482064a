package desk

// focusByKey gives a side the focus when the keyboard has come to its timeline.
func (c *Comparison) focusByKey(s *Desk) {
	for i, p := range c.Panes {
		in := s.Focus.Shown && s.Focus.In(&p.Lanes) // where it is at first, nobody has chosen
		if in && !c.keyIn[i] {
			c.FocusOn(s, i)
		}
		c.keyIn[i] = in
	}
}
