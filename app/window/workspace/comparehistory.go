package workspace

// Still is a comparison that shows the same and never changes.
func (c *Comparison) Still() *Comparison {
	o := newComparison(c.Panes[0].Still(), c.Panes[1].Still())
	o.become(&c.ofTwo)
	o.Alike = o.Now()
	return o
}
