package analyze

import (
	"context"
	"math"
	"slices"
	"sort"

	"ashlar/ingest/recording"
)

// threads makes a hit of each thread that matches: where its first span or
// sample is.
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

// args makes a hit of each span whose arguments match, on all cores.
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
	const most = 1 << 16 // spans an item: whole words of bits
	type item struct{ row, first int }
	var items []item
	for r := range h.rows {
		for i := 0; i < h.rows[r].len(); i += most {
			items = append(items, item{r, i})
		}
	}
	found := make([][]bool, len(items)) // by function
	err := spread(ctx, len(items), func(_, i int) {
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

// Marked tells whether any of the n spans from i on in a track's lane is what
// was searched for, or the lane's thread is; for patterns that functions do not
// tell. Lane is -1 for samples.
func (h *Hits) Marked(track, lane, i, n int) bool {
	if h.Pattern.Field() == InThread {
		return track < len(h.onTrack) && h.onTrack[track]
	}
	// Rows are in the order of tracks, of which there may be thousands.
	first := sort.Search(len(h.rows), func(k int) bool { return h.rows[k].track >= track })
	for k := first; k < len(h.rows) && h.rows[k].track == track; k++ {
		if r := &h.rows[k]; r.laneAt == lane {
			i = min(i, r.len())
			return r.upTo(min(i+n, r.len())) > r.upTo(i)
		}
	}
	return false
}

// MatchHits tells, as Match does, which part of a tree a search for threads or
// arguments finds. What has such an argument is weighed by the spans' time or
// number, each once; other metrics do not tell.
func MatchHits(ctx context.Context, rec *recording.Recording, t *Tree, q Query, h *Hits) (*Matched, error) {
	m := &Matched{Nodes: make([]bool, len(t.Nodes))}
	for i := 1; i < len(t.Nodes); i++ {
		m.Nodes[i] = t.Nodes[i].Group == 0 && h.Matches(t.Nodes[i].Func)
	}
	all := t
	if t.upright != nil {
		all = t.upright
	}
	m.OfTotal, m.OfCount = all.sums()
	m.Functions = all.kinds(rec, func(i int) bool { return all.Nodes[i].Group == 0 && h.Matches(all.Nodes[i].Func) })
	if h.Pattern.Field() == InArgs {
		m.Total, m.Count = h.weigh(q)
		return m, nil
	}
	tracks := []int{} // not nil, which stands for all
	for ti, on := range h.onTrack {
		if on && (q.Tracks == nil || slices.Contains(q.Tracks, ti)) {
			tracks = append(tracks, ti)
		}
	}
	if len(tracks) == 0 {
		return m, nil
	}
	q.Tracks = tracks
	w, err := Weigh(ctx, rec, q)
	if err != nil {
		return nil, err
	}
	m.Total, m.Count = NewTree(rec, w, t.Transforms...).sums()
	return m, nil
}

// sums adds up a tree's own weights and records.
func (t *Tree) sums() (self, count int64) {
	if t.upright != nil {
		t = t.upright
	}
	for i := range t.Nodes {
		self += t.Nodes[i].Self
		count += t.Nodes[i].Count
	}
	return self, count
}

// weigh adds up the spans that were found: how long they took within the
// query's range, those inside another one left out, or how many they are.
func (h *Hits) weigh(q Query) (total, count int64) {
	rec := h.rec
	if q.Event >= len(rec.Events) || rec.Events[q.Event].Basis != recording.FromSpans {
		return 0, 0
	}
	from, to := rec.Start, rec.End
	if q.Ranged {
		from, to = q.From, q.To
	}
	m := &rec.Events[q.Event].Metrics[q.Metric]
	for k := range h.rows {
		r := &h.rows[k]
		if q.Tracks != nil && !slices.Contains(q.Tracks, r.track) {
			continue
		}
		for i := r.next(0); i >= 0; i = r.next(i + 1) {
			start, end := max(from, r.lane.Start(i)), min(to, r.lane.End(i))
			if q.Ranged && (r.lane.End(i) < from || r.lane.Start(i) >= to) {
				continue
			}
			count++
			if m.Unit == "ns" && !h.within(r, i) {
				total += max(0, end-start)
			}
		}
	}
	if m.Unit == "ns" {
		return total, count
	}
	return count, count
}

// within tells whether a span lies in another one that was found.
func (h *Hits) within(r *hitRow, i int) bool {
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
