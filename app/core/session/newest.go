package session

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Work counts the background work in the whole program. If Now was 0 and Begun has not
// changed since, all answers are complete.
type Work struct {
	Now   int64 // number of workers running
	Begun int64 // number of times work was started
}

var working, begun atomic.Int64

// Working returns the current counts.
func Working() Work { return Work{working.Load(), begun.Load()} }

// newest works in the background on the latest request, one at a time; requests that are
// replaced before their turn are skipped. It has a goroutine only while there is work.
// Set do before the first use.
type newest[Q any] struct {
	// do works on a request; ctx ends when the result is no longer wanted. The next
	// request waits for the time rest, unless ctx ends.
	do func(ctx context.Context, q Q) (rest time.Duration)

	worker
	want Q
}

// ask makes q the latest request. news compares it with the last one: if fresh, q is
// worked on after the running work; if stale, the running work is cancelled.
func (n *newest[Q]) ask(q Q, news func(was Q, asked bool) (fresh, stale bool)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fresh, stale := news(n.want, n.asked)
	if stale {
		n.withdraw()
	}
	if n.want, n.asked = q, true; fresh {
		n.start(n.latest)
	}
}

// latest returns a function that works on the latest request; n.mu is held.
func (n *newest[Q]) latest() work {
	q := n.want
	return func(ctx context.Context) time.Duration { return n.do(ctx, q) }
}

// again repeats the last request, if there was one.
func (n *newest[Q]) again() (asked bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.asked {
		n.start(n.latest)
	}
	return n.asked
}

// newest returns the last question, if one was asked.
func (n *newest[Q]) newest() (q Q, asked bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.want, n.asked
}

// worker is the part of newest and of Async that does not depend on the types of requests:
// it is compiled once, which makes the programs 0.3 MB smaller.
type worker struct {
	mu      sync.Mutex
	asked   bool               // there was a request
	pending bool               // the latest request is waiting to be worked on
	stale   context.CancelFunc // cancels the running work; nil if there is none
	closed  bool
	ended   sync.WaitGroup
}

// work works on a request; rest is as for newest.
type work func(ctx context.Context) (rest time.Duration)

// start starts work on the latest request, now or after the running work; w.mu is held,
// and while latest is called.
func (w *worker) start(latest func() work) {
	if w.closed {
		return
	}
	begun.Add(1)
	if w.pending = true; w.stale == nil {
		working.Add(1)
		w.ended.Add(1)
		go w.run(w.next(), latest(), latest)
	}
}

// next returns the context of the work to do now; w.mu is held.
func (w *worker) next() context.Context {
	w.pending = false
	ctx, cancel := context.WithCancel(context.Background())
	w.stale = cancel
	return ctx
}

func (w *worker) run(ctx context.Context, do work, latest func() work) {
	defer w.ended.Done()
	defer working.Add(-1)
	for {
		var rest time.Duration
		if Guarded(func() { rest = do(ctx) }); rest > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(rest):
			}
		}
		w.mu.Lock()
		w.stale()
		if w.closed || !w.pending {
			w.stale = nil
			w.mu.Unlock()
			return
		}
		ctx, do = w.next(), latest()
		w.mu.Unlock()
	}
}

// withdraw cancels the running work and withdraws the request; w.mu is held.
func (w *worker) withdraw() {
	if w.pending = false; w.stale != nil {
		w.stale()
	}
}

// cancel cancels the running work and withdraws the request.
func (w *worker) cancel() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = false
	w.withdraw()
}

// stop cancels the running work and prevents new work.
func (w *worker) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.stale != nil {
		w.stale()
	}
}

// close is like stop, but waits until the work has ended.
func (w *worker) close() {
	w.stop()
	w.ended.Wait()
}
