package analyze

import (
	"math"
	"slices"

	"ashlar/ingest/model/pairmap"
	"ashlar/ingest/model/recording"
)

// callPaths is a tree of calls before it becomes a Tree. A transform looks at a node and
// at its parent's result, so it takes one pass over the nodes, whatever their
// depth. Nodes that run the same functions are merged only at the end: until then each
// stands for one call, so that inlined frames, kernel frames and lines can be told apart.
type callPaths struct {
	rec *recording.Recording
	// Columns by node. A parent has a smaller index; node 0 is the root.
	parent      []int32
	key         []uint32 // a function, or functions+i for groups[i]
	call        []recording.CallID
	self, count []int64
	seen        []int64 // time of the first occurrence; nil if not requested

	// at is, by call of the recording, the node that the call's frame has become, -1 for
	// none; out marks calls whose stacks were removed.
	at  []int32
	out []bool

	functions uint32
	groups    []recording.Function
	groupOf   map[groupID]uint32

	// bare is set for paths with all calls and no weights, whose nodes are kept without
	// weight.
	bare             bool
	inverted, byTime bool
}

// pathsOf returns paths with the calls that have a weight or count, in themselves or
// below; if w is nil, with all calls.
func pathsOf(rec *recording.Recording, w *Weights) *callPaths {
	p := &callPaths{rec: rec, functions: uint32(rec.Functions.Len()), bare: w == nil}
	n := rec.Calls.Len()
	if w != nil {
		n = min(n, max(1, len(w.Self)))
	}
	live := make([]bool, n)
	nodes := 1
	for c := n - 1; c > 0; c-- {
		if live[c] || w == nil || w.Count[c] != 0 || w.Self[c] != 0 {
			live[c] = true
			live[rec.Calls.Parent(recording.CallID(c))] = true
			nodes++
		}
	}
	p.parent, p.key, p.call = make([]int32, nodes), make([]uint32, nodes), make([]recording.CallID, nodes)
	p.self, p.count = make([]int64, nodes), make([]int64, nodes)
	p.at, p.out = make([]int32, n), make([]bool, n)
	if w != nil && w.First != nil {
		p.seen = make([]int64, nodes)
	}
	p.key[0] = math.MaxUint32
	k := 0
	for c := range n {
		if c > 0 {
			if !live[c] {
				p.at[c] = -1
				continue
			}
			k++
			call := recording.CallID(c)
			p.parent[k], p.call[k] = p.at[rec.Calls.Parent(call)], call
			p.key[k] = uint32(rec.Func(call))
		}
		p.at[c] = int32(k)
		if w != nil && c < len(w.Self) {
			p.self[k], p.count[k] = w.Self[c], w.Count[c]
		}
		if p.seen != nil {
			p.seen[k] = w.First[c]
		}
	}
	return p
}

// groupID identifies a group: all functions of a module or file, or a line of a
// function.
type groupID struct {
	by   By
	name string
	fn   recording.FuncID
	line int32
}

// group returns the key of a group of functions; f describes it.
func (p *callPaths) group(id groupID, f recording.Function) uint32 {
	k, ok := p.groupOf[id]
	if !ok {
		if p.groupOf == nil {
			p.groupOf = map[groupID]uint32{}
		}
		k = p.functions + uint32(len(p.groups))
		p.groups = append(p.groups, f)
		p.groupOf[id] = k
	}
	return k
}

// function returns the function of a key.
func (p *callPaths) function(key uint32) recording.Function {
	if key >= p.functions {
		return p.groups[key-p.functions]
	}
	return p.rec.Functions.At(int(key))
}

// keys turns a test of functions into a test of keys, which calls it once per function.
func (p *callPaths) keys(is func(*recording.Function) bool) func(key uint32) bool {
	known := make([]uint8, p.functions+uint32(len(p.groups)))
	return func(key uint32) bool {
		if known[key] == 0 {
			known[key] = 1
			if f := p.function(key); is(&f) {
				known[key] = 2
			}
		}
		return known[key] == 2
	}
}

// Results of step in a pass, other than the number of a node to merge this one into.
const (
	become = -2 // keep the node, below what became of its parent
	vanish = -1 // remove the node, with its weight
	adopt  = -3 // keep the node as an outermost node
)

