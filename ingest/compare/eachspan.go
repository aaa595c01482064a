package compare

import (
	"context"
	"sort"

	"ashlar/ingest/recording"
)

// spanRun is a run of neighbouring spans of a lane.
type spanRun struct {
	depth        int
	starts, ends []int64
	calls        []recording.CallID
	// selfs are the spans' durations without what their children take.
	selfs []int64
}

// spanWalk says which spans to visit, of one recording.
type spanWalk struct {
	rec     *recording.Recording
	parents []recording.CallID // of all calls
	// in leaves out spans that are not wholly in its range.
	in recording.Scope
	// self asks for the times of spans alone.
	self bool
	// depths limits it to spans of some depths; nil for all.
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

// part is which of a lane's spans are visited: those from from to to.
func (w *spanWalk) part(l *recording.Lane) (from, to int) {
	if l.Len() == 0 || w.depths != nil && !w.depths[w.depth(l)] {
		return 0, 0
	}
	if !w.in.Ranged {
		return 0, l.Len()
	}
	from = sort.Search(l.Len(), func(i int) bool { return l.Start(i) >= w.in.From })
	return from, max(from, l.Search(w.in.To))
}

// depth is that of all spans of a lane that is not empty.
func (w *spanWalk) depth(l *recording.Lane) int { return w.rec.Calls.Depth(l.Call(0)) }

// each visits the spans of a track, lane by lane. Children are the spans one
// deeper that were called from it and lie in it.
func (w *spanWalk) each(ctx context.Context, t *recording.Track, visit func(*spanRun)) error {
	depths := map[int][]*recording.Lane{}
	for i := range t.Lanes {
		if l := &t.Lanes[i]; l.Len() > 0 {
			d := w.depth(l)
			depths[d] = append(depths[d], l)
		}
	}
	var room recording.Room
	var selfs [len(room)]int64
	for i := range t.Lanes {
		l := &t.Lanes[i]
		from, to := w.part(l)
		if from == to {
			continue
		}
		r := spanRun{depth: w.depth(l)}
		var kids []cursor
		if w.self {
			for _, below := range depths[r.depth+1] {
				kids = append(kids, cursor{lane: below, room: new(recording.Room), next: below.Search(l.Start(from) - 1)})
			}
		}
		for k := from; k < to; {
			if err := ctx.Err(); err != nil {
				return err
			}
			r.starts, r.ends, r.calls = l.Columns(k, to-k, &room)
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
			k += len(r.starts)
		}
	}
	return nil
}

// cursor walks a lane of children along with the lane of their parents.
type cursor struct {
	lane   *recording.Lane
	next   int // of the first span that is not in the columns yet
	in     int // the place in the columns of the first that may lie in the next parent
	room   *recording.Room
	starts []int64
	ends   []int64
	calls  []recording.CallID
}

// take takes from a run's spans what their children in the lane cover. Runs come
// in order.
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

// load makes the columns hold the spans that follow; false where none do.
func (c *cursor) load() bool {
	if c.next >= c.lane.Len() {
		return false
	}
	c.starts, c.ends, c.calls = c.lane.Columns(c.next, c.lane.Len(), c.room)
	c.next += len(c.starts)
	return true
}

// count counts the spans of a track that each would visit: by call, added to
// what is there, and all and those of depth 1.
func (w *spanWalk) count(t *recording.Track, calls []int64) (all, outermost int64) {
	for i := range t.Lanes {
		l := &t.Lanes[i]
		from, to := w.part(l)
		if from == to {
			continue
		}
		all += int64(to - from)
		if w.depth(l) == 1 {
			outermost += int64(to - from)
		}
		for k := from; k < to; {
			run := l.Calls(k)
			run = run[:min(len(run), to-k)]
			for _, c := range run {
				calls[c]++
			}
			k += len(run)
		}
	}
	return all, outermost
}
