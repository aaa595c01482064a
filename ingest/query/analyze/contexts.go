package analyze

import (
	"cmp"
	"context"
	"strings"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

// KeyValues are the values that records have under one key of their contexts.
type KeyValues struct {
	Key string
	// Values are ordered by weight, heaviest first, then by count and name. Records
	// without the key are not included.
	Values []ContextValue
}

// ContextValue is one value of a key and the records that have it.
type ContextValue struct {
	Value         string
	Weight, Count int64
}

// ContextsOf lists the context values of stack records by key. It includes the records
// that answer a query and whose call satisfies is. Samples have no contexts: if samples
// answer the query, all stack records are included.
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

// AllContexts lists the context values of all stack records, of all events. Only Count is
// set.
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

// contextTally adds up records by context.
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

// keyTally adds up the values of one key.
type keyTally struct {
	key    string
	at     map[string]int // index in values
	values []ContextValue
	last   int // the index added to last
}

// add adds the sums of a context in which the key has the given value.
func (k *keyTally) add(value string, sum *ContextValue) {
	if len(k.values) == 0 || k.values[k.last].Value != value {
		at, ok := k.at[value]
		if !ok {
			at = len(k.values)
			k.at[value] = at
			k.values = append(k.values, ContextValue{Value: value})
		}
		k.last = at
	}
	v := &k.values[k.last]
	recording.Add(&v.Weight, sum.Weight)
	v.Count += sum.Count
}

// byKey sorts sums of contexts by key and value.
func byKey(rec *recording.Recording, sums []ContextValue) []KeyValues {
	all := map[string]*keyTally{}
	tally := func(key string) *keyTally {
		k := all[key]
		if k == nil {
			k = &keyTally{key: key, at: map[string]int{}}
			all[key] = k
		}
		return k
	}
	var same []*keyTally // of the previous context's attributes; keys are mostly the same
	for id := range sums {
		if sums[id].Count == 0 {
			continue
		}
		c := rec.Contexts.At(id)
		for i, a := range c {
			if i == len(same) {
				same = append(same, tally(a.Key))
			} else if same[i].key != a.Key {
				same[i] = tally(a.Key)
			}
			same[i].add(a.Value, &sums[id])
		}
		if p := probeOf(c); p != "" && c.Get(probeKey) == "" {
			tally(probeKey).add(p, &sums[id])
		}
	}
	out := make([]KeyValues, 0, len(all))
	for _, k := range all {
		order.By(k.values, heavier)
		out = append(out, KeyValues{k.key, k.values})
	}
	order.By(out, func(a, b KeyValues) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

// heavier orders values by weight, count and name.
func heavier(a, b ContextValue) int {
	switch { // not cmp.Or, which would always compare names
	case a.Weight != b.Weight:
		return cmp.Compare(b.Weight, a.Weight)
	case a.Count != b.Count:
		return cmp.Compare(b.Count, a.Count)
	}
	return cmp.Compare(a.Value, b.Value)
}

// probeKey stands for a DTrace probe as a whole, whose parts have keys of their
// own.
const probeKey = "probe"

// ProbeParts are the keys of the parts, in the order in which DTrace writes a probe.
var ProbeParts = [4]string{"probe.provider", "probe.module", "probe.function", "probe.name"}

// probeOf formats a context's probe like DTrace: syscall::read:entry.
func probeOf(c recording.Context) string {
	var parts [len(ProbeParts)]string
	for i, key := range ProbeParts {
		parts[i] = c.Get(key)
	}
	if parts == [len(ProbeParts)]string{} {
		return ""
	}
	return strings.Join(parts[:], ":")
}

// contextValue returns the value of a key, "" if there is none.
func contextValue(c recording.Context, key string) string {
	v := c.Get(key)
	if v == "" && key == probeKey {
		v = probeOf(c)
	}
	return v
}

// Within returns a test for calls: whether their stacks go through a node of a tree.
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

// endsLike returns a test for stacks, given a node of an inverted tree: whether they end
// with the functions on the way to the node. It ignores changes that transforms made to
// frames.
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
