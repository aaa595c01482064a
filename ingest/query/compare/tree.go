package compare

import (
	"cmp"
	"math"
	"slices"

	"ashlar/ingest/model/pairmap"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare/match"
)

// Status tells on which sides something exists, and whether it changed.
type Status string

// Changes from A to B.
const (
	Same    Status = "same"
	Changed Status = "changed"
	New     Status = "new"  // only in B
	Gone    Status = "gone" // only in A
)

// Node is a bar of a differential flamegraph: one path of functions.
type Node struct {
	// Func is the index of the function in Tree.Funcs; -1 for the root.
	Func          int32
	Parent, Depth int32 // the root is its own parent, at depth 0
	A, B          Amount
	first, last   int32
}

// Amount is the cost of a node on one side, in the common metric's units, normalised like
// the comparison.
type Amount struct {
	Self, Total int64
	// Samples and SamplesTotal are the numbers of samples behind Self and Total; 0 if
	// unknown.
	Samples, SamplesTotal int64
	// Count is the number of calls, samples or records in the node itself, without its
	// descendants; see analyze.Node. It is never scaled.
	Count int64
	// Call is the first call at this node in the first recording that has the node, and
	// Run is that recording. Call is NoCall if the side does not have the node.
	Call recording.CallID
	Run  int32
	// Here reports whether the side has the node.
	Here bool
}

// Status returns on which sides the node exists, and whether its total differs.
func (n *Node) Status() Status {
	switch {
	case n.A.Here && !n.B.Here:
		return Gone
	case n.B.Here && !n.A.Here:
		return New
	case n.A.Total == n.B.Total && n.A.Self == n.B.Self:
		return Same
	}
	return Changed
}

// A Tree merges the call trees of both sides. Node 0 is the root; a node's parent has a
// smaller index.
type Tree struct {
	Nodes []Node
	// Funcs are the functions of the nodes: first the functions of the Matching, then
	// modules and files that transforms made.
	Funcs []match.Func
	Depth int
	// Inverted reports whether the tree begins with the innermost functions.
	Inverted bool

	kids  []int32
	order []int32   // nodes depth first, children in the order of kids
	runs  [][]int64 // self by recording and node, before scaling
	count [][]int64 // number of samples by recording and node; nil if unknown
	sides int       // number of recordings on side A
}

// Children returns the direct children of a node, sorted by the weight of their larger
// side, descending.
func (t *Tree) Children(node int) []int32 { return t.kids[t.Nodes[node].first:t.Nodes[node].last] }

// Path returns the nodes from the outermost call to node, without the root.
func (t *Tree) Path(node int) []int {
	var path []int
	for ; node != 0; node = int(t.Nodes[node].Parent) {
		path = append(path, node)
	}
	slices.Reverse(path)
	return path
}

// Name returns the name of a node's function, "all" for the root.
func (t *Tree) Name(node int) string {
	if f := t.Nodes[node].Func; f >= 0 {
		return t.Funcs[f].Name
	}
	return "all"
}

// grown is the tree of one recording, and a second tree of the same calls whose weights
// are numbers of samples, nil if unknown.
type grown struct {
	rec    *recording.Recording
	values *analyze.Tree
	counts *analyze.Tree
}

// merge merges the trees of several recordings; the first sides of them are on side A.
// The values are not scaled yet.
func merge(in []grown, sides int, m *match.Matching) *Tree {
	largest := 1
	for i := range in {
		largest = max(largest, len(in[i].values.Nodes))
	}
	t := &Tree{Nodes: make([]Node, 1, largest), Funcs: slices.Clone(m.Funcs), sides: sides, runs: make([][]int64, len(in)), count: make([][]int64, len(in))}
	t.Nodes[0].Func = -1
	g := merger{t: t, m: m, groups: map[string]int32{}, nodes: pairmap.NewChildren[uint32](nil)}
	for r := range in {
		g.add(r, &in[r])
		t.Inverted = t.Inverted || in[r].values.Inverted
	}
	for r := range t.runs {
		t.runs[r] = pad(t.runs[r], len(t.Nodes))
		if t.count[r] != nil {
			t.count[r] = pad(t.count[r], len(t.Nodes))
		}
	}
	return t
}

func pad(s []int64, n int) []int64 { return append(s, make([]int64, n-len(s))...) }

type merger struct {
	t      *Tree
	m      *match.Matching
	nodes  *pairmap.Children[uint32] // keys are functions
	groups map[string]int32
}

func (g *merger) add(r int, in *grown) {
	g.t.runs[r] = g.walk(r, in.rec, in.values, true)
	if in.counts != nil {
		g.t.count[r] = g.walk(r, in.rec, in.counts, false)
	}
}

