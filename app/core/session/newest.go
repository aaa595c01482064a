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

	mu      sync.Mutex
	want    Q
	asked   bool               // want is set
	pending bool               // want is waiting to be worked on
	stale   context.CancelFunc // cancels the running work; nil if there is none
	closed  bool
	ended   sync.WaitGroup
}

// ask makes q the latest request. news compares it with the last one: if fresh, q is
// worked on after the running work; if stale, the running work is cancelled.
func (n *newest[Q]) ask(q Q, news func(was Q, asked bool) (fresh, stale bool)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fresh, stale := news(n.want, n.asked)
	if stale {
		if n.pending = false; n.stale != nil {
			n.stale()
		}
	}
	if n.want, n.asked = q, true; fresh {
		n.start()
	}
}

// again repeats the last request, if there was one.
func (n *newest[Q]) again() (asked bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.asked {
		n.start()
	}
	return n.asked
}

// newest returns the last question, if one was asked.
func (n *newest[Q]) newest() (q Q, asked bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.want, n.asked
}

// start starts work on want, now or after the running work; n.mu is held.
func (n *newest[Q]) start() {
	if n.closed {
		return
	}
	begun.Add(1)
	if n.pending = true; n.stale == nil {
		working.Add(1)
		n.ended.Add(1)
		go n.run(n.next())
	}
}

// next returns the work to do now; n.mu is held.
func (n *newest[Q]) next() (context.Context, Q) {
	n.pending = false
	ctx, cancel := context.WithCancel(context.Background())
	n.stale = cancel
	return ctx, n.want
}

func (n *newest[Q]) run(ctx context.Context, q Q) {
	defer n.ended.Done()
	defer working.Add(-1)
	for {
		var rest time.Duration
		if Guarded(func() { rest = n.do(ctx, q) }); rest > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(rest):
			}
		}
		n.mu.Lock()
		n.stale()
		if n.closed || !n.pending {
			n.stale = nil
			n.mu.Unlock()
			return
		}
		ctx, q = n.next()
		n.mu.Unlock()
	}
}

// cancel cancels the running work and withdraws the request.
func (n *newest[Q]) cancel() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.asked, n.pending = false, false; n.stale != nil {
		n.stale()
	}
}

// stopped reports whether stop was called.
func (n *newest[Q]) stopped() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.closed
}

// stop cancels the running work and prevents new work.
func (n *newest[Q]) stop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	if n.stale != nil {
		n.stale()
	}
}

// close is like stop, but waits until the work has ended.
func (n *newest[Q]) close() {
	n.stop()
	n.ended.Wait()
}
