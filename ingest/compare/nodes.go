package compare

import "context"

// byNode groups by the nodes of the tree, also those where no stack ends.
const byNode By = "node"

// stacks tells whether rows are nodes of the tree.
func (b By) stacks() bool { return b == ByStack || b == byNode }

// mostNodeSpans is how many spans of a node are kept a side: there are many
// nodes, and what they show is a colour.
const mostNodeSpans = 256

// Nodes says for each node of the tree how sure the difference of its total is;
// nil where nothing tells. The share of false alarms is controlled over all
// nodes. For traces that takes a pass over all spans, and a tree made with
// transforms has no confidences for what they moved: ask the table.
func (c *Comparison) Nodes(ctx context.Context) ([]*Confidence, error) {
	g, err := c.group(ctx, byNode)
	if err != nil {
		return nil, err
	}
	var t Table
	one, err := c.judgement(ctx, g, &t, true)
	if one == nil {
		return nil, err
	}
	c.lengths = nil // not asked for again, and large
	ps, all := g.each(one, true)
	discover(all, ps, 1)
	all[0] = t.Whole
	if t.Whole != nil {
		t.Whole.Q = t.Whole.P
	}
	return all, ctx.Err()
}
