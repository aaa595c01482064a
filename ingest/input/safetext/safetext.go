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

// Text makes a text a single line. Line ends and tabs become spaces, other invisible
// characters that have an effect become dots, and invalid UTF-8 becomes U+FFFD.
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

// Lines is like Text, but keeps line ends, tabs, and formatting characters that scripts and
// emoji need. It is for the clipboard: a terminal would run control characters that are
// pasted, and many programs end a text at NUL.
func Lines(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			return '·'
		}
		return r
	}, s)
}

// hidden reports whether r is a control character (including C1) or a formatting
// character, such as a bidi override, joiner or line separator.
func hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// longest is the maximum number of characters of a name.
const longest = 96

// Short returns Text(s), shortened in the middle if it is too long.
func Short(s string) string { return Middle(Text(s), longest) }

// Middle shortens a text to at most n characters. It cuts out the middle and keeps more
// of the beginning than of the end.
func Middle(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	head := n * 2 / 3
	return string(r[:head]) + "…" + string(r[len(r)-(n-head-1):])
}

// Sentence shortens a text of one or more sentences to at most n characters. Where it
// is too long, it keeps the first sentence, which states the finding.
func Sentence(s string, n int) string {
	s = Text(s)
	if first, _, ok := strings.Cut(s, ". "); ok && utf8.RuneCountInString(s) > n {
		s = first + "."
	}
	return Middle(s, n)
}

// Formula puts a ' before a text that a spreadsheet would take for a formula: one that
// begins with =, +, -, @ (also of full width, for Excel in Japanese), a tab or the end of a
// line and is not a number. The rest is unchanged, for programs that read it.
func Formula(s string) string {
	trimmed := strings.TrimLeft(s, " ")
	if first, _ := utf8.DecodeRuneInString(trimmed); trimmed == "" || !strings.ContainsRune("=+-@＝＋－＠\t\r\n", first) {
		return s
	}
	if _, err := strconv.ParseFloat(trimmed, 64); err == nil {
		return s
	}
	return "'" + s
}

// Cell makes a text safe for a table that a spreadsheet opens: Text, with a ' in front if
// it would be a formula. Numbers are unchanged.
func Cell(s string) string {
	return Formula(Text(s))
}

// Command formats words as a shell command.
func Command(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = word(w)
	}
	return strings.Join(quoted, " ")
}

// word formats a text as one word for a shell. It is quoted if it contains anything but
// ASCII letters, digits and a few signs without a meaning to the shell. Invisible
// characters become escapes that bash and zsh understand.
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
