package window

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// deaf is a window that ignores requests while it draws a frame, as Gio does on Wayland.
type deaf struct {
	mu      sync.Mutex
	drawing bool
	asked   chan struct{}
	times   int
}

func (d *deaf) invalidate() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.times++
	if !d.drawing {
		select {
		case d.asked <- struct{}{}:
		default:
		}
	}
}

func (d *deaf) draw(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drawing = on
}

func (d *deaf) frameWithin(t *testing.T, long time.Duration) bool {
	t.Helper()
	select {
	case <-d.asked:
		return true
	case <-time.After(long):
		return false
	}
}

func TestAFrameComesForEveryWake(t *testing.T) { synctest.Test(t, aFrameComesForEveryWake) }

func aFrameComesForEveryWake(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	d := &deaf{asked: make(chan struct{}, 1)}
	k := newWaker(d.invalidate, stop)
	for _, drawn := range []time.Duration{0, 3 * time.Millisecond, 100 * time.Millisecond} {
		k.wake()
		if !d.frameWithin(t, time.Second) {
			t.Fatal("nothing asks for the first frame")
		}
		d.draw(true)
		k.frame()
		k.wake() // too late for this frame, and ignored while it is drawn
		time.Sleep(drawn)
		d.draw(false)
		if !d.frameWithin(t, 2*time.Second) {
			t.Fatalf("what was asked for while a frame was drawn for %v is forgotten", drawn)
		}
		k.frame()
	}
	// No further requests follow once all are served.
	synctest.Wait()
	d.mu.Lock()
	before := d.times
	d.mu.Unlock()
	time.Sleep(300 * time.Millisecond)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.times != before {
		t.Errorf("it asks %d times more when nothing is wanted", d.times-before)
	}
}

// TestAHiddenWindowIsLeftAlone checks that requests to a hidden window, which draws no
// frames, stop after a while.
func TestAHiddenWindowIsLeftAlone(t *testing.T) { synctest.Test(t, aHiddenWindowIsLeftAlone) }

func aHiddenWindowIsLeftAlone(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	d := &deaf{asked: make(chan struct{}, 1)}
	newWaker(d.invalidate, stop).wake()
	time.Sleep(2*lastAsk + lastAsk/2)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.times < 5 || d.times > 12 {
		t.Errorf("asked %d times", d.times)
	}
}
