package window

import (
	"context"

	"ashlar/app/desktop/instance"
	"ashlar/app/window/shell"
)

// inbox passes files from other programs to the window's goroutine.
type inbox struct {
	others *instance.Listener
	files  chan handover
	closed chan struct{}
	had    bool // whether the window had the focus at the last report
}

type handover struct {
	ctx   context.Context // ends when the asking program gives up
	req   instance.Request
	taken chan struct{}
}

// newInbox answers requests to l, which may be nil. wake requests a frame.
func newInbox(l *instance.Listener, wake func()) *inbox {
	go forward(wake)
	b := &inbox{others: l, files: make(chan handover, 16), closed: make(chan struct{})}
	if l == nil {
		return b
	}
	l.Serve(func(ctx context.Context, r instance.Request) instance.Answer {
		// A program has one window, so the asking program opens a new one itself.
		if !r.Reuse && !r.Compare || len(r.Files) == 0 && !r.Compare {
			return instance.Own
		}
		h := handover{ctx, r, make(chan struct{})}
		select {
		case b.files <- h:
		default: // the window does not respond
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

// forward requests a frame whenever the desktop opens files.
func forward(wake func()) {
	for path := range fromDesktop {
		named <- path
		wake()
	}
}

// named passes files to the next frame.
var named = make(chan string, 1)

// open opens the files handed over; it must be called between frames. It reports whether
// there were any.
func (b *inbox) open(s *shell.Shell) bool {
	any := false
	for {
		select {
		case path := <-named:
			s.Open(path)
			any = true
		case h := <-b.files:
			if h.ctx.Err() != nil {
				continue // the asking program has opened its own window
			}
			open := s.Open
			if h.req.Compare {
				open = s.OpenBeside
			}
			if len(h.req.Files) == 0 {
				s.AskCompare()
			} else {
				open(h.req.Files[0])
			}
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

// focused records, for other programs, when the window gets the keyboard focus: they ask the
// window used last first.
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
