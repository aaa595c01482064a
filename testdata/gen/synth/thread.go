package synth

import "math/rand/v2"

// A thread runs the program: it walks its part of the tree of call paths, one call or
// return at a time, on its own clock.
type thread struct {
	threadInfo
	prog  *program
	index int
	rng   *rand.PCG
	roots []uint32
	idle  int64
	slow  int   // durations are multiplied by 1<<slow
	clock int64 // ns; the time of the last step

	depth int
	open  []openCall
}

type openCall struct {
	call  uint32
	start int64
	path  uint64 // a hash; see wander
}

type stepKind uint8

const (
	stepNone  stepKind = iota // no call is open, and none may begin
	stepBegin                 // the innermost call has just begun
	stepEnd                   // the returned call has just ended
)

// startOfTime is the time, in ns, at which recordings begin. It stands for a machine that
// has been up for a day, so that the time since the start differs from the recorded time.
const startOfTime = 81_234_567_890_000

// newThreads returns the program's threads, ready to run.
func (p *program) newThreads(seed uint64, slow int) []*thread {
	threads := make([]*thread, len(p.threads))
	for i, info := range p.threads {
		t := &thread{
			threadInfo: info, prog: p, index: i, slow: slow,
			rng:   rand.NewPCG(seed, streamThreads+uint64(i)),
			roots: p.roots(info.role),
			idle:  roles[info.role].idle,
			open:  make([]openCall, p.deepest()),
		}
		t.clock = startOfTime + int64(below(t.rng.Uint64(), 2_000_000))
		threads[i] = t
	}
	return threads
}

// step advances the clock to the next call or return and executes it. If mayBegin is
// false, there are only returns. The returned call is the one that ended, or the one that
// began and is now innermost.
func (t *thread) step(mayBegin bool) (stepKind, openCall) {
	r := t.rng.Uint64()
	factor := t.prog.spread[r&(spreadSize-1)]
	if t.depth == 0 {
		if !mayBegin {
			return stepNone, openCall{}
		}
		t.clock += (t.idle*factor>>8 + 1) << t.slow
		return stepBegin, t.begin(t.roots[pick(r>>16, len(t.roots))])
	}
	top := t.open[t.depth-1]
	c := &t.prog.calls[top.call]
	t.clock += (t.prog.funcs[c.fn].cost*factor>>8 + 1) << t.slow
	if w := t.prog.wander; w != nil {
		if mayBegin && t.depth < w.depth && uint8(r>>12) < w.again {
			return stepBegin, t.begin(w.callee(r>>20, t.role))
		}
	} else if mayBegin && c.nkid > 0 && uint8(r>>12) < c.again {
		return stepBegin, t.begin(t.prog.kids[c.kids+uint32(pick(r>>20, int(c.nkid)))])
	}
	t.depth--
	return stepEnd, top
}

func (t *thread) begin(call uint32) openCall {
	o := openCall{call: call, start: t.clock}
	t.open[t.depth] = o
	t.depth++
	return o
}

// top returns the innermost open call; ok is false while the thread is idle.
func (t *thread) top() (call uint32, ok bool) {
	if t.depth == 0 {
		return 0, false
	}
	return t.open[t.depth-1].call, true
}
