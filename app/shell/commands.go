package shell

import (
	"slices"
	"strings"
	"time"

	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/op"

	"ashlar/ingest/analyze"
)

// Chord is a key with the modifiers it needs.
type Chord struct {
	Name key.Name
	Mods key.Modifiers
}

// String is how people read it: Ctrl-O.
func (c Chord) String() string {
	var b strings.Builder
	for _, m := range []struct {
		mod  key.Modifiers
		name string
	}{{key.ModCtrl, "Ctrl-"}, {key.ModAlt, "Alt-"}, {key.ModShift, "Shift-"}} {
		if c.Mods.Contain(m.mod) {
			b.WriteString(m.name)
		}
	}
	name := string(c.Name)
	if n, ok := keyNames[c.Name]; ok {
		name = n
	}
	return b.String() + name
}

var keyNames = map[key.Name]string{
	key.NameLeftArrow: "←", key.NameRightArrow: "→", key.NameUpArrow: "↑", key.NameDownArrow: "↓",
	key.NameEscape: "Esc", key.NamePageUp: "Page Up", key.NamePageDown: "Page Down",
	key.NameHome: "Home", key.NameEnd: "End", "-": "−", key.NameDeleteBackward: "Backspace",
}

// Command is something a person can do. The key map, the help page and the
// README's table come from the list of them.
type Command struct {
	Title string
	Keys  []Chord
	// needs tells that a recording must be open.
	needs bool
	do    func(s *Shell)
}

func chord(name key.Name, mods ...key.Modifiers) Chord {
	c := Chord{Name: name}
	for _, m := range mods {
		c.Mods |= m
	}
	return c
}

// Commands lists everything there is a key for, in the order of the help page.
var Commands []Command

// init rather than an initial value, since the palette, a command itself, lists
// them all.
func init() {
	Commands = commands()
	keyFilters = filters()
}

