package compare

import "context"

// byNode groups by the nodes of the tree, including those at which no stack ends.
const byNode By = "node"

// ofNodes reports whether rows are nodes of the tree.
func ofNodes(b By) bool { return b == ByStack || b == byNode }

// NodeConfidences returns tables with all confidences and, for each node of the tree, the
// confidence of the difference in its total; nil if unknown. The share of false alarms is
// controlled over all nodes, as it is over a table's rows. For traces this takes one pass
// over all spans. In a tree with transforms, nodes have no confidence for cost that the
// transforms moved; the tables have it.
func (c *Comparison) NodeConfidences(ctx context.Context, by ...By) (tables []*Table, nodes []*Confidence, err error) {
	var gs []*groups
	for _, b := range append(by, byNode) {
		g, err := c.group(ctx, b)
		if err != nil {
			return nil, nil, err
		}
		gs = append(gs, g)
	}
	spans := make([]*spanTable, len(gs))
	if c.Method() == FromDurations {
		if spans, err = c.spans(ctx, gs...); err != nil {
			return nil, nil, err
		}
	}
	for i := range by {
		t, err := c.table(ctx, gs[i], spans[i])
		if err != nil {
			return nil, nil, err
		}
		if tables = append(tables, t); by[i] == ByFunction && spans[i] != nil {
			spans[len(by)].functions = spans[i]
		}
	}
	nodes, err = c.nodes(ctx, gs[len(by)], spans[len(by)])
	return tables, nodes, err
}

func (c *Comparison) nodes(ctx context.Context, g *groups, s *spanTable) ([]*Confidence, error) {
	var t Table
	one := c.judgement(g, &t, s)
	if one == nil {
		return nil, nil
	}
	ps, all, err := g.each(ctx, one, true)
	if err != nil {
		return nil, err
	}
	discover(all, ps, 1)
	all[0] = t.Whole
	if t.Whole != nil {
		t.Whole.Q = t.Whole.P
	}
	return all, nil
}
