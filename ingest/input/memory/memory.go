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

// Short is the error of what would take more memory than there is.
type Short struct{ text string }

func (e *Short) Error() string { return e.text }

// Shortage is a Short with a sentence.
func Shortage(format string, args ...any) error { return &Short{fmt.Sprintf(format, args...)} }

// What is left of the system's memory is not all to be taken: the program needs
// some besides, and so do others.
const (
	leastMargin = 32 << 20
	mostMargin  = 128 << 20
)

// Room is how many more bytes may be taken, garbage not counted as free; it is
// negative where too many have been. It is not known on systems that do not tell,
// unless GOMEMLIMIT is set.
func Room() (n int64, known bool) {
	u := now()
	return u.room(u.system())
}

// room is Room where the system gives so many bytes, if that is known.
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

// Need returns an error where n more bytes are not there to be taken, even once
// garbage has been collected.
func Need(n int64, what string) error {
	room, known := Room()
	if !known || room >= n {
		return nil
	}
	runtime.GC()
	if room, _ = Room(); room >= n {
		return nil
	}
	return Shortage("%s needs about %s of memory, but only %s are free", what, Text(n), Text(room))
}

// NeedEach is Need for so many bytes for each of n things, where they are many.
func NeedEach(n, bytes int, what string) error {
	if n < 1<<16 {
		return nil
	}
	return Need(int64(n)*int64(bytes), what)
}

// InUse counts the bytes that the program holds in memory of its own, garbage included.
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

// use measures Go's memory at a moment: objects are alive or not yet
// collected, idle what it has from the system and does not use, released what it
// has given back but not the addresses of, mapped all but that.
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

// system is how many bytes the system gives before it ends the program; what Go
// has and does not use included.
func (u use) system() (n int64, known bool) {
	n, known = available()
	return n + u.idle, known
}

// addresses is the same of addresses, where they are limited, less what has to be
// left. Where there are none the program ends at once, a large piece needs them in
// a row, and the largest that grows may be a good part of all there is.
func (u use) addresses() (n int64, known bool) {
	n, known = addresses()
	return n + (u.idle+u.released)/2 - mostMargin - u.objects/4, known
}

// margin is the amount of memory to leave unused, free or taken.
func (u use) margin(free int64) int64 {
	return min(mostMargin, max(leastMargin, (u.mapped+free)/16))
}

// The collector has to know too how much there is, or garbage takes it all
// between two of its rounds. It is told while something is watched, by Go's memory
// limit, which else is GOMEMLIMIT.
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

// tell gives the collector its limit where it has changed much.
func tell(most int64) {
	collector.Lock()
	defer collector.Unlock()
	most = min(most, collector.wish)
	if d := most - collector.set; d > most/32 || d < -most/32 {
		debug.SetMemoryLimit(most)
		collector.set = most
	}
}

// How often memory is looked at, which takes a while, and how often it may be tidied
// up to see what is really used. Where there is much it is looked at more seldom: as
// soon as a tenth of it could be taken, at some bytes a nanosecond.
const (
	every     = 5 * time.Millisecond
	seldom    = 100 * time.Millisecond
	fastest   = 4
	tidyEvery = 300 * time.Millisecond
)

// pause is how long there is certainly enough of some room.
func pause(room int64) time.Duration {
	return min(seldom, max(every, time.Duration(room/10/fastest)))
}

// Watcher watches memory until it is stopped.
type Watcher struct {
	// Owed is the additional memory that has to be free.
	Owed func() int64
	// Relieve, if set, is called once before Short, and reports whether memory will be
	// saved from then on, so that work can go on: less has to be free then (see closer).
	Relieve func() bool
	// Short is called once when there is less than that: what is under way should
	// end. Halt is called when it went on anyway and there is next to none.
	Short, Halt func()

	stop, stopped chan struct{}
	// looking is held while it is found out what is really used: on a machine that
	// is busy that takes long enough for others to take all that is left.
	looking      sync.Mutex
	tidied       time.Time
	said, halted bool
	then         int64 // what there was when it was said
	sparing      *Sparing
	closer       atomic.Bool
}

// Closer has Short be called later: once less than five quarters of a margin are free,
// not two margins. It is for work that takes memory slowly, since its largest part, such
// as columns in a file, takes none any more.
func (w *Watcher) Closer() { w.closer.Store(true) }

// Wait returns at once but while memory is being looked at.
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

// Look looks once and returns how much more may be taken. It is for whoever takes
// much memory too, each time that it has taken some: a machine that is busy may
// leave the watcher no time for long enough to take all there is.
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

// least is the room below which something has to be done.
func (w *Watcher) least(margin int64) int64 {
	switch {
	case w.said:
		return w.then - margin/2
	case w.closer.Load():
		return w.Owed() - margin*3/4
	}
	return w.Owed()
}

// relieved reports whether Relieve has memory be saved from now on.
func (w *Watcher) relieved() bool {
	if w.Relieve == nil || w.closer.Load() || !w.Relieve() {
		return false
	}
	w.Closer()
	return true
}

// Watch returns a context that ends, with a *Short as its cause, when memory runs
// short. halt, if not nil, is called with that where it went on anyway. stop
// must be called.
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
