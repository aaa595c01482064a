package repeat

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

// A Range is a time from From to To, in picoseconds.
type Range struct{ From, To int64 }

// An Overlap is a function on another track whose calls coincide with given times: Hits of
// the Times overlap a call, and Elsewhere of the Others, times elsewhere for comparison.
// Covered is the fraction of the times in which it ran. An overlap is an association, not a
// proof.
type Overlap struct {
	Function                       recording.FuncID
	Track                          int
	Hits, Times, Elsewhere, Others int
	Covered                        float64
	P                              float64 // probability by chance, over all functions seen
}

// Overlaps returns the functions on other tracks that coincide with times by more than
// chance, the most typical first. Elsewhere are the times to compare with; each counts
// from its start for the median length of the times, because longer times overlap more.
func Overlaps(ctx context.Context, rec *recording.Recording, tracks func(track int) bool, times, elsewhere []Range) (all []Overlap, err error) {
	if len(times) < 4 || len(elsewhere) < 4 {
		return nil, nil
	}
	var whole int64
	lengths := make([]int64, len(times))
	for i, t := range times {
		lengths[i] = t.To - t.From
		whole += lengths[i]
	}
	slices.Sort(lengths)
	length := lengths[(len(lengths)-1)/2]
	others := make([]Range, len(elsewhere))
	for i, t := range elsewhere {
		others[i] = Range{t.From, t.From + length}
	}
	m := marker{rec: rec, counts: make([]hits, rec.Functions.Len())}
	visit := func(parts ...[]Range) ([]place, error) {
		m.seen = m.seen[:0]
		for i := range rec.Tracks {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if rec.Tracks[i].Kind == recording.ThreadTrack && tracks(i) {
				for part, of := range parts {
					m.mark(i, of, part)
				}
				m.collect(i)
			}
		}
		return m.seen, nil
	}
	typical := func(p place) bool {
		return 10*p.n[0] >= 7*len(times) && math.Min(1, float64(p.covered)/float64(max(1, whole))) >= .2
	}
	// The times to compare with are often ten times as many, and no function may need them.
	seen, err := visit(times)
	if err != nil || !slices.ContainsFunc(seen, typical) {
		return nil, err
	}
	if seen, err = visit(times, others); err != nil {
		return nil, err
	}
	for _, p := range seen {
		o := Overlap{Function: p.function, Track: p.track, Hits: p.n[0], Times: len(times), Elsewhere: p.n[1], Others: len(others), Covered: math.Min(1, float64(p.covered)/float64(max(1, whole)))}
		if !typical(p) || o.share() < .5 {
			continue
		}
		if o.P = math.Min(1, Chance(o.Hits, o.Times, o.Elsewhere, o.Others)*float64(len(seen))); o.P < rare {
			all = append(all, o)
		}
	}
	order.By(all, func(a, b Overlap) int {
		return cmp.Or(cmp.Compare(b.share()*b.Covered, a.share()*a.Covered), cmp.Compare(a.Track, b.Track), cmp.Compare(a.Function, b.Function))
	})
	return all, nil
}

// share returns how much more often the given times overlap the function than other times
// do.
func (o *Overlap) share() float64 {
	return float64(o.Hits)/float64(o.Times) - float64(o.Elsewhere)/float64(o.Others)
}

// place is a function on a track.
type place struct {
	track    int
	function recording.FuncID
	hits
}

type hits struct {
	n       [2]int
	last    int // number of the last time counted
	covered int64
}

// marker counts, by function, the times in which it ran.
type marker struct {
	rec    *recording.Recording
	counts []hits // of one track, by function
	ran    []recording.FuncID
	seen   []place
}

// mark counts times on a track. They are in order.
func (m *marker) mark(track int, times []Range, part int) {
	all := m.rec.Tracks[track].Lanes
	all = all[:min(len(all), deepest)]
	if len(all) == 0 {
		return
	}
	next := make([]int64, len(all)) // start of the next span of a lane, if known
	seen := make([]int, len(all))   // number of spans of a lane that end before the time
	for row := range next {
		next[row] = math.MinInt64
	}
	for n := 0; n < len(times); {
		at := times[n]
		soon := int64(math.MaxInt64)
		for row := range all {
			if next[row] < at.To {
				seen[row] = endAfter(&all[row], seen[row], at.From)
				next[row] = m.during(&all[row], seen[row], at, 2*n+1+part, part)
			}
			soon = min(soon, next[row])
		}
		for n++; n < len(times) && times[n].To <= soon; n++ {
		}
	}
}

// endAfter returns the first span from index at on that ends after a time. It is fast if
// the span is near.
func endAfter(lane *lanes.Lane, at int, t int64) int {
	step, n := 1, lane.Len()
	for at+step <= n && lane.End(at+step-1) <= t {
		at += step
		step *= 2
	}
	return at + sort.Search(min(step-1, n-at), func(i int) bool { return lane.End(at+i) > t })
}

