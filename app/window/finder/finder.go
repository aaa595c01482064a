// Package finder implements the search line for functions, threads and arguments, and its
// list of results.
package finder

import (
	"image"
	"slices"

	"gioui.org/io/key"
	gio "gioui.org/widget"

	"ashlar/app/window/panel"
	"ashlar/app/window/panel/functions"
	lanes "ashlar/app/window/timeline"
	"ashlar/ingest/query/search"
	"ashlar/render/icon"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Finder is the search line in the toolbar.
type Finder struct {
	*lanes.Timeline
	Table  *functions.Panel
	Paired bool // searches both recordings of a comparison; it has no list of hits
	Editor gio.Editor
	seen   string // the editor's text in the last frame
	of     string // the search that the other fields belong to
	focus  bool   // take the focus in the next frame
	blur   bool
	at     search.Hit // the current hit
	walked bool
	// function is the current function if the recording has no times: its index among the
	// matches, -1 for none.
	function int
	List     hitList
	behind   behind
	count    widget.ClickArea // the number of hits; a click lists them
	glass    widget.ClickArea // a click starts typing
}

// Fresh returns the search line, reset if the search has changed.
func (p *Finder) Fresh() *Finder {
	f := p
	if f.of != p.Search.Of {
		f.of, f.walked, f.function = p.Search.Of, false, -1
		f.List.Chosen, f.List.Down = 0, 0
	}
	return f
}

// update reads the typed text, or shows a search that was changed elsewhere.
func (p *Finder) update(u *ui.UI) {
	p.Editor.SingleLine, p.Editor.Submit = true, true
	for {
		if _, ok := p.Editor.Update(u.Context); !ok {
			break
		}
	}
	if t := p.Editor.Text(); t != p.seen {
		p.seen = t
		p.SearchFor(t)
	} else if t != p.Search.Of {
		p.Editor.SetText(p.Search.Of)
		p.seen = p.Search.Of
	}
}

// Layout draws the line in r and takes its keys; over reports whether the pointer is
// on its button.
func (p *Finder) Layout(s *panel.Host, u *ui.UI, r image.Rectangle) (over bool) {
	sp := p.Fresh()
	// Text typed right after the key that moves the focus here belongs to this line.
	if u.Item(&sp.Editor, r) || sp.focus {
		sp.focus = false
		sp.Editor.SetCaret(sp.Editor.Len(), 0)
		widget.TakeKeyboard(u, &sp.Editor)
	}
	sp.takeKeys(s, u)
	sp.update(u)
	sp.List.box = r
	if p.Searching() && !p.Timed() {
		sp.List.update(p, s.Do.Wake) // also used to step through the hits
	}
	if sp.blur {
		sp.blur = false
		u.Execute(key.FocusCmd{Tag: nil})
	}
	th := u.Theme
	focused := u.Focused(&sp.Editor)
	u.Round(r, 6, th.Raised)
	border := th.Rule
	switch {
	case p.Search.Err != nil:
		border = th.Warn
	case focused:
		border = th.Accent
	}
	u.Border(r, 6, 1, border)
	w := sp.info(u, r)
	glass := ui.Rect(r.Min.X+u.Px(5), r.Min.Y, u.Px(20), r.Dy())
	u.Icon(icon.Search, glass, th.Dim)
	clicked, over := sp.glass.Clicked(u, glass)
	if clicked {
		sp.focus = true
	}
	in := image.Rect(r.Min.X+u.Px(28), r.Min.Y+u.Px(5), r.Max.X-w-u.Px(14), r.Max.Y-u.Px(3))
	if sp.Editor.Len() == 0 && !focused {
		u.Text(in, "Search (/)", ui.Style{Size: 12.5, Color: th.Faint})
	}
	widget.EditField(u, &sp.Editor, in)
	return over
}

// takeKeys handles keys that belong to the search before the editor gets them.
func (p *Finder) takeKeys(s *panel.Host, u *ui.UI) {
	for {
		ev, ok := u.Event(key.Filter{Focus: &p.Editor, Name: key.NameReturn, Optional: key.ModShift}, key.Filter{Focus: &p.Editor, Name: key.NameEscape},
			key.Filter{Focus: &p.Editor, Name: key.NameDownArrow}, key.Filter{Focus: &p.Editor, Name: key.NameUpArrow},
			key.Filter{Focus: &p.Editor, Name: key.NamePageDown}, key.Filter{Focus: &p.Editor, Name: key.NamePageUp})
		if !ok {
			break
		}
		if k, ok := ev.(key.Event); ok && k.State == key.Press {
			p.key(s, k)
		}
	}
}

// info draws the result of the search at the right of r, and returns its width.
func (p *Finder) info(u *ui.UI, r image.Rectangle) int {
	info := p.Info()
	st := ui.Style{Size: 11.5, Color: u.Theme.Dim, Align: ui.End}
	w := u.Measure(info, st).X
	if w > r.Dx()*2/3 {
		w = r.Dx() * 2 / 3
	}
	found := image.Rect(r.Max.X-w-u.Px(10), r.Min.Y, r.Max.X-u.Px(8), r.Max.Y)
	if info != "" && p.Search.Err == nil && !p.Paired {
		clicked, hovered := p.count.Clicked(u, found)
		if clicked {
			p.ToggleHits()
		}
		if hovered || p.List.Open {
			st.Color = u.Theme.Text
		}
	}
	u.Text(found, info, st)
	return w
}

// key handles a key that the line takes before the editor.
func (p *Finder) key(s *panel.Host, k key.Event) {
	switch {
	case p.List.Open && p.List.keyed(s, p, k.Name):
	case k.Name == key.NameEscape:
		p.SearchFor("")
		p.blur = true
	case k.Name == key.NameReturn:
		p.Walk(s, !k.Modifiers.Contain(key.ModShift))
		p.blur = true // keys go to the view again: N and Shift-N step through the hits
	case k.Name == key.NameDownArrow && !p.Paired:
		p.openHits()
	}
}

// behind caches the hits of a search, with hits that are excluded from sums moved to the
// end.
type behind struct {
	hits, is *search.Hits
	tracks   []int
}

// found returns the hits in walking order: hits that are excluded from sums, mostly async
// operations, come last.
func (p *Finder) found() *search.Hits {
	h, b := p.Doc.Hits(), &p.behind
	var tracks []int
	if a := p.Doc.Answer(); a != nil {
		tracks = a.Scope.Beside
	}
	if h == nil || len(tracks) == 0 {
		return h
	}
	if b.hits != h || !slices.Equal(b.tracks, tracks) {
		*b = behind{h, h.Behind(tracks), tracks}
	}
	return b.is
}

// Info returns the result of the search: 3 / 120 7.8 %.
func (p *Finder) Info() string {
	sp := p.Fresh()
	switch {
	case p.Search.Err != nil:
		return p.Search.Err.Error()
	case p.Search.Pattern == nil:
		return ""
	}
	info := ""
	if h := p.found(); h != nil && h.Pattern.Equal(p.Search.Pattern) {
		if h.Len() > 0 || p.Timed() {
			info = units.Count(h.Len())
			if sp.walked && h.Of(p.Rec) {
				info = units.Count(h.Number(sp.at)) + " / " + info
			}
			if h.Partial {
				info += "…"
			}
		}
	}
	a := p.Doc.Answer()
	if o := &sp.List.functions; !p.Timed() && a != nil && o.Of == a && a.Search.Equal(p.Search.Pattern) {
		info = units.Count(int64(len(o.Rows)))
		if sp.function >= 0 {
			info = units.Count(int64(sp.function+1)) + " / " + info
		}
	}
	if p.Matches(a) {
		if info != "" {
			info += "   "
		}
		info += units.Percent(a.Matched.Total, a.Matched.OfTotal)
	}
	return info
}

// Walk goes to the next or previous hit in time.
func (p *Finder) Walk(s *panel.Host, next bool) {
	sp := p.Fresh()
	if !p.Timed() {
		p.walkFunctions(s, next)
		return
	}
	h := p.found()
	if p.Search.Pattern == nil || h == nil || !h.Pattern.Equal(p.Search.Pattern) || h.Len() == 0 {
		return
	}
	var to search.Hit
	var ok bool
	// After the view was moved away from the current hit, the search goes on from the view.
	walked := sp.walked && sp.at.Time <= p.View.To && sp.at.Time >= p.View.From
	switch {
	case walked && next:
		to, ok = h.Next(sp.at)
	case walked:
		to, ok = h.Prev(sp.at)
	case next:
		to, ok = h.From(p.View.From)
	default:
		to, ok = h.Before(p.View.To)
	}
	if !ok { // wrap around
		if next {
			to, ok = h.From(p.Rec.Start - 1)
		} else {
			for _, to = range h.List(h.Len()-1, 1) {
				ok = true
			}
		}
	}
	if ok {
		sp.at, sp.walked = to, true
		p.Show(to)
	}
}

// walkFunctions goes to the next matching function, by decreasing total, in a recording
// without times.
func (p *Finder) walkFunctions(s *panel.Host, next bool) {
	sp := p.Fresh()
	n := len(sp.List.functions.Rows)
	if p.Search.Pattern == nil || n == 0 || p.Paired {
		return
	}
	to := (sp.function + 1) % n
	if !next {
		to = (max(sp.function, 0) + n - 1) % n
	}
	p.goToFunction(to)
}

// Stop stops the lookups in the background.
func (p *Finder) Stop() {
	p.List.lists.Stop()
	p.List.functions.Stop()
	p.List.names.sums.Stop()
}

// Focus gives the line the keyboard with the next frame.
func (p *Finder) Focus() { p.focus = true }

// Blur takes the keyboard from the line with the next frame.
func (p *Finder) Blur() { p.blur = true }

// Typing reports whether the line has the keyboard focus or will get it.
func (p *Finder) Typing(u *ui.UI) bool { return p.focus || u.Focused(&p.Editor) }

// Forget forgets the current hit, because the hits have been renumbered.
func (p *Finder) Forget() { p.Fresh().walked = false }
