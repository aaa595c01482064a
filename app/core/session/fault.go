package session

import (
	"sync"

	"ashlar/ingest/input/source"
)

// A recording may lie in a mapped file, which can be cut and whose disk can fail. Reading
// it faults then, which ends the program unless the goroutine is guarded: all that read
// recordings in the background run under Guarded.

var faulted struct {
	sync.Mutex
	err  error
	wake func()
}

// Guarded runs f, which may read recordings, and reports whether it ran to its end. Where
// reading a mapped file failed, TakeFault has the error.
func Guarded(f func()) bool {
	err := source.Guard("the recording", func() error {
		f()
		return nil
	})
	if err == nil {
		return true
	}
	faulted.Lock()
	faulted.err = err
	wake := faulted.wake
	faulted.Unlock()
	if wake != nil {
		wake()
	}
	return false
}

// Go runs f in the background under Guarded.
func Go(f func()) { go Guarded(f) }

// TakeFault returns the error of the last fault, once; nil where there was none.
func TakeFault() error {
	faulted.Lock()
	defer faulted.Unlock()
	err := faulted.err
	faulted.err = nil
	return err
}

// OnFault has wake called, from any goroutine, when there was a fault.
func OnFault(wake func()) {
	faulted.Lock()
	defer faulted.Unlock()
	faulted.wake = wake
}
