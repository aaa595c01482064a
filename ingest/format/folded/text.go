package folded

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"

	"ashlar/ingest/input/source"
)

// text returns the content in chunks of UTF-8, decoded according to its byte order mark.
// Windows shells write UTF-16 when output is redirected.
type text struct {
	in   *source.Input
	bom  int  // bytes of the byte order mark left to skip
	wide bool // UTF-16
	big  bool // big endian
	// For UTF-16: raw is the number of bytes of the last input chunk not converted yet,
	// high an unpaired high surrogate, last the last chunk returned.
	raw     int
	high    rune
	last    []byte
	damaged int64
}

// mark returns the encoding given by a byte order mark.
func mark(head []byte) (bom int, wide, big bool) {
	switch {
	case bytes.HasPrefix(head, []byte{0xEF, 0xBB, 0xBF}):
		return 3, false, false
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return 2, true, true
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}):
		return 2, true, false
	}
	return 0, false, false
}

// newText reads an input that begins with head.
func newText(in *source.Input, head []byte) *text {
	t := &text{in: in}
	t.bom, t.wide, t.big = mark(head)
	return t
}

// next is like Input.Next, but returns UTF-8: the last rest bytes of the previous chunk,
// then new ones.
func (t *text) next(rest int) ([]byte, error) {
	if t.wide {
		return t.nextWide(rest)
	}
	chunk, _, err := t.in.Next(rest)
	if t.bom > 0 {
		n := min(t.bom, len(chunk))
		t.bom -= n
		chunk = chunk[n:]
	}
	return chunk, err
}

func (t *text) nextWide(rest int) ([]byte, error) {
	raw, _, err := t.in.Next(t.raw)
	if t.bom > 0 && len(raw) >= t.bom {
		raw, t.bom = raw[t.bom:], 0
	}
	out := append(make([]byte, 0, rest+len(raw)), t.last[len(t.last)-rest:]...)
	for len(raw) >= 2 && t.bom == 0 {
		u := rune(raw[0]) | rune(raw[1])<<8
		if t.big {
			u = rune(raw[0])<<8 | rune(raw[1])
		}
		raw = raw[2:]
		out = t.unit(out, u)
	}
	t.raw = len(raw)
	if err != nil {
		if t.high != 0 || t.raw != 0 {
			t.high, t.raw = 0, 0
			out = t.broken(out)
		}
	}
	t.last = out
	return out, err
}

// unit adds one UTF-16 code unit to out.
func (t *text) unit(out []byte, u rune) []byte {
	if t.high != 0 {
		r := utf16.DecodeRune(t.high, u)
		t.high = 0
		if r != utf8.RuneError {
			return utf8.AppendRune(out, r)
		}
		out = t.broken(out)
	}
	switch {
	case u >= 0xD800 && u < 0xDC00:
		t.high = u
		return out
	case u >= 0xDC00 && u < 0xE000:
		return t.broken(out)
	}
	return utf8.AppendRune(out, u)
}

func (t *text) broken(out []byte) []byte {
	t.damaged++
	return utf8.AppendRune(out, utf8.RuneError)
}
