package stacktext

import (
	"cmp"
	"fmt"

	"ashlar/ingest/model/recording"
)

// counts holds the rows of an event that the tool itself summed. The tool may have
// printed them several times, each time with either the sums since the last printing or
// the sums so far.
type counts struct {
	rows    []*row
	byKey   map[rowKey]*row
	now     []*row // rows of the current printing
	before  []*row // rows of the previous printing
	prints  int    // number of finished printings
	all     bool   // every printing repeated all rows of the previous one, with no smaller values
	largest int    // maximum number of rows in a printing
}

// Count adds a row that a tool has summed. values are indexed by the metrics of the
// event.
func (s *Sheet) Count(event int, w *Who, stack []Frame, values []int64) {
	s.CountCall(event, w, s.Call(stack), values)
}

// CountCall is like Count, for a stack whose call is known.
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

// Printed marks the end of a printing: the rows that follow may be the same rows again.
func (s *Sheet) Printed() {
	for _, c := range s.counts {
		if c != nil && len(c.now) > 0 {
			c.close()
		}
	}
}

// close ends a printing and compares it with the previous one.
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

// goesOn reports whether the current printing has all rows of the previous one, with no
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

// Close adds everything to the recording. If there is no stack, it returns an error that
// includes what, a description of a stack.
func (s *Sheet) Close(what string) error {
	s.begin()
	s.flush()
	for e, c := range s.counts {
		if c == nil {
			continue
		}
		if len(c.now) > 0 {
			c.close()
		}
		// A single row may have grown by chance, so two printings of it are not enough.
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
		return fmt.Errorf("no stacks found: %s", what)
	}
	return nil
}

func (s *Sheet) tell(event int, c *counts, last bool) {
	name := cmp.Or(s.B.Event(event).Name, "The table")
	if last {
		s.B.Remark("printed-again", "", "%s was printed %d times with counts that never decrease: only the last one counts, because it includes the others", name, c.prints)
	} else {
		s.B.Remark("printed-again", "", "%s was printed %d times with counts that also decrease: the counts were added up", name, c.prints)
	}
}
