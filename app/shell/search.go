package shell

import (
	"image"

	"gioui.org/io/key"
	gio "gioui.org/widget"

	"ashlar/ingest/search"
	"ashlar/render/icon"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// finderPart is the line in the toolbar that looks for functions.
type finderPart struct {
	editor gio.Editor
	seen   string // its text, as it was last
	of     string // what the rest is about
	focus  bool   // wanted with the next frame
	blur   bool
	at     search.Hit // the hit that was walked to
	walked bool
	// function is the one that was walked to where nothing has a time: its place
	// among those that were found, -1 for none.
	function int
	list     hitList
	count    widget.ClickArea // what was found, a click on which lists it
	glass    widget.ClickArea // a click on which one types
}

// finding is the line, about what is looked for now.
func (p *pane) finding() *finderPart {
	f := &p.finder
	if f.of != p.Search.Of {
		f.of, f.walked, f.function = p.Search.Of, false, -1
		f.list.chosen, f.list.scroll = 0, 0
	}
	return f
}

// update reads what was typed, or shows what is looked for where that has changed
// elsewhere.
func (f *finderPart) update(p *pane, u *ui.UI) {
	f.editor.SingleLine, f.editor.Submit = true, true
	for {
		if _, ok := f.editor.Update(u.Context); !ok {
			break
		}
	}
	if t := f.editor.Text(); t != f.seen {
		f.seen = t
		p.LookFor(t)
	} else if t != p.Search.Of {
		f.editor.SetText(p.Search.Of)
		f.seen = p.Search.Of
	}
}

// searchBox draws the line in r and takes its keys.
func (s *Shell) searchBox(u *ui.UI, r image.Rectangle) {
	p := s.pane
	sp := p.finding()
	// Some keys are for the search before they are for the editor.
	for {
		ev, ok := u.Event(key.Filter{Focus: &sp.editor, Name: key.NameReturn, Optional: key.ModShift}, key.Filter{Focus: &sp.editor, Name: key.NameEscape},
			key.Filter{Focus: &sp.editor, Name: key.NameDownArrow}, key.Filter{Focus: &sp.editor, Name: key.NameUpArrow},
			key.Filter{Focus: &sp.editor, Name: key.NamePageDown}, key.Filter{Focus: &sp.editor, Name: key.NamePageUp})
		if !ok {
			break
		}
		if k, ok := ev.(key.Event); ok && k.State == key.Press {
			sp.key(s, p, k)
		}
	}
	sp.update(p, u)
	sp.list.box = r
	if p.Searching() && !p.Timed() {
		sp.list.update(p, s.Do.Wake) // which is walked too
	}
	if u.Item(&sp.editor, r) || sp.focus {
		sp.focus = false
		sp.editor.SetCaret(sp.editor.Len(), 0)
		widget.TakeKeyboard(u, &sp.editor)
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
	case p.Search.Err != nil:
		border = th.Warn
	case focused:
		border = th.Accent
	}
	u.Border(r, 6, 1, border)
	info := p.searchInfo()
	st := ui.Style{Size: 11.5, Color: th.Dim, Align: ui.End}
	w := u.Measure(info, st).X
	if w > r.Dx()*2/3 {
		w = r.Dx() * 2 / 3
	}
	found := image.Rect(r.Max.X-w-u.Px(10), r.Min.Y, r.Max.X-u.Px(8), r.Max.Y)
	if info != "" && p.Search.Err == nil && s.versus == nil {
		clicked, hovered := sp.count.Clicked(u, found)
		if clicked {
			s.toggleHits()
		}
		if hovered || sp.list.open {
			st.Color = th.Text
		}
	}
	u.Text(found, info, st)
	glass := ui.Rect(r.Min.X+u.Px(5), r.Min.Y, u.Px(20), r.Dy())
	u.Icon(icon.Search, glass, th.Dim)
	clicked, over := sp.glass.Clicked(u, glass)
	if clicked {
		sp.focus = true
	}
	if over {
		s.hint = hint{"Search", r.Min.Add(image.Pt(-u.Px(14), u.Px(14)))}
	}
	in := image.Rect(r.Min.X+u.Px(28), r.Min.Y+u.Px(5), r.Max.X-w-u.Px(14), r.Max.Y-u.Px(3))
	if sp.editor.Len() == 0 && !focused {
		u.Text(in, "Search (/)", ui.Style{Size: 12.5, Color: th.Faint})
	}
	widget.EditField(u, &sp.editor, in)
}

// key is one that the line has the first use for.
func (sp *finderPart) key(s *Shell, p *pane, k key.Event) {
	switch {
	case sp.list.open && sp.list.keyed(s, p, k.Name):
	case k.Name == key.NameEscape:
		p.LookFor("")
		sp.blur = true
	case k.Name == key.NameReturn:
		p.walk(s, !k.Modifiers.Contain(key.ModShift))
		sp.blur = true // the keys are the view's again: N and Shift-N go on
	case k.Name == key.NameDownArrow && s.versus == nil:
		p.openHits()
	}
}

// searchInfo says what was found: 3 / 120   7.8 %.
func (p *pane) searchInfo() string {
	sp := p.finding()
	switch {
	case p.Search.Err != nil:
		return p.Search.Err.Error()
	case p.Search.Pattern == nil:
		return ""
	}
	info := ""
	if h := p.Doc.Hits(); h != nil && h.Pattern.Is(p.Search.Pattern) {
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
	if o := &sp.list.functions; !p.Timed() && a != nil && o.Of == a && a.Search.Is(p.Search.Pattern) {
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

// walk goes to the next hit in order of time, or to the one before.
func (p *pane) walk(s *Shell, next bool) {
	sp := p.finding()
	if !p.Timed() {
		p.walkFunctions(s, next)
		return
	}
	h := p.Doc.Hits()
	if p.Search.Pattern == nil || h == nil || !h.Pattern.Is(p.Search.Pattern) || h.Len() == 0 {
		return
	}
	var to search.Hit
	var ok bool
	switch {
	case sp.walked && next:
		to, ok = h.Next(sp.at)
	case sp.walked:
		to, ok = h.Prev(sp.at)
	case next:
		to, ok = h.From(p.View.From)
	default:
		to, ok = h.Before(p.View.To)
	}
	if !ok { // round the end
		if next {
			to, ok = h.From(p.Rec.Start - 1)
		} else {
			to, ok = h.Before(p.Rec.End + 1)
		}
	}
	if ok {
		sp.at, sp.walked = to, true
		p.Show(to)
	}
}

// walkFunctions goes to the next function that was found, the heaviest first,
// where nothing has a time.
func (p *pane) walkFunctions(s *Shell, next bool) {
	sp := p.finding()
	n := len(sp.list.functions.Rows)
	if p.Search.Pattern == nil || n == 0 || s.versus != nil {
		return
	}
	to := (sp.function + 1) % n
	if !next {
		to = (max(sp.function, 0) + n - 1) % n
	}
	p.goToFunction(to)
}
