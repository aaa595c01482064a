package session

import (
	"context"
	"sync"
	"time"
)

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

// Cancel ends what is being computed; what is known stays. It may be called from
// any goroutine once something has been asked.
func (a *Async[K, V]) Cancel() {
	if a.async != nil {
		a.async.cancel()
	}
}

// Stop ends what is being computed and forgets what is known; wake is not called
// any more. It does not wait: what does not heed its context goes on for nobody.
// Asking afterwards begins again.
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
