package shell

import (
	"image"

	gio "gioui.org/widget"

	"ashlar/render/icon"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// hint is a button's tooltip: its command and the command's key.
type hint struct {
	command string
	at      image.Point
}

// iconButton draws a button that does a command, and returns its width.
func (s *Shell) iconButton(u *ui.UI, b *gio.Clickable, x, y int, i *icon.Icon, label, command string, active bool) int {
	w := u.IconButton(b, x, y, 0, i, label, active)
	s.hintAt(u, b, x, y, command)
	return w
}

// iconChoice draws a choice; the command switches to its next value.
func (s *Shell) iconChoice(u *ui.UI, b *gio.Clickable, x, y int, i *icon.Icon, label, command string) {
	u.IconChoice(b, x, y, i, label, 0)
	s.hintAt(u, b, x, y, command)
}

// hintAt names a button's command below it while the pointer is over it.
func (s *Shell) hintAt(u *ui.UI, b *gio.Clickable, x, y int, command string) {
	if b.Hovered() {
		s.hint = hint{command, image.Pt(x-u.Px(14), y+u.Px(14))}
	}
}

// layout draws the tooltip, unless something else is open, and resets it.
func (h *hint) layout(s *Shell, u *ui.UI) {
	if h.command != "" && s.Menu == nil && s.Chooser == nil && !s.Help && !s.Focus.Shown {
		var lines []string
		if k := keyOf(h.command); k != "" {
			lines = []string{k}
		}
		widget.Tip(u, h.at, h.command, lines)
	}
	*h = hint{}
}
