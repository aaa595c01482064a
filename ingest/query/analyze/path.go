package analyze

import "ashlar/ingest/model/recording"

// Find follows a path of functions from the root of a tree and returns the node
// at its end. Of several children that are meant it takes the first, which is
// the heaviest where the tree is in that order. Where there is none, missing is
// the place in the path of what was not found, else it is -1.
func (t *Tree) Find(rec *recording.Recording, path []Ref) (node, missing int) {
	for i, r := range path {
		is := r.matcher(rec, t.Groups)
		next := -1
		for _, k := range t.Children(node) {
			if f := t.Function(rec, int(k)); is(&f) {
				next = int(k)
				break
			}
		}
		if next < 0 {
			return node, i
		}
		node = next
	}
	return node, -1
}
