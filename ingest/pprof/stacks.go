package pprof

import (
	"context"

	"ashlar/ingest/recording"
	"ashlar/ingest/source"
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
			for r := newReader(s); ; {
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

// A prefix stands for the outermost locations of a stack, by a hash of them: the
// slot's place and both numbers. Its 96 bits are keyed by chance, so that even
// among a billion stacks no two are taken for one, whatever a file is made for.
//
// What a table by parent and child would cost is a wait for memory at each of
// twenty locations. Most stacks differ from all others in the last few only, so
// one or two looks find how far a stack is known.
type prefix struct {
	hash  uint64
	check uint32
	call  uint32 // 0 marks a free slot
}

// prefixes have the calls of stacks' outer locations.
type prefixes struct {
	slots  []prefix
	n      int
	seen   uint32
	active []int32
}

// at is where a look begins.
func (p *prefixes) at(hash uint64) uint64 { return hash & uint64(len(p.slots)-1) }

func (p *prefixes) get(hash uint64, check uint32) (call uint32) {
	for i := p.at(hash); ; i = (i + 1) & uint64(len(p.slots)-1) {
		if s := &p.slots[i]; s.call == 0 || s.hash == hash && s.check == check {
			return s.call
		}
	}
}

// put adds a prefix that is not there.
func (p *prefixes) put(s prefix) {
	if 3*p.n >= 2*len(p.slots) {
		p.grow()
	}
	p.n++
	p.place(s)
}

func (p *prefixes) place(s prefix) {
	i := p.at(s.hash)
	for p.slots[i].call != 0 {
		i = (i + 1) & uint64(len(p.slots)-1)
	}
	p.slots[i] = s
}

func (p *prefixes) grow() {
	old := p.slots
	p.slots = make([]prefix, max(1024, 2*len(old)))
	for _, s := range old {
		if s.call != 0 {
			p.place(s)
		}
	}
}

// lookUp finds how far the stacks of a batch are known. A look waits for memory
// most of its time, so all stacks are looked up together: then many waits are one.
func (c *converter) lookUp(b *batch) {
	p := &c.prefixes
	if p.slots == nil {
		p.grow()
	}
	active := p.active[:0]
	for i := range b.rows {
		one := &b.rows[i]
		one.call, one.known = uint32(recording.NoCall), one.to-one.from
		if one.known > 0 {
			active = append(active, int32(i))
		}
	}
	p.active = active
	// All of a stack, then without 1, 2, 4, 8 … of its innermost locations.
	for fewer := 1; len(active) > 0; fewer *= 2 {
		for _, i := range active {
			one := &b.rows[i]
			p.seen += p.slots[p.at(b.hashes[one.to-one.known])].call // all at once, and none waits for another
		}
		n := 0
		for _, i := range active {
			one := &b.rows[i]
			at := one.to - one.known
			if one.call = p.get(b.hashes[at], b.checks[at]); one.call != 0 {
				continue
			}
			if one.known = max(0, one.to-one.from-fewer); one.known > 0 {
				active[n] = i
				n++
			}
		}
		active = active[:n]
	}
}

// call is the call that a sample's stack leads to.
func (c *converter) call(b *batch, one *record) recording.CallID {
	p := &c.prefixes
	known := one.call
	for at := one.to - one.known - 1; at >= one.from; at-- {
		call := p.get(b.hashes[at], b.checks[at])
		if call == 0 {
			id := recording.CallID(known)
			for _, f := range c.location(c.p.Location[b.locations[at]]) {
				id = c.b.Call(id, f)
			}
			call = uint32(id)
			p.put(prefix{b.hashes[at], b.checks[at], call})
		}
		known = call
	}
	return recording.CallID(known)
}
