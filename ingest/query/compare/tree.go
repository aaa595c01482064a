package compare

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"ashlar/ingest/model/column"
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
}

// Amount is the cost of a node on one side, in the common metric's units, normalised like
// the comparison.
type Amount struct {
	Self, Total int64
	// Count is the number of calls, samples or records in the node itself, without its
	// descendants; see analyze.Node. It is never scaled.
	Count int64
	// Run is the first recording that has the node.
	Run int32
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

	// kids are the children of all nodes, node by node; ends is where those of each node end.
	kids, ends []int32
	sorted     sync.Once

	order []int32   // nodes depth first, children by name
	runs  [][]int64 // self by recording and node, before scaling
	count [][]int64 // number of samples by recording and node; nil if unknown
	sides int       // number of recordings on side A
}

// Children returns the direct children of a node, sorted by the weight of their larger
// side, descending.
func (t *Tree) Children(node int) []int32 {
	t.sorted.Do(t.sort)
	return t.childrenIn(t.kids, node)
}

// childrenIn returns the direct children of a node in a copy of kids.
func (t *Tree) childrenIn(kids []int32, node int) []int32 {
	from := int32(0)
	if node > 0 {
		from = t.ends[node-1]
	}
	return kids[from:t.ends[node]]
}

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
// are numbers of samples, nil if unknown. Without transforms there are only weights.
type grown struct {
	rec            *recording.Recording
	values, counts stacks
}

type stacks struct {
	weights *analyze.Weights
	tree    *analyze.Tree // after transforms; nil without transforms
}

func stacksOf(rec *recording.Recording, w *analyze.Weights, ts []analyze.Transform) (s stacks) {
	s.weights = w
	if w != nil && len(ts) > 0 {
		s.tree = analyze.NewTree(rec, w, ts...)
	}
	return s
}

// merge merges the trees of several recordings; the first sides of them are on side A.
// The values are not scaled yet.
func merge(in []grown, sides int, m *match.Matching) *Tree {
	t := &Tree{Nodes: make([]Node, 1), Funcs: slices.Clone(m.Funcs), sides: sides, runs: make([][]int64, len(in)), count: make([][]int64, len(in))}
	t.Nodes[0].Func = -1
	g := merger{t: t, m: m, groups: map[string]int32{}, in: in, at: make([][]int32, len(in))}
	for r := range in {
		x := &in[r]
		t.runs[r] = g.add(r, x.rec, x.values, true)
		if x.counts.weights != nil {
			t.count[r] = g.add(r, x.rec, x.counts, false)
		}
		if !slices.ContainsFunc(in[r+1:], func(later grown) bool { return later.rec == x.rec }) {
			g.at[r] = nil
		}
		t.Inverted = t.Inverted || x.values.tree != nil && x.values.tree.Inverted
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
	nodes  *pairmap.Children[uint32] // keys are functions; nil until a node must be looked up
	groups map[string]int32
	in     []grown
	at     [][]int32 // nodes of the calls of recordings that are needed again; see known
}

// add finds or adds the nodes of a recording's stacks and returns its self values by node.
// With here, it also counts the recording's calls.
func (g *merger) add(r int, rec *recording.Recording, from stacks, here bool) []int64 {
	if from.tree == nil {
		return g.calls(r, rec, from.weights, here)
	}
	nodes := from.tree.Nodes
	at := make([]int32, len(nodes))
	self := g.self(len(nodes))
	for i := range nodes {
		nd := &nodes[i]
		if i > 0 {
			at[i] = g.node(at[nd.Parent], g.key(r, rec, from.tree, i), &self)
		}
		recording.Add(&self[at[i]], nd.Self)
		if here {
			g.here(r, at[i], nd.Count)
		}
	}
	return self
}

// calls does the work of add for weights without transforms. Calls with the same path of
// functions share a node.
func (g *merger) calls(r int, rec *recording.Recording, w *analyze.Weights, here bool) []int64 {
	const live = 1
	n, count := min(rec.Calls.Len(), max(1, len(w.Self))), 1
	at := column.Fresh[int32](n) // first, whether the call or one below it has a weight or a count
	for c := n - 1; c > 0; c-- {
		if at[c] == live || w.Count[c] != 0 || w.Self[c] != 0 {
			at[c], at[rec.Calls.Parent(recording.CallID(c))] = live, live
			count++
		}
	}
	at[0] = 0
	self := g.self(count)
	ids, known := g.m.IDs[r], g.known(r)
	distinct := len(g.t.Nodes) == 1 && distinctFrames(rec, ids)
	for c := range at {
		if c > 0 {
			if at[c] != live {
				continue
			}
			id := recording.CallID(c)
			switch {
			case c < len(known) && known[c] != 0:
				at[c] = known[c]
			case distinct:
				at[c] = g.append(at[rec.Calls.Parent(id)], ids[rec.Func(id)], &self)
			default:
				at[c] = g.node(at[rec.Calls.Parent(id)], ids[rec.Func(id)], &self)
			}
		}
		if c < len(w.Self) {
			recording.Add(&self[at[c]], w.Self[c])
		}
		if here {
			count := int64(0)
			if c < len(w.Count) {
				count = w.Count[c]
			}
			g.here(r, at[c], count)
		}
	}
	g.at[r] = at
	return self
}

// known returns the nodes of a recording's calls, 0 for unknown ones, if its calls were
// added before: for another weight, or because two inputs are parts of one recording.
func (g *merger) known(r int) []int32 {
	for k, at := range g.at[:r+1] {
		if at != nil && g.in[k].rec == g.in[r].rec && slices.Equal(g.m.IDs[k], g.m.IDs[r]) {
			return at
		}
	}
	return nil
}

// distinctFrames reports whether each frame of a recording has a function of its own, so that each
// call has a path of its own. ids are the comparison's functions.
func distinctFrames(rec *recording.Recording, ids []int32) bool {
	seen := map[int32]bool{}
	for i := range rec.Frames.Len() {
		f := ids[rec.Frames.At(i).Func]
		if seen[f] {
			return false
		}
		seen[f] = true
	}
	return true
}

// self returns room for the self values of a recording with this many nodes.
func (g *merger) self(nodes int) []int64 {
	t := g.t
	if len(t.Nodes) == 1 {
		t.Nodes = append(column.Fresh[Node](nodes)[:0], t.Nodes...)
	}
	return column.Fresh[int64](max(nodes, len(t.Nodes)))[:len(t.Nodes)]
}

// node finds or adds the child of a node for a function.
func (g *merger) node(parent, f int32, self *[]int64) int32 {
	if g.nodes == nil {
		g.nodes = g.t.index()
	}
	if k := int32(g.nodes.Child(uint32(parent), uint32(f))); int(k) < len(g.t.Nodes) {
		return k
	}
	return g.append(parent, f, self)
}

// append adds a child to a node.
func (g *merger) append(parent, f int32, self *[]int64) int32 {
	t := g.t
	depth := t.Nodes[parent].Depth + 1
	t.Depth = max(t.Depth, int(depth))
	t.Nodes = append(t.Nodes, Node{Func: f, Parent: parent, Depth: depth})
	*self = append(*self, 0)
	return int32(len(t.Nodes) - 1)
}

// index returns the nodes by parent and function.
func (t *Tree) index() *pairmap.Children[uint32] {
	nodes := pairmap.NewChildren[uint32](nil)
	for i := 1; i < len(t.Nodes); i++ {
		nodes.Child(uint32(t.Nodes[i].Parent), uint32(t.Nodes[i].Func))
	}
	return nodes
}

// here notes that a recording has a node.
func (g *merger) here(r int, node int32, count int64) {
	side := g.t.side(int(node), r)
	side.Count += count
	if !side.Here {
		side.Here, side.Run = true, int32(r)
	}
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
	return func(r int) ([]int64, error) {
		if factors[r].keeps(t.runs[r]) {
			return t.runs[r], nil
		}
		return factors[r].share(t.runs[r], t.depthFirst())
	}
}

// scale scales each recording's values and sums them up by side.
func (t *Tree) scale(scaled func(r int) ([]int64, error)) error {
	for r := range t.runs {
		values, err := scaled(r)
		if err != nil {
			return err
		}
		t.runs[r] = values
		for i, v := range values {
			recording.Add(&t.side(i, r).Self, v)
		}
	}
	t.order = nil
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		n := &t.Nodes[i]
		for _, s := range []*Amount{&n.A, &n.B} {
			recording.Add(&s.Total, s.Self)
		}
		if i > 0 {
			p := &t.Nodes[n.Parent]
			recording.Add(&p.A.Total, n.A.Total)
			recording.Add(&p.B.Total, n.B.Total)
		}
	}
	return nil
}

