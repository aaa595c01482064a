// Package drop tracks files dragged from other programs onto the window: their paths, the
// pointer position and the drop. Package native receives the desktop's events.
package drop

import (
	"image"
	"sync"
)

// Over describes a drag while it is held over the window.
type Over struct {
	// Held reports whether there is a drag; the other fields are valid only then.
	Held bool
	// At is the pointer's position, in pixels of the window.
	At image.Point
	// Files are the dragged files, nil while unknown.
	Files *Files
	// Refused is the reason why the drag cannot be dropped, "" if it can.
	Refused string
	// Waiting is set if the drag was dropped but its file names have not arrived.
	Waiting bool
}

// Drop describes a drag that was dropped on the window.
type Drop struct {
	Files
	At image.Point
}

// Reasons why something cannot be dropped.
const (
	// NotFiles is the reason if the drag offers no files.
	NotFiles = "Only files can be dropped here"
	// NoFiles is the reason if the drag offers files, but not their names.
	NoFiles = "The other program named no files"
)

// A Target collects drag events between frames of the window. Its methods may be called
// from any goroutine.
type Target struct {
	wake func()

	mu    sync.Mutex
	over  Over
	drops []Drop
}

// NewTarget returns a target; wake asks for a frame.
func NewTarget(wake func()) *Target { return &Target{wake: wake} }

// Hold records the drag that is over the window now.
func (t *Target) Hold(o Over) {
	t.mu.Lock()
	same := t.over == o
	t.over = o
	t.mu.Unlock()
	if !same {
		t.wake()
	}
}

// Take records a drop; it ends the drag.
func (t *Target) Take(d Drop) {
	t.mu.Lock()
	t.over = Over{}
	t.drops = append(t.drops, d)
	t.mu.Unlock()
	t.wake()
}

// Next returns the current drag and the drops since the last call.
func (t *Target) Next() (Over, []Drop) {
	t.mu.Lock()
	defer t.mu.Unlock()
	drops := t.drops
	t.drops = nil
	return t.over, drops
}

// Wake asks for a frame.
func (t *Target) Wake() { t.wake() }
