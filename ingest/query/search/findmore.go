package search

import (
	"context"
	"math"
	"sort"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/scan"
)

// threads makes a hit for each matching thread, at its first span or sample.
func (h *Hits) threads(ctx context.Context) error {
	h.onTrack = make([]bool, len(h.rec.Tracks))
	for ti, t := range h.rec.Tracks {
		if !h.Pattern.MatchTrack(t) {
			continue
		}
		h.onTrack[ti] = true
		h.runs(t)
		first, at := hitRow{}, int64(math.MaxInt64)
		for i := range t.Lanes {
			if l := &t.Lanes[i]; l.Len() > 0 && l.Start(0) < at {
				first, at = hitRow{track: ti, laneAt: i, lane: l}, l.Start(0)
			}
		}
		for _, s := range t.Samples {
			if s.Len() > 0 && s.Time(0) < at {
				first, at = hitRow{track: ti, laneAt: -1, samples: s}, s.Time(0)
			}
		}
		if at == math.MaxInt64 {
			continue
		}
		first.id = len(h.rows)
		first.own = make([]uint64, (first.len()+63)/64)
		first.own[0] = 1
		first.before = make([]int64, blocks(first.len())+1)
		h.rows = append(h.rows, first)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	h.list()
	return nil
}

// runs notes the functions that run on a track.
func (h *Hits) runs(t *recording.Track) {
	seen := make([]bool, h.rec.Calls.Len())
	for i := range t.Lanes {
		l := &t.Lanes[i]
		for k := 0; k < l.Len(); {
			calls := l.Calls(k)
			for _, c := range calls {
				seen[c] = true
			}
			k += len(calls)
		}
	}
	for _, s := range t.Samples {
		for k := range s.Len() {
			seen[s.Call(k)] = true
		}
	}
	for c := len(seen) - 1; c > 0; c-- {
		if seen[c] {
			call := recording.CallID(c)
			h.is[h.rec.Func(call)] = true
			seen[h.rec.Calls.Parent(call)] = true
		}
	}
}

// args makes a hit for each span with matching arguments, on all cores.
func (h *Hits) args(ctx context.Context) error {
	if h.rec.Args == nil {
		return nil
	}
	for ti, t := range h.rec.Tracks {
		for i := range t.Lanes {
			if l := &t.Lanes[i]; l.HasArgs() {
				h.rows = append(h.rows, hitRow{id: len(h.rows), track: ti, laneAt: i, lane: l, own: make([]uint64, (l.Len()+63)/64), before: make([]int64, blocks(l.Len())+1)})
			}
		}
	}
	const most = 1 << 16 // spans per item, a multiple of the 64 bits of a word
	type item struct{ row, first int }
	var items []item
	for r := range h.rows {
		for i := 0; i < h.rows[r].len(); i += most {
			items = append(items, item{r, i})
		}
	}
	found := make([][]bool, len(items)) // by function
	err := scan.Spread(ctx, len(items), func(_, i int) {
		row := &h.rows[items[i].row]
		for k := items[i].first; k < min(row.len(), items[i].first+most); k++ {
			ref := row.lane.Args(k)
			if ref == 0 || !h.Pattern.Match(h.rec.Args(ref)) {
				continue
			}
			row.own[k/64] |= 1 << (k % 64)
			if found[i] == nil {
				found[i] = make([]bool, len(h.is))
			}
			found[i][h.rec.Func(row.lane.Call(k))] = true
		}
	})
	if err != nil {
		return err
	}
	for _, is := range found {
		for f := range is {
			h.is[f] = h.is[f] || is[f]
		}
	}
	h.list()
	return nil
}

// list fills Functions.
func (h *Hits) list() {
	for f, is := range h.is {
		if is {
			h.Functions = append(h.Functions, recording.FuncID(f))
		}
	}
}

// Marked reports whether any of the n spans from i on in a track's lane is a hit, or
// whether the track is. It is for patterns whose matches depend on more than the
// function. Lane is -1 for samples.
func (h *Hits) Marked(track, lane, i, n int) bool {
	if h.Pattern.Field() == InThread {
		return h.OnTrack(track)
	}
	// Rows are sorted by track; there may be thousands of them.
	first := sort.Search(len(h.rows), func(k int) bool { return h.rows[k].track >= track })
	for k := first; k < len(h.rows) && h.rows[k].track == track; k++ {
		if r := &h.rows[k]; r.laneAt == lane {
			i = min(i, r.len())
			return r.upTo(min(i+n, r.len())) > r.upTo(i)
		}
	}
	return false
}

// Sum returns the total time and the number of found spans that touch a scope. Times are
// cut at the scope's range, in picoseconds; spans nested in other found spans add no
// time.
func (h *Hits) Sum(in recording.Scope) (time, count int64) {
	from, to := in.Bounds(h.rec)
	for k := range h.rows {
		r := &h.rows[k]
		if r.lane == nil || !in.HasTrack(r.track) {
			continue
		}
		for i := r.next(0); i >= 0; i = r.next(i + 1) {
			start, end := max(from, r.lane.Start(i)), min(to, r.lane.End(i))
			if in.Ranged && (r.lane.End(i) < from || r.lane.Start(i) >= to) {
				continue
			}
			count++
			if !h.nested(r, i) {
				time += max(0, end-start)
			}
		}
	}
	return time, count
}

// Lanes returns, for each track that has hits among its spans, the number of lanes down
// to the innermost lane with a hit.
func (h *Hits) Lanes() map[int]int {
	lanes := map[int]int{}
	for i := range h.rows {
		if r := &h.rows[i]; r.lane != nil && len(r.before) > 0 && r.before[len(r.before)-1] > 0 {
			lanes[r.track] = max(lanes[r.track], r.laneAt+1)
		}
	}
	return lanes
}

// OnTrack reports whether a pattern for threads finds a track.
func (h *Hits) OnTrack(track int) bool { return track < len(h.onTrack) && h.onTrack[track] }

// nested reports whether a span is inside another found span.
func (h *Hits) nested(r *hitRow, i int) bool {
	for k := range h.rows {
		up := &h.rows[k]
		if up.track != r.track || up.laneAt >= r.laneAt {
			continue
		}
		if j := up.lane.Search(r.lane.Start(i)); j < up.len() && up.lane.Start(j) <= r.lane.Start(i) && up.lane.End(j) >= r.lane.End(i) && up.is(j) {
			return true
		}
	}
	return false
}
