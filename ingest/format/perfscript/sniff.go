package perfscript

import (
	"bytes"

	"ashlar/ingest/format/decode"
)

// sniffLines is the maximum number of lines that Sniff examines.
const sniffLines = 300

// Sniff looks for lines that begin samples, with frames under them.
func Sniff(head []byte, whole bool) (decode.Confidence, error) {
	if len(head) == 0 || bytes.IndexByte(head[:min(len(head), 4096)], 0) >= 0 {
		return decode.No, nil
	}
	var c census
	for seen := 0; len(head) > 0 && seen < sniffLines; seen++ {
		var l []byte
		if i := bytes.IndexByte(head, '\n'); i >= 0 {
			l, head = head[:i], head[i+1:]
		} else if whole || seen == 0 {
			l, head = head, nil
		} else {
			break
		}
		c.line(bytes.TrimRight(l, "\r"))
	}
	switch {
	case c.ftrace > 0 && c.ftrace*2 >= c.full:
		return decode.No, nil
	case c.stacks > 0 && c.other*10 <= c.full:
		return decode.Certain, nil
	case c.full > 0 && c.other*10 <= c.full, c.perf && c.other == 0, c.stacks > 0 && c.other <= c.stacks:
		return decode.Likely, nil
	case c.frames > 1 && c.other*10 <= c.frames, c.timed > 1 && c.other*10 <= c.timed: // other fields were chosen with -F
		return decode.Maybe, nil
	}
	return decode.No, nil
}

// census counts kinds of lines.
type census struct {
	full   int // headers with a thread or time, and an event
	stacks int // full headers with a frame below
	timed  int // headers with a time and no event
	frames int
	other  int
	ftrace int  // lines of ftrace, the kernel's tracer, and its "# tracer:" comments
	perf   bool // a comment written by perf was seen
	fresh  bool // the line before was a full header
}

func (c *census) line(l []byte) {
	body := bytes.TrimSpace(l)
	if len(body) == 0 {
		return
	}
	if body[0] == '#' {
		if bytes.HasPrefix(body, []byte("# tracer:")) {
			c.ftrace++
		}
		c.perf = c.perf || bytes.Contains(body, []byte("captured on")) || bytes.Contains(body, []byte("perf version"))
		return
	}
	var h header
	ok := parseHeader(body, &h)
	if ok && ftraceLine(&h) {
		c.ftrace++
	}
	isFull := ok && (h.hasTime || h.hasTID && h.cpu >= 0) && (h.event != nil || h.side != nil)
	if blank(l[0]) && !(ok && h.hasTime && l[0] != '\t') {
		f := parseFrame(body)
		switch {
		case f != nil && f.hasAddr && (l[0] == '\t' || f.whole):
			c.frames++
			if c.fresh {
				c.stacks++
			}
		case f == nil || !f.whole:
			if _, _, ok := sourceLine(body); !ok {
				c.other++
			}
		}
		c.fresh = false
		return
	}
	c.fresh = isFull
	switch {
	case isFull:
		c.full++
	case ok && h.hasTime:
		c.timed++
	case !ok:
		c.other++
	}
}

// ftraceLine reports whether a line is from ftrace, the kernel's tracer. Such a line
// looks like a sample without a thread: "bash-12 [003] d..2 1.5: sched_switch: …". The
// thread is the name, a dash and the tid; the CPU's state may stand between CPU and time.
func ftraceLine(h *header) bool {
	if h.hasTID || !h.hasTime {
		return false
	}
	comm := h.comm
	if i := bytes.LastIndex(comm, []byte(" [")); i > 0 && bytes.IndexByte(comm[i:], ']') > 0 {
		comm = bytes.TrimSpace(comm[:i])
	} else if h.cpu < 0 {
		return false
	}
	if i := bytes.LastIndexByte(comm, '('); i > 0 && comm[len(comm)-1] == ')' { // the process id, or dashes
		comm = bytes.TrimSpace(comm[:i])
	}
	i := bytes.LastIndexByte(comm, '-')
	return i > 0 && digits(comm[i+1:])
}
