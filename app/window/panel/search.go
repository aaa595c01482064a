package panel

import (
	"ashlar/app/core/session"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/search"
	"ashlar/render/theme"
	"ashlar/render/units"
)

// searchPart holds the search and its result.
type searchPart struct {
	Of      string // the text of Pattern
	Pattern *search.Pattern
	Err     error

	// is caches which functions match isOf, with 0 for functions not examined yet;
	// Version counts its changes.
	is      []int8
	isOf    *search.Pattern
	isHits  *search.Hits
	Version int
}

// Searching reports whether there is a search.
func (p *Side) Searching() bool { return p.Search.Pattern != nil }

// Set starts a search for text.
func (s *searchPart) Set(text string) {
	s.Of, s.Pattern, s.Err = text, nil, nil
	if text != "" {
		s.Pattern, s.Err = search.Parse(text)
	}
}

// SearchFor searches for a text as if it had been typed.
func (p *Side) SearchFor(text string) {
	p.Find = text
	if p.Search.Of != text {
		p.Search.Set(text)
	}
}

// Matches reports whether an answer contains the cost of the search's matches.
func (p *Side) Matches(a *session.Answer) bool {
	return a != nil && a.Matched != nil && a.Search.Equal(p.Search.Pattern) && a.Matched.OfTotal != 0
}

// MatchedText describes the matches for the flamegraph: 12 functions match, 40.5 % of the
// total.
func (p *Side) MatchedText(a *session.Answer) string {
	if !p.Matches(a) {
		return ""
	}
	m := a.Matched
	verb := "match"
	if m.Functions == 1 {
		verb = "matches"
	}
	if !a.Search.OfFunctions() { // the matches are not functions: their share is the cost of code inside them
		return units.Percent(m.Total, m.OfTotal) + " of the total matches"
	}
	return units.Plural(int64(m.Functions), "function") + " " + verb + ", " + units.Percent(m.Total, m.OfTotal) + " of the total"
}

// Mark returns a function that reports which functions to highlight: those found by a
// search, otherwise the one under the pointer or selected.
func (p *Side) Mark() func(recording.FuncID) bool {
	var f recording.FuncID
	switch {
	case p.Searching():
		if p.Palette.Mode == theme.BySearch {
			return nil // the colours already show the matches
		}
		return p.Found()
	case p.Hover != nil:
		f = *p.Hover
	case p.Pick.Named():
		f = p.Pick.Fn
	default:
		return nil
	}
	return func(g recording.FuncID) bool { return g == f }
}

// Marked returns a number that changes with everything Mark depends on, to detect
// outdated pictures.
func (p *Side) Marked() int64 {
	switch {
	case p.Searching():
		p.Found() // may change Version
		return -2 - int64(p.Search.Version)
	case p.Hover != nil:
		return int64(*p.Hover)
	case p.Pick.Named():
		return int64(p.Pick.Fn)
	}
	return -1
}

// SearchMark identifies what is highlighted: the version of the search result, -1 without
// a search, and a single highlighted function, -1 for none.
func (p *Side) SearchMark() (search int, mark int64) {
	if p.Searching() {
		p.Found()
		return p.Search.Version, -1
	}
	return -1, p.Marked()
}

// Found returns a function that reports whether the search matches a function.
func (p *Side) Found() func(recording.FuncID) bool {
	sp := &p.Search
	var hits *search.Hits
	if !sp.Pattern.OfFunctions() {
		if hits = p.Doc.Hits(); hits == nil || !hits.Pattern.Equal(sp.Pattern) {
			hits = nil // not known yet
		}
	}
	if !sp.isOf.Equal(sp.Pattern) || sp.isHits != hits || len(sp.is) < p.Rec.Functions.Len() {
		sp.is, sp.isOf, sp.isHits = make([]int8, p.Rec.Functions.Len()), sp.Pattern, hits
		sp.Version++
	}
	// Functions are examined only on demand because there may be a million.
	rec, is, pattern := p.Rec, sp.is, sp.Pattern
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

// MarkAt returns a function that reports which bars of the timeline to highlight, if that
// depends on more than their functions.
func (p *Side) MarkAt() func(track, lane, i, n int) bool {
	if p.Searching() && !p.Search.Pattern.OfFunctions() {
		if h := p.Doc.Hits(); h != nil && h.Pattern.Equal(p.Search.Pattern) {
			return h.Marked
		}
	}
	return nil
}
