package compare

import (
	"context"
	"sort"
	"sync"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/model/sets"
)

// spanRun is a run of neighbouring spans of a lane.
type spanRun struct {
	track, lane  int
	first        int  // index of the first span in its lane
	outer        bool // the spans are in no other compared span
	starts, ends []int64
	calls        []recording.CallID
	// selfs are the self times of the spans, empty if not wanted.
	selfs []int64
}

// spanWalk selects the spans of one recording to visit.
type spanWalk struct {
	rec     *recording.Recording
	parents []recording.CallID // by call
	// in is the scope; only spans wholly in its range are visited.
	in recording.Scope
	// self requests self times.
	self bool
	// depths limits the walk to spans at these depths; nil for all.
	depths map[int]bool
}

func newSpanWalk(run *Run, self bool) *spanWalk {
	w := &spanWalk{rec: run.Rec, in: run.query.Scope, self: self}
	w.parents = make([]recording.CallID, run.Rec.Calls.Len())
	for c := range w.parents {
		w.parents[c] = run.Rec.Calls.Parent(recording.CallID(c))
	}
	return w
}

// stretch is a range of visited spans of a lane; outer tells whether they are outermost
// among the compared spans.
type stretch struct {
	sets.Run
	outer bool
}

// stretches returns the visited spans of a lane, in order.
func (w *spanWalk) stretches(track, lane int) (out []stretch) {
	l := &w.rec.Tracks[track].Lanes[lane]
	if l.Len() == 0 || w.depths != nil && !w.depths[w.depth(l)] {
		return nil
	}
	from, to := 0, l.Len()
	switch {
	case w.in.Ranged && w.in.Outside:
		last := l.Search(w.in.From)
		first := sort.Search(l.Len(), func(i int) bool { return l.Start(i) >= w.in.To })
		for _, r := range []sets.Run{{First: 0, Last: last}, {First: max(first, last), Last: to}} {
			if r.First < r.Last {
				out = append(out, stretch{r, w.depth(l) == 1})
			}
		}
		return out
	case w.in.Ranged:
		from = sort.Search(l.Len(), func(i int) bool { return l.Start(i) >= w.in.From })
		to = l.Search(w.in.To)
	}
	if from >= to {
		return nil
	}
	set := w.in.Calls
	if set == nil {
		return []stretch{{sets.Run{First: from, Last: to}, w.depth(l) == 1}}
	}
	runs := set.SpanRuns(track, lane, from, to)
	if len(runs) == 0 {
		return nil
	}
	outer := set.Outer[track][lane]
	for _, r := range sets.Without(runs, outer) {
		out = append(out, stretch{r, false})
	}
	for _, r := range outer {
		if r.First, r.Last = max(r.First, from), min(r.Last, to); r.First < r.Last {
			out = append(out, stretch{r, true})
		}
	}
	order.By(out, func(a, b stretch) int { return a.First - b.First })
	return out
}

// depth returns the depth of all spans of a lane, which must not be empty.
func (w *spanWalk) depth(l *lanes.Lane) int { return w.rec.Calls.Depth(l.Call(0)) }

// pieceSpans is roughly the number of spans that one goroutine visits at a time.
const pieceSpans = 1 << 16

// piece is a part of a lane's visited spans, in order, for one goroutine.
type piece struct {
	track, lane int
	parts       []stretch
	below       []lowerLane // lanes one level deeper, which hold the children; set only for self times
}

// lowerLane is a lane that may hold children of spans in [from, to] only if its last span
// starts no earlier than from, and its first one ends no later than to.
type lowerLane struct {
	lane                int
	lastStart, firstEnd int64
}

// pieces divides the visited spans of the chosen tracks.
func (w *spanWalk) pieces(chosen func(track int) bool) (all []piece) {
	for ti, t := range w.rec.Tracks {
		if !chosen(ti) {
			continue
		}
		depths := map[int][]lowerLane{}
		for i := range t.Lanes {
			if l := &t.Lanes[i]; w.self && l.Len() > 0 {
				d := w.depth(l)
				depths[d] = append(depths[d], lowerLane{i, l.Start(l.Len() - 1), l.End(0)})
			}
		}
		for i := range t.Lanes {
			p, n := piece{track: ti, lane: i}, 0
			for _, s := range w.stretches(ti, i) {
				if p.below == nil && w.self {
					p.below = depths[w.depth(&t.Lanes[i])+1]
				}
				for s.First < s.Last {
					part := s
					part.Last = min(s.Last, s.First+pieceSpans-n)
					p.parts, s.First = append(p.parts, part), part.Last
					if n += part.Last - part.First; n == pieceSpans {
						all, n = append(all, p), 0
						p.parts = nil
					}
				}
			}
			if n > 0 {
				all = append(all, p)
			}
		}
	}
	return all
}

