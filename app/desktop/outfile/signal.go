package outfile

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"ashlar/ingest/input/safetext"
)

// writing tracks the unfinished files. The program listens for signals only while there
// are any; otherwise signals have their default effect.
type writing struct {
	mu    sync.Mutex
	files map[*File]bool
	stop  func()
}

var open = writing{files: map[*File]bool{}}

// begin creates the temporary file for out.
func (w *writing) begin(out *File, dir, base string) (*os.File, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.files[out] = true; w.stop == nil {
		signals := make(chan os.Signal, 1)
		gone := make(chan struct{})
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		go w.await(signals, gone)
		w.stop = func() { signal.Stop(signals); close(gone) }
	}
	for {
		f, err := try(dir, base)
		if errors.Is(err, errTaken) {
			continue
		}
		if out.File = f; err != nil {
			w.forget(out)
		}
		return f, err
	}
}

func (w *writing) remove(f *File) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forget(f)
}

func (w *writing) forget(f *File) {
	if delete(w.files, f); len(w.files) == 0 && w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

// await ends the program on a signal.
func (w *writing) await(signals <-chan os.Signal, gone <-chan struct{}) {
	select {
	case <-signals:
	case <-gone:
		return
	}
	w.mu.Lock() // never unlocked: no new file may begin
	for f := range w.files {
		_ = f.File.Close()
		if os.Remove(f.File.Name()) == nil {
			fmt.Fprintf(os.Stderr, "ashlar: %s: interrupted, not written\n", safetext.Text(filepath.Base(f.name)))
		}
	}
	os.Exit(1)
}
