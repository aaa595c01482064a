package compare

import (
	"context"

	"ashlar/ingest/recording"
)

// span is a span with what its children leave it.
type span struct {
	start, end, self int64
	call             recording.CallID
	depth            int
}

// eachSpan visits all spans of a track, lane by lane. Children are the spans one
// deeper that were called from it and lie in it. Where self times are not wanted
// they are not worked out.
func eachSpan(ctx context.Context, rec *recording.Recording, t *recording.Track, self bool, visit func(*span)) error {
	depths := map[int][]*recording.Lane{}
	for i := range t.Lanes {
		if l := &t.Lanes[i]; l.Len() > 0 {
			d := rec.Calls.Depth(l.Call(0))
			depths[d] = append(depths[d], l)
		}
	}
	for i := range t.Lanes {
		l := &t.Lanes[i]
		if l.Len() == 0 {
			continue
		}
		s := span{depth: rec.Calls.Depth(l.Call(0))}
		var kids []cursor
		var room recording.Room
		for _, below := range depths[s.depth+1] {
			if !self {
				break
			}
			kids = append(kids, cursor{lane: below, room: new(recording.Room)})
		}
		for k := 0; k < l.Len(); {
			if err := ctx.Err(); err != nil {
				return err
			}
			starts, ends, calls := l.Columns(k, &room)
			for j := range starts {
				s.start, s.end, s.call = starts[j], ends[j], calls[j]
				s.self = s.end - s.start
				for c := range kids {
					s.self -= kids[c].within(rec, &s)
				}
				visit(&s)
			}
			k += len(starts)
		}
	}
	return nil
}

// cursor walks a lane of children along with the lane of their parents.
type cursor struct {
	lane   *recording.Lane
	at     int // of the first span that may lie in the next parent
	base   int
	room   *recording.Room
	starts []int64
	ends   []int64
	calls  []recording.CallID
}

// within adds up what a span's children in the lane cover. Spans come in order.
func (c *cursor) within(rec *recording.Recording, s *span) int64 {
	var sum int64
	for c.load() {
		k := c.at - c.base
		if c.starts[k] >= s.end {
			break
		}
		if c.starts[k] >= s.start && c.ends[k] <= s.end && rec.Calls.Parent(c.calls[k]) == s.call {
			sum += c.ends[k] - c.starts[k]
		}
		c.at++
	}
	return sum
}

// load makes the columns hold the next span; false at the end.
func (c *cursor) load() bool {
	if c.at >= c.lane.Len() {
		return false
	}
	if c.starts == nil || c.at >= c.base+len(c.starts) {
		c.base = c.at
		c.starts, c.ends, c.calls = c.lane.Columns(c.at, c.room)
	}
	return true
}
