package waits

import (
	"fmt"
	"path"
	"strings"

	"ashlar/ingest/model/recording"
)

// Functions returns the names of the functions of a stack, the innermost first. If the wait was in
// a library, it leaves out the library's inner functions and begins with the one that the program
// called.
func Functions(rec *recording.Recording, stack recording.CallID) (names []string) {
	p := placeOf(rec, stack)
	for c := stack; c != recording.NoCall; c = rec.Calls.Parent(c) {
		if rec.State(c) == recording.NoState {
			names = append(names, rec.FuncName(c))
			if rec.Calls.Frame(c) == p.Frame && p.Known && len(names) > 2 && p.Via != "" && p.Via != names[len(names)-1] {
				names = names[len(names)-2:] // called is the program's last function, and Via
			}
		}
	}
	return names
}

// StackText returns a stack in one line, the innermost function first, with at most this
// many functions; "" for no stack.
func StackText(rec *recording.Recording, stack recording.CallID, most int) string {
	names := Functions(rec, stack)
	if len(names) > most {
		names = append(names[:most:most], "…")
	}
	return strings.Join(names, " ← ")
}

// Text returns a place in words, such as "sync.(*Mutex).Lock in main.work (main.go:41)".
func (p *Place) Text(rec *recording.Recording) string {
	if !p.Known {
		return "unknown place"
	}
	fr := rec.Frames.At(int(p.Frame))
	f := rec.Functions.At(int(fr.Func))
	text := f.Name
	if p.Via != "" && p.Via != f.Name {
		text = p.Via + " in " + text
	}
	switch {
	case f.File != "" && fr.Line > 0:
		text += fmt.Sprintf(" (%s:%d)", path.Base(strings.ReplaceAll(f.File, `\`, "/")), fr.Line)
	case f.File == "" && fr.Line > 0:
		text += fmt.Sprintf(" (line %d)", fr.Line)
	}
	return text
}

// Title returns the name of a lock: the place with the longest waits, or the reason.
func (l *Lock) Title(rec *recording.Recording) string {
	if len(l.Places) > 0 {
		text := l.Places[0].Text(rec)
		if l.Places[0].Via == "" && l.Reason != "" {
			text = l.Reason + " in " + text
		}
		return text
	}
	title := l.Reason
	if title == "" {
		title = "blocked"
	}
	if len(l.Losers) > 0 {
		title += " in " + rec.TrackLabel(l.Losers[0].Track)
	}
	return title
}