// during counts one time in a lane, whose span first is the first that ends after the start
// of the time. It returns the start of the next span, if no span runs in the time, or else a
// time before all others.
func (m *marker) during(lane *lanes.Lane, first int, at Range, number, part int) int64 {
	k := first
	for ; k < lane.Len() && lane.Start(k) < at.To; k++ {
		f := m.rec.Func(lane.Call(k))
		h := &m.counts[f]
		if h.n == [2]int{} {
			m.ran = append(m.ran, f)
		}
		if h.last != number {
			h.last = number
			h.n[part]++
		}
		if part == 0 {
			h.covered += min(at.To, lane.End(k)) - max(at.From, lane.Start(k))
		}
	}
	switch {
	case k > first:
		return math.MinInt64
	case k == lane.Len():
		return math.MaxInt64
	}
	return lane.Start(k)
}

// collect moves the counts of a track to seen.
func (m *marker) collect(track int) {
	for _, f := range m.ran {
		m.seen = append(m.seen, place{track, f, m.counts[f]})
		m.counts[f] = hits{}
	}
	m.ran = m.ran[:0]
}

// Overlaps returns the functions on other threads that the slow calls of a loop overlap
// more often than by chance.
func (l *Loop) Overlaps(ctx context.Context, s *Slow) ([]Overlap, error) {
	times, others := make([]Range, len(s.Calls)), make([]Range, len(s.Others))
	for k, i := range s.Calls {
		times[k] = Range{l.Start(i), l.End(i)}
	}
	for k, i := range s.Others {
		others[k] = Range{l.Start(i), l.End(i)}
	}
	return Overlaps(ctx, l.rec, func(track int) bool { return track != l.Track }, times, others)
}

// An Ending is a function on another track whose calls end when the given times end: for
// Hits of the Times, a call ends at most Within picoseconds from the end of the time. An
// ending is an association, not a proof.
type Ending struct {
	Function    recording.FuncID
	Track       int
	Hits, Times int
	Within      int64   // picoseconds
	P           float64 // probability by chance, over all functions seen
}

// Endings returns the functions on other tracks whose calls end near the ends of most
// times, within a twentieth of the median time, more often than by chance; the most
// frequent first. If the times are waits for a lock, the calls of its holder end like this.
func Endings(ctx context.Context, rec *recording.Recording, tracks func(track int) bool, times []Range) (all []Ending, err error) {
	if len(times) < 4 || rec.Duration() <= 0 {
		return nil, nil
	}
	lengths := make([]int64, len(times))
	for i, t := range times {
		lengths[i] = t.To - t.From
	}
	slices.Sort(lengths)
	within := lengths[(len(lengths)-1)/2] / 20
	for i := range rec.Tracks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if rec.Tracks[i].Kind != recording.ThreadTrack || !tracks(i) {
			continue
		}
		all = append(all, endings(rec, i, times, within)...)
	}
	seen := float64(len(all))
	all = slices.DeleteFunc(all, func(e Ending) bool {
		return 10*e.Hits < 7*e.Times || e.P*seen >= rare
	})
	for i := range all {
		all[i].P *= seen
	}
	order.By(all, func(a, b Ending) int {
		return cmp.Or(cmp.Compare(b.Hits, a.Hits), cmp.Compare(a.P, b.P), cmp.Compare(a.Track, b.Track), cmp.Compare(a.Function, b.Function))
	})
	return all, nil
}

// endings counts, by function, the times with which calls on a track end.
func endings(rec *recording.Recording, track int, times []Range, within int64) (all []Ending) {
	hits := map[recording.FuncID]*[2]int{} // number of times, and 1 + the number of the last
	lanes := rec.Tracks[track].Lanes
	lanes = lanes[:min(len(lanes), deepest)]
	for n, t := range times {
		for row := range lanes {
			lane := &lanes[row]
			for k := lane.Search(t.To - within - 1); k < lane.Len() && lane.End(k) <= t.To+within; k++ {
				f := rec.Func(lane.Call(k))
				h := hits[f]
				if h == nil {
					h = new([2]int)
					hits[f] = h
				}
				if h[1] != n+1 {
					h[0]++
					h[1] = n + 1
				}
			}
		}
	}
	ends := map[recording.FuncID]int{}
	for f, h := range hits {
		if 10*h[0] >= 7*len(times) {
			ends[f] = 0
		}
	}
	if len(ends) > 0 {
		for row := range lanes {
			whole(&lanes[row]).EachCall(func(_ int, calls []recording.CallID) {
				for _, c := range calls {
					if f := rec.Func(c); hits[f] != nil {
						ends[f]++
					}
				}
			})
		}
	}
	for f, h := range hits {
		e := Ending{Function: f, Track: track, Hits: h[0], Times: len(times), Within: within, P: 1}
		if 10*h[0] >= 7*len(times) {
			// A moment is near one of n ends with a probability of at most 2 n within / duration.
			e.P = AtLeast(h[0], len(times), math.Min(1, 2*float64(ends[f])*float64(within)/float64(rec.Duration())))
		}
		all = append(all, e)
	}
	return all
}

// AtLeast returns the probability that at least k of n things have a mark that each has
// with probability p.
func AtLeast(k, n int, p float64) float64 {
	if k <= 0 || p >= 1 {
		return 1
	}
	if p <= 0 {
		return 0
	}
	log := func(n int) float64 { v, _ := math.Lgamma(float64(n + 1)); return v }
	sum := 0.
	for i := k; i <= n; i++ {
		sum += math.Exp(log(n) - log(i) - log(n-i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return math.Min(1, sum)
}
