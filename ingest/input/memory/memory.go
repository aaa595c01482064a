// Package memory measures the memory available under all limits of the system, and stops
// large allocations with an error before the system kills the program.
//
// It watches the memory of the whole process rather than the sum of what its parts report,
// so that any growth counts.
package memory

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// A Short is the error for work that would take more memory than is available.
type Short struct{ text string }

func (e *Short) Error() string { return e.text }

// Shortage returns a Short with a formatted text.
func Shortage(format string, args ...any) error { return &Short{fmt.Sprintf(format, args...)} }

// Part of the system's free memory stays unused: the program needs some for other
// purposes, and so do other programs.
const (
	leastMargin = 32 << 20
	mostMargin  = 128 << 20
)

// Room returns the number of bytes that may still be allocated, not counting garbage as
// free; n is negative if too many have been allocated. known is false on systems that do
// not report their memory, unless GOMEMLIMIT is set.
func Room() (n int64, known bool) {
	u := now()
	return u.room(u.system())
}

// room is like Room, given the number of bytes that the system can provide.
func (u use) room(n int64, known bool) (int64, bool) {
	if known {
		n -= 2 * u.margin(n)
	}
	if left, ok := u.addresses(); ok && (!known || left < n) {
		n, known = left, true
	}
	if most := wish(); most < 1<<62 {
		if left := most - u.objects - most/16; !known || left < n {
			n, known = left, true
		}
	}
	return n, known
}

// Need returns an error if n more bytes are not available, even after a garbage
// collection.
func Need(n int64, what string) error {
	room, known := Room()
	if !known || room >= n {
		return nil
	}
	runtime.GC()
	if room, _ = Room(); room >= n {
		return nil
	}
	return Shortage("%s needs about %s of memory, but only %s is free", what, Text(n), Text(room))
}

// NeedEach is like Need, for n things of the given number of bytes each. A small n is not
// checked.
func NeedEach(n, bytes int, what string) error {
	if n < 1<<16 {
		return nil
	}
	return Need(int64(n)*int64(bytes), what)
}

// InUse returns the bytes of the program's heap objects, including garbage.
func InUse() int64 { return now().objects }

// Text writes a number of bytes.
func Text(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0f kB", float64(max(0, n))/1e3)
}

// use is a measurement of Go's memory: objects are live or not yet collected; idle was
// obtained from the system but is unused; released was given back, except for its
// addresses; mapped is everything except released.
type use struct{ objects, idle, released, mapped int64 }

func now() use {
	s := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/total:bytes"},
	}
	metrics.Read(s)
	at := func(i int) int64 { return int64(s[i].Value.Uint64()) }
	return use{at(0), at(1), at(2), at(3) - at(2)}
}

// system returns how many bytes the system can give before it kills the program,
// including Go's idle memory.
func (u use) system() (n int64, known bool) {
	n, known = available()
	return n + u.idle, known
}

// addresses returns how many more bytes of address space may be used, minus a reserve;
// known is false if there is no limit. The reserve is large because the program ends at
// once when addresses run out, and a large allocation needs contiguous addresses; the
// largest growing one may take a good part of all memory.
func (u use) addresses() (n int64, known bool) {
	n, known = addresses()
	return n + (u.idle+u.released)/2 - mostMargin - u.objects/4, known
}

// margin returns the amount of memory to leave unused.
func (u use) margin(free int64) int64 {
	return min(mostMargin, max(leastMargin, (u.mapped+free)/16))
}

// The collector must know the available memory, or garbage fills it between two
// collections. While a Watcher runs, it sets Go's memory limit; otherwise the limit is
// GOMEMLIMIT.
var collector struct {
	sync.Mutex
	watched   int
	wish, set int64
}

func wish() int64 {
	collector.Lock()
	defer collector.Unlock()
	if collector.watched > 0 {
		return collector.wish
	}
	return debug.SetMemoryLimit(-1)
}

func watched(n int) {
	collector.Lock()
	defer collector.Unlock()
	if collector.watched == 0 {
		collector.wish = debug.SetMemoryLimit(-1)
		collector.set = collector.wish
	}
	if collector.watched += n; collector.watched == 0 && collector.set != collector.wish {
		debug.SetMemoryLimit(collector.wish)
	}
}

// tell sets the collector's limit if it has changed much.
func tell(most int64) {
	collector.Lock()
	defer collector.Unlock()
	most = min(most, collector.wish)
	if d := most - collector.set; d > most/32 || d < -most/32 {
		debug.SetMemoryLimit(most)
		collector.set = most
	}
}