func commands() []Command {
	return append([]Command{
		{"Zoom in", []Chord{chord("W"), chord("+")}, true, func(s *Shell) { s.pane.zoomBy(1 / 1.3) }},
		{"Zoom out", []Chord{chord("S"), chord("-")}, true, func(s *Shell) { s.pane.zoomBy(1.3) }},
		{"Earlier", []Chord{chord("A"), chord(key.NameLeftArrow)}, true, func(s *Shell) { s.pane.panBy(-.15) }},
		{"Later", []Chord{chord("D"), chord(key.NameRightArrow)}, true, func(s *Shell) { s.pane.panBy(.15) }},
		{"Scroll up", []Chord{chord(key.NameUpArrow)}, true, func(s *Shell) { s.pane.scrollBy(-60) }},
		{"Scroll down", []Chord{chord(key.NameDownArrow)}, true, func(s *Shell) { s.pane.scrollBy(60) }},
		{"Page up", []Chord{chord(key.NamePageUp)}, true, func(s *Shell) { s.pane.scrollBy(-400) }},
		{"Page down", []Chord{chord(key.NamePageDown)}, true, func(s *Shell) { s.pane.scrollBy(400) }},
		{"Show everything", []Chord{chord("0"), chord(key.NameHome)}, true, func(s *Shell) { s.pane.fitAll() }},
		{"Fit the selection", []Chord{chord("F")}, true, func(s *Shell) { s.pane.fitSelection() }},
		{"Next event", []Chord{chord("E")}, true, func(s *Shell) { s.pane.nextEvent() }},
		{"Next metric", []Chord{chord("M")}, true, func(s *Shell) { s.pane.nextMetric() }},
		{"Next tab", []Chord{chord("T")}, true, func(s *Shell) { s.pane.tab = (s.pane.tab + 1) % len(tabs) }},
		{"Copy what is selected", []Chord{chord("C", key.ModCtrl)}, true, func(s *Shell) { s.pane.copy = true }},
		{"Copy as command", []Chord{chord("C", key.ModCtrl, key.ModShift)}, true, func(s *Shell) { s.copyCommand() }},
		{"Copy the view's address", []Chord{chord("A", key.ModCtrl, key.ModShift)}, true, func(s *Shell) { s.copyAddress() }},
		{"Colour by function, module, kind, thread or search", []Chord{chord("C")}, false, func(s *Shell) { s.nextMode() }},
		{"Dark or light", []Chord{chord("L")}, false, func(s *Shell) { s.toggleTheme() }},
		{"Search", []Chord{chord("/"), chord("F", key.ModCtrl)}, true, func(s *Shell) { s.pane.search.focus = true }},
		{"Next hit", []Chord{chord("N")}, true, func(s *Shell) { s.pane.walk(s, true) }},
		{"Previous hit", []Chord{chord("N", key.ModShift)}, true, func(s *Shell) { s.pane.walk(s, false) }},
		{"Next span of the same function", []Chord{chord("]")}, true, func(s *Shell) { s.pane.sameFunction(s, true) }},
		{"Previous span of the same function", []Chord{chord("[")}, true, func(s *Shell) { s.pane.sameFunction(s, false) }},
		{"Mark a time, a range or a function", []Chord{chord("B")}, true, func(s *Shell) { s.askMark() }},
		{"Go to a mark", []Chord{chord("B", key.ModShift)}, true, func(s *Shell) { s.chooseMark("Go to a mark", (*pane).goToMark) }},
		{"Next mark", []Chord{chord(".")}, true, func(s *Shell) { s.pane.walkMarks(s, true) }},
		{"Previous mark", []Chord{chord(",")}, true, func(s *Shell) { s.pane.walkMarks(s, false) }},
		{"Rename a mark", nil, true, func(s *Shell) { s.chooseMark("Rename a mark", (*pane).renameMark) }},
		{"Delete a mark", nil, true, func(s *Shell) { s.chooseMark("Delete a mark", (*pane).deleteMark) }},
		{"Focus on the selected function", nil, true, func(s *Shell) { s.pane.onPicked(s, analyze.Focus) }},
		{"Hide the selected function", nil, true, func(s *Shell) { s.pane.onPicked(s, analyze.Hide) }},
		{"Drop the selected function", nil, true, func(s *Shell) { s.pane.onPicked(s, analyze.Drop) }},
		{"Flamegraph of the callers of the selected function", nil, true, func(s *Shell) { s.pane.onPicked(s, analyze.CallersOf) }},
		{"Flamegraph of the callees of the selected function", nil, true, func(s *Shell) { s.pane.onPicked(s, analyze.CalleesOf) }},
		{"Flamegraph bottom-up", []Chord{chord("I")}, true, func(s *Shell) { s.pane.transform(analyze.Invert()) }},
		{"Flamegraph in order of time", []Chord{chord("O")}, true, func(s *Shell) { s.pane.transform(analyze.ByTime()) }},
		{"Flamegraph with the root at the bottom, or at the top", []Chord{chord("U")}, true, func(s *Shell) { s.pane.flame.turn() }},
		{"Callers and callees of the selected function", []Chord{chord("K")}, true, func(s *Shell) { s.pane.tab = tabNear }},
		{"Collapse recursion", []Chord{chord("R")}, true, func(s *Shell) { s.pane.transform(analyze.CollapseRecursion()) }},
		{"Merge by module", nil, true, func(s *Shell) { s.pane.transform(analyze.MergeByModule()) }},
		{"Merge by file", nil, true, func(s *Shell) { s.pane.transform(analyze.MergeByFile()) }},
		{"Fold inlined frames", nil, true, func(s *Shell) { s.pane.transform(analyze.FoldInlined()) }},
		{"Hide kernel frames", nil, true, func(s *Shell) { s.pane.transform(analyze.HideKernel()) }},
		{"Join user and kernel stacks", nil, true, func(s *Shell) { s.pane.joinRelated(s) }},
		{"Take away all transforms", []Chord{chord(key.NameDeleteBackward)}, true, func(s *Shell) { s.pane.transforms = nil }},
		{"Undo, back to the view before", []Chord{chord("Z", key.ModCtrl), chord(key.NameLeftArrow, key.ModAlt)}, true, func(s *Shell) { s.pane.undo() }},
		{"Redo, on to the view after", []Chord{chord("Y", key.ModCtrl), chord(key.NameRightArrow, key.ModAlt)}, true, func(s *Shell) { s.pane.redo() }},
		{"All commands", []Chord{chord("K", key.ModCtrl)}, false, func(s *Shell) { s.openPalette() }},
		{"Open a file", []Chord{chord("O", key.ModCtrl)}, false, func(s *Shell) { s.askOpen() }},
		{"Open a file by its path", []Chord{chord("O", key.ModCtrl, key.ModShift)}, false, func(s *Shell) { s.typeOpen() }},
		{"Open a part of this file", nil, true, func(s *Shell) { s.askPart() }},
		{"Stop reading, show what is there", []Chord{chord(".", key.ModCtrl)}, true, func(s *Shell) { s.pane.doc.Stop() }},
		{"Full screen", []Chord{chord(key.NameF11)}, false, func(s *Shell) { s.call(s.Do.Fullscreen) }},
		{"Back: close, zoom out, deselect", []Chord{chord(key.NameEscape)}, false, func(s *Shell) { s.back() }},
		{"Help", []Chord{chord("?"), chord("H")}, false, func(s *Shell) { s.help = !s.help }},
		{"Quit", []Chord{chord("Q", key.ModCtrl), chord("W", key.ModCtrl)}, false, func(s *Shell) { s.call(s.Do.Close) }},
	}, lookCommands()...)
}

// keyFilters matches every key of a command.
var keyFilters []event.Filter

func filters() []event.Filter {
	var fs []event.Filter
	for _, c := range Commands {
		for _, k := range c.Keys {
			f := key.Filter{Name: k.Name, Required: k.Mods}
			if k.Mods == 0 || k.Name == "+" {
				f.Optional = key.ModShift
			}
			fs = append(fs, f)
		}
	}
	// Keyboards give + and ? as = and / with Shift held down.
	return append(fs, key.Filter{Name: "=", Optional: key.ModShift | key.ModCtrl}, key.Filter{Name: "/", Required: key.ModShift})
}

// press runs the command of a key.
func (s *Shell) press(k key.Event) {
	switch {
	case k.Name == "=":
		k.Name = "+"
	case k.Name == "/" && k.Modifiers.Contain(key.ModShift):
		k.Name = "?"
	}
	if (s.chooser != nil || s.typing) && k.Name != key.NameEscape && !k.Modifiers.Contain(key.ModCtrl) {
		return // it is being typed
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
			if !c.needs || s.pane != nil {
				c.do(s)
			}
			return true
		}
	}
	return false
}

func (s *Shell) call(f func()) {
	if f != nil {
		f()
	}
}

// back undoes the nearest thing: a menu, the help page, the flamegraph's zoom,
// the selection.
func (s *Shell) back() {
	switch {
	case s.chooser != nil:
		s.chooser = nil
	case s.menu != nil:
		s.menu = nil
	case s.help:
		s.help = false
	case s.pane != nil && s.typing && s.pane.search.text == "":
		s.pane.search.blur = true
	case s.pane != nil:
		s.pane.back()
	}
}

func opInvalidateAt(t time.Time) op.InvalidateCmd { return op.InvalidateCmd{At: t} }
