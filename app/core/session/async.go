package session

import (
	"context"
	"sync"
	"time"
)

// Async computes a value for a key in the background and keeps the last value until the
// next is ready. A request for another key cancels the running computation. A computation
// that ignores its context runs to its end first, so there is something to show while
// keys change faster than values are computed. The zero value is ready to use; copies
// share the value.
type Async[K comparable, V any] struct{ async *async[K, V] }

type async[K comparable, V any] struct {
	newest[job[K, V]]
	mu    sync.Mutex
	asks  int // number of requests
	last  V
	of    K
	known int // number of the request that the value of last answers; 0 if none
}

type job[K comparable, V any] struct {
	key     K
	number  int
	wake    func()
	compute func(context.Context) (V, error)
}

// Ask starts compute for the key k, unless its value is known, is being computed, or has
// just failed. It returns the last value and its key; ok is false before the first. wake
// is called from another goroutine when there is a new value. If wake is nil, the caller
// would not learn of the value, so Ask computes it before it returns.
func (a *Async[K, V]) Ask(k K, wake func(), compute func(context.Context) (V, error)) (v V, of K, ok bool) {
	a.init()
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

func (a *Async[K, V]) init() {
	if a.async == nil {
		a.async = new(async[K, V])
		a.async.do = a.async.work
	}
}

// Last returns the last value and its key; ok is false before the first.
func (a *Async[K, V]) Last() (v V, of K, ok bool) {
	if a.async == nil {
		return
	}
	a.async.mu.Lock()
	defer a.async.mu.Unlock()
	return a.async.last, a.async.of, a.async.known > 0
}

// number counts a request. A known value counts as computed for this request, so that
// results of earlier requests do not replace it.
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

// keep stores a value, unless a later request has one or Async was stopped.
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

// Cancel cancels the running computation; the last value stays. After the first Ask, it
// may be called from any goroutine.
func (a *Async[K, V]) Cancel() {
	if a.async != nil {
		a.async.cancel()
	}
}

// Stop cancels the running computation and forgets the value; wake is not called any
// more. Stop does not wait: a computation that ignores its context runs on, but its
// result is not used. A later Ask starts again.
func (a *Async[K, V]) Stop() {
	if a.async != nil {
		a.async.stop()
		a.async = nil
	}
}

// Close is like Stop, but waits until the computation has ended.
func (a *Async[K, V]) Close() {
	if old := a.async; old != nil {
		a.Stop()
		old.close()
	}
}
