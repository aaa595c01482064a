package synth

import "slices"

// A tracer writes the calls and returns of all threads in one format. Its methods are
// called in file order: the events of one thread's buffer, then the events of the next
// buffer.
type tracer interface {
	// size returns the size of a call in the file, including its return.
	size(call uint32) (records, bytes int)
	startBuffer(t *thread)
	begin(t *thread, call uint32)
	end(t *thread, c openCall)
	endBuffer(t *thread)
}

// A trace is a run of the program, recorded by a tracer until the limits are reached.
// Then the threads return from all open calls, so nothing stays open.
type trace struct {
	prog    *program
	out     tracer
	records int64 // number of records that may still be written
	bytes   int64
	sum     *Summary
	small   bool   // buffers are small
	seen    []bool // calls that were made
	// Totals over all events.
	spans, spanTime, rootTime int64
	deepest                   int
}

// A traced thread fills a buffer of bufferEvents events (at least half of it) before
// another buffer is written. With very many threads the buffers are small, so that a
// short recording contains events of each thread.
const (
	bufferEvents = 6000
	manyThreads  = 100
	smallBuffer  = 60
)

func (tr *trace) run(threads []*thread) {
	tr.seen = make([]bool, len(tr.prog.calls))
	live := slices.Clone(threads)
	for len(live) > 0 {
		// Buffers are in the file in the order in which they were begun.
		next := 0
		for i, t := range live {
			if t.clock < live[next].clock {
				next = i
			}
		}
		if !tr.buffer(live[next]) {
			live = slices.Delete(live, next, next+1)
		}
	}
	tr.sum.Spans += tr.spans
	tr.sum.SpanTime += tr.spanTime
	tr.sum.RootTime += tr.rootTime
	tr.sum.MaxDepth = max(tr.sum.MaxDepth, tr.deepest)
	tr.sum.count(tr.prog, tr.seen)
	if w := tr.prog.wander; w != nil {
		tr.sum.Paths = w.paths()
	}
}

// buffer records the next events of a thread. It returns false once the thread has no
// more events.
func (tr *trace) buffer(t *thread) bool {
	most := bufferEvents
	if tr.small || len(tr.prog.threads) > manyThreads {
		most = smallBuffer
	}
	events := most/2 + below(t.rng.Uint64(), most/2)
	started := false
	for range events {
		kind, c := t.step(tr.records >= 2 && tr.bytes > 0)
		if kind == stepNone {
			if started {
				tr.out.endBuffer(t)
			}
			return false
		}
		if !started {
			tr.out.startBuffer(t)
			started = true
		}
		if kind == stepBegin {
			records, bytes := tr.out.size(c.call)
			tr.records -= int64(records)
			tr.bytes -= int64(bytes)
			tr.seen[c.call] = true
			if w := tr.prog.wander; w != nil {
				w.began(t)
			}
			tr.deepest = max(tr.deepest, t.depth)
			tr.spans++
			tr.sum.Threads[t.index].Spans++
			tr.sum.at(t.clock)
			tr.out.begin(t, c.call)
			continue
		}
		duration := t.clock - c.start
		tr.spanTime += duration
		if t.depth == 0 {
			tr.rootTime += duration
		}
		tr.sum.at(t.clock)
		tr.out.end(t, c)
	}
	tr.out.endBuffer(t)
	return true
}
