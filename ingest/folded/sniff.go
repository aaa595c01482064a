package folded

import (
	"bytes"
	"unicode/utf8"

	"ashlar/ingest/decode"
)

// sniffLines is how many lines are looked at.
const sniffLines = 200

// Sniff says how many of the first lines are stacks with counts. There is no
// magic number, so it never gets past Likely, and text that has not one stack
// of two frames is at most Maybe.
func Sniff(head []byte, whole bool) (decode.Confidence, error) {
	bom, wide, big := mark(head)
	head = head[bom:]
	if wide {
		t := &text{big: big}
		var out []byte
		for ; len(head) >= 2; head = head[2:] {
			u := rune(head[0]) | rune(head[1])<<8
			if big {
				u = rune(head[0])<<8 | rune(head[1])
			}
			out = t.unit(out, u)
		}
		head = out
	}
	if !plain(head, whole) {
		return decode.No, nil
	}
	counted, deep, other := census(head, whole)
	all := counted + other
	switch {
	case counted == 0:
		return decode.No, nil
	case deep*2 >= all && counted*10 >= all*9:
		return decode.Likely, nil
	case deep > 0 && counted*10 >= all*6:
		return decode.Maybe, nil
	case counted == all && deep == 0:
		return decode.Maybe, nil
	}
	return decode.No, nil
}

// plain reports whether head is text and does not begin like JSON or XML.
func plain(head []byte, whole bool) bool {
	if !whole && len(head) > utf8.UTFMax {
		// The last rune may be cut.
		for i := 0; i < utf8.UTFMax && !utf8.RuneStart(head[len(head)-1]); i++ {
			head = head[:len(head)-1]
		}
		head = head[:len(head)-1]
	}
	bad := 0
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		if r == utf8.RuneError && n == 1 {
			bad++
		}
		if r < ' ' && !blank(byte(r)) && r != '\n' && r != 0x1b || r == 0x7f {
			return false
		}
		i += n
	}
	if bad*100 > len(head) {
		return false
	}
	first := bytes.TrimSpace(head)
	if len(first) == 0 || first[0] == '{' || first[0] == '<' {
		return false
	}
	if first[0] == '[' {
		inner := bytes.TrimSpace(first[1:])
		return len(inner) > 0 && bytes.IndexByte([]byte(`{["]-0123456789`), inner[0]) < 0
	}
	return true
}

// census counts lines that are stacks with a count, those of them that have
// more than one frame, and those that are neither stack nor comment.
func census(head []byte, whole bool) (counted, deep, other int) {
	for seen := 0; len(head) > 0 && seen < sniffLines; seen++ {
		var l []byte
		if i := newline(head); i >= 0 {
			l, head = head[:i], head[i+1:]
		} else if whole || seen == 0 {
			l, head = head, nil
		} else {
			return // cut
		}
		if l = trim(l); len(l) == 0 {
			continue
		}
		stack, _, st := split(l)
		switch st {
		case stackLine:
			counted++
			if bytes.IndexByte(stack, ';') >= 0 {
				deep++
			}
		case comment:
		default:
			other++
		}
	}
	return
}
