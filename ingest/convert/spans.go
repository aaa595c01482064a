package convert

import "ashlar/ingest/recording"

// span is one span of a lane.
type span struct {
	start, end int64
	call       recording.CallID
	args       uint64
	unfinished bool
	depth      int // from 0
}

func spanAt(l *recording.Lane, i, depth int) span {
	return span{l.Start(i), l.End(i), l.Call(i), l.Args(i), l.Unfinished(i), depth}
}

// column is a run of lanes of a track in which each lane's spans lie within
// those of the lane above: spans nest like calls. A track has several where
// spans overlap without nesting.
type column struct {
	lanes []*recording.Lane
	at    []int // the next span of each lane
	calls *recording.Calls
}

// columns takes a track's lanes apart.
func columns(rec *recording.Recording, t *recording.Track) []*column {
	var cs []*column
	for i := range t.Lanes {
		l := &t.Lanes[i]
		if l.Len() == 0 {
			continue
		}
		if len(cs) == 0 || rec.Calls.Depth(l.Call(0)) == 1 {
			cs = append(cs, &column{calls: &rec.Calls})
		}
		c := cs[len(cs)-1]
		c.lanes = append(c.lanes, l)
		c.at = append(c.at, 0)
	}
	return cs
}

// spans counts the spans of a column.
func (c *column) spans() int64 {
	var n int64
	for _, l := range c.lanes {
		n += int64(l.Len())
	}
	return n
}

// walk visits the spans as they began and ended: begin is called for each
// before those inside it, and end behind them. Both stop the walk with an
// error.
func (c *column) walk(begin, end func(*span) error) error {
	clear(c.at)
	var open []span
	for {
		k := c.next(open)
		if k < 0 {
			break
		}
		for len(open) > k {
			if err := end(&open[len(open)-1]); err != nil {
				return err
			}
			open = open[:len(open)-1]
		}
		l, i := c.lanes[k], c.at[k]
		c.at[k]++
		open = append(open, spanAt(l, i, len(open)))
		if err := begin(&open[len(open)-1]); err != nil {
			return err
		}
	}
	for n := len(open) - 1; n >= 0; n-- {
		if err := end(&open[n]); err != nil {
			return err
		}
	}
	return nil
}

// next is the lane of the span that begins next, -1 at the end. Of spans that
// begin together the outermost comes first, unless a deeper one belongs to what
// is open: it may lie at the very end of it.
func (c *column) next(open []span) int {
	best := -1
	var start int64
	for k, l := range c.lanes {
		if k > len(open) {
			break // its parent has not begun
		}
		if c.at[k] == l.Len() {
			continue
		}
		s := l.Start(c.at[k])
		if best >= 0 && s > start {
			continue
		}
		if k > 0 {
			p := &open[k-1]
			if s > p.end || l.End(c.at[k]) > p.end || c.calls.Parent(l.Call(c.at[k])) != p.call {
				continue
			}
		}
		if best < 0 || s <= start {
			best, start = k, s
		}
	}
	if best < 0 {
		return c.earliest()
	}
	return best
}

// earliest is the lane of the earliest span that is left, -1 when there is
// none: for lanes that do not nest as they should, so that nothing is lost.
func (c *column) earliest() int {
	best := -1
	for k, l := range c.lanes {
		if c.at[k] < l.Len() && (best < 0 || l.Start(c.at[k]) < c.lanes[best].Start(c.at[best])) {
			best = k
		}
	}
	return best
}

// done tells, within a walk, whether every span has begun.
func (c *column) done() bool {
	for k, l := range c.lanes {
		if c.at[k] < l.Len() {
			return false
		}
	}
	return true
}
