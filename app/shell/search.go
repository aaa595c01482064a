package shell

import (
	"image"

	"gioui.org/io/key"
	"gioui.org/widget"

	"ashlar/app/doc"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/units"
)

// searchPart is the line in the toolbar that looks for functions.
type searchPart struct {
	editor  widget.Editor
	text    string // what pattern is of
	pattern *analyze.Pattern
	err     error
	focus   bool // wanted with the next frame
	blur    bool
	at      analyze.Hit // the hit that was walked to
	walked  bool

	// is tells which functions match isOf, 0 for those not asked for; version
	// counts its changes.
	is      []int8
	isOf    *analyze.Pattern
	isHits  *analyze.Hits
	version int

	marks   []bool
	marksOf marksKey
}

type marksKey struct {
	hits *analyze.Hits
	n    int
}

// searching tells whether something is being looked for.
func (p *pane) searching() bool { return p.search.pattern != nil }

// update reads what was typed.
func (s *searchPart) update(u *ui.UI) {
	s.editor.SingleLine, s.editor.Submit = true, true
	for {
		if _, ok := s.editor.Update(u.Context); !ok {
			break
		}
	}
	if t := s.editor.Text(); t != s.text {
		s.set(t)
	}
}

func (s *searchPart) set(text string) {
	s.text, s.pattern, s.err, s.walked = text, nil, nil, false
	if text != "" {
		s.pattern, s.err = analyze.ParsePattern(text)
	}
}

// look looks for a text as if it had been typed.
func (s *searchPart) look(text string) {
	s.editor.SetText(text)
	s.set(text)
}

func (s *searchPart) clear() {
	s.editor.SetText("")
	s.set("")
}

// searchBox draws the line in r and takes its keys.
func (s *Shell) searchBox(u *ui.UI, r image.Rectangle) {
	p := s.pane
	sp := &p.search
	// Return and Escape are for the search before they are for the editor.
	for {
		ev, ok := u.Event(key.Filter{Focus: &sp.editor, Name: key.NameReturn, Optional: key.ModShift}, key.Filter{Focus: &sp.editor, Name: key.NameEscape})
		if !ok {
			break
		}
		if k, ok := ev.(key.Event); ok && k.State == key.Press {
			if k.Name == key.NameEscape {
				sp.clear()
				sp.blur = true
			} else {
				p.walk(s, !k.Modifiers.Contain(key.ModShift))
			}
		}
	}
	sp.update(u)
	if u.Item(&sp.editor, r) || sp.focus {
		sp.focus = false
		u.Execute(key.FocusCmd{Tag: &sp.editor})
		u.Execute(key.SelectionCmd{Tag: &sp.editor})
		sp.editor.SetCaret(sp.editor.Len(), 0)
	}
	if sp.blur {
		sp.blur = false
		u.Execute(key.FocusCmd{Tag: nil})
	}
	th := u.Theme
	focused := u.Focused(&sp.editor)
	u.Round(r, 6, th.Raised)
	border := th.Rule
	switch {
	case sp.err != nil:
		border = th.Warn
	case focused:
		border = th.Accent
	}
	u.Border(r, 6, 1, border)
	info := p.searchInfo()
	st := ui.Style{Size: 11.5, Color: th.Dim, Align: end}
	w := u.Measure(info, st).X
	if w > r.Dx()*2/3 {
		w = r.Dx() * 2 / 3
	}
	u.Text(image.Rect(r.Max.X-w-u.Px(10), r.Min.Y, r.Max.X-u.Px(8), r.Max.Y), info, st)
	in := image.Rect(r.Min.X+u.Px(10), r.Min.Y+u.Px(5), r.Max.X-w-u.Px(14), r.Max.Y-u.Px(3))
	if sp.editor.Len() == 0 && !focused {
		u.Text(in, "Search   /", ui.Style{Size: 12.5, Color: th.Faint})
	}
	editField(u, &sp.editor, in)
}

// searchInfo says what was found: 3 / 120   7.8 %.
func (p *pane) searchInfo() string {
	sp := &p.search
	switch {
	case sp.err != nil:
		return sp.err.Error()
	case sp.pattern == nil:
		return ""
	}
	info := ""
	if h := p.doc.Hits(); h != nil && h.Pattern.Is(sp.pattern) {
		if h.Len() > 0 || p.timed() {
			info = units.Count(h.Len())
			if sp.walked && h.Of(p.rec) {
				info = units.Count(h.Number(sp.at)) + " / " + info
			}
			if h.Partial {
				info += "…"
			}
		}
	}
	if a := p.doc.Answer(); p.matches(a) {
		if info != "" {
			info += "   "
		}
		info += units.Percent(a.Matched.Total, a.Matched.OfTotal)
	}
	return info
}

// matches tells whether an answer knows which share of the cost has a match.
func (p *pane) matches(a *doc.Answer) bool {
	return a != nil && a.Matched != nil && a.Search.Is(p.search.pattern) && a.Matched.OfTotal != 0
}

// matchedText says it for the flamegraph: 12 functions match, 40.5 % of it.
func (p *pane) matchedText(a *doc.Answer) string {
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
	return plural(int64(m.Functions), "function") + " " + verb + ", " + units.Percent(m.Total, m.OfTotal) + " of it"
}