// pass rebuilds the tree. It calls step for each node i except the root, parents first;
// up is the node that the parent became, negative if it was removed. step may change
// p.key[i]; p.key[up] is the key of the new parent.
func (p *callPaths) pass(step func(i, up int32) int32) {
	to := make([]int32, len(p.parent))
	n := int32(1)
	for i := int32(1); i < int32(len(to)); i++ {
		up := to[p.parent[i]]
		m := step(i, up)
		switch m {
		case become, adopt:
			if m == adopt {
				up = 0
			}
			p.parent[n], p.key[n], p.call[n] = up, p.key[i], p.call[i]
			p.self[n], p.count[n] = p.self[i], p.count[i]
			if p.seen != nil {
				p.seen[n] = p.seen[i]
			}
			m = n
			n++
		case vanish:
		default:
			recording.Add(&p.self[m], p.self[i])
			p.count[m] += p.count[i]
			if p.seen != nil {
				p.seen[m] = min(p.seen[m], p.seen[i])
			}
		}
		to[i] = m
	}
	p.parent, p.key, p.call, p.self, p.count = p.parent[:n], p.key[:n], p.call[:n], p.self[:n], p.count[:n]
	if p.seen != nil {
		p.seen = p.seen[:n]
	}
	for c, k := range p.at {
		if k >= 0 {
			p.at[c] = to[k]
			p.out[c] = p.out[c] || to[k] < 0
		}
	}
}

// lose removes the stacks that end in nodes marked in gone, and then all nodes without
// any weight.
func (p *callPaths) lose(gone []bool) {
	for c, k := range p.at {
		if k >= 0 && gone[k] {
			p.out[c] = true
		}
	}
	live := make([]bool, len(p.parent))
	for i := len(live) - 1; i >= 0; i-- {
		if gone[i] {
			p.self[i], p.count[i] = 0, 0
			if p.seen != nil {
				p.seen[i] = math.MaxInt64
			}
		}
		if live[i] || p.bare || p.self[i] != 0 || p.count[i] != 0 {
			live[i] = true
			live[p.parent[i]] = true
		}
	}
	p.pass(func(i, up int32) int32 {
		if live[i] {
			return become
		}
		return vanish
	})
}

// tree returns the Tree, with nodes that run the same functions merged.
func (p *callPaths) tree(w *Weights) *Tree {
	to, first := p.merge()
	t := &Tree{Nodes: make([]Node, len(first)), Weights: w, Groups: p.groups, at: p.at}
	if p.seen != nil {
		t.seen = never(len(first))
	}
	for k, i := range first[1:] {
		parent := to[p.parent[i]]
		t.Nodes[k+1] = p.node(i, parent, t.Nodes[parent].Depth+1)
	}
	for i, k := range to {
		nd := &t.Nodes[k]
		recording.Add(&nd.Self, p.self[i])
		nd.Count += p.count[i]
		if p.seen != nil {
			t.seen[k] = min(t.seen[k], p.seen[i])
		}
	}
	for c, k := range t.at {
		if k >= 0 {
			t.at[c] = to[k]
		}
	}
	if p.inverted {
		t.own = slices.Clone(t.seen)
	}
	t.finish(p.byTime)
	return t
}

// merge numbers the nodes of the merged tree: to is the new number of each node of p, and
// first is, by number, the first node of p with it.
func (p *callPaths) merge() (to, first []int32) {
	to = make([]int32, len(p.parent))
	first = make([]int32, 1, len(p.parent)/4+16)
	nodes := pairmap.NewChildren[uint32](nil)
	for i := 1; i < len(to); i++ {
		to[i] = int32(nodes.Child(uint32(to[p.parent[i]]), p.key[i]))
		if int(to[i]) == len(first) {
			first = append(first, int32(i))
		}
	}
	return to, first
}

func (p *callPaths) node(i, parent, depth int32) Node {
	nd := Node{Func: p.rec.Func(p.call[i]), Frame: p.rec.Calls.Frame(p.call[i]), Call: p.call[i], Parent: parent, Depth: depth}
	if p.key[i] >= p.functions {
		nd.Group = int32(p.key[i]-p.functions) + 1
	}
	return nd
}