// How often memory is measured, which takes some time, and how often a collection may run
// to find out how much is really used. If much is free, it is measured less often: as
// soon as a tenth of it could be used up, at fastest bytes per nanosecond.
const (
	every     = 5 * time.Millisecond
	seldom    = 100 * time.Millisecond
	fastest   = 4
	tidyEvery = 300 * time.Millisecond
)

// pause returns the time until the next measurement, during which the given room
// certainly suffices.
func pause(room int64) time.Duration {
	return min(seldom, max(every, time.Duration(room/10/fastest)))
}

// Watcher watches memory until it is stopped.
type Watcher struct {
	// Owed returns how many bytes must be free in addition to the margins.
	Owed func() int64
	// Relieve, if set, is called once before Short. It reports whether the work can
	// continue because it saves memory from then on. If so, less memory has to be free
	// (see Closer).
	Relieve func() bool
	// Short is called once when less than Owed is free; the work should then end. Halt is
	// called if the work goes on anyway and hardly any memory is left.
	Short, Halt func()

	stop, stopped chan struct{}
	// looking is held during a measurement. On a busy machine a measurement takes so long
	// that other goroutines could use up all remaining memory.
	looking      sync.Mutex
	tidied       time.Time
	said, halted bool
	then         int64 // room when Short was called
	sparing      *Sparing
	closer       atomic.Bool
}

// Closer makes the Watcher call Short later: when less than five quarters of a margin are
// free, instead of two margins. It is for work that allocates slowly because its largest
// part, such as columns in a file, takes no more memory.
func (w *Watcher) Closer() { w.closer.Store(true) }

// Wait waits until a measurement that is in progress has ended. Otherwise it returns at
// once.
func (w *Watcher) Wait() {
	w.looking.Lock()
	//lint:ignore SA2001 that it could be locked is all that is asked
	w.looking.Unlock()
}

// Start begins to watch.
func (w *Watcher) Start() {
	w.stop, w.stopped = make(chan struct{}), make(chan struct{})
	watched(1)
	w.sparing = Spare(fairGarbage())
	go w.run()
}

// Stop ends watching; nothing is called once it has returned.
func (w *Watcher) Stop() {
	close(w.stop)
	<-w.stopped
	w.sparing.End()
	watched(-1)
}

func (w *Watcher) run() {
	defer close(w.stopped)
	look := time.NewTimer(every)
	defer look.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-look.C:
		}
		look.Reset(pause(w.Look()))
	}
}

// Look measures memory once and returns how many more bytes may be allocated. Code that
// allocates much memory should also call it after each large allocation: on a busy
// machine the watcher may not run for so long that all memory is used up.
func (w *Watcher) Look() int64 {
	w.looking.Lock()
	defer w.looking.Unlock()
	u := now()
	free, known := u.system()
	margin := u.margin(free)
	most := int64(1 << 62)
	if known {
		most = u.mapped - u.idle + free - margin
	}
	if left, ok := addresses(); ok {
		most = min(most, u.mapped+left-margin)
	}
	tell(most)
	w.sparing.Change(fairGarbage())
	room, known := u.room(free, known)
	if !known || w.halted {
		return math.MaxInt64
	}
	least := w.least(margin)
	if room >= least {
		return room - max(0, least)
	}
	if time.Since(w.tidied) < tidyEvery && room > least-margin/4 {
		return 0
	}
	runtime.GC()
	w.tidied = time.Now()
	room, _ = Room()
	if !w.said && room < least && w.relieved() {
		least = w.least(margin)
	}
	switch {
	case room >= least:
	case !w.said:
		w.said, w.then = true, room
		w.Short()
	default:
		w.halted = true
		if w.Halt != nil {
			w.Halt()
		}
	}
	return 0
}

// least returns the room below which the Watcher must act.
func (w *Watcher) least(margin int64) int64 {
	switch {
	case w.said:
		return w.then - margin/2
	case w.closer.Load():
		return w.Owed() - margin*3/4
	}
	return w.Owed()
}

// relieved calls Relieve and reports whether memory will be saved from now on.
func (w *Watcher) relieved() bool {
	if w.Relieve == nil || w.closer.Load() || !w.Relieve() {
		return false
	}
	w.Closer()
	return true
}

// Watch returns a context that is cancelled, with a *Short as its cause, when memory runs
// short. If the work goes on and memory runs short again, halt (unless nil) is called
// with the same error. The caller must call stop.
func Watch(ctx context.Context, what string, halt func(error)) (watched context.Context, stop func()) {
	watched, cancel := context.WithCancelCause(ctx)
	short := Shortage("%s needs more memory than is available", what)
	w := &Watcher{Owed: func() int64 { return 0 }, Short: func() { cancel(short) }}
	if halt != nil {
		w.Halt = func() { halt(short) }
	}
	w.Start()
	return watched, func() {
		w.Stop()
		cancel(nil)
	}
}
