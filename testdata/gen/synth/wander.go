package synth

import "math/rand/v2"

// A wander makes a program leave its tree of call paths: any call of a thread's role may
// call any other, so nearly every call has a path of its own, as in recursive programs and
// interpreters.
type wander struct {
	depth int   // frames of the deepest path
	again uint8 // the chance of one more call, in 1/256
	calls int   // how many different calls of each role there are; 0 for all

	choose [][]uint32 // by role: calls that are not inlined
	seen   map[uint64]struct{}
}

// stackCallees is how many different calls each call of a stack makes.
const stackCallees = 16

// wandering returns a copy of the program whose calls may call any other call of their
// role.
func (p *program) wandering(depth int, again uint8, calls int) *program {
	q := *p
	w := &wander{depth: depth, again: again, calls: calls, choose: make([][]uint32, len(roles)), seen: map[uint64]struct{}{}}
	for i := range p.calls {
		if c := &p.calls[i]; !c.inlined && c.parent >= 0 && (calls == 0 || len(w.choose[c.role]) < calls) {
			w.choose[c.role] = append(w.choose[c.role], uint32(i))
		}
	}
	q.wander = w
	return &q
}

// manyAgain is the chance of one more call, in 1/256, in recordings with many call paths.
const manyAgain = 128

// tracedProgram returns the program of a recording of calls.
func tracedProgram(o Options) *program {
	p := newProgram(o.Seed, o.Threads, defaultPaths)
	if o.Shape == manyPaths {
		p = p.wandering(maxDepth, manyAgain, 0)
	}
	return p
}

// deepest is the number of frames of the deepest path.
func (p *program) deepest() int {
	if p.wander != nil {
		return p.wander.depth
	}
	return maxDepth
}

// callee chooses a call from 32 random bits.
func (w *wander) callee(bits uint64, role int) uint32 {
	return w.choose[role][below(bits, len(w.choose[role]))]
}

// began counts the path of a thread's innermost call.
func (w *wander) began(t *thread) {
	o := &t.open[t.depth-1]
	up := uint64(0)
	if t.depth > 1 {
		up = t.open[t.depth-2].path
	}
	o.path = (up ^ uint64(t.prog.calls[o.call].fn+1)) * 0x9E3779B97F4A7C15
	o.path ^= o.path >> 29
	w.seen[o.path] = struct{}{}
}

// paths returns the number of different paths seen.
func (w *wander) paths() int { return len(w.seen) }

// stack appends the calls of stack n, leaf first.
func (w *wander) stack(buf []uint32, n uint32) []uint32 {
	rng := rand.NewPCG(uint64(n), streamStacks)
	role := int(n) % len(roles)
	at := uint64(0)
	for range w.depth {
		at = uint64(w.callee((at*0x9E3779B97F4A7C15>>16)+rng.Uint64()%stackCallees<<28, role))
		buf = append(buf, uint32(at))
	}
	return buf
}
