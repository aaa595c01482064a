package panel

import (
	"unsafe"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// A path lists the function names from a tree's root to a node. Unlike the index of a node,
// it stays valid in the next answer's tree and after the recording is read again.

// PathOf returns the path to a node, nil for the root.
func PathOf(rec *recording.Recording, t *analyze.Tree, node int) []recording.FuncName {
	var path []recording.FuncName
	for _, n := range t.Path(node) {
		path = append(path, t.Function(rec, n).FuncName())
	}
	return path
}

// NodeAt follows a path as far as it exists in a tree; whole reports whether that is the
// whole path. A name without a module, as users type it, matches a function that has
// exactly this name and no module, otherwise the first function of that name in any
// module.
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

// PathCache caches the node at the end of a path: a root may have a hundred thousand
// children, too many to compare by name in each frame. Paths are replaced, never
// modified.
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
