package session

import (
	"sync"

	"ashlar/ingest/input/source"
)

// A recording may be memory-mapped from a file. If the file is truncated or its disk
// fails, reading the recording faults, which ends the program unless the goroutine is
// guarded. So everything that reads recordings in the background runs under Guarded.

var faulted struct {
	sync.Mutex
	err  error
	wake func()
}

// Guarded runs f, which may read recordings, and reports whether it completed. If reading
// a mapped file failed, TakeFault returns the error.
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

// TakeFault returns and clears the error of the last fault; nil if there was none.
func TakeFault() error {
	faulted.Lock()
	defer faulted.Unlock()
	err := faulted.err
	faulted.err = nil
	return err
}

// OnFault sets the function that is called, from any goroutine, after a fault.
func OnFault(wake func()) {
	faulted.Lock()
	defer faulted.Unlock()
	faulted.wake = wake
}
