package analyze

import (
	"context"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/search"
)

// Matched is the part of a tree that a pattern matches.
type Matched struct {
	// Nodes reports, for each node of the tree, whether the node itself matches.
	Nodes []bool
	// Total is the weight of the stacks that contain a match, each counted once, and
	// Count their number. OfTotal and OfCount are the sums over the whole tree.
	Total, Count, OfTotal, OfCount int64
	// Functions is the number of matching functions in the tree, including modules and
	// files that stand for functions.
	Functions int
}

// Match looks for a pattern in the names, modules and files of a tree's nodes.
func Match(rec *recording.Recording, t *Tree, p *search.Pattern) *Matched {
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
	if t.upright != nil { // only the upright tree has every stack in full
		t = t.upright
	}
	m.Functions = t.kinds(rec, func(node int) bool { return is(t, node) })
	in := make([]bool, len(t.Nodes))
	for i := range t.Nodes {
		nd := &t.Nodes[i]
		in[i] = i > 0 && (in[nd.Parent] || is(t, i))
		recording.Add(&m.OfTotal, nd.Self)
		m.OfCount += nd.Count
		if in[i] {
			recording.Add(&m.Total, nd.Self)
			m.Count += nd.Count
		}
	}
	return m
}

// kinds counts the distinct functions and groups among the nodes that satisfy is.
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

// MatchHits is like Match for a search for threads or arguments. For arguments the weight
// is the time or number of the matching spans, each counted once; it is 0 for events
// other than spans.
func MatchHits(ctx context.Context, rec *recording.Recording, t *Tree, q Query, h *search.Hits) (*Matched, error) {
	m := &Matched{Nodes: make([]bool, len(t.Nodes))}
	for i := 1; i < len(t.Nodes); i++ {
		m.Nodes[i] = t.Nodes[i].Group == 0 && h.Matches(t.Nodes[i].Func)
	}
	all := t
	if t.upright != nil {
		all = t.upright
	}
	m.OfTotal, m.OfCount = all.sums()
	m.Functions = all.kinds(rec, func(i int) bool { return all.Nodes[i].Group == 0 && h.Matches(all.Nodes[i].Func) })
	if h.Pattern.Field() == search.InArgs {
		if q.Event >= len(rec.Events) || rec.Events[q.Event].Basis != recording.FromSpans {
			return m, nil
		}
		var time int64
		time, m.Count = h.Sum(q.Scope)
		if m.Total = m.Count; rec.Events[q.Event].Metrics[q.Metric].Unit == "ns" {
			m.Total = time
		}
		return m, nil
	}
	tracks := []int{} // not nil, because nil stands for all tracks
	for ti := range rec.Tracks {
		if h.OnTrack(ti) && q.Scope.HasTrack(ti) {
			tracks = append(tracks, ti)
		}
	}
	if len(tracks) == 0 {
		return m, nil
	}
	q.Scope = q.Scope.On(tracks)
	w, err := Weigh(ctx, rec, q)
	if err != nil {
		return nil, err
	}
	m.Total, m.Count = NewTree(rec, w, t.Transforms...).sums()
	return m, nil
}

// sums returns a tree's total weight and number of records.
func (t *Tree) sums() (self, count int64) {
	if t.upright != nil {
		t = t.upright
	}
	for i := range t.Nodes {
		recording.Add(&self, t.Nodes[i].Self)
		count += t.Nodes[i].Count
	}
	return self, count
}
