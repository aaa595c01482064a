package shell

import (
	"context"
	"errors"

	"ashlar/app/desktop/dialog"
)

// pick asks for files with the desktop's dialog, or with a text field if there is no
// dialog.
func (s *Shell) pick(title string, typed func(s *Shell), then func(s *Shell, paths []string)) {
	if s.Do.Pick == nil {
		typed(s)
		return
	}
	if s.unpick != nil {
		return // a dialog is open
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.unpick = cancel
	r := dialog.Request{Title: title, Folder: s.startDir(), Multiple: true}
	go func() {
		paths, err := s.Do.Pick(ctx, r)
		s.Later(func() {
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
