package shell

import (
	"ashlar/ingest/recording"
	"ashlar/ingest/search"
	"ashlar/render/theme"
)

// mark is the function whose bars stand out: the one under the pointer, else
// the picked one.
func (p *pane) mark() func(recording.FuncID) bool {
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
func (p *pane) marked() int64 {
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
func (p *pane) standing() (search int, mark int64) {
	if p.searching() {
		p.found()
		return p.search.version, -1
	}
	return -1, p.marked()
}

// found tells which functions the search matches.
func (p *pane) found() func(recording.FuncID) bool {
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
func (p *pane) markAt() func(track, lane, i, n int) bool {
	if p.searching() && !p.search.pattern.OfFunctions() {
		if h := p.doc.Hits(); h != nil && h.Pattern.Is(p.search.pattern) {
			return h.Marked
		}
	}
	return nil
}
