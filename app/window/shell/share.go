package shell

import (
	"errors"
	"image"
	"time"

	"ashlar/app/core/view"
	"ashlar/render/ui"
)

// shareTitle is the command that lets other programs query the session and navigate it.
const shareTitle = "Share session on or off"

func (s *Shell) toggleShare() {
	if s.Shared = !s.Shared; s.Shared {
		s.Say("Sharing: your programs can query and steer this window (--session) until you stop it")
	} else {
		s.Say("Stopped sharing")
	}
}

// shownFor is how long the status line names the view that a program showed.
const shownFor = 20 * time.Second

// ShowFor goes to an address for a program, as one undo step. The error is a sentence
// with the reason; the user is never interrupted.
func (s *Shell) ShowFor(address, note string) error {
	v, err := view.Parse(address)
	switch {
	case err != nil:
		return err
	case len(v.Files) == 0:
		return errors.New("the address names no file")
	case len(v.Invalid()) > 0:
		return v.Invalid()[0]
	case !s.Shared:
		return errors.New("the window does not share its session")
	case s.Focus.Held() || s.drag.over.Held:
		return errors.New("the user is dragging. Try again in a moment")
	case s.Chooser != nil || s.Menu != nil || s.Help || s.typing:
		return errors.New("the user is typing, in a menu or in the help. Try again in a moment")
	}
	s.Navigate(v)
	text := "Shown by a program"
	if note != "" {
		text = "Shown by a program: " + note
	}
	s.Say(text + " · " + keyOf("Undo") + " to go back")
	s.Note.Until = time.Now().Add(shownFor)
	return nil
}

// shared draws a note at the left of the status line while the session is shared with
// programs, and returns where the rest begins.
func (s *Shell) shared(u *ui.UI, r image.Rectangle) int {
	x := r.Min.X + u.Px(12)
	if !s.Shared {
		return x
	}
	const text = "Shared with programs"
	st := ui.Style{Size: 11.5, Color: u.Theme.Accent}
	u.Round(ui.Rect(x, (r.Min.Y+r.Max.Y)/2-u.Px(3), u.Px(6), u.Px(6)), 3, u.Theme.Accent)
	x += u.Px(11)
	w := u.Measure(text, st).X
	u.Text(image.Rect(x, r.Min.Y, x+w+1, r.Max.Y), text, st)
	return x + w + u.Px(14)
}
