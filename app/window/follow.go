package window

import (
	"context"

	"ashlar/app/window/shell"
	"ashlar/render/theme"
)

// follower keeps a shell's theme equal to the system's. It queries the system in the
// background when the system reports a change. It also does so when the window gets the
// focus, because users change the theme in another program.
type follower struct {
	ctx  context.Context
	stop context.CancelFunc
	wake func()
	now  chan *theme.Theme
}

func followSystem(wake func()) *follower {
	f := &follower{wake: wake, now: make(chan *theme.Theme, 1)}
	f.ctx, f.stop = context.WithCancel(context.Background())
	go f.ask()
	go watchSystem(f.ctx, f.ask)
	return f
}

// first passes on the first answer, before anything is drawn.
func (f *follower) first(s *shell.Shell) { s.Follow(<-f.now) }

// ask asks the system and keeps the answer for the next frame.
func (f *follower) ask() {
	t := systemTheme()
	select {
	case <-f.now: // an answer not yet taken is out of date
	default:
	}
	select {
	case f.now <- t:
		f.wake()
	default:
	}
}

func (f *follower) focused(on bool) {
	if on {
		go f.ask()
	}
}

// forward passes on the newest answer.
func (f *follower) forward(s *shell.Shell) {
	select {
	case t := <-f.now:
		s.Follow(t)
	default:
	}
}
