package safetext

import (
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// Writer returns a writer to w that replaces each invisible character that has an effect by
// \uXXXX, and invalid UTF-8 by U+FFFD; newlines and tabs stay. JSON keeps its meaning. For
// other text, it is a safeguard in case the caller forgot [Text].
func Writer(w io.Writer) io.Writer { return &net{w: w} }

type net struct {
	w    io.Writer
	rest []byte // start of an incomplete character
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
