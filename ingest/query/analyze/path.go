package analyze

import "ashlar/ingest/model/recording"

// Find follows a path of functions from the root of a tree and returns the node at its
// end. If several children match, it takes the first, which is the heaviest if the tree
// is ordered by weight. If none matches, missing is the index in the path, otherwise -1.
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
