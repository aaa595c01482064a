package repeat

import (
	"cmp"
	"context"
	"math"
	"slices"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
)

// A Range is a time from From to To, in picoseconds.
type Range struct{ From, To int64 }

// An Overlap is a function on another track whose calls coincide with some times: Hits of
// the Times overlap one, and of as many times of the same length elsewhere, Elsewhere of
// Others. Covered is the part of the times in which it ran. An overlap is an association,
// not a proof.
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
	for i := range rec.Tracks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if rec.Tracks[i].Kind != recording.ThreadTrack || !tracks(i) {
			continue
		}
		m.mark(i, times, 0)
		m.mark(i, others, 1)
		m.collect(i)
	}
	for _, p := range m.seen {
		o := Overlap{Function: p.function, Track: p.track, Hits: p.n[0], Times: len(times), Elsewhere: p.n[1], Others: len(others), Covered: math.Min(1, float64(p.covered)/float64(max(1, whole)))}
		if 10*o.Hits < 7*o.Times || o.share() < .5 || o.Covered < .2 {
			continue
		}
		if o.P = math.Min(1, Chance(o.Hits, o.Times, o.Elsewhere, o.Others)*float64(len(m.seen))); o.P < rare {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b Overlap) int {
		return cmp.Or(cmp.Compare(b.share()*b.Covered, a.share()*a.Covered), cmp.Compare(a.Track, b.Track), cmp.Compare(a.Function, b.Function))
	})
	return all, nil
}

// share is how much more often the times overlap the function than others do.
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
	next := make([]int64, len(all)) // start of the next span of a lane, if known
	for row := range next {
		next[row] = math.MinInt64
	}
	for n := 0; n < len(times); {
		at := times[n]
		soon := int64(math.MaxInt64)
		for row := range all {
			if next[row] < at.To {
				next[row] = m.during(&all[row], at, 2*n+1+part, part)
			}
			soon = min(soon, next[row])
		}
		for n++; n < len(times) && times[n].To <= soon; n++ {
		}
	}
}

// during counts one time in a lane. It returns the start of the next span, if no span runs
// in the time, or else a time before all others.
func (m *marker) during(lane *lanes.Lane, at Range, number, part int) int64 {
	first := lane.Search(at.From)
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

// Overlaps returns what the slow calls of a loop overlap on other threads by more than
// chance.
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
