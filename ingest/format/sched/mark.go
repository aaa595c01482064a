package sched

import (
	"bytes"
	"strconv"
	"strings"
)

// Mark is what a program wrote to the kernel's trace_marker in the form of Android's
// atrace, which others write too.
type Mark struct {
	// Kind is B and E for a slice of the thread that wrote, S and F for an operation of
	// the process, G and H for one on a track of the process, I for a moment of the
	// thread, N for one on a track of the process, and C for a counter of the process.
	Kind byte
	// PID is the process, 0 if the mark does not say, as ends may not.
	PID int64
	// Name is empty in E, F and H; Track is told by N, G and H, and is the name in S and F.
	Name, Track string
	// Cookie tells operations of one track from each other.
	Cookie string
	Value  float64 // of a counter
}

// ParseMark reads a mark: fields with bars between them, as "B|1234|name",
// "S|1234|name|cookie", "G|1234|track|name|cookie", "N|1234|track|name" and
// "C|1234|name|value". It reports false for other texts.
func ParseMark(text []byte) (m Mark, ok bool) {
	text = bytes.TrimRight(text, "\n\x00")
	if len(text) == 0 || len(text) > 1 && text[1] != '|' {
		return m, false
	}
	f := strings.Split(string(text), "|")
	at := func(i int) string {
		if i < len(f) {
			return f[i]
		}
		return ""
	}
	m.Kind = text[0]
	pid, err := strconv.ParseInt(strings.TrimSpace(at(1)), 10, 32)
	if m.PID = pid; m.Kind == 'E' {
		return m, true
	}
	if err != nil {
		return m, false
	}
	switch m.Kind {
	case 'B':
		m.Name = strings.Join(f[2:], "|")
		return m, true
	case 'I':
		m.Name = at(2)
		return m, m.Name != ""
	case 'C':
		m.Name = at(2)
		m.Value, err = strconv.ParseFloat(strings.TrimSpace(at(3)), 64) // behind it may be a category
		return m, err == nil && m.Name != ""
	case 'S', 'F':
		m.Track, m.Cookie = at(2), at(3)
		if m.Kind == 'S' {
			m.Name = m.Track
		}
	case 'N':
		m.Track, m.Name = at(2), at(3)
		return m, m.Track != "" && m.Name != ""
	case 'G':
		m.Track, m.Name, m.Cookie = at(2), at(3), at(4)
	case 'H': // the name may be left out
		m.Track, m.Cookie = at(2), at(3)
		if len(f) > 4 {
			m.Cookie = at(4)
		}
	default:
		return m, false
	}
	return m, m.Track != "" && m.Cookie != ""
}

// BegunAgain and its text say of operations that begin (S) while one of the same track and
// cookie is open, which Android's wakelocks do: the first begin and the first end count.
const (
	BegunAgain     = "begun-again"
	BegunAgainText = "Operations start again before they end, with the same name and cookie; they count as one"
)

// Operation identifies an operation: a begin and its end have the same.
func (m *Mark) Operation() string {
	kind := ""
	if m.Kind == 'G' || m.Kind == 'H' {
		kind = "|" // apart from what has the name of a track
	}
	return kind + strconv.FormatInt(m.PID, 10) + "|" + m.Track + "|" + m.Cookie
}