// walk finds or adds the nodes of a recording's tree and returns its self values by node.
func (g *merger) walk(r int, rec *recording.Recording, from *analyze.Tree, here bool) []int64 {
	t := g.t
	at := make([]int32, len(from.Nodes))
	self := make([]int64, len(t.Nodes), max(len(t.Nodes), len(from.Nodes)))
	for i := range from.Nodes {
		nd := &from.Nodes[i]
		k := int32(0)
		if i > 0 {
			parent, f := at[nd.Parent], g.key(r, rec, from, i)
			k = int32(g.nodes.Child(uint32(parent), uint32(f)))
			if int(k) == len(t.Nodes) {
				depth := t.Nodes[parent].Depth + 1
				t.Depth = max(t.Depth, int(depth))
				t.Nodes = append(t.Nodes, Node{Func: f, Parent: parent, Depth: depth})
				self = append(self, 0)
			}
		}
		at[i] = k
		recording.Add(&self[k], nd.Self)
		if !here {
			continue
		}
		side := &t.Nodes[k].A
		if r >= t.sides {
			side = &t.Nodes[k].B
		}
		side.Count += nd.Count
		if !side.Here {
			side.Here, side.Call, side.Run = true, nd.Call, int32(r)
		}
	}
	return self
}

// key returns the comparison's function for a node of a recording's tree.
func (g *merger) key(r int, rec *recording.Recording, from *analyze.Tree, node int) int32 {
	nd := &from.Nodes[node]
	if nd.Group == 0 {
		return g.m.IDs[r][nd.Func]
	}
	// Modules and files that transforms made are matched by base name, because builds are
	// in different folders.
	f := from.Function(rec, node)
	name := "\x00" + analyze.ModuleBase(f.Name)
	k, ok := g.groups[name]
	if !ok {
		k = int32(len(g.t.Funcs))
		g.groups[name] = k
		in := make([]int32, len(g.m.IDs))
		for i := range in {
			in[i] = -1
		}
		g.t.Funcs = append(g.t.Funcs, match.Func{FuncName: f.FuncName(), File: f.File, In: in, By: make([]match.Rule, len(in))})
	}
	return k
}

// byFactor returns a function that scales each recording by its own factor.
func (t *Tree) byFactor(factors []factor) func(r int) ([]int64, error) {
	return func(r int) ([]int64, error) { return factors[r].share(t.runs[r], t.order) }
}

// finish scales each recording's values, sums them up by side and sorts children.
func (t *Tree) finish(scale func(r int) ([]int64, error)) error {
	t.link(func(a, b int32) int { // any order that stays the same if the sides are swapped
		x, y := t.Nodes[a].Func, t.Nodes[b].Func
		return cmp.Or(cmp.Compare(t.Funcs[x].Name, t.Funcs[y].Name), cmp.Compare(t.Funcs[x].Module, t.Funcs[y].Module), cmp.Compare(x, y))
	})
	for r := range t.runs {
		scaled, err := scale(r)
		if err != nil {
			return err
		}
		t.runs[r] = scaled
		for i, v := range scaled {
			recording.Add(&t.side(i, r).Self, v)
			if t.count[r] != nil {
				t.side(i, r).Samples += t.count[r][i]
			}
		}
	}
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		n := &t.Nodes[i]
		for _, s := range []*Amount{&n.A, &n.B} {
			recording.Add(&s.Total, s.Self)
			s.SamplesTotal += s.Samples
		}
		if i > 0 {
			p := &t.Nodes[n.Parent]
			recording.Add(&p.A.Total, n.A.Total)
			recording.Add(&p.B.Total, n.B.Total)
			p.A.SamplesTotal += n.A.SamplesTotal
			p.B.SamplesTotal += n.B.SamplesTotal
		}
	}
	larger := func(i int32) int64 { return max(t.Nodes[i].A.Total, t.Nodes[i].B.Total) }
	for i := range t.Nodes {
		slices.SortStableFunc(t.Children(i), func(a, b int32) int { return cmp.Compare(larger(b), larger(a)) })
	}
	t.order = nil
	return nil
}

func (t *Tree) side(node, run int) *Amount {
	if run < t.sides {
		return &t.Nodes[node].A
	}
	return &t.Nodes[node].B
}

// link finds the children of all nodes and their order depth first.
func (t *Tree) link(less func(a, b int32) int) {
	counts := make([]int32, len(t.Nodes))
	for i := 1; i < len(t.Nodes); i++ {
		counts[t.Nodes[i].Parent]++
	}
	t.kids = analyze.Link(counts, func(i int) int32 { return t.Nodes[i].Parent }, func(i int) (first, last *int32) { return &t.Nodes[i].first, &t.Nodes[i].last })
	t.order = make([]int32, 0, len(t.Nodes))
	stack := []int32{0}
	for i := range t.Nodes {
		slices.SortFunc(t.Children(i), less)
	}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		t.order = append(t.order, i)
		kids := t.Children(int(i))
		for k := len(kids) - 1; k >= 0; k-- {
			stack = append(stack, kids[k])
		}
	}
}

// spread returns for each node the variance of a side's self value, from its number of
// samples: v²/n. A weight without a sample counts as one sample. It returns nil if the
// numbers are unknown.
func (t *Tree) spread(b bool) []float64 {
	from, to := 0, t.sides
	if b {
		from, to = t.sides, len(t.runs)
	}
	out := make([]float64, len(t.Nodes))
	for r := from; r < to; r++ {
		if t.count[r] == nil {
			return nil
		}
		for i, v := range t.runs[r] {
			if v != 0 {
				out[i] += float64(v) * float64(v) / math.Max(1, float64(t.count[r][i]))
			}
		}
	}
	return out
}
