package finder

import (
	"context"
	"fmt"
	"image"

	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/io/pointer"
	"gioui.org/op/clip"

	"ashlar/app/core/session"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/functions"
	lanes "ashlar/app/window/timeline"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/search"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// hitList is the list below the search line: the found functions with the sums of their
// hits, the hits in order of time, or the functions by decreasing total in a recording
// without times. Only visible rows are looked up, in the background.
type hitList struct {
	widget.List
	names    namePart
	segments widget.Segments
	Open     bool
	// Focused reports whether the search line has had the keyboard focus since the list
	// opened. The list closes when the line loses it.
	Focused bool
	Chosen  int64
	bar     widget.ScrollBar
	box     image.Rectangle // area of the search line
	Seen    int             // number of visible rows
	// functions are the matching functions in a recording without times.
	functions functions.Order

	Want, Have hitsKey
	listed
	lists session.Async[hitsKey, listed]
}

// hitsKey identifies the part of the hits to look up.
type hitsKey struct {
	hits *search.Hits
	From int64
	n    int
}

type listed struct {
	hits []search.Hit
	Bars []timeline.Hit // bars of the hits
}

const (
	listRows  = 14  // maximum number of visible rows
	listWidth = 600 // dp
)

// ToggleHits opens or closes the list of hits.
func (p *Finder) ToggleHits() {
	l := &p.Fresh().List
	if l.Open || p.Paired {
		l.Open = false
		return
	}
	p.focus = true
	p.openHits()
}

// openHits opens the list at the current hit, otherwise at the first hit in view.
func (p *Finder) openHits() {
	l := &p.Fresh().List
	l.Open, l.Down, l.Chosen = true, 0, 0
	if !p.Timed() {
		l.Chosen = max(0, int64(p.Fresh().function))
	} else if p.grouped() {
		l.Chosen = 0
	} else if h := p.hits(); h != nil {
		at, ok := p.Fresh().at, p.Fresh().walked
		if !ok {
			at, ok = h.From(p.View.From)
		}
		if ok {
			l.Chosen = h.Number(at) - 1
		}
	}
	l.Down = -1 // scroll to it in the next frame
}

// hits returns the search hits in the shown recording, nil while the search runs.
func (p *Finder) hits() *search.Hits {
	h := p.found()
	if p.Search.Pattern == nil || h == nil || !h.Pattern.Equal(p.Search.Pattern) || !h.Of(p.Rec) {
		return nil
	}
	return h
}

// length returns the number of rows.
func (l *hitList) length(p *Finder) int64 {
	if !p.Timed() {
		return int64(len(l.functions.Rows))
	}
	if p.grouped() {
		return int64(len(l.names.have))
	}
	if h := p.hits(); h != nil {
		return h.Len()
	}
	return 0
}

// keyed moves in the list or goes to a row; it returns false for other keys.
func (l *hitList) keyed(s *panel.Host, p *Finder, k key.Name) bool {
	n, page := l.length(p), int64(max(1, l.Seen-1))
	switch k {
	case key.NameUpArrow:
		l.Chosen--
	case key.NameDownArrow:
		l.Chosen++
	case key.NamePageUp:
		l.Chosen -= page
	case key.NamePageDown:
		l.Chosen += page
	case key.NameReturn:
		l.goTo(s, p, l.Chosen)
	default:
		return false
	}
	l.Chosen = max(0, min(l.Chosen, n-1))
	l.Down = -1
	return true
}

// goTo shows the hit or function of a row.
func (l *hitList) goTo(s *panel.Host, p *Finder, row int64) {
	l.Open = false
	p.blur = true // keys go to the view again
	if !p.Timed() {
		p.goToFunction(int(row))
		return
	}
	if p.grouped() {
		p.goToName(int(row), false)
		s.Wake()
		return
	}
	if h := p.hits(); h != nil {
		at, i := l.hits, row-l.Have.From
		if h != l.Have.hits || i < 0 || i >= int64(len(at)) { // not looked up yet
			at, i = h.List(row, 1), 0
		}
		if i < int64(len(at)) {
			p.Fresh().at, p.Fresh().walked = at[i], true
			p.Show(at[i])
		}
	}
	s.Wake()
}

// goToFunction selects the heaviest bar of a matching function.
func (p *Finder) goToFunction(i int) {
	o := &p.Fresh().List.functions
	if a := p.Doc.Answer(); i >= 0 && i < len(o.Rows) && o.Of == a {
		p.Fresh().function = i
		if !a.ByFunction() {
			p.Table.Marked = o.Rows[i].Name
			return
		}
		p.PickFunction(a, o.Rows[i].Func)
		p.ShowPick = true
	}
}

// update takes the finished lookups and requests the missing ones.
func (l *hitList) update(p *Finder, wake func()) {
	if !p.Timed() {
		if a := p.Doc.Answer(); a != nil && a.Search.Equal(p.Search.Pattern) {
			l.functions.Update(functions.OrderKey{Of: a, By: functions.ColTotal, Ascending: false}, l.Down > 0, wake)
		}
		return
	}
	if h := p.hits(); h != nil && p.grouped() {
		l.names.update(h, wake)
		return
	}
	if k, rec := l.Want, p.Rec; k.hits != nil {
		l.listed, l.Have, _ = l.lists.Ask(k, wake, func(context.Context) (d listed, err error) {
			d.hits = k.hits.List(k.From, k.n)
			for _, h := range d.hits {
				d.Bars = append(d.Bars, lanes.HitBar(rec, h, k.hits.Matches))
			}
			return d, nil
		})
	}
}

// events handles the pointer on the list, whose rows are h high.
func (l *hitList) events(s *panel.Host, p *Finder, u *ui.UI, body image.Rectangle, h int) {
	l.Events(u, body, h, int(l.length(p)), func(g widget.Gesture, i int) {
		switch g {
		case widget.Moved:
			s.Wake()
		case widget.Clicked, widget.DoubleClicked:
			if i < 0 {
				break
			}
			if l.Chosen = int64(i); p.grouped() && l.onLongest(u, body) {
				l.Open, p.blur = false, true
				p.goToName(i, true)
			} else {
				l.goTo(s, p, l.Chosen)
			}
		}
	})
}

// Layout draws the list below the search line. A press elsewhere closes it.
func (l *hitList) Layout(s *panel.Host, p *Finder, u *ui.UI) {
	focused := u.Focused(&p.Fresh().Editor)
	if l.Open = l.Open && !l.box.Empty() && (focused || !l.Focused); !l.Open {
		l.Focused = false
		return
	}
	l.Focused = focused
	if !p.Searching() {
		return // no search yet
	}
	for {
		ev, ok := u.Event(pointer.Filter{Target: l, Kinds: pointer.Press})
		if !ok {
			break
		}
		if e, ok := ev.(pointer.Event); ok && e.Kind == pointer.Press {
			l.Open = false
			s.Wake()
		}
	}
	size := u.Constraints.Max
	th, h := u.Theme, u.Px(widget.RowHeight)
	both := 0 // height of the line that switches between functions and hits
	if p.Timed() && p.groups() {
		both = h
	}
	if p.grouped() {
		l.update(p, s.Do.Wake)
	}
	n := l.length(p)
	l.Seen = int(max(1, min(n, listRows, int64((size.Y-l.box.Max.Y-u.Px(60))/h))))
	right := min(l.box.Max.X, size.X-u.Px(8))
	box := image.Rect(max(u.Px(8), right-u.Px(listWidth)), l.box.Max.Y+u.Px(5), right, l.box.Max.Y+u.Px(5)+(l.Seen+1)*h+both+u.Px(12))
	l.outside(u, size, l.box)
	u.Round(box.Add(image.Pt(0, u.Px(2))), 8, theme.WithAlpha(ui.Colour{}, .25))
	u.Round(box, 8, th.Raised)
	u.Border(box, 8, 1, th.Rule)
	head := image.Rect(box.Min.X+u.Px(6), box.Min.Y+both+u.Px(4), box.Max.X-u.Px(16), box.Min.Y+both+u.Px(4)+h)
	body := image.Rect(head.Min.X, head.Max.Y, head.Max.X, head.Max.Y+l.Seen*h)
	l.events(s, p, u, body, h)
	if l.Down < 0 { // scroll to the chosen row, with some rows before it
		l.Down = int(max(0, l.Chosen-int64(l.Seen)/2)) * h
	}
	l.Down = max(0, min(l.Down, int(n)*h-body.Dy()))
	first := int64(l.Down / h)
	if both > 0 {
		l.switchLists(p, u, image.Rect(box.Min.X, box.Min.Y+u.Px(3), box.Max.X, box.Min.Y+u.Px(3)+both))
	}
	if p.grouped() {
		l.nameCells(s, u, head, [5]string{"Function", "Count", "Total", "Longest", "First"}, th.Dim)
	} else if p.Timed() {
		l.Want = hitsKey{p.hits(), first, l.Seen + 1}
		l.update(p, s.Do.Wake)
		l.cells(s, u, head, []string{"Match", "Start", "Duration", "Thread"}, nil, th.Dim)
	} else {
		l.cells(s, u, head, []string{"Match", "Self", "Total", "Module"}, nil, th.Dim)
	}
	u.HLine(head.Min.X, head.Max.X, head.Max.Y-1, th.Rule)
	if n == 0 && p.grouped() {
		u.Text(body, "Counting…", ui.Style{Size: 12, Color: th.Dim, Align: ui.Middle})
	} else if n == 0 {
		u.Text(body, "No matches", ui.Style{Size: 12, Color: th.Dim, Align: ui.Middle})
	}
	u.At(body, func(u *ui.UI) {
		l.Rows(body, h, int(n), func(i int, line image.Rectangle) {
			inside := l.Inside && int(l.At.Y) >= line.Min.Y && int(l.At.Y) < line.Max.Y
			switch {
			case int64(i) == l.Chosen:
				u.Round(line, 4, theme.WithAlpha(th.Accent, .22))
			case inside:
				u.Round(line, 4, theme.WithAlpha(th.Text, .06))
			}
			if p.grouped() {
				l.nameRow(s, p, u, line, i)
				return
			}
			texts, swatch := l.row(s, p, int64(i))
			l.cells(s, u, line, texts, swatch, th.Text)
		})
	})
	l.Area(u, body, pointer.CursorPointer)
	l.bar.Layout(u, image.Rect(body.Max.X, body.Min.Y, box.Max.X-u.Px(4), body.Max.Y), int(n)*h, &l.Down, th.Faint, th.Dim)
}

// outside handles presses outside the search line; the line handles its own.
func (l *hitList) outside(u *ui.UI, size image.Point, line image.Rectangle) {
	for _, r := range []image.Rectangle{
		image.Rect(0, 0, size.X, line.Min.Y), image.Rect(0, line.Max.Y, size.X, size.Y),
		image.Rect(0, line.Min.Y, line.Min.X, line.Max.Y), image.Rect(line.Max.X, line.Min.Y, size.X, line.Max.Y),
	} {
		c := clip.Rect(r).Push(u.Ops)
		event.Op(u.Ops, l)
		c.Pop()
	}
}

// row returns the texts of a row and its colour; they are empty until looked up.
func (l *hitList) row(s *panel.Host, p *Finder, i int64) (texts []string, swatch *ui.Colour) {
	if !p.Timed() {
		a, r := l.functions.Of, &l.functions.Rows[i]
		if c, ok := p.Table.Colour(s, &p.Side, a, r); ok {
			swatch = &c
		}
		return []string{r.Name, units.Value(r.Self, a.Metric()), units.Value(r.Total, a.Metric()), panel.ShortModule(r.Module)}, swatch
	}
	at := i - l.Have.From
	if l.Have.hits != l.Want.hits || at < 0 || at >= int64(len(l.Bars)) {
		return []string{"…", "", "", ""}, nil
	}
	h := &l.Bars[at]
	lasts := units.Duration(h.End - h.Start)
	if h.Unfinished {
		lasts = "unfinished"
	}
	name := ""
	if h.Call != recording.NoCall {
		f := p.Rec.Func(h.Call)
		c := p.Palette.Func(p.Rec, f)
		name, swatch = p.Rec.Functions.At(int(f)).Name, &c
	}
	return []string{name, Moment(h.Start-p.Rec.Start, p.Rec.Duration()), lasts, timeline.TrackName(p.Rec.Tracks[h.Track])}, swatch
}

// Moment formats a time of a recording whose length is all, both in picoseconds. The unit
// depends on all, with the same number of digits for each time, so that neighbours in a
// list can be told apart.
func Moment(ps, all int64) string {
	for _, unit := range []struct {
		ps   int64
		name string
	}{{1e12, "s"}, {1e9, "ms"}, {1e6, "µs"}} {
		if all >= unit.ps {
			return fmt.Sprintf("%.6f %s", float64(ps)/float64(unit.ps), unit.name)
		}
	}
	return units.Duration(ps)
}

// cells draws the texts of a row: a name, two numbers and one more text.
func (l *hitList) cells(s *panel.Host, u *ui.UI, r image.Rectangle, texts []string, swatch *ui.Colour, c ui.Colour) {
	if swatch != nil {
		u.Round(ui.Rect(r.Min.X+u.Px(8), r.Min.Y+r.Dy()/2-u.Px(4), u.Px(8), u.Px(8)), 2, *swatch)
	}
	number, last := u.Px(94), min(u.Px(150), r.Dx()/4)
	x := r.Max.X - last
	f := s.Fonts.Regular(12 * u.Metric.PxPerDp)
	name := image.Rect(r.Min.X+u.Px(24), r.Min.Y, x-2*number-u.Px(6), r.Max.Y)
	u.Text(name, f.Fit(texts[0], float32(name.Dx())), ui.Style{Size: 12, Color: c})
	dim := u.Theme.Dim
	u.Text(image.Rect(x-2*number, r.Min.Y, x-number, r.Max.Y), texts[1], ui.Style{Size: 12, Color: c, Align: ui.End})
	u.Text(image.Rect(x-number, r.Min.Y, x-u.Px(6), r.Max.Y), texts[2], ui.Style{Size: 12, Color: c, Align: ui.End})
	u.Text(image.Rect(x+u.Px(10), r.Min.Y, r.Max.X, r.Max.Y), f.FitText(texts[3], float32(last-u.Px(12))), ui.Style{Size: 12, Color: dim})
}
