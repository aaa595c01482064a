package shell

import (
	"fmt"
	"image"
	"image/color"

	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/app/window/workspace"
	"ashlar/ingest/model/recording"
	"ashlar/render/icon"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// toolbar draws the bar at the top.
func (s *Shell) toolbar(u *ui.UI, r image.Rectangle) {
	th := u.Theme
	u.Fill(r, th.Surface)
	u.HLine(r.Min.X, r.Max.X, r.Max.Y-1, th.Rule)
	y := r.Min.Y + u.Px(9)
	x := r.Min.X + u.Px(12)
	if p := s.Pane; p != nil && s.noSearch && p.Finder.Typing(u) {
		// The bar is too narrow for both, so the search takes all of it during typing.
		s.search(u, image.Rect(x, y, max(x, r.Max.X-u.Px(12)), y+u.Px(26)))
		return
	}
	x += s.iconButton(u, &s.openButton, x, y, icon.Open, "Open", "Open file", false) + u.Px(10)
	if s.openButton.Clicked(u.Context) {
		s.askOpen()
	}
	if s.Pane != nil {
		x = s.compareButton(u, x, y)
		x = s.choices(u, x, y)
	}
	if s.Pane == nil {
		s.rightButtons(u, r, x, y)
		return
	}
	right := s.rightButtons(u, r, x+u.Px(36), y) // leave space for at least the search button
	p := s.Pane
	// The title is centred in the window if there is enough space.
	title := s.OpenName()
	st := ui.Style{Size: 12.5, Weight: ui.Medium, Color: th.Dim, Align: ui.Middle}
	w := u.Measure(title, st).X
	mid := (r.Min.X + r.Max.X) / 2
	lo, hi := max(x+u.Px(12), mid-w/2), right-u.Px(12)
	// The search field is left out if it would be too narrow.
	s.noSearch = false
	if w := min(u.Px(290), hi-mid-u.Px(90)); w > u.Px(120) {
		s.search(u, image.Rect(hi-w, y, hi, y+u.Px(26)))
		hi -= w + u.Px(12)
	} else if w := min(u.Px(290), hi-lo-u.Px(12)); w > u.Px(110) {
		s.search(u, image.Rect(hi-w, y, hi, y+u.Px(26)))
		return
	} else {
		s.noSearch = true
		hi = min(max(x, hi-u.Px(36)), r.Max.X-u.Px(38)) // if space is even shorter, cover other controls
		end := hi + u.Px(36)
		if right >= r.Max.X-u.Px(12) { // no button is at the right: nothing shows beside this one
			end = r.Max.X
		}
		u.Fill(image.Rect(hi-u.Px(6), r.Min.Y, end, r.Max.Y-1), th.Surface)
		s.iconButton(u, &s.searchButton, hi, y, icon.Search, "", "Search", p.Find != "")
		if s.searchButton.Clicked(u.Context) {
			p.Finder.Focus()
		}
		hi -= u.Px(8)
	}
	if hi-lo > min(w, u.Px(60)) { // fewer letters do not tell files apart
		box := image.Rect(lo, r.Min.Y, min(hi, max(mid+w/2+1, lo+w+1)), r.Max.Y)
		if w > box.Dx() { // not by the face's own measure, which differs by a pixel
			title = s.ShortName(s.Fonts.Medium(st.Size*u.Metric.PxPerSp), float32(box.Dx()))
		}
		u.Text(box, title, st)
	}
}

// rightButtons draws the help, theme and colour buttons from the right edge, as many as
// fit to the right of left, and returns their left end.
func (s *Shell) rightButtons(u *ui.UI, r image.Rectangle, left, y int) int {
	x := r.Max.X - u.Px(12)
	fits := func(w int) bool {
		if x-w < left+u.Px(6) {
			return false
		}
		x -= w
		return true
	}
	if !fits(u.Px(26)) {
		return x
	}
	s.iconButton(u, &s.helpButton, x, y, icon.Help, "", "Help", s.Help)
	if s.helpButton.Clicked(u.Context) {
		s.toggleHelp()
	}
	name := panel.Title1(s.themeName())
	if !fits(u.ChoiceWidth(icon.Theme, name, 0) + u.Px(8)) {
		return x
	}
	s.iconChoice(u, &s.themeButton, x, y, icon.Theme, name, "Switch dark or light")
	if s.themeButton.Clicked(u.Context) {
		s.Menu = widget.NewMenu(image.Pt(x, y+u.Px(30)), s.themeItems())
	}
	label := "Colour: " + string(s.Mode)
	if x-left < u.Px(340) { // leave room for the search
		label = panel.Title1(string(s.Mode))
	}
	if !fits(u.ChoiceWidth(icon.Colour, label, 0) + u.Px(8)) {
		return x
	}
	s.iconChoice(u, &s.modeButton, x, y, icon.Colour, label, "Next colour mode")
	if s.modeButton.Clicked(u.Context) {
		items := make([]widget.Item, len(theme.Modes))
		for i, m := range theme.Modes {
			items[i] = widget.Item{Title: string(m), On: m == s.Mode, Do: func() { s.Mode = m }}
		}
		s.Menu = widget.NewMenu(image.Pt(x, y+u.Px(30)), items)
	}
	return x
}

// choices draws the event and the metric that are shown; a click opens the
// list of them.
func (s *Shell) choices(u *ui.UI, x, y int) int {
	p := s.Pane
	if len(p.Rec.Events) == 0 {
		return x
	}
	if s.Versus != nil {
		return s.Versus.MetricChoice(&s.Workspace, u, x, y)
	}
	u.VLine(x, y+u.Px(3), y+u.Px(23), u.Theme.Rule)
	x += u.Px(8)
	at := x
	x += u.Choice(&p.EventButton, x, y, s.choiceName(u, p.Rec.Events[p.Event].Title()), ui.Medium)
	if p.EventButton.Clicked(u.Context) {
		s.Menu = widget.NewMenu(image.Pt(at, y+u.Px(30)), p.EventItems())
	}
	at = x
	e, name := &p.Rec.Events[p.Event], ""
	if len(e.Metrics) == 1 && e.MetricTitle(0) == e.Title() { // the same word twice says nothing
		return x
	}
	if p.Metric >= 0 && p.Metric < len(e.Metrics) {
		name = e.MetricTitle(p.Metric)
	}
	x += u.Choice(&p.MetricButton, x, y, s.choiceName(u, name), 0)
	if p.MetricButton.Clicked(u.Context) {
		var items []widget.Item
		ms := e.Metrics
		for i := range ms {
			detail := ""
			if ms[i].Total != recording.Missing {
				detail = units.Bound(&ms[i]) + units.Value(ms[i].Total, &ms[i])
			}
			items = append(items, widget.Item{Title: e.MetricTitle(i), Detail: detail, On: i == p.Metric, Do: func() { p.Metric = i }})
		}
		s.Menu = widget.NewMenu(image.Pt(at, y+u.Px(30)), items)
	}
	return x
}

// choiceName cuts a name to fit in the toolbar.
func (s *Shell) choiceName(u *ui.UI, name string) string {
	return s.Fonts.Regular(12.5*u.Metric.PxPerSp).Cut(name, float32(u.Px(180)))
}

// status draws the line at the bottom: the open file, and the progress of loading or
// errors.
func (s *Shell) status(u *ui.UI, r image.Rectangle) {
	th := u.Theme
	u.Fill(r, th.Surface)
	u.HLine(r.Min.X, r.Max.X, r.Min.Y, th.Rule)
	from := s.shared(u, r)
	if s.Pane == nil {
		if u.Now.Before(s.Note.Until) {
			u.Text(image.Rect(from, r.Min.Y, r.Max.X-u.Px(12), r.Max.Y), s.Note.Text, ui.Style{Size: 11.5, Color: th.Dim, Align: ui.End})
		}
		return
	}
	l := s.statusWords(u)
	mid := r.Min.X + r.Dx()*11/20
	box := image.Rect(mid+u.Px(10), r.Min.Y, r.Max.X-u.Px(12), r.Max.Y)
	st := ui.Style{Size: 11.5, Color: l.color, Align: ui.End}
	box.Min.X = max(box.Min.X, box.Max.X-u.Measure(l.right, st).X-u.Px(14))
	left := image.Rect(from, r.Min.Y, box.Min.X-u.Px(10), r.Max.Y)
	st.Color, st.Align = th.Dim, ui.Start
	u.Text(left, panel.WholeParts(l.left, 1, func(text string) bool { return u.Measure(text, st).X <= left.Dx() }), st)
	st.Color, st.Align = l.color, ui.End
	if l.leads {
		clicked, hovered := l.of.StatusClick.Clicked(u, box)
		if hovered && l.color == th.Dim {
			st.Color = th.Text
		}
		if clicked {
			s.ShowPanel(panel.About)
		}
	}
	u.Text(box, l.right, st)
	if l.dot {
		u.Round(ui.Rect(box.Min.X+u.Px(2), (box.Min.Y+box.Max.Y)/2-u.Px(3), u.Px(6), u.Px(6)), 3, th.Warn)
	}
}

// statusWords holds the texts of the status line: the view on the left, current work on
// the right.
type statusWords struct {
	of          *workspace.Pane
	left, right string
	color       color.NRGBA
	dot         bool // a warning affects the numbers
	leads       bool // a click leads to the problem
}

func (s *Shell) statusWords(u *ui.UI) statusWords {
	th := u.Theme
	p, which := s.Pane, ""
	if c := s.Versus; c != nil {
		if i := c.Reading(); i >= 0 {
			p, which = c.Panes[i], comparison.SideName(i)+", "
		}
	}
	l := statusWords{of: p, left: panel.Summary(p.Rec), color: th.Dim}
	pr := p.Doc.Progress()
	switch {
	case u.Now.Before(s.Note.Until):
		l.right = s.Note.Text
	case !pr.Done && pr.Bytes == 0:
		l.right = "Waiting for " + which + p.Doc.Name + " · Ctrl-. to stop"
	case !pr.Done:
		l.right = "Loading " + which + units.Bytes(pr.Bytes)
		if pr.Total > 0 {
			l.right = fmt.Sprintf("Loading %s%s of %s", which, units.Bytes(pr.Bytes), units.Bytes(pr.Total))
			if left := units.Left(pr.Left); left != "" {
				l.right += " · " + left
			}
		}
	case p.Doc.Problem() != "":
		l.right, l.color = p.Doc.Problem(), th.Warn
	case p.Unfollow != nil:
		var wrong bool
		if l.right, wrong = p.FollowText(); wrong {
			l.color = th.Warn
		}
	case len(p.Rec.Warnings) > 0:
		l.right, l.dot = p.Rec.Warned()
	case s.Do.Wake != nil && p.Doc.Err() == nil: // only in a window: pictures must not depend on the loading time
		l.right = "Loaded in " + units.Duration(int64(pr.Elapsed)*1000)
	}
	l.leads = len(p.Rec.Warnings) > 0
	if c := s.Versus; c != nil {
		left, matched, warned, wrong := c.Status()
		l.left, l.leads = left, l.leads || wrong || len(c.Panes[0].Rec.Warnings)+len(c.Panes[1].Rec.Warnings) > 0
		if matched != "" && !u.Now.Before(s.Note.Until) && pr.Done {
			l.right, l.color, l.dot = matched, th.Dim, warned
			if wrong {
				l.color = th.Warn
			}
		}
	}
	return l
}

func (s *Shell) search(u *ui.UI, r image.Rectangle) {
	f := &s.Pane.Finder
	if f.Paired = s.Versus != nil; f.Layout(&s.Host, u, r) {
		s.hint = hint{"Search", r.Min.Add(image.Pt(-u.Px(14), u.Px(14)))}
	}
}
