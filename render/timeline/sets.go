package timeline

import (
	"sort"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/model/sets"
	"ashlar/render/raster"
)

// If the picture has sets of calls, bars that belong to none of them are drawn faded. The
// bars of a lane are looked up from left to right, so each set's runs are walked in
// parallel: the cost depends on the number of bars, not of runs.

// inLane are the spans first..last-1 of a lane.
type inLane struct{ first, last int }

// membership says whether a bar is outside all sets. sets has one bit for each set of
// which the bar is an outermost call.
type membership struct {
	out  bool
	sets uint8
}

// mostSets is the maximum number of sets in a picture: the two sides of a comparison.
const mostSets = 2

// member finds out which sets contain a lane's spans. Lookups must go from left to right.
type member struct {
	runs [mostSets][]sets.Run
	at   [mostSets]int
}

// tellMembers sets the membership of a lane's columns and wide bars, from the given
// indices on. It skips thread states: they belong to no set, only to a set's times, and
// lookBetween handles them.
func (p *Picture) tellMembers(l *laneSpans, columns, wide int) {
	if l.lane == recording.StateLane {
		return
	}
	in, outer := p.membersOf(l)
	for i := range l.columns[columns:] {
		c := &l.columns[columns+i]
		c.membership = p.membershipOf(&in, &outer, c.inLane)
	}
	in, outer = p.membersOf(l)
	for i := range l.wide[wide:] {
		b := &l.wide[wide+i]
		b.membership = p.membershipOf(&in, &outer, b.inLane)
	}
}

func (p *Picture) membershipOf(in, outer *member, of inLane) membership {
	return membership{len(p.Sets) > 0 && in.which(of) == 0, outer.which(of)}
}

// membersOf returns all spans of a lane that belong to the sets and, if two sets are
// compared, each set's own calls, which get its hue.
func (p *Picture) membersOf(l *laneSpans) (in, outer member) {
	for k, s := range p.Sets {
		in.runs[k] = runsOf(s.Runs, l)
		if len(p.Sets) > 1 {
			outer.runs[k] = runsOf(s.Outer, l)
		}
	}
	return in, outer
}

func runsOf(all [][][]sets.Run, l *laneSpans) []sets.Run {
	if l.track >= len(all) || l.lane >= len(all[l.track]) {
		return nil
	}
	return all[l.track][l.lane]
}

// which returns the sets that any of the spans belongs to, one bit per set.
func (m *member) which(of inLane) (sets uint8) {
	for k := range m.runs {
		runs, at := m.runs[k], m.at[k]
		if at < len(runs) && runs[at].Last <= of.first {
			at = ahead(at+1, len(runs), func(j int) bool { return runs[j].Last > of.first })
			m.at[k] = at
		}
		if at < len(runs) && runs[at].First < of.last {
			sets |= 1 << k
		}
	}
	return sets
}

// hue draws the stripe of a call's set along the top of its bar: grey for A, the accent
// colour for B. A pixel that contains calls of both gets B's colour.
func (p *Picture) hue(x0, x1, y int, sets uint8) {
	if sets == 0 {
		return
	}
	c := p.Palette.Theme.Text
	if sets&2 != 0 {
		c = p.Palette.Theme.Accent
	}
	p.c.Rect(max(x0, p.Gutter), y, x1, y+max(2, p.px(3)), raster.Pack(c))
}

// sampled reports whether a range of time of a track is within calls of any set.
func (p *Picture) sampled(track int, from, to int64) bool {
	if len(p.Sets) == 0 {
		return true
	}
	for _, s := range p.Sets {
		if track >= len(s.Times) {
			continue
		}
		ts := s.Times[track]
		if k := sort.Search(len(ts), func(k int) bool { return ts[k].To > from }); k < len(ts) && ts[k].From < max(to, from+1) {
			return true
		}
	}
	return false
}

// ahead returns the first i >= at for which is(i) holds, or n if there is none. If is
// holds for an i, it must hold for all later ones. The search is fast if the result is
// near at.
func ahead(at, n int, is func(int) bool) int {
	lo, step := at, 1
	for at < n && !is(at) {
		lo = at + 1
		at += step
		step *= 2
	}
	return lo + sort.Search(min(at, n)-lo, func(k int) bool { return is(lo + k) })
}
