package analyze

import "ashlar/ingest/model/recording"

// Rewriting is the result of transforms on a recording's stacks, each for itself.
// How a result is looked at (Invert, ByTime, and the order of CallersOf) does
// not count.
type Rewriting struct{ p *callPaths }

// Rewrite applies transforms to all stacks.
func Rewrite(rec *recording.Recording, ts ...Transform) *Rewriting {
	p := pathsOf(rec, nil)
	p.apply(ts)
	return &Rewriting{p}
}

// Node says what the stack that ends in a call has become: a node, 0 for a
// stack without any frame; false when it was taken away.
func (r *Rewriting) Node(c recording.CallID) (node int32, ok bool) {
	if c == recording.NoCall { // which is taken away by what wants some function
		return 0, !r.p.out[c]
	}
	if int(c) >= len(r.p.at) || r.p.out[c] || r.p.at[c] < 0 {
		return 0, false
	}
	return r.p.at[c], true
}

// Nodes is how many there are; a node's parent comes before it.
func (r *Rewriting) Nodes() int { return len(r.p.parent) }

// Parent is the node above one.
func (r *Rewriting) Parent(node int32) int32 { return r.p.parent[node] }

// Frame is a node's frame, and its function, or the module or file that it
// stands for, whose frames are no longer told apart.
func (r *Rewriting) Frame(node int32) (recording.Frame, recording.Function) {
	key := r.p.key[node]
	fn := r.p.function(key)
	if key >= r.p.functions {
		return recording.Frame{Kind: fn.Kind}, fn
	}
	return r.p.frame(node), fn
}
