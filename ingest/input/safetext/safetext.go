// Package safetext escapes untrusted text from recordings for a terminal, a line of a
// file, a table cell or a shell command. Otherwise a control character could move the
// terminal's cursor, a bidi override reverse text, and a formula run in a spreadsheet.
package safetext

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text makes one line of a text: what ends lines becomes a space, another
// character that is not seen but does something a dot. What is no UTF-8 becomes
// U+FFFD.
func Text(s string) string { return strings.Map(visible, s) }

func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return ' '
	case hidden(r):
		return '·'
	}
	return r
}

// hidden are control characters, of C1 too, and those that format: bidi
// overrides, joiners, separators of lines.
func hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// longest is how many characters of a name are written.
const longest = 96

// Short is Text that is not too long: the middle is left out.
func Short(s string) string { return Middle(Text(s), longest) }

// Middle is a text of at most n characters: what is too long loses its middle, and keeps
// more of its beginning than of its end.
func Middle(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	head := n * 2 / 3
	return string(r[:head]) + "…" + string(r[len(r)-(n-head-1):])
}

// Formula puts a ' before a text that a spreadsheet would take for a formula: it begins
// with =, +, -, @, a tab or a carriage return and is no number. Everything else of it
// stays, for programs that read it.
func Formula(s string) string {
	trimmed := strings.TrimLeft(s, " ")
	if trimmed == "" || strings.IndexByte("=+-@\t\r", trimmed[0]) < 0 {
		return s
	}
	if _, err := strconv.ParseFloat(trimmed, 64); err == nil {
		return s
	}
	return "'" + s
}

// Cell makes a text fit for a table that a spreadsheet opens: one that would be
// a formula there gets a ' before it. Numbers stay.
func Cell(s string) string {
	return Formula(Text(s))
}

// Command writes words as a shell takes them.
func Command(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = word(w)
	}
	return strings.Join(quoted, " ")
}

// word writes a text as one word for a shell: in quotes where it has anything
// but ASCII letters, digits and a few signs that mean nothing there, and with
// escapes, which bash and zsh know, where it has what is not seen.
func word(s string) string {
	const harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,"
	switch {
	case s != "" && strings.Trim(s, harmless) == "":
		return s
	case utf8.ValidString(s) && strings.IndexFunc(s, hidden) < 0:
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	b := []byte("$'")
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\'' || r == '\\':
			b = append(b, '\\', byte(r))
		case hidden(r) || r == utf8.RuneError && size == 1:
			for _, c := range []byte(s[i : i+size]) {
				b = fmt.Appendf(b, `\x%02x`, c)
			}
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return string(append(b, '\''))
}
