package window

import (
	"sync/atomic"
	"time"
)

// waker asks the window for a frame, again and again until one has come.
//
// Gio drops what it is asked while it draws a frame that was asked for in the same
// way: on Wayland Invalidate begins a frame at once, and takes no other before it
// next waits for events. An answer that comes while a frame is laid out or drawn
// would then not be seen until the pointer moves.
//
// A window that is not shown gets no frames. It is asked for a second or two; by
// then Gio knows, and draws when it is shown.
type waker struct {
	invalidate    func()
	asked, served atomic.Uint64
	poke          chan struct{}
}

// A frame is asked for again after firstAsk, then after twice that, and so on up
// to lastAsk.
const (
	firstAsk = 5 * time.Millisecond
	lastAsk  = time.Second
)

// newWaker asks through invalidate. It runs until stop is closed.
func newWaker(invalidate func(), stop <-chan struct{}) *waker {
	k := &waker{invalidate: invalidate, poke: make(chan struct{}, 1)}
	go k.run(stop)
	return k
}

// wake asks for a frame that begins after the call, from any goroutine.
func (k *waker) wake() {
	k.asked.Add(1)
	k.invalidate()
	select {
	case k.poke <- struct{}{}:
	default:
	}
}

// frame says that a frame begins: what was asked for before will be in it.
func (k *waker) frame() { k.served.Store(k.asked.Load()) }

// due reports whether a frame has been asked for since the last one began.
func (k *waker) due() bool { return k.served.Load() != k.asked.Load() }

func (k *waker) run(stop <-chan struct{}) {
	for {
		select {
		case <-k.poke:
		case <-stop:
			return
		}
		served := k.served.Load()
		for wait := firstAsk; wait <= lastAsk; wait *= 2 {
			select {
			case <-time.After(wait):
			case <-stop:
				return
			}
			now := k.served.Load()
			if now == k.asked.Load() {
				break
			}
			if now != served { // frames come, and more is asked for
				served, wait = now, firstAsk/2
			}
			k.invalidate()
		}
	}
}
