package session

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Work counts what goes on in the background, in all of the program. Where Now was 0 and
// nothing has been begun since, every answer there will be to what was asked is there.
type Work struct {
	Now   int64 // how many work on something
	Begun int64 // how often something was begun
}

var working, begun atomic.Int64

// Working says what goes on in the background.
func Working() Work { return Work{working.Load(), begun.Load()} }

// newest works in the background on the newest of what it is asked for: on one
// thing at a time, and never on what was asked for in between. It has a goroutine
// only while there is work. Set do before the first use.
type newest[Q any] struct {
	// do works on what was asked for; ctx ends when nobody wants it any more. What
	// is asked for next waits for as long as rest, unless ctx ends.
	do func(ctx context.Context, q Q) (rest time.Duration)

	mu      sync.Mutex
	want    Q
	asked   bool               // want is set
	pending bool               // want is not being worked on yet
	stale   context.CancelFunc // ends what is being worked on; nil if nothing is
	closed  bool
	ended   sync.WaitGroup
}

// ask asks for q, unless news finds nothing new in it. What is being worked on
// goes on before it, or ends where it is stale.
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

// start has want worked on; n.mu is held.
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

// next is the work that begins now; n.mu is held.
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

// cancel ends the work, and takes back what was asked for.
func (n *newest[Q]) cancel() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.asked, n.pending = false, false; n.stale != nil {
		n.stale()
	}
}

// stopped tells that nothing is worked on any more.
func (n *newest[Q]) stopped() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.closed
}

// stop ends the work; nothing is begun any more.
func (n *newest[Q]) stop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	if n.stale != nil {
		n.stale()
	}
}

// close is stop, and waits until the work has ended.
func (n *newest[Q]) close() {
	n.stop()
	n.ended.Wait()
}
