package funcname

import (
	"strings"
	"unicode/utf8"
)

// Ellipsis stands for the omitted part of a label.
const Ellipsis = "…"

// Narrow is the smallest width at which labels are made distinct, in widths of the letter
// n.
const Narrow = 12

// Fewest is the smallest number of letters of a shortened label. Fewer are not
// recognizable.
const Fewest = 4

// Cut returns the label, shortened to a width, or "" if too little would be left to read.
func (l Label) Cut(width float32, m Widths) string {
	if m.Fits(l.Text, width) {
		return l.Text
	}
	if m.Fits(l.Text[l.Own:], width) {
		return l.Text[l.Own:]
	}
	room := width - m('…')
	switch {
	case l.Tail:
		if at := m.tail(l.Text, room); at > 0 {
			return Ellipsis + l.Text[at:]
		}
		at := lastWord(l.Text)
		if at == 0 { // nothing is left out before it
			return m.piece(l.Text, width)
		}
		return marked(m.piece(l.Text[at:], room))
	case l.Start > 0:
		return marked(m.piece(l.Text[l.Start:], room))
	}
	return m.piece(l.Text[l.Own:], width)
}

// piece returns a text, cut at its end to a width if it is wider.
func (m Widths) piece(text string, width float32) string {
	if m.Fits(text, width) {
		return text
	}
	return short(text[:m.words(text, width-m('…'))])
}

// marked returns a piece after an ellipsis, "" for no piece.
func marked(piece string) string {
	if piece == "" {
		return ""
	}
	return Ellipsis + piece
}

// short returns the beginning of a label with an ellipsis, "" if it is too short.
func short(s string) string {
	if s = trimmed(s); utf8.RuneCountInString(s) < Fewest {
		return ""
	}
	return s + Ellipsis
}

// Widths returns the width of a character.
type Widths func(rune) float32

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

// tail returns the offset of the longest end of a text that fits into a width and begins at
// a word or, for a path whose last part fits, at a slash; 0 if too little fits.
func (m Widths) tail(text string, width float32) int {
	words, part := 0, 0
	for at := len(text) - 1; at > 0 && m.Fits(text[at:], width); at-- {
		switch {
		case text[at] == '/':
			part = at
		case begins(text, at):
			words = at
		}
	}
	if part > 0 {
		return part
	}
	if utf8.RuneCountInString(text[words:]) < Fewest {
		return 0
	}
	return words
}

// lastWord returns the offset of the last part of a path or, in another text, of the last
// word from which at least Fewest letters remain.
func lastWord(text string) int {
	if IsPath(text) {
		return strings.LastIndexByte(text, '/') + 1
	}
	at := len(text)
	for at > 0 && utf8.RuneCountInString(text[at:]) < Fewest {
		at = Word(text, at-1)
	}
	return at
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
