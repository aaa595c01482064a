package window

import (
	"sync/atomic"
	"time"
)

// waker requests a frame from the window, again and again until one comes.
//
// Gio drops a request made while it draws a frame that was itself requested: on Wayland,
// Invalidate begins a frame at once and ignores others until Gio next waits for events.
// Without repetition, an answer that arrives while a frame is laid out or drawn would not
// be seen until the pointer moves.
//
// A hidden window gets no frames. waker repeats its requests for a second or two; by then
// Gio knows of them, and draws when the window is shown.
type waker struct {
	invalidate    func()
	asked, served atomic.Uint64
	poke          chan struct{}
}

// waker repeats a request after firstAsk, then after twice that, and so on up to lastAsk.
const (
	firstAsk = 5 * time.Millisecond
	lastAsk  = time.Second
)

// newWaker returns a waker that calls invalidate to request frames. It runs until stop is
// closed.
func newWaker(invalidate func(), stop <-chan struct{}) *waker {
	k := &waker{invalidate: invalidate, poke: make(chan struct{}, 1)}
	go k.run(stop)
	return k
}

// wake requests a frame that begins after the call. It may be called from any goroutine.
func (k *waker) wake() {
	k.asked.Add(1)
	k.invalidate()
	select {
	case k.poke <- struct{}{}:
	default:
	}
}

// frame records that a frame begins; it serves all earlier requests.
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
			if now != served { // a frame came, but there are new requests
				served, wait = now, firstAsk/2
			}
			k.invalidate()
		}
	}
}
