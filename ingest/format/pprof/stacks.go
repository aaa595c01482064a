package pprof

import (
	"context"

	"ashlar/ingest/input/source"
	"ashlar/ingest/model/pairmap"
	"ashlar/ingest/model/recording"
)

// batches has all samples visited, in order, a batch at a time; they are read
// meanwhile.
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
					full <- b // which has room for all there are
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

// lookUp finds how far the stacks of a batch are known. A look waits for memory
// most of its time, so all stacks are looked up together: then many waits are one.
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
	// All of a stack, then without 1, 2, 4, 8 … of its innermost locations.
	for fewer := 1; len(active) > 0; fewer *= 2 {
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
			if one.known = pairmap.Fewer(one.to-one.from, fewer); one.known > 0 {
				active[n] = i
				n++
			}
		}
		active = active[:n]
	}
}

// call is the call that a sample's stack leads to. Beginnings of a stack that are
// kept are so with all that they begin with, so that there are none behind the first
// that is not: they need not be looked for, which waits for memory at each.
func (c *converter) call(b *batch, one *record) recording.CallID {
	p := c.samples.paths
	call := recording.CallID(one.call)
	for at := one.to - one.known - 1; at >= one.from; at-- {
		keep := at == one.from || pairmap.Kept(one.to-at)
		if keep {
			if known := p.Get(b.paths[at]); known != 0 {
				call = recording.CallID(known)
				continue
			}
			return c.newCalls(b, one, at, call)
		}
		call, _ = c.b.Below(call, c.location(b.locations[at]))
	}
	return call
}

// mostAtOnce bounds how many calls are made together: a stack may have a hundred million.
const mostAtOnce = 1 << 14

// newCalls makes calls of a stack's locations from one on, which leads on from a call,
// to its leaf, and keeps what is to be kept. Calls below one that is new are new.
func (c *converter) newCalls(b *batch, one *record, at int, call recording.CallID) recording.CallID {
	p, fresh := c.samples.paths, 0
	for ; at >= one.from && fresh == 0; at-- {
		call, fresh = c.b.Below(call, c.location(b.locations[at]))
		if at == one.from || pairmap.Kept(one.to-at) {
			p.Put(b.paths[at], uint32(call))
		}
	}
	frames := c.rest[:0]
	for ; at >= one.from; at-- {
		frames = append(frames, c.location(b.locations[at])...)
		if at == one.from || pairmap.Kept(one.to-at) {
			p.Put(b.paths[at], uint32(call)+uint32(len(frames)))
		}
		if len(frames) >= mostAtOnce {
			call, _ = c.b.Below(call, frames)
			frames = frames[:0]
			c.b.Progress() // or the watch over memory learns of it too late
		}
	}
	c.rest = frames
	call, _ = c.b.Below(call, frames)
	return call
}
