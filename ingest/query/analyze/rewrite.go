package analyze

import "ashlar/ingest/model/recording"

// Rewriting is the result of applying transforms to each stack of a recording separately.
// Transforms of the display (Invert, ByTime, and the order of CallersOf) have no effect.
type Rewriting struct{ p *callPaths }

// Rewrite applies transforms to all stacks.
func Rewrite(rec *recording.Recording, ts ...Transform) *Rewriting {
	p := pathsOf(rec, nil)
	p.apply(ts)
	return &Rewriting{p}
}

// Node returns the node that the stack ending in a call has become, 0 for a stack without
// frames; ok is false if the stack was removed.
func (r *Rewriting) Node(c recording.CallID) (node int32, ok bool) {
	if c == recording.NoCall { // transforms that require a function remove the empty stack
		return 0, !r.p.out[c]
	}
	if int(c) >= len(r.p.at) || r.p.out[c] || r.p.at[c] < 0 {
		return 0, false
	}
	return r.p.at[c], true
}

// Nodes returns the number of nodes. A node's parent comes before it.
func (r *Rewriting) Nodes() int { return len(r.p.parent) }

// Parent returns the parent of a node.
func (r *Rewriting) Parent(node int32) int32 { return r.p.parent[node] }

// Frame returns a node's frame and function. For a group, the function describes the
// module or file whose frames are merged.
func (r *Rewriting) Frame(node int32) (recording.Frame, recording.Function) {
	key := r.p.key[node]
	fn := r.p.function(key)
	if key >= r.p.functions {
		return recording.Frame{Kind: fn.Kind}, fn
	}
	return r.p.frame(node), fn
}
