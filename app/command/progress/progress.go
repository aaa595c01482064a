// Package progress shows a progress line on a terminal.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"ashlar/render/units"
)

// Progress is a progress line on a terminal. Other outputs get none.
type Progress struct {
	w       io.Writer // nil: not a terminal
	quit    chan struct{}
	ended   sync.WaitGroup
	stopped sync.Once

	mu    sync.Mutex
	what  string
	state func() (done, total int64)
	since time.Time
}

const (
	after = 700 * time.Millisecond // shorter work shows no line
	every = 200 * time.Millisecond
)

// Start starts showing progress on w.
func Start(w io.Writer) *Progress {
	p := &Progress{quit: make(chan struct{})}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.w = f
		p.ended.Go(p.run)
	}
	return p
}

// Watch sets the text of the progress line and the source of its percentage.
func (p *Progress) Watch(what string, state func() (done, total int64)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what, p.state, p.since = what, state, time.Now()
}

// Writing shows the progress of a conversion, which reports it by calling the returned
// function.
func (p *Progress) Writing() func(done, total int64) {
	var done, total atomic.Int64
	p.Watch("writing", func() (int64, int64) { return done.Load(), total.Load() })
	return func(d, t int64) {
		done.Store(d)
		total.Store(t)
	}
}

func (p *Progress) run() {
	t := time.NewTicker(every)
	defer t.Stop()
	shown := false
	for {
		select {
		case <-p.quit:
			if shown {
				fmt.Fprint(p.w, "\r\x1b[K")
			}
			return
		case <-t.C:
		}
		p.mu.Lock()
		what, state, since := p.what, p.state, p.since
		p.mu.Unlock()
		if state == nil || time.Since(since) < after {
			continue
		}
		done, total := state()
		fmt.Fprintf(p.w, "\r\x1b[K%s", Text(what, done, total, time.Since(since)))
		shown = true
	}
}

// Text returns a progress text such as "reading 45 %, 12 s left". If the total is
// unknown, as with a pipe, it shows the bytes so far.
func Text(what string, done, total int64, took time.Duration) string {
	switch {
	case done <= 0:
		return what + " …"
	case total <= 0:
		return what + " … " + units.Bytes(done)
	}
	done = min(done, total)
	text := fmt.Sprintf("%s %d %%", what, int64(100*float64(done)/float64(total)))
	if left := units.Left(time.Duration(float64(took) * float64(total-done) / float64(done))); left != "" {
		text += ", " + left
	}
	return text
}

// Stop ends the progress line and erases it. It may be called again.
func (p *Progress) Stop() {
	p.stopped.Do(func() { close(p.quit) })
	p.ended.Wait()
}
