package shell

import (
	"context"
	"errors"
	"sync"

	"ashlar/app/dialog"
)

// tasks are what other goroutines want done between two frames.
type tasks struct {
	mu   sync.Mutex
	todo []func(s *Shell)
}

// later runs f on the window's goroutine, soon. It may be called from any
// goroutine.
func (s *Shell) later(f func(s *Shell)) {
	s.tasks.mu.Lock()
	s.tasks.todo = append(s.tasks.todo, f)
	s.tasks.mu.Unlock()
	s.wake()
}

// run does what was left for now.
func (t *tasks) run(s *Shell) {
	t.mu.Lock()
	todo := t.todo
	t.todo = nil
	t.mu.Unlock()
	for _, f := range todo {
		f(s)
	}
}

// pick asks for files with the desktop's dialog, where there is one, and with a
// line to type in where there is none.
func (s *Shell) pick(title string, typed func(s *Shell), then func(s *Shell, paths []string)) {
	if s.Do.Pick == nil {
		typed(s)
		return
	}
	if s.unpick != nil {
		return // one is open
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.unpick = cancel
	r := dialog.Request{Title: title, Folder: s.startDir(), Multiple: true}
	go func() {
		paths, err := s.Do.Pick(ctx, r)
		s.later(func(s *Shell) {
			cancel()
			s.unpick = nil
			switch {
			case errors.Is(err, dialog.ErrNone):
				typed(s)
			case errors.Is(err, context.Canceled):
			case err != nil:
				s.Say(err.Error())
				typed(s)
			case len(paths) > 0:
				then(s, paths)
			}
		})
	}()
}
