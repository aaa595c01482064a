package window

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ashlar/app/agent/serve"
	"ashlar/app/core/resident"
	"ashlar/app/core/session"
	"ashlar/app/core/subcommand"
	"ashlar/app/window/shell"
	"ashlar/ingest"
	"ashlar/ingest/model/recording"
)

// share is the [serve.Window] that programs may query if the user allows it. After each
// frame it learns what is open and selected.
type share struct {
	shell     *shell.Shell
	on        atomic.Bool
	sides     atomic.Pointer[[]*session.Side]
	followers atomic.Int32

	mu   sync.Mutex
	now  serve.Selection
	next chan struct{} // closed when now changes, or sharing ends

	// The fields below belong to the window's goroutine. seen is the selection in the last
	// frame; since is the time when it was first seen. reported is the last selection that was
	// reported.
	seen, reported string
	since          time.Time
	program        bool // a program has just changed the view
}

func newShare(s *shell.Shell) *share {
	w := &share{shell: s, next: make(chan struct{})}
	w.sides.Store(&[]*session.Side{})
	return w
}

// server answers requests of programs to the window; run runs a command line.
func (w *share) server(run func(subcommand.Invocation) int) *serve.Server {
	return &serve.Server{Run: run, In: w.in, Window: w}
}

var errNotOpen = errors.New("the window has not opened this recording")

// in returns a reader that uses the open recordings.
func (w *share) in(dir string) subcommand.Reader {
	return func(ctx context.Context, path string, o ingest.Options) (*recording.Recording, ingest.Stats, error) {
		at, below := path, ""
		if !filepath.IsAbs(path) {
			at, below = filepath.Join(dir, path), dir
		}
		for _, d := range *w.sides.Load() {
			if rec, stats, release, ok := d.ReadAs(filepath.Clean(at), o.Exe, o.Part); ok {
				context.AfterFunc(ctx, release)
				return resident.Named(rec, path, below), stats, nil
			}
		}
		return nil, ingest.Stats{}, errNotOpen
	}
}

// Shared implements serve.Window.
func (w *share) Shared() bool { return w.on.Load() }

// Show implements serve.Window.
func (w *share) Show(ctx context.Context, address, note string) error {
	done := make(chan error, 1)
	w.shell.Later(func() {
		if ctx.Err() != nil {
			return // too late: the client was told that the window does not answer
		}
		err := w.shell.ShowFor(address, note)
		w.program = w.program || err == nil
		done <- err
	})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return errors.New("the window does not answer (it may be hidden)")
	}
}

// Follow implements serve.Window.
func (w *share) Follow() (stop func()) {
	w.followers.Add(1)
	w.shell.Wake()
	return func() { w.followers.Add(-1) }
}

// Selected implements serve.Window.
func (w *share) Selected() (now serve.Selection, next <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now, w.next
}

// settled is the time that a selection must last before it is reported.
const settled = 400 * time.Millisecond

// frame reports changes to programs; it is called after each frame.
func (w *share) frame() {
	s := w.shell
	if sides := s.Session.Sides(); !slices.Equal(sides, *w.sides.Load()) {
		sides = slices.Clone(sides)
		w.sides.Store(&sides)
	}
	if was := w.on.Swap(s.Shared); was && !s.Shared {
		w.publish(serve.Selection{})
	}
	if w.followers.Load() == 0 || !s.Shared {
		if w.seen = ""; w.reported != "" { // else the next follower would first receive this selection
			w.publish(serve.Selection{})
			w.reported = ""
		}
		return
	}
	words := s.SelectionCommand()
	is := strings.Join(words, "\x00")
	if is != w.seen {
		w.seen, w.since = is, time.Now()
	}
	if is == w.reported || is == "" {
		return
	}
	if left := settled - time.Since(w.since); left > 0 {
		time.AfterFunc(left, s.Wake)
		return
	}
	w.reported = is
	w.publish(serve.Selection{Address: s.Address().String(), Command: words, Program: w.program})
	w.program = false
}

func (w *share) publish(now serve.Selection) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = now
	close(w.next)
	w.next = make(chan struct{})
}
