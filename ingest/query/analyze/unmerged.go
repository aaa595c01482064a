package analyze

import "ashlar/ingest/model/recording"

// oneFrameEach reports whether each function of a recording has at most one frame. Then no
// two calls with the same parent run the same function, and calls are nodes as they are.
func oneFrameEach(rec *recording.Recording) bool {
	if rec.Frames.Len() > rec.Functions.Len() {
		return false
	}
	seen := make([]bool, rec.Functions.Len())
	for i := 0; i < rec.Frames.Len(); {
		run := rec.Frames.Chunk(i)
		for k := range run {
			f := run[k].Func
			if seen[f] {
				return false
			}
			seen[f] = true
		}
		i += len(run)
	}
	return true
}

// unmerged returns the tree without transforms of a recording for which oneFrameEach is true. It
// needs one pass over the calls, and the result is the tree that callPaths would give.
func unmerged(rec *recording.Recording, w *Weights) *Tree {
	n := min(rec.Calls.Len(), max(1, len(w.Self)))
	at := make([]int32, n)
	nodes := 1
	for c := n - 1; c > 0; c-- {
		if at[c] != 0 || w.Count[c] != 0 || w.Self[c] != 0 {
			at[c] = 1
			at[rec.Calls.Parent(recording.CallID(c))] = 1
			nodes++
		}
	}
	t := &Tree{Nodes: make([]Node, nodes), Weights: w, at: at}
	if w.First != nil {
		t.seen = make([]int64, nodes)
	}
	if at[0] = 0; len(w.Self) > 0 {
		t.take(0, 0)
	}
	k := int32(0)
	for c := 1; c < n; c++ {
		if at[c] == 0 {
			at[c] = -1
			continue
		}
		k++
		at[c] = k
		id := recording.CallID(c)
		parent := at[rec.Calls.Parent(id)]
		nd := &t.Nodes[k]
		nd.Call, nd.Frame, nd.Parent, nd.Depth = id, rec.Calls.Frame(id), parent, t.Nodes[parent].Depth+1
		nd.Func = rec.Frames.Ref(int(nd.Frame)).Func
		t.take(k, c)
	}
	t.finish(false)
	return t
}

// take sets the weights of a node to those of a call.
func (t *Tree) take(node int32, call int) {
	w := t.Weights
	t.Nodes[node].Self, t.Nodes[node].Count = w.Self[call], w.Count[call]
	if t.seen != nil {
		t.seen[node] = w.First[call]
	}
}
