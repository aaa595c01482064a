package recording

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"
)

// attrsAtOnce is the number of context attributes that are allocated together.
const attrsAtOnce = 512

type windowKey struct {
	id         string
	start, end int64
}

// Context interns a set of attributes; it sorts attrs by key.
func (b *Builder) Context(attrs []Attr) ContextID {
	if len(attrs) == 0 {
		return 0
	}
	byKey := func(a, b Attr) int { return strings.Compare(a.Key, b.Key) }
	if !slices.IsSortedFunc(attrs, byKey) {
		slices.SortStableFunc(attrs, byKey)
	}
	var h uint64
	for i := range attrs {
		h = bits.RotateLeft64(h, 23) ^ maphash.String(b.seed, attrs[i].Key)
		h = bits.RotateLeft64(h, 23) ^ maphash.String(b.seed, attrs[i].Value)
	}
	for ; ; h++ { // two contexts may have the same hash
		id, ok := b.ctxs[h]
		if !ok {
			break
		}
		if slices.Equal(b.rec.Contexts.At(int(id)), attrs) {
			return id
		}
	}
	if len(b.attrs) < len(attrs) {
		b.attrs = make([]Attr, max(attrsAtOnce, len(attrs)))
	}
	own := b.attrs[:len(attrs):len(attrs)]
	b.attrs = b.attrs[len(attrs):]
	copy(own, attrs)
	id := ContextID(b.rec.Contexts.Len())
	b.rec.Contexts.Append(own)
	for i := range attrs {
		b.held.symbols += 4 * int64(len(attrs[i].Key)+len(attrs[i].Value)+2)
	}
	b.ctxs[h] = id
	return id
}

// ContextOf returns an interned context.
func (b *Builder) ContextOf(id ContextID) Context { return b.rec.Contexts.At(int(id)) }

// AddStack adds a stack record of an event: its leaf call, its track (or NoTrack),
// context, and values by metric (Missing if it has none), in units of each metric's
// Decimals. It updates the totals and returns the record's index, or -1 if the record is
// outside the part that is kept.
func (b *Builder) AddStack(event int, call CallID, track int, ctx ContextID, values []int64) int {
	if b.part != nil && len(b.part.Threads) > 0 && (track == NoTrack || b.order[track].out) {
		b.part.left++
		return -1
	}
	if b.rec.Stacks[event] == nil {
		b.rec.Stacks[event] = newStacks(b.shelf)
	}
	for m, v := range values {
		if v != Missing {
			b.addTotal(event, m, v)
		}
	}
	b.check()
	b.rec.Counts.Stacks++
	b.held.values += int64(len(values))
	return b.rec.Stacks[event].append(call, track, ctx, values)
}

// AddWindow adds a window of an event. Its rows follow with AddWindowStack, before the
// next window of that event.
func (b *Builder) AddWindow(event int, id string, start, end int64) {
	b.Cover(start, end)
	if b.outside(false, start, end) {
		b.part.skip = true
		return
	}
	if b.part != nil {
		b.part.skip = false
	}
	w := b.windowSet(event)
	n := w.Rows.Len()
	w.Windows = append(w.Windows, Window{ID: id, Start: start, End: end, First: n, Last: n})
	// A window with rows of several events is added once per event, but counted only once.
	if k := (windowKey{id, start, end}); k != b.window || b.rec.Counts.Windows == 0 {
		b.window = k
		b.rec.Counts.Windows++
	}
}

// AddWindowStack adds a row to the event's newest window.
func (b *Builder) AddWindowStack(event int, call CallID, track int, ctx ContextID, values []int64) {
	if p := b.part; p != nil && (p.skip || len(p.Threads) > 0 && (track == NoTrack || b.order[track].out)) {
		p.left++
		return
	}
	w := b.windowSet(event)
	w.Rows.append(call, track, ctx, values)
	b.held.rows++
	b.held.values += int64(len(values))
	w.Windows[len(w.Windows)-1].Last++
}

func (b *Builder) windowSet(event int) *WindowSet {
	for _, w := range b.rec.Windows {
		if w.Event == event {
			return w
		}
	}
	w := &WindowSet{Event: event, Rows: *newStacks(b.shelf)}
	b.rec.Windows = append(b.rec.Windows, w)
	return w
}

// Cover widens the recording's extent to include start..end.
func (b *Builder) Cover(start, end int64) {
	b.timed = true
	b.start = min(b.start, start)
	b.end = max(b.end, end)
}
