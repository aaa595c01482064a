package session

import (
	"context"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// contextsOf is the key of a request: a node of a tree, or a call on a track.
type contextsOf struct {
	rec           *recording.Recording
	tree          *analyze.Tree
	node          int
	call          recording.CallID
	track         int
	event, metric int
}

// NodeContexts summarizes the contexts of the stacks through a node of an answer's tree.
// It returns nil until the result is known; the side then calls notify. It always returns
// nil if the recording has fewer than two contexts.
func (d *Side) NodeContexts(a *Answer, node int) []analyze.KeyValues {
	return d.contextsOf(contextsOf{rec: a.Rec, tree: a.Tree, node: node}, func(ctx context.Context) ([]analyze.KeyValues, error) {
		return analyze.ContextsOf(ctx, a.Rec, a.Query, a.Tree.Within(a.Rec, node))
	})
}

// CallContexts is like NodeContexts, for the stacks of a track that end in a call.
func (d *Side) CallContexts(rec *recording.Recording, event, metric, track int, call recording.CallID) []analyze.KeyValues {
	return d.contextsOf(contextsOf{rec: rec, call: call, track: track, event: event, metric: metric}, func(ctx context.Context) ([]analyze.KeyValues, error) {
		q := analyze.Query{Event: event, Metric: metric, Scope: recording.Scope{Tracks: []int{track}}}
		return analyze.ContextsOf(ctx, rec, q, func(c recording.CallID) bool { return c == call })
	})
}

func (d *Side) contextsOf(of contextsOf, find func(context.Context) ([]analyze.KeyValues, error)) []analyze.KeyValues {
	if of.rec.Contexts.Len() < 2 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	values, known, _ := d.contexts.Ask(of, d.later(), find)
	if known != of {
		return nil
	}
	return values
}
