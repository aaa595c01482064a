package funcname

import (
	"strings"
	"unicode/utf8"
)

// Ellipsis stands for what was left out of a label.
const Ellipsis = "…"

// Narrow is the smallest width at which labels are made distinct, in widths of the letter
// n. At half of it labels still show their distinct part, as far as it fits.
const Narrow = 12

// Fewest is the smallest number of letters of a shortened label. Fewer are not
// recognizable.
const Fewest = 4

// Cut returns the label, shortened to a width, or "" if too little would be left to read.
func (l Label) Cut(width float32, m Widths) string {
	if m.Fits(l.Text, width) {
		return l.Text
	}
	room := width - m('…')
	if l.Path {
		if at := m.pathFrom(l.Text, room); at > 0 {
			return Ellipsis + l.Text[at:]
		}
	}
	end := m.words(l.Text, room)
	switch {
	case l.From > 0 && end <= l.Unique && width >= Narrow*m('n')/2:
		least := 0
		if l.Both {
			least = Fewest - 1
		}
		return m.around(l.Text[l.Head:], l.From-l.Head, min(least, l.From-l.Head), width)
	case l.Own > 0 && end <= l.Unique:
		own := l.Text[l.Own:]
		if m.Fits(own, width) {
			return own
		}
		return short(own[:m.words(own, room)])
	}
	return short(l.Text[:end])
}

// short returns the beginning of a label with an ellipsis, "" if it is too short.
func short(s string) string {
	if utf8.RuneCountInString(s) < Fewest {
		return ""
	}
	return trimmed(s) + Ellipsis
}

// Widths returns the width of a character.
type Widths func(rune) float32

// around returns the word of a text at offset from and the text after it, cut to fit.
// Before the word come as many words from the beginning of the text as fit, or part of
// the first one: at least the first least bytes.
func (m Widths) around(text string, from, least int, width float32) string {
	for least > 0 && !utf8.RuneStart(text[least]) {
		least++
	}
	room := width - m('…') - m.Width(text[:least], width)
	end := len(text)
	if !m.Fits(text[from:], room) {
		room -= m('…') // a second ellipsis, at the end
		end = from + m.words(text[from:], room)
	}
	s := text[from:end]
	if end < len(text) {
		s = trimmed(s) + Ellipsis
	}
	room -= m.Width(text[from:end], room) - m.Width(text[:least], width)
	most := m.Prefix(text[:from], room)
	for head := most; head > 1; head-- {
		if WordEnds(text, head) {
			return trimmed(text[:head]) + Ellipsis + s
		}
	}
	if head := trimmed(text[:most]); utf8.RuneCountInString(head) >= Fewest-1 {
		return head + Ellipsis + s
	}
	return Ellipsis + s
}

// words returns the offset at which to cut a text to a width: between words, or within
// the first word if that alone is too wide.
func (m Widths) words(text string, width float32) int {
	n := m.Prefix(text, width)
	for end := n; end > 0; end-- {
		if s := trimmed(text[:end]); WordEnds(text, end) && utf8.RuneCountInString(s) >= Fewest {
			return len(s)
		}
	}
	return n
}

// Prefix returns how many bytes of a text fit into a width.
func (m Widths) Prefix(text string, width float32) int {
	for i, r := range text {
		if width -= m(r); width < 0 {
			return i
		}
	}
	return len(text)
}

// pathFrom returns the offset of the slash from which the end of a path fits into a
// width; 0 if not even the last part fits.
func (m Widths) pathFrom(text string, width float32) int {
	from := 0
	for at := len(text); ; {
		if at = strings.LastIndexByte(text[:at], '/'); at < 0 || !m.Fits(text[at:], width) {
			return from
		}
		from = at
	}
}

// Width returns the width of a text. It stops adding once the sum exceeds most.
func (m Widths) Width(s string, most float32) (w float32) {
	for _, r := range s {
		if w += m(r); w > most {
			break
		}
	}
	return w
}

// Fits reports whether a text is no wider than a width. It stops as soon as that is
// known.
func (m Widths) Fits(s string, width float32) bool {
	for _, r := range s {
		if width -= m(r); width < 0 {
			return false
		}
	}
	return true
}

// trimmed returns a text without trailing separators.
func trimmed(s string) string { return strings.TrimRight(s, " .:/_-(<[,*&") }

// roughly returns the width of a character in most typefaces, in widths of n.
func roughly(r rune) float32 {
	switch {
	case strings.ContainsRune("ijl.,:;'|!- []", r):
		return .52
	case strings.ContainsRune("ftr(){}/\\\"", r):
		return .76
	case strings.ContainsRune("mwMW%@", r):
		return 1.63
	case r >= 'A' && r <= 'Z', r == '…':
		return 1.25
	}
	return 1
}
