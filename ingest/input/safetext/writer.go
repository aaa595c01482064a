package safetext

import (
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// Writer writes to w what is written to it with each character that is not seen
// but does something as \uXXXX, and what is no UTF-8 as U+FFFD; newlines and tabs
// stay. In JSON that is the same text; elsewhere it is the net below
// whoever forgot [Text].
func Writer(w io.Writer) io.Writer { return &net{w: w} }

type net struct {
	w    io.Writer
	rest []byte // the beginning of a character whose end has not come
	out  []byte
}

func (n *net) Write(p []byte) (int, error) {
	if len(n.rest) == 0 && seen(p) == len(p) {
		return n.w.Write(p)
	}
	n.rest = append(n.rest, p...)
	n.out = n.out[:0]
	for {
		plain := seen(n.rest)
		n.out, n.rest = append(n.out, n.rest[:plain]...), n.rest[plain:]
		if len(n.rest) == 0 || !utf8.FullRune(n.rest) {
			break
		}
		r, size := utf8.DecodeRune(n.rest)
		switch {
		case !hidden(r):
			n.out = utf8.AppendRune(n.out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			n.out = fmt.Appendf(n.out, `\u%04x\u%04x`, high, low)
		default:
			n.out = fmt.Appendf(n.out, `\u%04x`, r)
		}
		n.rest = n.rest[size:]
	}
	if _, err := n.w.Write(n.out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// seen returns the length of the longest prefix of p that is printable ASCII, newlines and
// tabs: nearly all output.
func seen(p []byte) int {
	for i, c := range p {
		if c-' ' >= 0x7f-' ' && c != '\n' && c != '\t' {
			return i
		}
	}
	return len(p)
}
