package analyze

import (
	"cmp"
	"context"
	"slices"

	"ashlar/ingest/recording"
)

// KeyValues are the values that records have under one key of their contexts.
type KeyValues struct {
	Key string
	// Values are heaviest first, then by number and name. Records that do not
	// have the key are in none.
	Values []ContextValue
}

// ContextValue is one value of a key and the records that have it.
type ContextValue struct {
	Value         string
	Weight, Count int64
}

// ContextsOf lists what the contexts of stack records say, by key, for those
// that answer a query and end in a call for which is says so. Samples have no
// contexts of their own: where they answer, those of the whole recording's
// stacks are listed.
func ContextsOf(ctx context.Context, rec *recording.Recording, q Query, is func(recording.CallID) bool) ([]KeyValues, error) {
	if q.Event < 0 || q.Event >= len(rec.Events) || rec.Stacks[q.Event] == nil || rec.Contexts.Len() < 2 {
		return nil, nil
	}
	s := &contextTally{is: is, sums: make([]ContextValue, rec.Contexts.Len())}
	if q.Basis(rec) == Samples {
		q.Scope.Ranged = false
	}
	err := records(ctx, rec, q, s)
	return byKey(rec, s.sums), err
}

// AllContexts lists what the contexts of all stack records say, whatever the
// event: only Count means anything.
func AllContexts(rec *recording.Recording) []KeyValues {
	sums := make([]ContextValue, rec.Contexts.Len())
	for _, s := range rec.Stacks {
		if s != nil {
			for i := range s.Len() {
				sums[s.Context(i)].Count++
			}
		}
	}
	return byKey(rec, sums)
}

// contextTally sums up by context.
type contextTally struct {
	is   func(recording.CallID) bool
	sums []ContextValue
}

func (s *contextTally) window(*recording.Window) {}

func (s *contextTally) add(r *Record) {
	if !s.is(r.Call) {
		return
	}
	v := &s.sums[r.Context]
	v.Count++
	if r.Value != recording.Missing {
		recording.Add(&v.Weight, r.Value)
	}
}

// byKey sorts sums of contexts by key and value.
func byKey(rec *recording.Recording, sums []ContextValue) []KeyValues {
	all := map[string]map[string]*ContextValue{}
	note := func(key, value string, sum *ContextValue) {
		if all[key] == nil {
			all[key] = map[string]*ContextValue{}
		}
		v := all[key][value]
		if v == nil {
			v = &ContextValue{Value: value}
			all[key][value] = v
		}
		recording.Add(&v.Weight, sum.Weight)
		v.Count += sum.Count
	}
	for id := range sums {
		if sums[id].Count == 0 {
			continue
		}
		c := rec.Contexts.At(id)
		for _, a := range c {
			note(a.Key, a.Value, &sums[id])
		}
		if p := probeOf(c); p != "" && c.Get(probeKey) == "" {
			note(probeKey, p, &sums[id])
		}
	}
	out := make([]KeyValues, 0, len(all))
	for key, values := range all {
		k := KeyValues{Key: key}
		for _, v := range values {
			k.Values = append(k.Values, *v)
		}
		slices.SortFunc(k.Values, func(a, b ContextValue) int {
			return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
		})
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b KeyValues) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

// probeKey stands for a DTrace probe as a whole, whose parts have keys of their
// own.
const probeKey = "probe"

// ProbeParts are these keys, in the order in which DTrace writes a probe.
var ProbeParts = [4]string{"probe.provider", "probe.module", "probe.function", "probe.name"}

// probeOf writes a context's probe as DTrace does: syscall::read:entry.
func probeOf(c recording.Context) string {
	text, any := "", false
	for i, key := range ProbeParts {
		v := c.Get(key)
		any = any || v != ""
		if i > 0 {
			text += ":"
		}
		text += v
	}
	if !any {
		return ""
	}
	return text
}

// contextValue is the value of a key, "" when it is not there.
func contextValue(c recording.Context, key string) string {
	v := c.Get(key)
	if v == "" && key == probeKey {
		v = probeOf(c)
	}
	return v
}

// Within returns a test for the calls whose stacks go through a node of a tree.
func (t *Tree) Within(rec *recording.Recording, node int) func(recording.CallID) bool {
	if t.Inverted {
		return t.endsLike(rec, node)
	}
	in := make([]bool, len(t.Nodes))
	in[node] = true
	for i := node + 1; i < len(in); i++ {
		in[i] = in[t.Nodes[i].Parent]
	}
	return func(c recording.CallID) bool {
		n := t.nodeOf(c)
		return n >= 0 && in[n]
	}
}

// endsLike reports, for a node of an inverted tree, whether a stack ends with the
// functions on the way to it. What transforms made of frames is not followed.
func (t *Tree) endsLike(rec *recording.Recording, node int) func(recording.CallID) bool {
	path := t.Path(node)
	return func(c recording.CallID) bool {
		for _, n := range path {
			if c == recording.NoCall || t.Nodes[n].Group == 0 && rec.Func(c) != t.Nodes[n].Func {
				return false
			}
			c = rec.Calls.Parent(c)
		}
		return true
	}
}
