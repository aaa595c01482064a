package synth

import "math/rand/v2"

// A weighedStack is a call path on a thread, and the number of times it was sampled.
type weighedStack struct {
	thread int
	call   uint32
	count  int64
}

// eachStack visits want different stacks of the program, thread by thread, spread evenly
// over all its stacks. If there are fewer stacks, it visits all.
func (p *program) eachStack(seed uint64, want int64, visit func(weighedStack)) {
	rng := rand.NewPCG(seed, streamStacks)
	if p.wander != nil {
		for i := range want {
			visit(weighedStack{int(i) % len(p.threads), uint32(i), 1 + int64(rng.Uint64()>>60)})
		}
		return
	}
	all := p.countStacks()
	want = min(want, all)
	at := int64(0)
	for i, t := range p.threads {
		for call := range p.calls {
			c := &p.calls[call]
			if int(c.role) != t.role {
				continue
			}
			at++
			if at*want/all == (at-1)*want/all {
				continue
			}
			r := rng.Uint64()
			count := 1 + 4*p.spread[r&(spreadSize-1)]>>8*p.spread[r>>12&(spreadSize-1)]>>8
			visit(weighedStack{i, uint32(call), count})
		}
	}
}

func (p *program) countStacks() int64 {
	byRole := make([]int64, len(roles))
	for i := range p.calls {
		byRole[p.calls[i].role]++
	}
	n := int64(0)
	for _, t := range p.threads {
		n += byRole[t.role]
	}
	return n
}

// maxStacks limits the stacks of a recording, because a program with that many is kept in
// memory.
const maxStacks = 50_000_000

// programWithStacks returns a program with at least want different stacks, or maxStacks if
// want is larger.
func programWithStacks(o Options, want int64) *program {
	want = min(want, maxStacks)
	if o.Shape == manyPaths {
		return newProgram(o.Seed, o.Threads, defaultPaths).wandering(maxDepth, 0, 0)
	}
	p := newProgram(o.Seed, o.Threads, defaultPaths)
	for has := p.countStacks(); has < want; has = p.countStacks() {
		paths := int64(len(p.calls))*want/has + 1000
		p = newProgram(o.Seed, o.Threads, int(paths))
	}
	return p
}
