package dtrace

import (
	"bytes"
	"strings"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/stacktext"
)

// sniffLines is the maximum number of lines to look at.
const sniffLines = 1000

// Sniff looks for frames with a backquote between module and symbol, or for addresses,
// and for lines that are usual around stacks.
func Sniff(head []byte, whole bool) (decode.Confidence, error) {
	if bytes.IndexByte(head[:min(len(head), 4096)], 0) >= 0 {
		return decode.No, nil
	}
	var named, bareAddrs, around, others int
	own := false // a line that only DTrace prints
	keyed := 0   // number of counts with keys and of probe firings
	afterFrame, beforeFrame := false, false
	each(head, whole, func(l, body []byte) {
		k, f := classify(l, body, nil)
		switch k {
		case message:
			own = own || len(body) > 2
		case columns:
			own = true
		case firing, distribution, row:
			around++
			keyed++
		case frameOf:
			if f.Module != "" && !endsInCount(body) {
				named++
			} else if f.Module == "" {
				bareAddrs++
			} else {
				others++
			}
		case other:
			_, counted := parseValue(string(body))
			if counted {
				keyed++
			}
			if counted && afterFrame {
				around++
			} else if !afterFrame {
				others++
				beforeFrame = true
			}
		}
		if k == frameOf && beforeFrame {
			others-- // a key, or output of the script
		}
		if k != blank {
			afterFrame = k == frameOf
			beforeFrame = beforeFrame && k == other
		}
	})
	switch {
	case named > 0 && own:
		return decode.Certain, nil
	case named > 0 && around > 0 && others <= named:
		return decode.Certain, nil
	case named > 1 && others*2 <= named, own && bareAddrs > 0, own && keyed > 0:
		return decode.Likely, nil
	case bareAddrs > 1 && around > 0 && others == 0:
		return decode.Maybe, nil
	}
	return decode.No, nil
}

// endsInCount reports whether a line looks like folded stacks, which end in a count.
func endsInCount(body []byte) bool {
	i := bytes.LastIndexByte(body, ' ')
	if i < 0 {
		return false
	}
	_, ok := stacktext.Number(body[i+1:])
	return ok
}

// each calls do for the first lines of head.
func each(head []byte, whole bool, do func(l, body []byte)) {
	for seen := 0; len(head) > 0 && seen < sniffLines; seen++ {
		l, rest, ended := bytes.Cut(head, []byte("\n"))
		if !ended && !whole && seen > 0 {
			return
		}
		head = rest
		do(bytes.TrimRight(l, "\r"), bytes.TrimSpace(l))
	}
}

// areFirings reports whether a script printed a line before each stack and nothing after
// it. In such a file the line between two stacks resembles the line above the first one.
// Below stacks of an aggregation there are counts instead.
func areFirings(head []byte) bool {
	var before, between string
	stacks, lines := 0, 0
	inStack, decided, firings, indent := false, false, false, 0
	each(head, true, func(l, body []byte) {
		if decided {
			return
		}
		k, _ := classify(l, body, nil)
		switch k {
		case frameOf:
			if !inStack && (stacks == 0 || lines > 0) {
				if stacks++; stacks == 2 {
					decided, firings = true, lines == 1 && before != "" && alike(before, between)
				}
				lines = 0
			}
			inStack, indent = true, stacktext.Indent(l)
		case distribution, row, firing, columns:
			if k != columns && stacks > 0 || k == firing {
				decided = true
			}
		case other:
			v, counted := parseValue(string(body))
			if inStack && indent > 0 && stacktext.Indent(l) == indent && !(counted && v.keys == "") {
				return // a frame without a module
			}
			inStack = false
			if stacks == 0 {
				before = string(body)
			} else if lines++; lines == 1 {
				between = string(body)
			}
		}
	})
	return firings || !decided && stacks == 1 && lines == 0
}

// alike reports whether two lines begin and end with the same sort of word.
func alike(a, b string) bool {
	number := func(s string) bool {
		_, ok := stacktext.Number([]byte(strings.Trim(s, ",:")))
		return ok
	}
	x, y := strings.Fields(a), strings.Fields(b)
	return len(x) > 0 && len(y) > 0 && number(x[0]) == number(y[0]) && number(x[len(x)-1]) == number(y[len(y)-1])
}
