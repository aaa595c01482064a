// Package drop tracks files dragged from other programs onto the window: their paths, the
// pointer position and the drop. Package native receives the desktop's events.
package drop

import (
	"image"
	"sync"
)

// Over describes a drag while it is held over the window.
type Over struct {
	// Held reports whether anything is; the rest counts only then.
	Held bool
	// At is where, in pixels of the window.
	At image.Point
	// Files are held, nil as long as nobody knows which.
	Files *Files
	// Refused says why it cannot be dropped, "" if it can.
	Refused string
	// Waiting is set when it was dropped and its names have yet to come.
	Waiting bool
}

// Drop describes a drag that was let go over the window.
type Drop struct {
	Files
	At image.Point
}

// Why something cannot be dropped.
const (
	// NotFiles is for what is offered as anything but files.
	NotFiles = "Only files can be dropped here"
	// NoFiles is for files that are offered and not named.
	NoFiles = "The other program does not name the files"
)

// A Target collects what happens between frames of the window. Its methods may
// be called from any goroutine.
type Target struct {
	wake func()

	mu    sync.Mutex
	over  Over
	drops []Drop
}

// NewTarget returns a target; wake asks for a frame.
func NewTarget(wake func()) *Target { return &Target{wake: wake} }

// Hold notes what is over the window now.
func (t *Target) Hold(o Over) {
	t.mu.Lock()
	same := t.over == o
	t.over = o
	t.mu.Unlock()
	if !same {
		t.wake()
	}
}

// Take notes what was let go; nothing is held any more.
func (t *Target) Take(d Drop) {
	t.mu.Lock()
	t.over = Over{}
	t.drops = append(t.drops, d)
	t.mu.Unlock()
	t.wake()
}

// Next returns what is held and what was let go since it was last called.
func (t *Target) Next() (Over, []Drop) {
	t.mu.Lock()
	defer t.mu.Unlock()
	drops := t.drops
	t.drops = nil
	return t.over, drops
}

// Wake asks for a frame.
func (t *Target) Wake() { t.wake() }
