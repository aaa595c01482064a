package analyze

import "ashlar/ingest/recording"

// Matched says which part of a tree a pattern finds.
type Matched struct {
	// Nodes tells, by node of the tree, which match themselves.
	Nodes []bool
	// Total is the weight of the stacks that have a match in them, each counted
	// once, and Count their number; what the tree has altogether is OfTotal and
	// OfCount.
	Total, Count, OfTotal, OfCount int64
	// Functions is how many functions match in the tree, and modules and files that
	// stand for some.
	Functions int
}

// Match looks for a pattern in the names, modules and files of a tree's nodes.
func Match(rec *recording.Recording, t *Tree, p *Pattern) *Matched {
	known := make([]int8, rec.Functions.Len()+len(t.Groups))
	is := func(t *Tree, node int) bool {
		k := t.key(rec, node)
		if known[k] == 0 {
			known[k] = -1
			if f := t.Function(rec, node); p.MatchFunction(&f) {
				known[k] = 1
			}
		}
		return known[k] > 0
	}
	m := &Matched{Nodes: make([]bool, len(t.Nodes))}
	for i := 1; i < len(t.Nodes); i++ {
		m.Nodes[i] = is(t, i)
	}
	if t.upright != nil { // which has all stacks to their end
		t = t.upright
	}
	m.Functions = t.kinds(rec, func(node int) bool { return is(t, node) })
	in := make([]bool, len(t.Nodes))
	for i := range t.Nodes {
		nd := &t.Nodes[i]
		in[i] = i > 0 && (in[nd.Parent] || is(t, i))
		m.OfTotal += nd.Self
		m.OfCount += nd.Count
		if in[i] {
			m.Total += nd.Self
			m.Count += nd.Count
		}
	}
	return m
}

// kinds counts what the nodes stand for that are of some kind.
func (t *Tree) kinds(rec *recording.Recording, is func(node int) bool) (n int) {
	seen := make([]bool, rec.Functions.Len()+len(t.Groups))
	for i := 1; i < len(t.Nodes); i++ {
		if k := t.key(rec, i); !seen[k] && is(i) {
			seen[k] = true
			n++
		}
	}
	return n
}
