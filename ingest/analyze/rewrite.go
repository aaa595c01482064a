package analyze

import (
	"context"

	"ashlar/ingest/recording"
)

// Rewriting is what transforms make of a recording's stacks, each for itself.
// How a result is looked at (Invert, ByTime, and the order of CallersOf) does
// not count.
type Rewriting struct{ p *callPaths }

// Rewrite applies transforms to all stacks.
func Rewrite(rec *recording.Recording, ts ...Transform) *Rewriting {
	p := pathsOf(rec, nil)
	p.apply(ts)
	return &Rewriting{p}
}

// Node tells what the stack that ends in a call has become: a node, 0 for a
// stack without any frame; false when it was taken away.
func (r *Rewriting) Node(c recording.CallID) (node int32, ok bool) {
	if c == recording.NoCall {
		return 0, true
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

// Each calls f with the records that the answer to a query comes from: stack
// records, samples or rows of windows. Spans are not among them.
func Each(ctx context.Context, rec *recording.Recording, q Query, f func(call recording.CallID, track int, of recording.ContextID, value int64)) error {
	return records(ctx, rec, q, each(f))
}

type each func(call recording.CallID, track int, of recording.ContextID, value int64)

func (f each) add(r *record) { f(r.call, r.track, r.context, r.value) }

func (f each) window(*recording.Window) {}

// SpansIn are the spans first..last-1 of a lane that a range counts.
func SpansIn(l *recording.Lane, from, to int64) (first, last int) { return spansIn(l, from, to) }

// SamplesIn are the samples first..last-1 of a track that a query counts.
func (q *Query) SamplesIn(rec *recording.Recording, s *recording.Samples) (first, last int) {
	return q.samples(rec, s)
}
