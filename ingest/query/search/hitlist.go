package search

import (
	"math"
	"sort"
)

// List returns up to n hits in order, from the k-th on, counted from 0. The time depends
// on n and the number of lanes, not on the number of hits.
func (h *Hits) List(k int64, n int) []Hit {
	at, ok := h.nth(k)
	if !ok || n <= 0 {
		return nil
	}
	list := append(make([]Hit, 0, n), at)
	for len(list) < n {
		if at, ok = h.Next(at); !ok {
			break
		}
		list = append(list, at)
	}
	return list
}

// nth returns the k-th hit, counted from 0.
func (h *Hits) nth(k int64) (Hit, bool) {
	if k < 0 || k >= h.n {
		return Hit{}, false
	}
	for _, late := range []bool{false, true} {
		part := h.part(late)
		if k < part.n {
			return part.nthInTime(k)
		}
		k -= part.n
	}
	return Hit{}, false
}

// nthInTime is nth for hits of one part (see part), which are in order of time.
func (h *Hits) nthInTime(k int64) (Hit, bool) {
	from, to := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range h.rows {
		if r := &h.rows[i]; r.len() > 0 {
			from, to = min(from, r.time(0)), max(to, r.time(r.len()-1))
		}
	}
	// The hit starts at the latest time before which there are at most k hits.
	for from < to {
		mid := from + (to-from)/2 + 1
		if h.starting(mid) <= k {
			from = mid
		} else {
			to = mid - 1
		}
	}
	k -= h.starting(from)
	for i := range h.rows {
		r := &h.rows[i]
		before := r.upTo(r.search(from))
		if n := r.upTo(r.search(from+1)) - before; k >= n {
			k -= n
			continue
		}
		before += k // now the hit's position among the row's hits, to find its block
		b := sort.Search(len(r.before)-1, func(b int) bool { return r.before[b+1] > before })
		at := r.next(b * hitBlock)
		for skip := before - r.before[b]; skip > 0; skip-- {
			at = r.next(at + 1)
		}
		return h.hit(i, at), true
	}
	return Hit{}, false
}

// starting counts the hits that start before time t.
func (h *Hits) starting(t int64) (n int64) {
	for i := range h.rows {
		r := &h.rows[i]
		n += r.upTo(r.search(t))
	}
	return n
}
