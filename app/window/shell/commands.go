package shell

import (
	"slices"
	"strings"

	"gioui.org/io/key"

	"ashlar/app/window/panel"
	lanes "ashlar/app/window/timeline"
	"ashlar/render/timeline"
)

// Chord is a key together with its modifiers.
type Chord struct {
	Name key.Name
	Mods key.Modifiers
}

// String returns the usual form: Ctrl-O. Arrow keys are words because some fonts lack the
// arrow characters.
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
	key.NameLeftArrow: "Left", key.NameRightArrow: "Right", key.NameUpArrow: "Up", key.NameDownArrow: "Down",
	key.NameEscape: "Esc", key.NamePageUp: "Page Up", key.NamePageDown: "Page Down",
	key.NameHome: "Home", key.NameEnd: "End", key.NameReturn: "Return", "-": "−",
	key.NameDeleteForward: "Delete", key.NameDeleteBackward: "Backspace",
}

// Command is an action of the user. The key map, the help page and the manual's table are
// generated from the list of commands.
type Command struct {
	Title string
	Keys  []Chord
	// needs reports whether a recording must be open.
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

// Commands lists all commands, in the order of the help page.
var Commands []Command

// This is an init function rather than an initial value, because the palette, itself a
// command, lists all commands.
func init() {
	Commands = commands()
	keyFilters, typingFilters = filters()
	for _, f := range typingFilters {
		if k := f.(key.Filter); k.Name != key.NameEscape && k.Name != key.NameTab {
			completingFilters = append(completingFilters, f)
		}
	}
}

func commands() []Command {
	return slices.Concat([]Command{
		{"Zoom in", []Chord{chord("W"), chord("+")}, true, func(s *Shell) { s.Pane.ZoomBy(1 / 1.3) }},
		{"Zoom out", []Chord{chord("S"), chord("-")}, true, func(s *Shell) { s.Pane.ZoomBy(1.3) }},
		{"Earlier", []Chord{chord("A"), chord(key.NameLeftArrow)}, true, func(s *Shell) { s.Pane.PanBy(-.15) }},
		{"Later", []Chord{chord("D"), chord(key.NameRightArrow)}, true, func(s *Shell) { s.Pane.PanBy(.15) }},
		{"Scroll up", []Chord{chord(key.NameUpArrow)}, true, func(s *Shell) { s.Pane.ScrollBy(-60) }},
		{"Scroll down", []Chord{chord(key.NameDownArrow)}, true, func(s *Shell) { s.Pane.ScrollBy(60) }},
		{"Page up", []Chord{chord(key.NamePageUp)}, true, func(s *Shell) { s.Pane.ScrollBy(-400) }},
		{"Page down", []Chord{chord(key.NamePageDown)}, true, func(s *Shell) { s.Pane.ScrollBy(400) }},
		{"Go to time", []Chord{chord("G")}, true, func(s *Shell) { s.Pane.AskTime(&s.Host) }},
		{"Zoom to box", []Chord{chord("Z")}, true, func(s *Shell) { s.Pane.BoxNext(&s.Host) }},
		{"Zoom out fully", []Chord{chord("0"), chord(key.NameHome)}, true, func(s *Shell) { s.FitAll() }},
		{"Zoom to selection", []Chord{chord("F")}, true, func(s *Shell) { s.Pane.FitSelection() }},
		{"Select next span", []Chord{chord(key.NameRightArrow, key.ModCtrl)}, true, func(s *Shell) { s.Pane.PickAlong(&s.Host, 1) }},
		{"Select previous span", []Chord{chord(key.NameLeftArrow, key.ModCtrl)}, true, func(s *Shell) { s.Pane.PickAlong(&s.Host, -1) }},
		{"Select first callee", []Chord{chord(key.NameDownArrow, key.ModCtrl)}, true, func(s *Shell) { s.Pane.PickDeep(true) }},
		{"Select caller", []Chord{chord(key.NameUpArrow, key.ModCtrl)}, true, func(s *Shell) { s.Pane.PickDeep(false) }},
		{"Select next row", []Chord{chord(key.NameDownArrow, key.ModAlt)}, true, func(s *Shell) { s.Pane.PickRow(1) }},
		{"Select previous row", []Chord{chord(key.NameUpArrow, key.ModAlt)}, true, func(s *Shell) { s.Pane.PickRow(-1) }},
		{"Follow arrow forward", []Chord{chord("]", key.ModCtrl)}, true, func(s *Shell) { s.Pane.FollowFlow(&s.Host, false) }},
		{"Go to waker", nil, true, func(s *Shell) { s.Pane.GoToWaker(&s.Host) }},
		{"Follow arrow back", []Chord{chord("[", key.ModCtrl)}, true, func(s *Shell) { s.Pane.FollowFlow(&s.Host, true) }},
		{"Extend selected time", []Chord{chord(key.NameRightArrow, key.ModShift)}, true, func(s *Shell) { s.Pane.Extend(.02) }},
		{"Shorten selected time", []Chord{chord(key.NameLeftArrow, key.ModShift)}, true, func(s *Shell) { s.Pane.Extend(-.02) }},
		{"Extend to next edge", []Chord{chord(key.NameRightArrow, key.ModCtrl, key.ModShift)}, true, func(s *Shell) { s.Pane.ExtendToEdge(true) }},
		{"Shorten to previous edge", []Chord{chord(key.NameLeftArrow, key.ModCtrl, key.ModShift)}, true, func(s *Shell) { s.Pane.ExtendToEdge(false) }},
		{"Show or hide findings", nil, true, func(s *Shell) { s.ToggleFindings() }},
		{"Filter threads by name", []Chord{chord("F", key.ModCtrl, key.ModShift)}, true, func(s *Shell) { s.Pane.Tracks.Focus = s.Pane.Timed() }},
		{"Show or hide threads", []Chord{chord("V")}, true, func(s *Shell) { s.Pane.ChooseTracks(&s.Host) }},
		{"Fold or unfold thread", []Chord{chord("Y")}, true, func(s *Shell) { s.Pane.OnTrack(func(r *timeline.Row) { s.Pane.Fold(r) }) }},
		{"Fold all threads", []Chord{chord("Y", key.ModShift)}, true, func(s *Shell) { s.Pane.FoldAll(false) }},
		{"Unfold all threads", nil, true, func(s *Shell) { s.Pane.FoldAll(true) }},
		{"Fold or unfold all processes", nil, true, func(s *Shell) { s.Pane.FoldProcesses() }},
		{"Pin or unpin thread", []Chord{chord("P")}, true, func(s *Shell) { s.Pane.OnTrack(func(r *timeline.Row) { s.Pane.TogglePin(r.Index) }) }},
		{"Hide thread", []Chord{chord(key.NameDeleteForward)}, true, func(s *Shell) { s.Pane.OnTrack(func(r *timeline.Row) { s.Pane.Hide(r.Index, true) }) }},
		{"Move thread up", []Chord{chord(key.NameUpArrow, key.ModAlt, key.ModShift)}, true, func(s *Shell) { s.Pane.OnTrack(func(r *timeline.Row) { s.Pane.ShiftTrack(r.Index, -1) }) }},
		{"Move thread down", []Chord{chord(key.NameDownArrow, key.ModAlt, key.ModShift)}, true, func(s *Shell) { s.Pane.OnTrack(func(r *timeline.Row) { s.Pane.ShiftTrack(r.Index, 1) }) }},
		{"Next event", []Chord{chord("E")}, true, func(s *Shell) { s.NextMetric(true) }},
		{"Next metric", []Chord{chord("M")}, true, func(s *Shell) { s.NextMetric(false) }},
		{"Next tab", []Chord{chord("T")}, true, func(s *Shell) { s.NextTab() }},
		{"Copy selection", []Chord{chord("C", key.ModCtrl)}, true, func(s *Shell) { s.Pane.Copy = true }},
		{"Copy as command", []Chord{chord("C", key.ModCtrl, key.ModShift)}, true, func(s *Shell) { s.copyCommand() }},
		{"Copy view address", []Chord{chord("A", key.ModCtrl, key.ModShift)}, true, func(s *Shell) { s.CopyAddress() }},
		{"Next colour mode", []Chord{chord("C")}, false, func(s *Shell) { s.nextMode() }},
		{"Switch dark or light", []Chord{chord("L")}, false, func(s *Shell) { s.toggleTheme() }},
		{"Search", []Chord{chord("/"), chord("F", key.ModCtrl)}, true, func(s *Shell) { s.Pane.Finder.Focus() }},
		{"Next match", []Chord{chord("N")}, true, func(s *Shell) { s.Pane.Finder.Walk(&s.Host, true) }},
		{"Previous match", []Chord{chord("N", key.ModShift)}, true, func(s *Shell) { s.Pane.Finder.Walk(&s.Host, false) }},
		{"List matches", []Chord{chord("L", key.ModCtrl)}, true, func(s *Shell) { s.Pane.Finder.ToggleHits() }},
		{"Next span of function", []Chord{chord("]")}, true, func(s *Shell) { s.Pane.SameFunction(&s.Host, true) }},
		{"Previous span of function", []Chord{chord("[")}, true, func(s *Shell) { s.Pane.SameFunction(&s.Host, false) }},
		{"Add mark", []Chord{chord("B")}, true, func(s *Shell) { s.Pane.MarkList.Ask(&s.Host) }},
		{"Go to mark", []Chord{chord("B", key.ModShift)}, true, func(s *Shell) { s.Pane.MarkList.Choose(&s.Host, "Go to mark", s.Pane.MarkList.GoTo) }},
		{"Next mark", []Chord{chord("'")}, true, func(s *Shell) { s.Pane.MarkList.Walk(&s.Host, true) }},
		{"Previous mark", []Chord{chord(";")}, true, func(s *Shell) { s.Pane.MarkList.Walk(&s.Host, false) }},
		{"Rename mark", nil, true, func(s *Shell) { s.Pane.MarkList.Choose(&s.Host, "Rename mark", s.Pane.MarkList.Rename) }},
		{"Delete mark", nil, true, func(s *Shell) { s.Pane.MarkList.Choose(&s.Host, "Delete mark", s.Pane.MarkList.Delete) }},
	}, transformCommands(), []Command{
		{"Flip flamegraph", []Chord{chord("U")}, true, func(s *Shell) { s.Pane.FlipFlamegraph() }},
		{"Callers and callees", []Chord{chord("Q")}, true, func(s *Shell) { s.Pane.Tab = panel.Callers }},
		{"Filter by label", nil, true, func(s *Shell) { s.Pane.Details.ChooseLabel(&s.Host, "") }},
		{"Clear all transforms", []Chord{chord(key.NameDeleteBackward)}, true, func(s *Shell) { s.Pane.Transforms = nil }},
		{"Undo", []Chord{chord("Z", key.ModCtrl), chord(key.NameLeftArrow, key.ModAlt)}, true, func(s *Shell) { s.Undo() }},
		{"Redo", []Chord{chord("Y", key.ModCtrl), chord(key.NameRightArrow, key.ModAlt)}, true, func(s *Shell) { s.Redo() }},
		{"Next pane", []Chord{chord(key.NameTab)}, false, func(s *Shell) { s.nextArea(1) }},
		{"Previous pane", []Chord{chord(key.NameTab, key.ModShift)}, false, func(s *Shell) { s.nextArea(-1) }},
		{"Select its time range", []Chord{chord(key.NameReturn)}, true, func(s *Shell) { s.Pane.SelectPicked() }},
		{"Select its thread", []Chord{chord(key.NameReturn, key.ModShift)}, true, func(s *Shell) { s.Pane.OnTrack(func(r *timeline.Row) { s.Pane.OnlyTrack(r.Index) }) }},
		{"Context menu", []Chord{chord(key.NameF10, key.ModShift)}, true, func(s *Shell) { s.Pane.WantMenu = true }},
		{"Command palette", []Chord{chord("K", key.ModCtrl)}, false, func(s *Shell) { s.openPalette() }},
		{"Open file", []Chord{chord("O", key.ModCtrl)}, false, func(s *Shell) { s.askOpen() }},
		{"Open file by path", []Chord{chord("O", key.ModCtrl, key.ModShift)}, false, func(s *Shell) { s.typeOpen() }},
		{"Open part of file", nil, true, func(s *Shell) { s.askPart() }},
		{"Stop loading", []Chord{chord(".", key.ModCtrl)}, true, func(s *Shell) { s.Pane.Doc.Stop() }},
		{"Full screen", []Chord{chord(key.NameF11)}, false, func(s *Shell) { s.call(s.Do.Fullscreen) }},
		{"Back: close, zoom out, deselect", []Chord{chord(key.NameEscape)}, false, func(s *Shell) { s.back() }},
		{"Help", []Chord{chord("?"), chord("H")}, false, func(s *Shell) { s.toggleHelp() }},
		{"Manual", []Chord{chord(key.NameF1)}, false, func(s *Shell) { s.openManual() }},
		{"Quit", []Chord{chord("Q", key.ModCtrl), chord("W", key.ModCtrl)}, false, func(s *Shell) { s.call(s.Do.Close) }},
	}, sortCommands(), compareCommands(), lookCommands(), exportCommands(), copyCommands())
}

// keyOf returns the key of a command, for menus; "" if it has none.
func keyOf(title string) string {
	for i := range Commands {
		if c := &Commands[i]; c.Title == title && len(c.Keys) > 0 {
			return c.Keys[0].String()
		}
	}
	return ""
}

func (s *Shell) call(f func()) {
	if f != nil {
		f()
	}
}

// sortCommands returns a command for each sort order.
func sortCommands() (all []Command) {
	for _, o := range timeline.Sorts {
		all = append(all, Command{lanes.SortTitle(o), nil, true, func(s *Shell) { s.Pane.SortTracks(o) }})
	}
	return all
}
