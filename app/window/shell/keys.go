package shell

import (
	"slices"

	"gioui.org/io/event"
	"gioui.org/io/key"

	"ashlar/render/ui"
)

// keyFilters match the keys of all commands; typingFilters match the keys that also work
// while text is being typed.
var keyFilters, typingFilters []event.Filter

// completingFilters are typingFilters without the keys of a list of completions.
var completingFilters []event.Filter

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
	// Keyboards report + and ? as = and / with Shift.
	all = append(all, key.Filter{Name: "=", Optional: key.ModShift | key.ModCtrl}, key.Filter{Name: "/", Required: key.ModShift},
		key.Filter{Name: key.NameReturn, Required: key.ModShortcut}, key.Filter{Name: key.NameEnter, Required: key.ModShortcut}) // for panels
	for _, n := range []key.Name{key.NameEnter, key.NameSpace, key.NameHome, key.NameEnd} {
		all = append(all, key.Filter{Name: n, Optional: key.ModShift})
	}
	return all, typing
}

// editing lists the keys that text fields use with Ctrl.
var editing = map[key.Name]bool{
	"A": true, "C": true, "V": true, "X": true, "Y": true, "Z": true,
	key.NameLeftArrow: true, key.NameRightArrow: true, key.NameUpArrow: true, key.NameDownArrow: true,
	key.NameHome: true, key.NameEnd: true,
}

// keys runs the commands whose keys were pressed.
func (s *Shell) keys(u *ui.UI) {
	for {
		fs := keyFilters
		switch {
		case s.Chooser != nil: // the chooser uses Tab itself
			fs = []event.Filter{key.Filter{Name: key.NameEscape}}
		case s.typing && s.Completing:
			fs = completingFilters
		case s.typing:
			fs = typingFilters
		}
		ev, ok := u.Event(fs...)
		if !ok {
			return
		}
		if k, ok := ev.(key.Event); ok && k.State == key.Press {
			s.press(u, k)
			s.open(u, k)
		}
	}
}

// open is called when key k may have opened a text field. In a slow frame, the next keys
// arrive together with k; they are left to the field. The text of k itself is dropped.
func (s *Shell) open(u *ui.UI, k key.Event) {
	if s.typing || s.Chooser == nil && (s.Pane == nil || !s.Pane.Finder.Typing(u)) {
		return
	}
	s.typing = true
	if k.Modifiers&^key.ModShift == 0 {
		u.Event(key.FocusFilter{Target: s})
	}
}

// hold takes the keyboard focus if nothing has it, before any field asks for it. Without
// a focus, the router would drop typed text, including text for a field that a key is
// just opening.
func (s *Shell) hold(u *ui.UI) {
	if u.Focused(nil) {
		u.Execute(key.FocusCmd{Tag: s})
	}
}

// letGo drops the text that no field took.
func (s *Shell) letGo(u *ui.UI) {
	for ok := true; ok; {
		_, ok = u.Event(key.FocusFilter{Target: s})
	}
}

// press passes a key to the area with the keyboard focus, an open menu first; otherwise
// it runs the key's command.
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
	// Shift is ignored unless the key with Shift has a command of its own.
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

// nextArea moves the keyboard focus to the next or previous area of the window.
func (s *Shell) nextArea(d int) {
	if !s.Help {
		s.Focus.Next(d)
	}
}

// back closes or undoes the innermost thing: a menu, the help page, the flamegraph's
// zoom, the selection.
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
	case s.Pane != nil && s.typing && (s.Pane.Find == "" || !s.searching): // leaves the field
		s.Pane.Finder.Blur()
	case s.Pane != nil:
		s.BackPane()
	}
}
