package workspace

// Snapshot returns a copy of the comparison that never changes.
func (c *Comparison) Snapshot() *Comparison {
	o := newComparison(c.Panes[0].Snapshot(), c.Panes[1].Snapshot())
	o.become(&c.ofTwo)
	o.LastLinked = o.LinkedState()
	return o
}