// walk goes to the next hit in order of time, or to the one before.
func (p *pane) walk(s *Shell, next bool) {
	sp := &p.search
	h := p.doc.Hits()
	if sp.pattern == nil || h == nil || !h.Pattern.Is(sp.pattern) || h.Len() == 0 {
		return
	}
	var to analyze.Hit
	var ok bool
	switch {
	case sp.walked && next:
		to, ok = h.Next(sp.at)
	case sp.walked:
		to, ok = h.Prev(sp.at)
	case next:
		to, ok = h.From(p.view.From)
	default:
		to, ok = h.Before(p.view.To)
	}
	if !ok { // round the end
		if next {
			to, ok = h.From(p.rec.Start - 1)
		} else {
			to, ok = h.Before(p.rec.End + 1)
		}
	}
	if ok {
		sp.at, sp.walked = to, true
		p.show(to)
	}
}

// show brings a hit into view and picks it.
func (p *pane) show(h analyze.Hit) {
	hit := timeline.Hit{Row: -1, Window: -1, Track: h.Track, Lane: h.Lane, Span: h.Index, Found: true, Call: h.Call, Start: h.Time, End: h.Time}
	t := p.rec.Tracks[h.Track]
	if h.Samples != nil {
		hit = timeline.SampleBar(p.rec, h.Samples, p.matchDepth(h.Call), h.Index)
		hit.Track, hit.Lane = h.Track, len(t.Lanes)+hit.Lane
	} else {
		l := &t.Lanes[h.Lane]
		hit.End, hit.Unfinished, hit.Args = l.End(h.Index), l.Unfinished(h.Index), l.Args(h.Index)
	}
	p.pickHit(hit)
	p.reveal(&p.pick.hit)
}

// matchDepth is how deep in a stack the outermost match stands, from 0.
func (p *pane) matchDepth(c recording.CallID) int {
	is := p.found()
	for d, call := range p.rec.Calls.Path(nil, c) {
		if is(p.rec.Func(call)) {
			return d
		}
	}
	return 0
}

// reveal scrolls and moves the view so that a bar is seen, zooming only where
// it would be too narrow or too wide to see.
func (p *pane) reveal(h *timeline.Hit) {
	if h.Found && p.hidden[h.Track] {
		p.hide(h.Track, false)
	}
	w := p.laneWidth()
	span := p.view.Span()
	d := max(1, h.End-h.Start)
	switch {
	case d > span:
		span = min(d*5/4, max(d, p.rec.Duration()/50*51)) // no more than all
	case h.Found && float64(d)/float64(span)*float64(w) < 6:
		span = max(d*40, 1000)
	}
	if mid := h.Start + d/2; span != p.view.Span() || h.Start < p.view.From || h.End > p.view.To {
		p.view.From, p.view.To = mid-span/2, mid-span/2+span
		p.view = p.view.Clamp(p.limits())
	}
	p.moved = true
	if p.timeline.plan == nil {
		return
	}
	if i := p.timeline.rowOf(h); i >= 0 {
		r := &p.timeline.plan.Rows[i]
		if h.Found && h.Lane >= r.Lanes {
			p.folds = with(p.folds, h.Track, timeline.Full)
		}
		_, y0, _, y1 := p.timeline.plan.Box(p.view, i, h.Lane, h.Start, h.End, p.bounds.lanes.Dx(), p.bounds.gutter)
		if y0 < 30 || y1 > p.bounds.lanes.Dy() {
			p.scrollTo(p.view.Scroll + y0 - p.bounds.lanes.Dy()/3)
		}
	}
}

// sameFunction goes to the next or previous span of the picked function.
func (p *pane) sameFunction(s *Shell, next bool) {
	if p.pick.is != pickBar && p.pick.is != pickNode {
		return
	}
	h := p.pick.hit
	at := p.view.From
	if p.pick.is == pickBar {
		at = h.Start
	}
	best, found := analyze.Hit{}, false
	for ti, t := range p.rec.Tracks {
		for li := range t.Lanes {
			i := nearest(p.rec, &t.Lanes[li], p.pick.fn, at, next, p.pick.is == pickBar && ti == h.Track && li == h.Lane)
			if i < 0 {
				continue
			}
			start := t.Lanes[li].Start(i)
			if !found || next && start < best.Time || !next && start > best.Time {
				best, found = analyze.Hit{Time: start, Track: ti, Lane: li, Index: i, Call: t.Lanes[li].Call(i)}, true
			}
		}
	}
	if found {
		p.show(best)
	} else {
		s.Say("There is no other span of " + p.rec.Functions.At(int(p.pick.fn)).Name + " on that side")
	}
}

// nearestReach bounds how many spans of a lane are looked at.
const nearestReach = 4 << 20

// nearest is the first span of a function after a time in a lane, or the last
// before it; -1 when there is none within reach. The span at the time itself
// does not count in its own lane.
func nearest(rec *recording.Recording, l *recording.Lane, f recording.FuncID, at int64, next, own bool) int {
	i := l.Search(at)
	if !next {
		i--
	}
	for n := 0; n < nearestReach && i >= 0 && i < l.Len(); n++ {
		start := l.Start(i)
		past := start > at || start == at && !own
		if !next {
			past = start < at
		}
		if past && rec.Func(l.Call(i)) == f {
			return i
		}
		if next {
			i++
		} else {
			i--
		}
	}
	return -1
}
