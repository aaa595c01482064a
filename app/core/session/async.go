package session

import (
	"context"
	"time"
)

// Async computes a value for a key in the background and keeps the last value until the
// next is ready. A request for another key cancels the running computation. A computation
// that ignores its context runs to its end first, so there is something to show while
// keys change faster than values are computed. The zero value is ready to use; copies
// share the value.
type Async[K comparable, V any] struct{ async *async[K, V] }

type async[K comparable, V any] struct {
	worker // its mu also guards the fields below
	want   job[K, V]
	asks   int // number of requests
	last   V
	of     K
	known  int // number of the request that the value of last answers; 0 if none
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
	s := a.async
	s.mu.Lock()
	s.asks++
	j := job[K, V]{k, s.asks, wake, compute}
	known := s.known > 0 && s.of == k
	if known { // it counts as computed for this request: results of earlier ones do not replace it
		s.known = s.asks
	}
	other := !s.asked || s.want.key != k
	if other {
		s.withdraw()
	}
	if s.want, s.asked = j, true; other && !known && wake != nil {
		s.start(s.latest)
	}
	s.mu.Unlock()
	if wake == nil && !known {
		s.work(context.Background(), j)
	}
	return a.Last()
}

func (a *Async[K, V]) init() {
	if a.async == nil {
		a.async = new(async[K, V])
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

// latest returns a function that does the latest job; s.mu is held.
func (s *async[K, V]) latest() work {
	j := s.want
	return func(ctx context.Context) time.Duration {
		s.work(ctx, j)
		return 0
	}
}

func (s *async[K, V]) work(ctx context.Context, j job[K, V]) {
	if v, err := j.compute(ctx); err == nil && s.keep(v, j) && j.wake != nil {
		j.wake()
	}
}

// keep stores a value, unless a later request has one or Async was stopped.
func (s *async[K, V]) keep(v V, j job[K, V]) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || j.number < s.known {
		return false
	}
	s.last, s.of, s.known = v, j.key, j.number
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
