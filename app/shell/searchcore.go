package shell

import (
	"ashlar/app/session"
	"ashlar/ingest/recording"
	"ashlar/ingest/search"
	"ashlar/render/theme"
	"ashlar/render/units"
)

// searchPart is what is looked for.
type searchPart struct {
	of      string // what pattern is of
	pattern *search.Pattern
	err     error

	// is tells which functions match isOf, 0 for those not asked for; version
	// counts its changes.
	is      []int8
	isOf    *search.Pattern
	isHits  *search.Hits
	version int
}

// searching tells whether something is being looked for.
func (p *Side) searching() bool { return p.search.pattern != nil }

// set looks for what is found by a text.
func (s *searchPart) set(text string) {
	s.of, s.pattern, s.err = text, nil, nil
	if text != "" {
		s.pattern, s.err = search.Parse(text)
	}
}

// lookFor searches for a text as if it had been typed.
func (p *Side) lookFor(text string) {
	p.Find = text
	if p.search.of != text {
		p.search.set(text)
	}
}

// matches tells whether an answer knows which share of the cost has a match.
func (p *Side) matches(a *session.Answer) bool {
	return a != nil && a.Matched != nil && a.Search.Is(p.search.pattern) && a.Matched.OfTotal != 0
}

// matchedText says it for the flamegraph: 12 functions match, 40.5 % of it.
func (p *Side) matchedText(a *session.Answer) string {
	if !p.matches(a) {
		return ""
	}
	m := a.Matched
	verb := "match"
	if m.Functions == 1 {
		verb = "matches"
	}
	if !a.Search.OfFunctions() { // what runs in it is not what matches
		return units.Percent(m.Total, m.OfTotal) + " of it matches"
	}
	return units.Plural(int64(m.Functions), "function") + " " + verb + ", " + units.Percent(m.Total, m.OfTotal) + " of it"
}

// mark is the function whose bars stand out: the one under the pointer, else
// the picked one.
func (p *Side) mark() func(recording.FuncID) bool {
	var f recording.FuncID
	switch {
	case p.searching():
		if p.palette.Mode == theme.BySearch {
			return nil // colours tell already
		}
		return p.found()
	case p.hover != nil:
		f = *p.hover
	case p.pick.named():
		f = p.pick.fn
	default:
		return nil
	}
	return func(g recording.FuncID) bool { return g == f }
}

// marked is what mark depends on, to tell whether a picture is out of date.
func (p *Side) marked() int64 {
	switch {
	case p.searching():
		p.found() // which may be new
		return -2 - int64(p.search.version)
	case p.hover != nil:
		return int64(*p.hover)
	case p.pick.named():
		return int64(p.pick.fn)
	}
	return -1
}

// standing is marked in two: the version of what is found, -1 where nothing is
// searched for, and the one function that stands out then, -1 for none.
func (p *Side) standing() (search int, mark int64) {
	if p.searching() {
		p.found()
		return p.search.version, -1
	}
	return -1, p.marked()
}

// found tells which functions the search matches.
func (p *Side) found() func(recording.FuncID) bool {
	sp := &p.search
	var hits *search.Hits
	if !sp.pattern.OfFunctions() {
		if hits = p.doc.Hits(); hits == nil || !hits.Pattern.Is(sp.pattern) {
			hits = nil // not known yet
		}
	}
	if !sp.isOf.Is(sp.pattern) || sp.isHits != hits || len(sp.is) < p.rec.Functions.Len() {
		sp.is, sp.isOf, sp.isHits = make([]int8, p.rec.Functions.Len()), sp.pattern, hits
		sp.version++
	}
	// Only those that are asked for are looked at: there may be a million.
	rec, is, pattern := p.rec, sp.is, sp.pattern
	return func(f recording.FuncID) bool {
		if int(f) >= len(is) {
			return false
		}
		if is[f] == 0 {
			is[f] = -1
			if hits != nil {
				if hits.Matches(f) {
					is[f] = 1
				}
			} else if fn := rec.Functions.At(int(f)); pattern.MatchFunction(&fn) {
				is[f] = 1
			}
		}
		return is[f] > 0
	}
}

// markAt is what marks the timeline's bars where functions do not tell.
func (p *Side) markAt() func(track, lane, i, n int) bool {
	if p.searching() && !p.search.pattern.OfFunctions() {
		if h := p.doc.Hits(); h != nil && h.Pattern.Is(p.search.pattern) {
			return h.Marked
		}
	}
	return nil
}
