package session

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// slowly returns a function that computes a text for k after a time, unless its context ends.
func slowly(k int, after time.Duration) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(after):
			return fmt.Sprint("value of ", k), nil
		}
	}
}

// TestAsyncKeepsTheLast checks that the last value stays until the next one is ready, and that
// wake is called then.
func TestAsyncKeepsTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a Async[int, string]
		defer a.Close()
		woken := 0
		wake := func() { woken++ }
		if _, _, ok := a.Ask(1, wake, slowly(1, time.Second)); ok {
			t.Error("there is a value before the first")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if v, of, ok := a.Ask(1, wake, nil); v != "value of 1" || of != 1 || !ok || woken != 1 {
			t.Errorf("%q of %d, %v, woken %d times", v, of, ok, woken)
		}
		if v, of, _ := a.Ask(2, wake, slowly(2, time.Second)); v != "value of 1" || of != 1 {
			t.Errorf("while 2 is computed it is %q of %d", v, of)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if v, of, _ := a.Last(); v != "value of 2" || of != 2 || woken != 2 {
			t.Errorf("%q of %d, woken %d times", v, of, woken)
		}
		a.Stop()
		if _, _, ok := a.Last(); ok {
			t.Error("what is stopped knows a value")
		}
		if v, _, _ := a.Ask(3, nil, slowly(3, 0)); v != "value of 3" {
			t.Errorf("asked anew it is %q", v)
		}
	})
}

// TestAsyncEndsWhatIsStale asks for many keys in a row. Computations that respect their
// context end early, and only the last value is shown.
func TestAsyncEndsWhatIsStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a Async[int, string]
		defer a.Close()
		var woken, ended atomic.Int32
		for k := range 100 {
			compute := slowly(k, time.Second)
			v, _, ok := a.Ask(k, func() { woken.Add(1) }, func(ctx context.Context) (string, error) {
				v, err := compute(ctx)
				if errors.Is(err, context.Canceled) {
					ended.Add(1)
				}
				return v, err
			})
			if ok {
				t.Fatalf("asked for %d there is %q", k, v)
			}
			time.Sleep(time.Millisecond)
			synctest.Wait()
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if v, of, ok := a.Last(); v != "value of 99" || of != 99 || !ok || woken.Load() != 1 || ended.Load() != 99 {
			t.Errorf("%q of %d, woken %d times, %d ended", v, of, woken.Load(), ended.Load())
		}
	})
}

// TestAsyncShowsSomething checks computations that ignore their context: they run one at a
// time, and each value is shown, in the order of the requests.
func TestAsyncShowsSomething(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a Async[int, int]
		defer a.Close()
		var busy atomic.Int32
		last, seen := -1, 0
		for k := range 100 {
			v, of, ok := a.Ask(k, func() {}, func(context.Context) (int, error) {
				if busy.Add(1) > 1 {
					t.Error("two are computed at once")
				}
				defer busy.Add(-1)
				time.Sleep(10 * time.Millisecond)
				return k * k, nil
			})
			if ok && (v != of*of || of < last) {
				t.Fatalf("%d of %d after that of %d", v, of, last)
			}
			if ok && of != last {
				last, seen = of, seen+1
			}
			time.Sleep(time.Millisecond)
		}
		if seen < 5 {
			t.Errorf("while keys changed %d values were seen", seen)
		}
		time.Sleep(time.Second)
		if v, of, _ := a.Last(); v != 99*99 || of != 99 {
			t.Errorf("in the end it is %d of %d", v, of)
		}
	})
}

// TestAsyncFails checks that a failed computation is not repeated and that the last value
// stays.
func TestAsyncFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a Async[int, string]
		defer a.Close()
		a.Ask(1, nil, slowly(1, 0))
		tries := 0
		for range 10 {
			v, of, ok := a.Ask(2, func() { t.Error("woken for nothing") }, func(context.Context) (string, error) {
				tries++
				return "", errors.New("broken")
			})
			if synctest.Wait(); v != "value of 1" || of != 1 || !ok {
				t.Errorf("%q of %d", v, of)
			}
		}
		if tries != 1 {
			t.Errorf("tried %d times", tries)
		}
	})
}

// TestAsyncLeavesNothing checks that after Stop wake is not called and all goroutines end.
func TestAsyncLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	var some [50]Async[int, string]
	for i := range some {
		for k := range 20 {
			some[i].Ask(k, func() { t.Error("woken after it was stopped") }, slowly(k, time.Hour))
		}
	}
	for i := range some {
		if i%2 == 0 {
			some[i].Stop()
		} else {
			some[i].Close()
		}
	}
	var idle Async[int, string]
	done := make(chan struct{})
	idle.Ask(1, func() { close(done) }, slowly(1, 0))
	<-done
	waitFor(t, "goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
}

// TestAsyncAtOnce checks that Ask without wake computes the value before it returns, and only
// once.
func TestAsyncAtOnce(t *testing.T) {
	var a Async[string, int]
	n := 0
	count := func(context.Context) (int, error) { n++; return n, nil }
	for range 3 {
		if v, of, ok := a.Ask("x", nil, count); v != 1 || of != "x" || !ok {
			t.Errorf("%d of %q", v, of)
		}
	}
}

// TestAsyncTakenBack asks for one key, another, and the first again, with and without wake.
// The other key's value arrives late and must not be shown.
func TestAsyncTakenBack(t *testing.T) {
	for _, back := range []func(){func() {}, nil} {
		synctest.Test(t, func(t *testing.T) {
			var a Async[int, string]
			defer a.Close()
			stubborn := func(k int) func(context.Context) (string, error) {
				return func(context.Context) (string, error) { return slowly(k, time.Second)(t.Context()) }
			}
			a.Ask(1, nil, stubborn(1))
			for k := range 5 {
				a.Ask(2+k, func() { t.Error("woken for what nobody wants") }, stubborn(2+k))
				time.Sleep(10 * time.Millisecond)
				a.Ask(1, back, stubborn(1))
				for range 10 {
					time.Sleep(200 * time.Millisecond)
					if v, of, ok := a.Ask(1, back, stubborn(1)); v != "value of 1" || of != 1 || !ok {
						t.Fatalf("%q of %d", v, of)
					}
				}
			}
			a.Ask(2, func() {}, stubborn(2))
			if v, of, _ := a.Ask(3, nil, stubborn(3)); v != "value of 3" || of != 3 {
				t.Errorf("at once it is %q of %d", v, of)
			}
			time.Sleep(5 * time.Second)
			if v, of, _ := a.Last(); v != "value of 3" || of != 3 {
				t.Errorf("later it is %q of %d", v, of)
			}
		})
	}
}
