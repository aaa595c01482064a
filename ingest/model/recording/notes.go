package recording

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Note is a statement of a file about itself for which a Recording has no field: a
// comment, the machine, when it was recorded.
type Note struct{ Key, Value string }

// Keys of notes that several formats have. Other notes keep the key of the file.
const (
	NoteComment  = "comment"
	NoteDoc      = "documentation" // a URL
	NoteTime     = "recorded at"
	NoteDuration = "duration" // as NoteSeconds writes it
	NoteHost     = "host"
	NoteDrop     = "drop frames" // expressions of pprof
	NoteKeep     = "keep frames"
)

// Limits of notes, because files can hold anything.
const (
	maxNotes     = 100
	maxNoteBytes = 2 << 10
)

// Note adds a note. Empty and repeated notes are ignored, long ones are cut, and notes
// beyond the hundredth are only counted.
func (s *Source) Note(key, value string) {
	value = strings.TrimSpace(value)
	if value == "" {
		return
	}
	n := Note{cutText(key, 100), cutText(value, maxNoteBytes)}
	for _, o := range s.Notes {
		if o == n {
			return
		}
	}
	if len(s.Notes) == maxNotes {
		s.MoreNotes++
		return
	}
	s.Notes = append(s.Notes, n)
}

// NotesOf lists the values of a key's notes.
func (s *Source) NotesOf(key string) []string {
	var out []string
	for _, n := range s.Notes {
		if n.Key == key {
			out = append(out, n.Value)
		}
	}
	return out
}

// cutText returns valid UTF-8 of at most n bytes, with a mark if it was cut.
func cutText(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// NoteSeconds writes a length of time in nanoseconds for a note: "30.1 s".
func NoteSeconds(ns int64) string {
	return Decimal{Mantissa: ns, Scale: 9}.String() + " s"
}

// NoteNanos reads what NoteSeconds wrote.
func NoteNanos(s string) (ns int64, ok bool) {
	d, err := time.ParseDuration(strings.ReplaceAll(s, " ", ""))
	return int64(d), err == nil
}

// NoteUnix writes a time in nanoseconds since 1970 for a note.
func NoteUnix(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

// NoteUnixNanos reads what NoteUnix wrote.
func NoteUnixNanos(s string) (ns int64, ok bool) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return 0, false
	}
	return t.UnixNano(), true
}