// unscale undoes scale; runs are the values before it.
func (t *Tree) unscale(runs [][]int64) {
	t.runs = runs
	for i := range t.Nodes {
		n := &t.Nodes[i]
		for _, s := range []*Amount{&n.A, &n.B} {
			s.Self, s.Total = 0, 0
		}
	}
}

// sort orders the children of all nodes in kids. Equal ones are in an order that is the same
// if the sides are swapped.
func (t *Tree) sort() {
	larger := func(i int32) int64 { return max(t.Nodes[i].A.Total, t.Nodes[i].B.Total) }
	t.link(func(a, b int32) int { return cmp.Or(cmp.Compare(larger(b), larger(a)), t.byName(a, b)) })
}

// byName compares nodes by their functions.
func (t *Tree) byName(a, b int32) int {
	x, y := t.Nodes[a].Func, t.Nodes[b].Func
	f, g := &t.Funcs[x], &t.Funcs[y]
	return cmp.Or(cmp.Compare(f.Name, g.Name), cmp.Compare(f.Module, g.Module), cmp.Compare(x, y))
}

// link finds the children of all nodes, sorted by less.
func (t *Tree) link(less func(a, b int32) int) {
	n := len(t.Nodes)
	if t.kids == nil {
		t.kids, t.ends = column.Fresh[int32](n-1), column.Fresh[int32](n)
		for i := 1; i < n; i++ {
			t.ends[t.Nodes[i].Parent]++
		}
		sum := int32(0)
		for i, kids := range t.ends {
			t.ends[i], sum = sum, sum+kids
		}
		for i := 1; i < n; i++ {
			at := &t.ends[t.Nodes[i].Parent]
			t.kids[*at] = int32(i)
			*at++
		}
	}
	for i := range t.Nodes {
		if kids := t.childrenIn(t.kids, i); len(kids) > 1 {
			slices.SortFunc(kids, less)
		}
	}
}

// depthFirst returns all nodes depth first, those with the same parent by name.
func (t *Tree) depthFirst() []int32 {
	if t.order != nil {
		return t.order
	}
	t.link(t.byName)
	t.order = make([]int32, 0, len(t.Nodes))
	stack := []int32{0}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		t.order = append(t.order, i)
		kids := t.childrenIn(t.kids, int(i))
		for k := len(kids) - 1; k >= 0; k-- {
			stack = append(stack, kids[k])
		}
	}
	return t.order
}

func (t *Tree) side(node, run int) *Amount {
	if run < t.sides {
		return &t.Nodes[node].A
	}
	return &t.Nodes[node].B
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
