package perfscript

import (
	"bytes"
	"math"
)

// clock makes of the times that are printed times since the first sample.
// `perf script --deltatime` prints how long after the one before a line's event was,
// and nothing in its text says so.
type clock struct {
	deltas bool
	now    int64 // the sum of what came
}

// at is the time of a line on which ns is printed, in nanoseconds. Sums that do not
// fit stop at the largest value, which is too far away for the timeline.
func (c *clock) at(ns int64) int64 {
	if !c.deltas {
		return ns
	}
	if ns > math.MaxInt64-c.now {
		c.now = math.MaxInt64
	} else {
		c.now += ns
	}
	return c.now
}

// leastDeltas is how many times must follow the first one to be judged.
const leastDeltas = 4

// areDeltas reports whether the times in the beginning of a text are differences.
// perf prints samples in the order of their times, so that these begin with any
// number, or with zero for --reltime, and go up. Differences begin with zero too,
// and then go down at every other line, or stand still where samples are evenly
// apart.
func areDeltas(head []byte) bool {
	first, last := int64(-1), int64(0)
	steps, downs, stills := 0, 0, 0
	for len(head) > 0 {
		l, rest, whole := bytes.Cut(head, []byte("\n"))
		head = rest
		body := bytes.TrimSpace(l)
		h := header{cpu: -1}
		if !whole || len(body) == 0 || l[0] == '\t' || !parseHeader(body, &h) || !h.hasTime {
			continue
		}
		switch {
		case first < 0:
			first = h.ns
		case h.ns < last:
			downs++
			steps++
		default:
			if h.ns == last && last > 0 {
				stills++
			}
			steps++
		}
		last = h.ns
	}
	return first == 0 && steps >= leastDeltas && (downs*8 >= steps || stills*4 >= steps*3)
}
