package folded

import (
	"bytes"
	"unicode/utf8"

	"ashlar/ingest/format/decode"
)

// sniffLines is the maximum number of lines to look at.
const sniffLines = 200

// Sniff looks for stacks with counts in the first lines. There is no magic number, so it
// returns at most Likely, and at most Maybe if no stack has two frames.
func Sniff(head []byte, whole bool) (decode.Confidence, error) {
	head = utf8Of(head)
	if !isText(head, whole) {
		return decode.No, nil
	}
	c := take(head, whole)
	all := c.counted + c.other
	switch {
	case c.counted == 0:
		return decode.No, nil
	case c.deep*2 >= all && c.counted*10 >= all*9:
		return decode.Likely, nil
	case c.deep > 0 && c.counted*10 >= all*6:
		return decode.Maybe, nil
	case c.counted == all && c.deep == 0:
		return decode.Maybe, nil
	}
	return decode.No, nil
}

// utf8Of returns the beginning of a file as UTF-8, without its byte order mark.
func utf8Of(head []byte) []byte {
	bom, wide, big := mark(head)
	head = head[bom:]
	if !wide {
		return head
	}
	t := &text{big: big}
	var out []byte
	for ; len(head) >= 2; head = head[2:] {
		u := rune(head[0]) | rune(head[1])<<8
		if big {
			u = rune(head[0])<<8 | rune(head[1])
		}
		out = t.unit(out, u)
	}
	return out
}

// isText reports whether head is text. The first characters do not matter: names of
// outermost frames may look like XML or JSON (<module>, {main}, [0]).
func isText(head []byte, whole bool) bool {
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
		switch {
		case r == 0:
			return false
		case r == utf8.RuneError && n == 1, r < ' ' && !blank(byte(r)) && r != '\n' && r != 0x1b, r == 0x7f:
			bad++
		}
		i += n
	}
	return bad*100 <= len(head)
}

// census counts the kinds of lines at the beginning of a file.
type census struct {
	counted int // stacks with a count
	deep    int // stacks with a count and more than one frame
	twice   int // stacks with two counts
	again   int // stacks with two counts that occurred before
	other   int // neither stacks nor comments
}

func take(head []byte, whole bool) (c census) {
	var n [2]decode.Number
	stacks := map[string]bool{}
	for seen := 0; len(head) > 0 && seen < sniffLines; seen++ {
		var l []byte
		if i := bytes.IndexByte(head, '\n'); i >= 0 {
			l, head = head[:i], head[i+1:]
		} else if whole || seen == 0 && !markup(head) {
			l, head = head, nil
		} else {
			return // the last line was cut
		}
		if l = trim(l); len(l) == 0 {
			continue
		}
		stack, found, st := split(l, n[:])
		switch st {
		case stackLine, tooLarge:
			c.counted++
			if bytes.IndexByte(stack, ';') >= 0 {
				c.deep++
			}
			if found == 2 {
				c.twice++
				if stacks[string(stack)] {
					c.again++
				}
				stacks[string(stack)] = true
			}
		case comment:
		default:
			c.other++
		}
	}
	return
}

// markup reports whether text begins like JSON or XML. If such a line is cut, it may end
// in a number by chance.
func markup(head []byte) bool {
	head = bytes.TrimSpace(head)
	return len(head) > 0 && (head[0] == '{' || head[0] == '[' || head[0] == '<')
}

// columns returns the number of counts per line: two for output of difffolded.pl, which
// merges the stacks of two runs. In that output each stack occurs once, or a few times if
// frames were renamed afterwards. If names end in a number instead ("frame 1", "frame 2"),
// many lines have the same text before the number. If no stack has two frames, columns
// returns two only for several lines that all have two numbers and all differ.
func (c census) columns() int {
	if c.deep == 0 && (c.counted < 2 || c.twice < c.counted || c.again > 0) {
		return 1
	}
	if c.twice > 0 && c.twice*10 >= c.counted*9 && c.again*5 <= c.twice {
		return 2
	}
	return 1
}
