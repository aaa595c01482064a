package analyze

import (
	"math"
	"math/bits"

	"ashlar/ingest/model/recording"
)

// Limits of inverted trees. Inverting a tree of n nodes may give n times its depth of
// nodes. Past these limits the heaviest parts are expanded first and the lightest are
// cut.
var (
	mostInverted = 1 << 19 // nodes: 32 MB, a thousand times what fits on a screen
	mostSteps    = 1 << 24 // frames looked at: a fraction of a second
)

// inversion inverts a tree. Each node of the result has a segment of ends. An end is a
// pair of nodes of the old tree: a leaf, and the node at or above it that the new node
// stands for. The callers of a new node are found by moving its ends up by one and
// grouping them by function, which keeps them inside the segment.
type inversion struct {
	from *Tree
	to   *Tree
	ends []end
	seg  []segment // by node of to
	// todo holds the nodes to be expanded, by the bit length of their weight.
	todo  [65][]int32
	heavy int // the largest bit length with any nodes
	spare []end
	// slot is, by key, the child being filled; it is valid for the node in stamp.
	slot, stamp []int32
	functions   int32
}

type end struct{ at, leaf int32 }

type segment struct{ lo, hi int32 }

// invert returns the bottom-up tree.
func invert(from *Tree, p *callPaths) *Tree {
	keys := int(p.functions) + len(p.groups)
	v := &inversion{
		from: from, functions: int32(p.functions), slot: make([]int32, keys), stamp: make([]int32, keys),
		to: &Tree{Nodes: make([]Node, 1, 1024), Weights: from.Weights, Transforms: from.Transforms, Groups: from.Groups, Inverted: true, upright: from},
	}
	for i := 1; i < len(from.Nodes); i++ {
		if nd := &from.Nodes[i]; nd.Self != 0 || nd.Count != 0 {
			v.ends = append(v.ends, end{int32(i), int32(i)})
		}
	}
	v.spare = make([]end, len(v.ends))
	v.seg = append(v.seg, segment{0, int32(len(v.ends))})
	root := &v.to.Nodes[0]
	root.Self, root.Count = from.Nodes[0].Self, from.Nodes[0].Count
	if from.seen != nil {
		v.to.seen = append(v.to.seen, from.own[0])
	}
	v.part(0)
	steps := len(v.ends)
	for v.heavy >= 0 {
		todo := v.todo[v.heavy]
		if len(todo) == 0 {
			v.heavy--
			continue
		}
		node := todo[len(todo)-1]
		s := v.seg[node]
		if steps += int(s.hi - s.lo); steps > mostSteps || len(v.to.Nodes) > mostInverted {
			break
		}
		v.todo[v.heavy] = todo[:len(todo)-1]
		v.expand(node)
	}
	v.cut()
	from.own = nil
	v.to.finish(p.byTime)
	return v.to
}

// cut counts the nodes that were not expanded though they have callers.
func (v *inversion) cut() {
	for _, nodes := range v.todo {
		for _, node := range nodes {
			s := v.seg[node]
			for _, e := range v.ends[s.lo:s.hi] {
				if v.from.Nodes[e.at].Parent != 0 {
					v.to.Cut++
					break
				}
			}
		}
	}
}

// expand moves a node's ends up by one. Ends at the root become the node's own weight,
// the others go to its children.
func (v *inversion) expand(node int32) {
	nd := &v.to.Nodes[node]
	nd.Self, nd.Count = 0, 0
	s := v.seg[node]
	n := s.lo
	for i := s.lo; i < s.hi; i++ {
		e := v.ends[i]
		leaf := &v.from.Nodes[e.leaf]
		if up := v.from.Nodes[e.at].Parent; up != 0 {
			v.ends[n] = end{up, e.leaf}
			n++
		} else {
			recording.Add(&nd.Self, leaf.Self)
			nd.Count += leaf.Count
		}
	}
	v.seg[node].hi = n
	v.part(node)
}

// part adds a child for each function among a node's ends, and sorts the ends by child.
func (v *inversion) part(node int32) {
	s := v.seg[node]
	ends := v.ends[s.lo:s.hi]
	base := int32(len(v.to.Nodes))
	mark := node + 1
	for _, e := range ends {
		key := v.key(e.at)
		if v.stamp[key] != mark {
			v.stamp[key], v.slot[key] = mark, int32(len(v.to.Nodes))
			v.add(node, e.at)
		}
		k := v.slot[key]
		leaf := &v.from.Nodes[e.leaf]
		child := &v.to.Nodes[k]
		recording.Add(&child.Self, leaf.Self)
		child.Count += leaf.Count
		v.seg[k].hi++
		if v.to.seen != nil {
			v.to.seen[k] = min(v.to.seen[k], v.from.own[e.leaf])
		}
	}
	at := s.lo
	for k := base; k < int32(len(v.to.Nodes)); k++ {
		n := v.seg[k].hi
		v.seg[k] = segment{at, at}
		at += n
		size := bits.Len64(uint64(max(v.to.Nodes[k].Self, -v.to.Nodes[k].Self)))
		v.todo[size] = append(v.todo[size], k)
		v.heavy = max(v.heavy, size)
	}
	if int32(len(v.to.Nodes)) == base+1 {
		v.seg[base].hi = s.hi // only one child: nothing to move
		return
	}
	copy(v.spare, ends)
	for _, e := range v.spare[:len(ends)] {
		c := &v.seg[v.slot[v.key(e.at)]]
		v.ends[c.hi] = e
		c.hi++
	}
}

func (v *inversion) key(node int32) int32 {
	nd := &v.from.Nodes[node]
	if nd.Group > 0 {
		return v.functions + nd.Group - 1
	}
	return int32(nd.Func)
}

func (v *inversion) add(parent, like int32) {
	nd := v.from.Nodes[like]
	v.to.Nodes = append(v.to.Nodes, Node{
		Func: nd.Func, Frame: nd.Frame, Call: nd.Call, Group: nd.Group,
		Parent: parent, Depth: v.to.Nodes[parent].Depth + 1,
	})
	v.seg = append(v.seg, segment{})
	if v.to.seen != nil {
		v.to.seen = append(v.to.seen, math.MaxInt64)
	}
}
