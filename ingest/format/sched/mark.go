package sched

import (
	"bytes"
	"strconv"
	"strings"
)

// A Mark is a message written to the kernel's trace_marker in the format of Android's
// atrace, which other programs use too.
type Mark struct {
	// Kind is B or E for a slice on the writing thread, S or F for an operation of the
	// process, G or H for an operation on a track of the process, I for an instant on the
	// thread, N for an instant on a track of the process, and C for a counter of the
	// process.
	Kind byte
	// PID is the process id, 0 if the mark has none, as is allowed for ends.
	PID int64
	// Name is empty in E, F and H. Track is set in N, G and H; in S and F it is the
	// operation's name.
	Name, Track string
	// Cookie distinguishes the operations of a track.
	Cookie string
	Value  float64 // value of a counter (C)
}

// ParseMark parses a mark, whose fields are separated by bars: "B|1234|name",
// "S|1234|name|cookie", "G|1234|track|name|cookie", "N|1234|track|name" or
// "C|1234|name|value". It returns false for other text.
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
		m.Value, err = strconv.ParseFloat(strings.TrimSpace(at(3)), 64) // a category may follow
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

// BegunAgain and BegunAgainText warn of operations that begin (S) while another with the
// same track and cookie is open, as Android's wakelocks do. The first begin and the first
// end count.
const (
	BegunAgain     = "begun-again"
	BegunAgainText = "Operations start again before they end, with the same name and cookie; they count as one"
)

// Operation returns an identifier of the operation, equal for its begin and its end.
func (m *Mark) Operation() string {
	kind := ""
	if m.Kind == 'G' || m.Kind == 'H' {
		kind = "|" // keeps tracks apart from operations with the same name
	}
	return kind + strconv.FormatInt(m.PID, 10) + "|" + m.Track + "|" + m.Cookie
}
