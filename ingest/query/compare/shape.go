package compare

import (
	"cmp"
	"slices"

	"ashlar/ingest/model/recording"
)

// Width is the side that determines the widths of a differential flamegraph.
type Width string

// Sources of widths.
const (
	WidthA      Width = "a"
	WidthB      Width = "b"
	WidthLarger Width = "larger"
)

// A Shape is a Tree with the width of each node in a flamegraph; a node is never narrower
// than its children together.
type Shape struct {
	*Tree
	// Widths are by node. With WidthLarger a node is as wide as the larger of its two
	// self values and its children together, so it can be wider than either total. The
	// width of a negative weight is its absolute value.
	Widths []int64

	kids  []int32
	lacks bool
}

// Lacks reports whether any node has children without a width; see Absent.
func (s *Shape) Lacks() bool { return s.lacks }

// Shape computes the widths of the tree's nodes.
func (t *Tree) Shape(w Width) *Shape {
	t.sorted.Do(t.sort)
	s := &Shape{Tree: t, Widths: make([]int64, len(t.Nodes)), kids: slices.Clone(t.kids)}
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		n := &t.Nodes[i]
		a, b := max(n.A.Self, -n.A.Self), max(n.B.Self, -n.B.Self) // like analyze.Node.Gross
		switch w {
		case WidthA:
			recording.Add(&s.Widths[i], a)
		case WidthB:
			recording.Add(&s.Widths[i], b)
		default:
			recording.Add(&s.Widths[i], max(a, b))
		}
		if i > 0 {
			recording.Add(&s.Widths[n.Parent], s.Widths[i])
		}
	}
	for i := range t.Nodes {
		s.lacks = s.lacks || s.Widths[i] == 0 && (t.Nodes[i].A.Total != 0 || t.Nodes[i].B.Total != 0)
		slices.SortStableFunc(s.Children(i), func(a, b int32) int { return cmp.Compare(s.Widths[b], s.Widths[a]) })
	}
	return s
}

// Children returns the direct children of a node, widest first.
func (s *Shape) Children(node int) []int32 { return s.childrenIn(s.kids, node) }

// Width returns the width of a node.
func (s *Shape) Width(node int) int64 { return s.Widths[node] }

// Level returns the depth of a node.
func (s *Shape) Level(node int) int { return int(s.Nodes[node].Depth) }

// Absent lists the children of a node that have no width although they have a weight on
// one side: with A's widths the children only in B, with B's widths the children only in
// A. A picture marks their places.
func (s *Shape) Absent(node int) []int32 {
	kids := s.Children(node)
	at := len(kids)
	for at > 0 && s.Widths[kids[at-1]] == 0 {
		at--
	}
	var out []int32
	for _, k := range kids[at:] {
		if s.Nodes[k].A.Total != 0 || s.Nodes[k].B.Total != 0 {
			out = append(out, k)
		}
	}
	return out
}
