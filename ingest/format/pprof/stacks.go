package pprof

import (
	"context"

	"ashlar/ingest/input/source"
	"ashlar/ingest/model/pairmap"
	"ashlar/ingest/model/recording"
)

// batches calls visit for all samples in order, a batch at a time, while another
// goroutine reads ahead.
func (s *samples) batches(ctx context.Context, name string, visit func(*batch)) error {
	const ahead = 4
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	full, free := make(chan *batch, ahead), make(chan *batch, ahead)
	for range ahead {
		free <- new(batch)
	}
	var failed error
	go func() {
		defer close(full)
		failed = source.Protect(name, func() error {
			for r := (&reader{samples: s}); ; {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case b := <-free:
					r.read(b)
					last := b.end
					full <- b // never blocks: full has room for every batch
					if last {
						return nil
					}
				}
			}
		})
	}()
	for b := range full {
		if ctx.Err() == nil {
			visit(b)
		}
		free <- b
	}
	return failed
}

// lookUp finds the longest known outer part of each stack in a batch. A lookup mostly
// waits for memory, so all stacks are looked up together to overlap the waits.
func (c *converter) lookUp(b *batch) {
	p := c.samples.paths
	active := c.active[:0]
	for i := range b.rows {
		one := &b.rows[i]
		one.call, one.known = uint32(recording.NoCall), one.to-one.from
		if one.known > 0 {
			active = append(active, int32(i))
		}
	}
	c.active = active
	// Try the whole stack, then without more and more of its innermost locations.
	for len(active) > 0 {
		for _, i := range active {
			one := &b.rows[i]
			p.Touch(b.paths[one.to-one.known])
		}
		n := 0
		for _, i := range active {
			one := &b.rows[i]
			if one.call = p.Get(b.paths[one.to-one.known]); one.call != 0 {
				continue
			}
			if one.known = pairmap.Shorter(one.to-one.from, one.known); one.known > 0 {
				active[n] = i
				n++
			}
		}
		active = active[:n]
	}
}

// call returns the call of a sample's stack. It remembers the calls of the parts that
// lookUp tries: the whole stack, parts of some lengths, and the part shared with an earlier
// stack.
func (c *converter) call(b *batch, one *record) recording.CallID {
	call := recording.CallID(one.call)
	for at := one.to - one.known - 1; at >= one.from; at-- {
		above, fresh := call, 0
		call, fresh = c.b.Below(call, c.location(b.locations[at]))
		if one.keeps(at) {
			c.remember(b.paths[at], call)
		}
		if fresh > 0 {
			if n := one.to - at - 1; n > one.known {
				c.remember(b.paths[at+1], above)
			}
			return c.newCalls(b, one, at-1, call)
		}
	}
	return call
}

// keeps reports whether the part of a stack that ends with a location is remembered.
func (r *record) keeps(at int) bool { return at == r.from || pairmap.Kept(r.to-at) }

// remember makes lookUp find a part of a stack.
func (c *converter) remember(part pairmap.Path, call recording.CallID) {
	if p := c.samples.paths; p.Get(part) == 0 {
		p.Put(part, uint32(call))
	}
}

// mostAtOnce is the maximum number of calls made together: a stack may have a hundred
// million frames.
const mostAtOnce = 1 << 14

// newCalls adds the calls of a stack's locations from index at to the leaf, below a new
// call. Calls below a new call are new.
func (c *converter) newCalls(b *batch, one *record, at int, call recording.CallID) recording.CallID {
	p, frames := c.samples.paths, c.rest[:0]
	for first := call + 1; at >= one.from; at-- {
		frames = append(frames, c.location(b.locations[at])...)
		if one.keeps(at) {
			p.Put(b.paths[at], uint32(first)+uint32(len(frames))-1)
		}
		if len(frames) >= mostAtOnce {
			call, _ = c.b.Below(call, frames)
			first, frames = call+1, frames[:0]
			c.b.Progress() // without this, running short of memory would be noticed too late
		}
	}
	c.rest = frames
	call, _ = c.b.Below(call, frames)
	return call
}
