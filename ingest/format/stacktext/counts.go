package stacktext

import (
	"cmp"
	"fmt"

	"ashlar/ingest/model/recording"
)

// counts are the rows of an event that were counted by the tool, which may have
// printed them several times: each time what came since, or each time all.
type counts struct {
	rows    []*row
	byKey   map[rowKey]*row
	now     []*row // of the printing at hand
	before  []*row // of the one before
	prints  int    // that are over
	all     bool   // each one so far had at least what the one before had
	largest int    // rows in a printing
}

// Count adds a row that a tool has summed up: values by metric of its event.
func (s *Sheet) Count(event int, w *Who, stack []Frame, values []int64) {
	s.CountCall(event, w, s.Call(stack), values)
}

// CountCall is Count for a stack that has its call already.
func (s *Sheet) CountCall(event int, w *Who, call recording.CallID, values []int64) {
	s.Stack.Read++
	s.Stack.Kept++
	c := s.counts[event]
	if c == nil {
		c = &counts{byKey: map[rowKey]*row{}, all: true}
		s.counts[event] = c
	}
	k, _ := s.key(event, w, call)
	r := c.byKey[k]
	if r == nil {
		r = &row{rowKey: k, sum: make([]int64, len(values))}
		c.byKey[k] = r
		c.rows = append(c.rows, r)
	}
	if r.now == nil {
		r.now = make([]int64, len(values))
		c.now = append(c.now, r)
	}
	for m, v := range values {
		recording.Add(&r.sum[m], v)
		recording.Add(&r.now[m], v)
	}
}

// Printed says that what comes now may be another printing of the rows before.
func (s *Sheet) Printed() {
	for _, c := range s.counts {
		if c != nil && len(c.now) > 0 {
			c.close()
		}
	}
}

// close ends a printing, and compares it with the one before.
func (c *counts) close() {
	if c.prints > 0 && !c.goesOn() {
		c.all = false
	}
	for _, r := range c.before {
		r.before = nil
	}
	for _, r := range c.now {
		r.before, r.now = r.now, nil
	}
	c.largest = max(c.largest, len(c.now))
	c.before, c.now = c.now, c.before[:0]
	c.prints++
}

// goesOn reports whether the printing at hand has all rows of the one before, with no
// smaller values.
func (c *counts) goesOn() bool {
	for _, r := range c.before {
		if r.now == nil {
			return false
		}
		for m := range r.now {
			if r.now[m] < r.before[m] {
				return false
			}
		}
	}
	return true
}

// Close hands over everything. It returns an error when there is no stack; what says
// what a stack looks like.
func (s *Sheet) Close(what string) error {
	s.flush()
	for e, c := range s.counts {
		if c == nil {
			continue
		}
		if len(c.now) > 0 {
			c.close()
		}
		// One row that grew may have been counted again by chance.
		last := c.all && (c.prints > 2 || c.prints == 2 && c.largest > 1)
		if c.prints > 1 {
			s.tell(e, c, last)
		}
		for _, r := range c.rows {
			if last {
				r.sum = r.before
			}
			s.B.AddStack(r.event, r.call, r.track, r.ctx, r.sum)
		}
	}
	if s.Stack.Kept == 0 {
		return fmt.Errorf("there is no stack in the text: %s", what)
	}
	return nil
}

func (s *Sheet) tell(event int, c *counts, last bool) {
	name := cmp.Or(s.B.Event(event).Name, "The table")
	if last {
		s.B.Remark("printed-again", "", "%s was printed %d times, and no count ever went down: the last one counts, since it holds those before", name, c.prints)
	} else {
		s.B.Remark("printed-again", "", "%s was printed %d times, and counts went down in between: they were added up", name, c.prints)
	}
}
