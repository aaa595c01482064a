package window

import (
	"context"

	"ashlar/app/desktop/instance"
	"ashlar/app/window/shell"
)

// inbox brings files that other programs hand over to the window's goroutine.
type inbox struct {
	others *instance.Listener
	files  chan handover
	closed chan struct{}
	had    bool // the focus, when it was last told
}

type handover struct {
	ctx   context.Context // done when who asked has given up
	req   instance.Request
	taken chan struct{}
}

// newInbox answers those who ask l, which may be nil. wake asks for a frame.
func newInbox(l *instance.Listener, wake func()) *inbox {
	go forward(wake)
	b := &inbox{others: l, files: make(chan handover, 16), closed: make(chan struct{})}
	if l == nil {
		return b
	}
	l.Serve(func(ctx context.Context, r instance.Request) instance.Answer {
		// A program has one window, so whoever wants a new one opens it.
		if !r.Reuse && !r.Compare || len(r.Files) == 0 {
			return instance.Own
		}
		h := handover{ctx, r, make(chan struct{})}
		select {
		case b.files <- h:
		default: // a window that hangs
			return instance.Own
		}
		wake()
		select {
		case <-h.taken:
			return instance.Taken
		case <-ctx.Done():
			return instance.Own
		case <-b.closed:
			return instance.Own
		}
	})
	return b
}

// forward asks for a frame whenever the desktop has named files.
func forward(wake func()) {
	for path := range fromDesktop {
		named <- path
		wake()
	}
}

// named are files for the next frame.
var named = make(chan string, 1)

// open opens what was handed over; it must be called between frames. It
// reports whether there was anything.
func (b *inbox) open(s *shell.Shell) bool {
	any := false
	for {
		select {
		case path := <-named:
			s.Open(path)
			any = true
		case h := <-b.files:
			if h.ctx.Err() != nil {
				continue // its program has opened a window
			}
			open := s.Open
			if h.req.Compare {
				open = s.OpenBeside
			}
			open(h.req.Files[0])
			if len(h.req.Files) > 1 {
				s.OpenBeside(h.req.Files[1])
			}
			close(h.taken)
			any = true
		default:
			return any
		}
	}
}

// focused tells others that this window is the one in use.
func (b *inbox) focused(has bool) {
	if has && !b.had && b.others != nil {
		b.others.Used()
	}
	b.had = has
}

func (b *inbox) close() {
	close(b.closed)
	if b.others != nil {
		b.others.Close()
	}
}
