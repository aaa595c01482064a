package perfscript

import (
	"bytes"
	"math"
)

// clock converts printed times to times since the first sample. `perf script --deltatime`
// prints the time since the previous line's event, and nothing in its output says so.
type clock struct {
	deltas bool
	now    int64 // the sum of all differences so far
}

// at returns the time, in nanoseconds, of a line with the printed time ns. A sum that
// overflows becomes the largest value, which is too far away for the timeline.
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

// timesIn returns the times of the samples at the beginning of a text.
func timesIn(head []byte) (times []int64) {
	for len(head) > 0 {
		l, rest, whole := bytes.Cut(head, []byte("\n"))
		head = rest
		body := bytes.TrimSpace(l)
		h := header{cpu: -1}
		if whole && len(body) > 0 && l[0] != '\t' && parseHeader(body, &h) && h.hasTime {
			times = append(times, h.ns)
		}
	}
	return times
}

// leastDeltas is the minimum number of times after the first one that areDeltas needs to
// decide.
const leastDeltas = 4

// areDeltas reports whether the printed times at the beginning of a text are differences.
// perf prints samples in order of time, so absolute times start anywhere (with --reltime
// at zero) and increase. Differences start at zero too, but then decrease at about every
// other line, or stay the same if samples are evenly spaced.
func areDeltas(times []int64) bool {
	first, last := int64(-1), int64(0)
	steps, downs, stills := 0, 0, 0
	for _, ns := range times {
		switch {
		case first < 0:
			first = ns
		case ns < last:
			downs++
			steps++
		default:
			if ns == last && last > 0 {
				stills++
			}
			steps++
		}
		last = ns
	}
	return first == 0 && steps >= leastDeltas && (downs*8 >= steps || stills*4 >= steps*3)
}
