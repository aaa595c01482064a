package analyze

import (
	"cmp"
	"math"
	"slices"

	"ashlar/ingest/model/recording"
)

// Node is a bar of a flamegraph: one path of functions.
type Node struct {
	// Func is the function; Frame and Call are the first frame and call merged here. The
	// root has none of them.
	Func   recording.FuncID
	Frame  recording.FrameID
	Call   recording.CallID
	Parent int32
	Depth  int32 // 0 for the root
	// Group is 0 if the node is a function, otherwise 1 + the index in Tree.Groups of its
	// module or file.
	Group int32
	// Self and Total are in the metric's units; Count is the number of spans,
	// samples or records that end exactly here.
	Self, Total, Count int64
	// Gross is the width of the node when drawn: the sum of the absolute weights in it
	// and below. Without negative weights it equals Total. With them, a child's Total
	// could exceed its parent's, or be negative.
	Gross int64
	// first and last bound the children in Tree.kids.
	first, last int32
}

// Tree is an aggregated call tree: calls with the same functions from the root down are
// one node. Node 0 is the root.
type Tree struct {
	Nodes []Node
	kids  []int32
	// Depth is the depth of the deepest node.
	Depth int
	// The tree was made from Weights by Transforms.
	Weights    *Weights
	Transforms []Transform
	// Groups are the modules and files that nodes represent instead of functions,
	// described as functions.
	Groups []recording.Function
	// Inverted is set if the tree begins with the functions that have a self weight and
	// continues with their callers. Self is then the weight of stacks whose outermost call
	// is the node.
	Inverted bool
	// Negative is the sum of the negative weights of nodes, 0 or less. The root's Total
	// is the sum of positive and negative weights, its Gross the sum of their absolute
	// values.
	Negative int64
	// Cut is the number of nodes of an inverted tree whose callers were cut: bottom-up
	// trees can be far larger than the recording, so the lightest parts of very large
	// ones are not expanded completely. The weight of such a node counts as its own.
	Cut int

	// seen is the time of the first occurrence by node; nil if not requested. own is the
	// time of the first stack that ends in the node; it is kept until the tree is
	// inverted.
	seen, own []int64
	// at is the node of each call; see nodeOf.
	at []int32
	// upright is the tree that an inverted one was made from.
	upright *Tree
}

// Function returns the function of a node, or describes its module or file as if it were
// one. The root is "all".
func (t *Tree) Function(rec *recording.Recording, node int) recording.Function {
	nd := &t.Nodes[node]
	switch {
	case node == 0:
		return recording.Function{Name: "all"}
	case nd.Group > 0:
		return t.Groups[nd.Group-1]
	}
	return rec.Functions.At(int(nd.Func))
}

// nodeOf returns the node that contains a call's frame, -1 if the tree has none because
// the call has no weight or a transform removed it. A hidden frame is part of its caller.
// Inverted trees have no such nodes.
func (t *Tree) nodeOf(call recording.CallID) int {
	if int(call) >= len(t.at) || t.Inverted {
		return -1
	}
	return int(t.at[call])
}

// Children returns the nodes directly below a node, heaviest first, or in order of time
// with ByTime.
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

// NewTree applies transforms in order and merges weights into a tree. It leaves out calls
// that have no weight or count, neither in themselves nor below.
func NewTree(rec *recording.Recording, w *Weights, transforms ...Transform) *Tree {
	if len(transforms) == 0 && oneFrameEach(rec) {
		return unmerged(rec, w)
	}
	p := pathsOf(rec, w)
	p.apply(transforms)
	t := p.tree(w)
	t.Transforms = transforms
	if p.inverted {
		t = invert(t, p)
	}
	return t
}

// exactTotals adds up totals without a limit for parts of them: a sum that leaves 64 bits and
// comes back by negative values would otherwise be neither exact nor a limit.
func (t *Tree) exactTotals() {
	sums := make([]recording.Wide, len(t.Nodes))
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		nd := &t.Nodes[i]
		sums[i].Add(nd.Self)
		nd.Total = sums[i].Limited()
		if i > 0 {
			sums[nd.Parent].Join(sums[i])
		}
	}
}

// finish adds up totals and orders children.
func (t *Tree) finish(byTime bool) {
	// A node's parent has a smaller index, so one pass from the back adds up all totals.
	counts := make([]int32, len(t.Nodes)+1)
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		nd := &t.Nodes[i]
		recording.Add(&nd.Total, nd.Self)
		recording.Add(&nd.Gross, max(nd.Self, -nd.Self))
		recording.Add(&t.Negative, min(nd.Self, 0))
		t.Depth = max(t.Depth, int(nd.Depth))
		if i > 0 {
			recording.Add(&t.Nodes[nd.Parent].Total, nd.Total)
			recording.Add(&t.Nodes[nd.Parent].Gross, nd.Gross)
			counts[nd.Parent]++
			if t.seen != nil {
				t.seen[nd.Parent] = min(t.seen[nd.Parent], t.seen[i])
			}
		}
	}
	if t.Negative < 0 && t.Nodes[0].Gross == math.MaxInt64 {
		t.exactTotals()
	}
	t.kids = Link(counts[:len(t.Nodes)], func(i int) int32 { return t.Nodes[i].Parent }, func(i int) (first, last *int32) { return &t.Nodes[i].first, &t.Nodes[i].last })
	for i := range t.Nodes {
		if kids := t.Children(i); len(kids) > 1 {
			t.order(kids, byTime)
		}
	}
}

// fewKids is how many children are sorted by insertion, which is quicker for few. Trees of
// millions of nodes have mostly those.
const fewKids = 8

// order sorts the children of a node. At first they are in order of their calls, which is
// file order; equal ones stay in that order.
func (t *Tree) order(kids []int32, byTime bool) {
	switch {
	case !byTime && len(kids) <= fewKids:
		for i := 1; i < len(kids); i++ {
			kid := kids[i]
			gross, at := t.Nodes[kid].Gross, i
			for ; at > 0 && t.Nodes[kids[at-1]].Gross < gross; at-- {
				kids[at] = kids[at-1]
			}
			kids[at] = kid
		}
	case !byTime:
		slices.SortStableFunc(kids, func(a, b int32) int { return cmp.Compare(t.Nodes[b].Gross, t.Nodes[a].Gross) })
	case t.seen != nil:
		slices.SortStableFunc(kids, func(a, b int32) int { return cmp.Compare(t.seen[a], t.seen[b]) })
	}
}

// Link returns the indices of all nodes of a tree except the root, node 0, grouped by
// parent. counts is the number of children of each node; bounds returns pointers to the
// fields of a node that receive the bounds of its children in the result.
func Link(counts []int32, parent func(i int) int32, bounds func(i int) (first, last *int32)) []int32 {
	var sum int32
	for i, n := range counts {
		first, last := bounds(i)
		*first, *last = sum, sum
		sum += n
	}
	kids := make([]int32, sum)
	for i := 1; i < len(counts); i++ {
		_, last := bounds(int(parent(i)))
		kids[*last] = int32(i)
		*last++
	}
	return kids
}
