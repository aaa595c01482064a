package session

import (
	"context"

	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
)

// contexts are what was last asked by NodeContexts or CallContexts.
type contexts struct {
	of     contextsOf
	cancel context.CancelFunc
	values []analyze.KeyValues
}

// contextsOf is a node of a tree, or a call on a track.
type contextsOf struct {
	rec           *recording.Recording
	tree          *analyze.Tree
	node          int
	call          recording.CallID
	track         int
	event, metric int
}

// NodeContexts is what is known of where the stacks were taken that go through a
// node of an answer's tree. It is nil until that is known; it is told by notify.
func (d *Side) NodeContexts(a *Answer, node int) []analyze.KeyValues {
	return d.contextsOf(contextsOf{rec: a.Rec, tree: a.Tree, node: node}, func(ctx context.Context) ([]analyze.KeyValues, error) {
		return analyze.ContextsOf(ctx, a.Rec, a.Query, a.Tree.Within(a.Rec, node))
	})
}

// CallContexts is the same of the stacks of a track that end in a call.
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
	if d.contexts.of == of {
		return d.contexts.values
	}
	if d.still { // who draws it waits for all of it
		values, _ := find(context.Background())
		d.contexts = contexts{of: of, values: values}
		return values
	}
	if d.contexts.cancel != nil {
		d.contexts.cancel()
	}
	ctx, cancel := context.WithCancel(d.ctx)
	d.contexts = contexts{of: of, cancel: cancel}
	go func() {
		defer cancel()
		values, err := find(ctx)
		if err != nil {
			return
		}
		d.mu.Lock()
		if d.contexts.of == of {
			d.contexts.values = values
		}
		d.mu.Unlock()
		d.tell()
	}()
	return nil
}
