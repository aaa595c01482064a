package timeline

import (
	"sort"

	"ashlar/ingest/recording"
	"ashlar/render/raster"
)

// Sets of calls: what belongs to none of them is drawn faded. A lane is looked at
// from left to right, so each set is walked along its runs beside the bars: that
// costs by the bars, not by the runs.

// member tells which spans of a lane belong to any of some sets, asked in order.
type member struct {
	runs [][]recording.Run
	at   []int
}

// outerOf is for the calls of sets themselves, that lie in no other one: where two sets
// are compared each has a hue.
func (p *Picture) outerOf(track, lane int) *member {
	if len(p.Sets) < 2 {
		return nil
	}
	return p.memberOf(track, lane, func(s *recording.CallSet) [][][]recording.Run { return s.Outer })
}

// membersOf is for a lane; nil where there are no sets, and all belong.
func (p *Picture) membersOf(track, lane int) *member {
	if len(p.Sets) == 0 {
		return nil
	}
	return p.memberOf(track, lane, func(s *recording.CallSet) [][][]recording.Run { return s.Runs })
}

func (p *Picture) memberOf(track, lane int, of func(*recording.CallSet) [][][]recording.Run) *member {
	m := &member{at: make([]int, len(p.Sets))}
	for _, s := range p.Sets {
		var runs []recording.Run
		if all := of(s); track < len(all) && lane >= 0 && lane < len(all[track]) {
			runs = all[track][lane]
		}
		m.runs = append(m.runs, runs)
	}
	return m
}

// has reports whether any of n spans from i on belongs to a set.
func (m *member) has(i, n int) bool { return m == nil || m.which(i, n) != 0 }

// which are the sets that any of n spans from i on belongs to, a bit each.
func (m *member) which(i, n int) (sets uint8) {
	if m == nil {
		return 0
	}
	for k, runs := range m.runs {
		at := ahead(m.at[k], len(runs), func(j int) bool { return runs[j].Last > i })
		m.at[k] = at
		if at < len(runs) && runs[at].First < i+max(1, n) {
			sets |= 1 << k
		}
	}
	return sets
}

// hue draws the stripe of a call's set along the top of its bar: grey for A, the
// accent for B, and that of B where both are in a pixel.
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

// sampled reports whether a time of a track lies within calls of any set.
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

// ahead is the first i from at on for which is holds, and holds from there on; n
// where there is none. It is mostly near.
func ahead(at, n int, is func(int) bool) int {
	lo, step := at, 1
	for at < n && !is(at) {
		lo = at + 1
		at += step
		step *= 2
	}
	return lo + sort.Search(min(at, n)-lo, func(k int) bool { return is(lo + k) })
}
