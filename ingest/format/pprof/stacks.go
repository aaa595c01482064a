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
	// Try the whole stack, then without its 1, 2, 4, 8 … innermost locations.
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

// call returns the call of a sample's stack. If a part of a stack is known, all shorter
// parts that are kept (see pairmap.Kept) are known too. So after the first missing part,
// none is looked up, because each lookup would wait for memory.
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

// mostAtOnce is the maximum number of calls made together, because a stack may have a
// hundred million.
const mostAtOnce = 1 << 14

// newCalls adds the calls of a stack's locations from index at to the leaf, below call,
// and remembers those that lookUp looks for. Calls below a new call are new.
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
			c.b.Progress() // without this, running short of memory would be noticed too late
		}
	}
	c.rest = frames
	call, _ = c.b.Below(call, frames)
	return call
}
