package panel

import (
	"unsafe"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// A path leads from a tree's root to a node by what functions are called, so
// that it holds for the next answer's tree too, and for that of a recording that
// was read again.

// PathOf is the path to a node, nil for the root.
func PathOf(rec *recording.Recording, t *analyze.Tree, node int) []recording.FuncName {
	var path []recording.FuncName
	for _, n := range t.Path(node) {
		path = append(path, t.Function(rec, n).FuncName())
	}
	return path
}

// NodeAt follows a path as far as a tree has it; whole says whether that is all
// of it. A name without a module, as a person types it, means what has just that name, or
// the first of that name whatever its module.
func NodeAt(rec *recording.Recording, t *analyze.Tree, path []recording.FuncName) (node int, whole bool) {
	for _, name := range path {
		next := -1
		for _, k := range t.Children(node) {
			f := t.Function(rec, int(k))
			if f.FuncName() == name {
				next = int(k)
				break
			}
			if next < 0 && name.Module == "" && f.Name == name.Name {
				next = int(k)
			}
		}
		if next < 0 {
			return node, false
		}
		node = next
	}
	return node, true
}

// PathCache remembers where a path leads: a root may have a hundred thousand
// children, whose names are not to be compared in each frame. Paths are
// replaced, never written to.
type PathCache struct {
	tree  *analyze.Tree
	first *recording.FuncName
	n, at int
}

func (c *PathCache) Node(rec *recording.Recording, t *analyze.Tree, path []recording.FuncName) int {
	if first := unsafe.SliceData(path); c.tree != t || c.first != first || c.n != len(path) {
		c.tree, c.first, c.n = t, first, len(path)
		c.at, _ = NodeAt(rec, t, path)
	}
	return c.at
}
