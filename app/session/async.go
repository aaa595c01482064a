package session

import (
	"context"
	"sync"
	"time"
)

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
	stale   context.CancelFunc // ends what is being worked on; nil where nothing is
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

// again works anew on what was asked for last, if anything was.
func (n *newest[Q]) again() (asked bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.asked {
		n.start()
	}
	return n.asked
}

// newest is what was asked for last, if anything was.
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
	if n.pending = true; n.stale == nil {
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
	for {
		if rest := n.do(ctx, q); rest > 0 {
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

// Async computes a value by its key in the background, and keeps the last one
// until the next is there. A key that is asked for in place of another ends the
// computation of that one, if it heeds its context. One that does not is finished
// first: so there is something to show while keys change faster than values can
// be computed. The zero value is ready; copies share what is known.
type Async[K comparable, V any] struct{ async *async[K, V] }

type async[K comparable, V any] struct {
	newest[job[K, V]]
	mu    sync.Mutex
	asks  int // how often something was asked
	last  V
	of    K
	known int // which ask the last value is of, 0 before the first
}

type job[K comparable, V any] struct {
	key     K
	number  int
	wake    func()
	compute func(context.Context) (V, error)
}

// Ask has compute find the value of k, unless that is known, being computed, or
// has failed just now. It returns the last value with the key that it is of; ok is
// false before the first. wake is called from another goroutine when there is
// another one. Without wake nobody would come back for it: the value is computed
// before Ask returns.
func (a *Async[K, V]) Ask(k K, wake func(), compute func(context.Context) (V, error)) (v V, of K, ok bool) {
	if a.async == nil {
		a.async = new(async[K, V])
		a.async.do = a.async.work
	}
	number, known := a.async.number(k)
	j := job[K, V]{k, number, wake, compute}
	a.async.ask(j, func(was job[K, V], asked bool) (fresh, stale bool) {
		other := !asked || was.key != k
		return other && !known && wake != nil, other
	})
	if wake == nil && !known {
		a.async.work(context.Background(), j)
	}
	return a.Last()
}

// Last is the last value with the key that it is of; ok is false before the
// first.
func (a *Async[K, V]) Last() (v V, of K, ok bool) {
	if a.async == nil {
		return
	}
	a.async.mu.Lock()
	defer a.async.mu.Unlock()
	return a.async.last, a.async.of, a.async.known > 0
}

// number counts what is asked. Where the value is known it is as good as if it had
// been computed for this: what was begun in between comes too late.
func (a *async[K, V]) number(k K) (n int, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asks++
	if known = a.known > 0 && a.of == k; known {
		a.known = a.asks
	}
	return a.asks, known
}

func (a *async[K, V]) work(ctx context.Context, j job[K, V]) (rest time.Duration) {
	v, err := j.compute(ctx)
	if err == nil && a.keep(v, j) && j.wake != nil {
		j.wake()
	}
	return 0
}

// keep keeps a value, unless there is one of a later ask, or nobody asks any more.
func (a *async[K, V]) keep(v V, j job[K, V]) bool {
	if a.stopped() {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if j.number < a.known {
		return false
	}
	a.last, a.of, a.known = v, j.key, j.number
	return true
}

// Stop ends what is being computed and forgets what is known; wake is not called
// any more. It does not wait: what does not heed its context goes on for nobody.
// Asking afterwards begins anew.
func (a *Async[K, V]) Stop() {
	if a.async != nil {
		a.async.stop()
		a.async = nil
	}
}

// Close is Stop, and waits until nothing is computed any more.
func (a *Async[K, V]) Close() {
	if old := a.async; old != nil {
		a.Stop()
		old.close()
	}
}
