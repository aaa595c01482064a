package finder

import (
	"image"

	"ashlar/app/core/session"
	"ashlar/app/window/panel"
	"ashlar/ingest/query/search"
	"ashlar/render/ui"
	"ashlar/render/units"
)

// namePart lists the found functions, each with the number of its hits, their total time,
// the longest and the first one.
type namePart struct {
	// single reports whether the user chose the list of single hits instead.
	single bool
	sums   session.Async[*search.Hits, []search.NameHits]
	have   []search.NameHits
	of     *search.Hits
}

// mostSteps is the maximum number of hits examined to find the next hit of one function.
const mostSteps = 100_000

// grouped reports whether the list shows functions and not single hits: if more than one
// function was found.
func (p *Finder) grouped() bool {
	l := &p.List
	return p.Timed() && !l.names.single && p.groups()
}

// groups reports whether the hits can be listed by function.
func (p *Finder) groups() bool {
	h := p.hits()
	return h != nil && h.Pattern.OfFunctions() && len(h.Functions) > 1
}

// update takes the finished sums and requests missing ones.
func (n *namePart) update(h *search.Hits, wake func()) {
	n.have, n.of, _ = n.sums.Ask(h, wake, h.Names)
	if n.of != h {
		n.have = nil
	}
}

// goToName shows a function's first hit from the start of the view on or, if longest is
// true, its longest hit.
func (p *Finder) goToName(i int, longest bool) {
	n := &p.List.names
	h := p.hits()
	if h == nil || n.of != h || i < 0 || i >= len(n.have) {
		return
	}
	e := &n.have[i]
	at := e.First
	if longest {
		at = e.Longest
	} else if hit, ok := h.From(p.View.From); ok {
		for k := 0; ok && k < mostSteps; k++ {
			if hit.Samples == nil && p.Rec.Func(hit.Call) == e.Func {
				at = hit
				break
			}
			hit, ok = h.Next(hit)
		}
	}
	p.Fresh().at, p.Fresh().walked = at, true
	p.Show(at)
}

// nameColumns returns the columns of a line of r: the name, and from the right the first
// hit, the longest one, the total and the count.
func nameColumns(u *ui.UI, r image.Rectangle) (cols [5]image.Rectangle) {
	x := r.Max.X - u.Px(10)
	for i := len(cols) - 1; i > 0; i-- {
		w := u.Px(88)
		if i == 1 {
			w = u.Px(70)
		}
		cols[i] = image.Rect(x-w, r.Min.Y, x, r.Max.Y)
		x -= w
	}
	cols[0] = image.Rect(r.Min.X+u.Px(24), r.Min.Y, max(r.Min.X+u.Px(24), x-u.Px(6)), r.Max.Y)
	return cols
}

// nameRow draws a line of the list of functions.
func (l *hitList) nameRow(s *panel.Host, p *Finder, u *ui.UI, r image.Rectangle, i int) {
	if i >= len(l.names.have) {
		return
	}
	e := &l.names.have[i]
	c := p.Palette.Func(p.Rec, e.Func)
	u.Round(ui.Rect(r.Min.X+u.Px(8), r.Min.Y+r.Dy()/2-u.Px(4), u.Px(8), u.Px(8)), 2, c)
	l.nameCells(s, u, r, [5]string{p.Rec.Functions.At(int(e.Func)).Name, units.Count(e.Count), units.Duration(e.Total), units.Duration(e.LongestTime), units.Duration(e.First.Time - p.Rec.Start)}, u.Theme.Text)
}

func (l *hitList) nameCells(s *panel.Host, u *ui.UI, r image.Rectangle, texts [5]string, c ui.Colour) {
	f := s.Fonts.Regular(12 * u.Metric.PxPerDp)
	for i, cell := range nameColumns(u, r) {
		st := ui.Style{Size: 12, Color: c, Align: ui.End}
		if i == 0 {
			st.Align = ui.Start
			texts[0] = f.Fit(texts[0], float32(cell.Dx()))
		}
		u.Text(cell, texts[i], st)
	}
}

// onLongest reports whether the pointer is in the column of the longest hits.
func (l *hitList) onLongest(u *ui.UI, body image.Rectangle) bool {
	col := nameColumns(u, image.Rectangle{Max: body.Size()})[3]
	return int(l.At.X) >= col.Min.X && int(l.At.X) < col.Max.X
}

// switchLists draws the words that switch between functions and single hits.
func (l *hitList) switchLists(p *Finder, u *ui.UI, r image.Rectangle) {
	on := 0
	if l.names.single {
		on = 1
	}
	words := []string{"By function", "Single hits"}
	x := r.Min.X + u.Px(16)
	if i := l.segments.Layout(u, x, r.Min.Y+(r.Dy()-u.Px(22))/2, words, on); i >= 0 {
		l.names.single = i == 1
		l.Chosen, l.Down = 0, 0
		p.focus = true
	}
}