// rooms are buffers for columns of children; a piece may need as many as the track has
// lanes.
var rooms = sync.Pool{New: func() any { return new(lanes.Room) }}

// each visits the spans of a piece. The children of a span are the spans one level deeper
// that it called and that lie within it.
func (w *spanWalk) each(ctx context.Context, p *piece, visit func(*spanRun)) error {
	t := w.rec.Tracks[p.track]
	l := &t.Lanes[p.lane]
	var room lanes.Room
	var selfs [lanes.RoomLen]int64
	kids := w.cursors(p)
	defer func() {
		for i := range kids {
			rooms.Put(kids[i].room)
		}
	}()
	r := spanRun{track: p.track, lane: p.lane}
	for _, part := range p.parts {
		r.outer = part.outer
		for k := part.First; k < part.Last; k += len(r.starts) {
			if err := ctx.Err(); err != nil {
				return err
			}
			r.first = k
			r.starts, r.ends, r.calls = l.Columns(k, part.Last-k, &room)
			if w.self {
				r.selfs = selfs[:len(r.starts)]
				for j := range r.selfs {
					r.selfs[j] = r.ends[j] - r.starts[j]
				}
				for c := range kids {
					kids[c].take(&r, w.parents)
				}
			}
			visit(&r)
		}
	}
	return nil
}

// cursors returns the lanes that may hold children of a piece's spans. A track of spans
// that overlap has thousands of lanes, of which few hold any.
func (w *spanWalk) cursors(p *piece) (kids []cursor) {
	t := w.rec.Tracks[p.track]
	l := &t.Lanes[p.lane]
	from, to := l.Start(p.parts[0].First), l.End(p.parts[len(p.parts)-1].Last-1)
	for i := range p.below {
		b := &p.below[i]
		if b.lastStart < from || b.firstEnd > to {
			continue
		}
		lane := &t.Lanes[b.lane]
		kids = append(kids, cursor{lane: lane, room: rooms.Get().(*lanes.Room), next: lane.Search(from - 1)})
	}
	return kids
}

// cursor walks a lane of children along with the lane of their parents.
type cursor struct {
	lane   *lanes.Lane
	next   int // index of the first span not yet in the columns
	in     int // column index of the first span that may be in the next parent
	room   *lanes.Room
	starts []int64
	ends   []int64
	calls  []recording.CallID
}

// take subtracts the time of the lane's children from the self times of a run of parents.
// The runs must come in order.
func (c *cursor) take(r *spanRun, parents []recording.CallID) {
	starts, ends, calls := c.starts, c.ends[:len(c.starts)], c.calls[:len(c.starts)]
	k := c.in
	for j, start := range r.starts {
		end, call := r.ends[j], r.calls[j]
		var inner int64
		for {
			if k == len(starts) {
				if !c.load() {
					break
				}
				starts, ends, calls = c.starts, c.ends[:len(c.starts)], c.calls[:len(c.starts)]
				k = 0
			}
			if starts[k] >= end {
				break
			}
			if starts[k] >= start && ends[k] <= end && parents[calls[k]] == call {
				inner += ends[k] - starts[k]
			}
			k++
		}
		r.selfs[j] -= inner
	}
	c.in = k
}

// load loads the next spans into the columns; it returns false at the end of the lane.
func (c *cursor) load() bool {
	if c.next >= c.lane.Len() {
		return false
	}
	c.starts, c.ends, c.calls = c.lane.Columns(c.next, c.lane.Len(), c.room)
	c.next += len(c.starts)
	return true
}

// count counts the spans of a track that each would visit. It adds their number per call
// to calls, unless that is nil, and returns the number of all and of outermost spans.
func (w *spanWalk) count(track int, calls []int64) (all, outermost int64) {
	for i := range w.rec.Tracks[track].Lanes {
		l := &w.rec.Tracks[track].Lanes[i]
		for _, part := range w.stretches(track, i) {
			n := int64(part.Last - part.First)
			if all += n; part.outer {
				outermost += n
			}
			for k := part.First; k < part.Last && calls != nil; {
				run := l.Calls(k)
				run = run[:min(len(run), part.Last-k)]
				for _, c := range run {
					calls[c]++
				}
				k += len(run)
			}
		}
	}
	return all, outermost
}
