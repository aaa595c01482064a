package analyze

import (
	"sort"

	"ashlar/ingest/pairs"
	"ashlar/ingest/recording"
)

// Node is a bar of a flamegraph: one path of functions.
type Node struct {
	// Func is the function; Frame and Call are the first of those merged here.
	// The root has none of them.
	Func   recording.FuncID
	Frame  recording.FrameID
	Call   recording.CallID
	Parent int32
	Depth  int32 // 0 for the root
	// Self and Total are in the metric's units; Count is the number of spans,
	// samples or records that end exactly here.
	Self, Total, Count int64
	// first and last bound the children in Tree.kids.
	first, last int32
}

// Tree is an aggregated call tree: calls that run the same functions from the
// root down are one node. Node 0 is the root.
type Tree struct {
	Nodes []Node
	kids  []int32
	// Depth is that of the deepest node.
	Depth int
	// Weights is what the tree was made from.
	Weights *Weights
}

// Children are the nodes directly below one, heaviest first.
func (t *Tree) Children(node int) []int32 { return t.kids[t.Nodes[node].first:t.Nodes[node].last] }

// Path lists the nodes from the outermost call to node, without the root.
func (t *Tree) Path(node int) []int {
	var path []int
	for node != 0 {
		path = append(path, node)
		node = int(t.Nodes[node].Parent)
	}
	for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	return path
}

// NewTree merges weights into a tree. Calls without any weight or count below
// them are left out.
func NewTree(rec *recording.Recording, w *Weights) *Tree {
	n := len(w.Self)
	t := &Tree{Nodes: make([]Node, 1, 1024), Weights: w}
	live := make([]bool, n)
	for c := n - 1; c > 0; c-- {
		if live[c] || w.Count[c] != 0 || w.Self[c] != 0 {
			live[c] = true
			live[rec.Calls.Parent(recording.CallID(c))] = true
		}
	}
	at := make([]int32, n) // call to node
	var table pairs.Table
	for c := 1; c < n; c++ {
		if !live[c] {
			continue
		}
		call := recording.CallID(c)
		parent := at[rec.Calls.Parent(call)]
		f := rec.Func(call)
		k := table.Get(uint32(parent), uint32(f))
		if k == 0 {
			k = uint32(len(t.Nodes))
			table.Put(uint32(parent), uint32(f), k)
			depth := t.Nodes[parent].Depth + 1
			t.Depth = max(t.Depth, int(depth))
			t.Nodes = append(t.Nodes, Node{Func: f, Frame: rec.Calls.Frame(call), Call: call, Parent: parent, Depth: depth})
		}
		at[c] = int32(k)
		t.Nodes[k].Self += w.Self[c]
		t.Nodes[k].Count += w.Count[c]
	}
	if n > 0 { // records whose stack is empty
		t.Nodes[0].Self, t.Nodes[0].Count = w.Self[0], w.Count[0]
	}
	t.finish()
	return t
}

// finish adds up totals and orders children.
func (t *Tree) finish() {
	// A node's parent has a smaller index, so one pass from the back adds up.
	counts := make([]int32, len(t.Nodes)+1)
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		nd := &t.Nodes[i]
		nd.Total += nd.Self
		if i > 0 {
			t.Nodes[nd.Parent].Total += nd.Total
			counts[nd.Parent]++
		}
	}
	var sum int32
	for i := range t.Nodes {
		t.Nodes[i].first, t.Nodes[i].last = sum, sum
		sum += counts[i]
	}
	t.kids = make([]int32, sum)
	for i := 1; i < len(t.Nodes); i++ {
		p := &t.Nodes[t.Nodes[i].Parent]
		t.kids[p.last] = int32(i)
		p.last++
	}
	for i := range t.Nodes {
		kids := t.Children(i)
		sort.SliceStable(kids, func(a, b int) bool { return t.Nodes[kids[a]].Total > t.Nodes[kids[b]].Total })
	}
}
