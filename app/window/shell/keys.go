package shell

import (
	"slices"

	"gioui.org/io/event"
	"gioui.org/io/key"

	"ashlar/render/ui"
)

// keyFilters matches every key of a command, typingFilters those that mean the
// same while a text is being typed.
var keyFilters, typingFilters []event.Filter

func filters() (all, typing []event.Filter) {
	for _, c := range Commands {
		for _, k := range c.Keys {
			f := key.Filter{Name: k.Name, Required: k.Mods}
			if k.Mods == 0 || k.Name == "+" {
				f.Optional = key.ModShift
			}
			all = append(all, f)
			if k.Name == key.NameEscape || k.Name == key.NameTab || k.Mods.Contain(key.ModCtrl) && !editing[k.Name] {
				typing = append(typing, f)
			}
		}
	}
	// Keyboards give + and ? as = and / with Shift held down.
	all = append(all, key.Filter{Name: "=", Optional: key.ModShift | key.ModCtrl}, key.Filter{Name: "/", Required: key.ModShift})
	for _, n := range []key.Name{key.NameEnter, key.NameSpace, key.NameHome, key.NameEnd} {
		all = append(all, key.Filter{Name: n, Optional: key.ModShift})
	}
	return all, typing
}

// editing are the keys that a text field has its own use for with Ctrl held.
var editing = map[key.Name]bool{
	"A": true, "C": true, "V": true, "X": true, "Y": true, "Z": true,
	key.NameLeftArrow: true, key.NameRightArrow: true, key.NameUpArrow: true, key.NameDownArrow: true,
	key.NameHome: true, key.NameEnd: true,
}

// keys runs the commands whose keys were pressed.
func (s *Shell) keys(u *ui.UI) {
	fs := keyFilters
	switch {
	case s.Chooser != nil: // it has its own use for Tab
		fs = []event.Filter{key.Filter{Name: key.NameEscape}}
	case s.typing:
		fs = typingFilters
	}
	for {
		ev, ok := u.Event(fs...)
		if !ok {
			return
		}
		if k, ok := ev.(key.Event); ok && k.State == key.Press {
			s.press(u, k)
		}
	}
}

// press gives a key to what has the keyboard, an open menu first, or else runs
// its command.
func (s *Shell) press(u *ui.UI, k key.Event) {
	switch {
	case k.Name == "=":
		k.Name = "+"
	case k.Name == "/" && k.Modifiers.Contain(key.ModShift):
		k.Name = "?"
	case k.Name == key.NameEnter:
		k.Name = key.NameReturn
	}
	if s.Menu != nil && k.Name != key.NameEscape {
		if do := s.Menu.Key(k); do != nil {
			s.leaveMenu(do)
		}
		return
	}
	if s.typing && k.Name == key.NameTab {
		u.Execute(key.FocusCmd{})
	}
	if s.Help && (s.reading != nil && s.reading.press(k) || s.reading == nil && s.helpState.press(k)) {
		return
	}
	if s.Pane != nil {
		s.Pane.KeyedAt = s.Pane.At
	}
	if !s.typing && !s.Help && s.Focus.Key(k) {
		return
	}
	// A key with Shift means the same as without, unless that is another
	// command's.
	if !s.run(Chord{k.Name, k.Modifiers}) && k.Modifiers.Contain(key.ModShift) {
		s.run(Chord{k.Name, k.Modifiers &^ key.ModShift})
	}
}

// run runs the command of a chord and reports whether there is one.
func (s *Shell) run(ch Chord) bool {
	for _, c := range Commands {
		if slices.Contains(c.Keys, ch) {
			if !c.needs || s.Pane != nil {
				c.do(s)
			}
			return true
		}
	}
	return false
}

// nextArea moves the keyboard to the next area of the window, or to the one
// before.
func (s *Shell) nextArea(d int) {
	if !s.Help {
		s.Focus.Next(d)
	}
}

// back undoes the nearest thing: a menu, the help page, the flamegraph's zoom,
// the selection.
func (s *Shell) back() {
	switch {
	case s.Chooser != nil:
		s.Chooser = nil
	case s.Menu != nil:
		s.Menu = nil
	case s.Help:
		s.Help = false
	case s.Pane != nil && s.Pane.Finder.Fresh().List.Open:
		s.Pane.Finder.Fresh().List.Open = false
	case s.Pane != nil && s.typing && s.Pane.Find == "":
		s.Pane.Finder.Blur()
	case s.Pane != nil:
		s.BackPane()
	}
}
