package compare

import (
	"cmp"
	"slices"

	"ashlar/ingest/model/recording"
)

// Width says which side a differential flamegraph takes its widths from.
type Width string

// Where widths come from.
const (
	WidthA      Width = "a"
	WidthB      Width = "b"
	WidthLarger Width = "larger"
)

// Shape is a Tree as a flamegraph lays it out: each node has a width, and is
// never narrower than its children together.
type Shape struct {
	*Tree
	// Widths are by node. With WidthLarger a node is as wide as its larger self
	// and its children need, and so can be wider than either total. Negative
	// weights have no width.
	Widths []int64

	kids  []int32
	lacks bool
}

// Lacks reports whether any node has children without a width; see Absent.
func (s *Shape) Lacks() bool { return s.lacks }

// Shape gives the tree widths.
func (t *Tree) Shape(w Width) *Shape {
	s := &Shape{Tree: t, Widths: make([]int64, len(t.Nodes)), kids: slices.Clone(t.kids)}
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		n := &t.Nodes[i]
		a, b := max(n.A.Self, -n.A.Self), max(n.B.Self, -n.B.Self) // as analyze.Node.Gross
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

// Children are the nodes directly below one, widest first.
func (s *Shape) Children(node int) []int32 {
	return s.kids[s.Nodes[node].first:s.Nodes[node].last]
}

// Width is how wide a node is.
func (s *Shape) Width(node int) int64 { return s.Widths[node] }

// Level is the depth of a node.
func (s *Shape) Level(node int) int { return int(s.Nodes[node].Depth) }

// Absent lists the children of a node that have no width though they weigh
// something on a side: what is new where A's widths are shown, and what is gone
// with B's. A picture marks where they would be.
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
