package timeline

import (
	"image"
	"math"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/units"
)

// drawSelection draws the selected range through all rows and its length on the ruler,
// and outlines the picked bar and the bar under the pointer.
func (p *Timeline) drawSelection(u *ui.UI) {
	b := &p.Bounds
	th := u.Theme
	lanes := image.Rect(b.Lanes.Min.X+b.Gutter, b.Lanes.Min.Y, b.Lanes.Max.X, b.Lanes.Max.Y)
	own, other := th.Accent, th.Accent
	if p.Against != nil {
		if p.AgainstIsA {
			other = th.Dim
		} else {
			own = th.Dim
		}
	}
	letter, letterOfOther := p.sideLetters()
	if b := p.Against; b != nil && b.Ranged && !b.Outside && (!p.Scope.Ranged || b.From != p.Scope.From || b.To != p.Scope.To) {
		p.band(u, lanes, b, other, letterOfOther)
	}
	if p.Scope.Ranged {
		p.band(u, lanes, &p.Scope, own, letter)
	}
	p.drawMark(u)
	switch p.grab {
	case grabTrack:
		p.dropLine(u)
	case grabBox:
		p.drawBox(u)
	}
	p.way.draw(p, u)
	p.Flows.draw(p, u)
	if p.pickedRow() >= 0 {
		p.outline(u, &p.Pick.Hit, th.Accent, 2)
	}
	if p.Inside && p.Hit.More {
		r := p.Plan.MoreButton(&p.Plan.Rows[p.Hit.Row], p.View.Scroll, b.Gutter).Add(b.Lanes.Min)
		u.Border(r, 4, max(1, u.Px(1)), th.Accent)
	}
	if p.Inside && p.Hit.Any() && !p.Lanes.Pressed {
		p.outline(u, &p.Hit, theme.WithAlpha(th.Text, .75), 1)
	}
}

// sideLetters returns the letters on the pills of the selected range and of the one compared
// with it; a range that is compared with nothing has none.
func (p *Timeline) sideLetters() (own, other string) {
	switch {
	case p.Against == nil:
		return "", ""
	case p.AgainstIsA:
		return "B  ", "A  "
	}
	return "A  ", "B  "
}

// band draws a range through all rows, and its length on the ruler.
func (p *Timeline) band(u *ui.UI, lanes image.Rectangle, in *recording.Scope, c ui.Colour, name string) {
	x0, x1 := p.rangeX(in)
	if x1 < lanes.Min.X || x0 > lanes.Max.X {
		return
	}
	u.At(lanes, func(u *ui.UI) {
		o := lanes.Min.X
		for _, y := range p.besideHeaders(lanes.Dy()) {
			u.Fill(image.Rect(x0-o, y[0], x1-o, y[1]), theme.WithAlpha(c, u.Theme.Band))
			u.VLine(x0-o, y[0], y[1], c)
			u.VLine(x1-o, y[0], y[1], c)
		}
	})
	p.pill(u, p.rangeMiddle(in), name+units.Duration(in.To-in.From))
}

// rangeX returns the pixels at which a range begins and ends, at most two outside the
// lanes.
func (p *Timeline) rangeX(in *recording.Scope) (x0, x1 int) {
	w := p.LaneWidth()
	x := func(at int64) int {
		return p.Bounds.Lanes.Min.X + p.Bounds.Gutter + int(math.Floor(math.Max(-2, math.Min(float64(w+2), p.View.X(at, w)))))
	}
	return x(in.From), x(in.To)
}

// rangeMiddle returns the pixel in the middle of the visible part of a range.
func (p *Timeline) rangeMiddle(in *recording.Scope) int {
	x0, x1 := p.rangeX(in)
	return (max(x0, p.Bounds.Lanes.Min.X+p.Bounds.Gutter) + min(x1, p.Bounds.Lanes.Max.X)) / 2
}

// pills returns where the pills of the selected range and of the one compared with it
// begin and end on the ruler.
func (p *Timeline) pills(u *ui.UI) (at [2][2]int) {
	own, other := p.sideLetters()
	letters := [2]string{own, other}
	for i, in := range []*recording.Scope{&p.Scope, p.Against} {
		if in == nil || !in.Ranged {
			continue
		}
		if x0, x1 := p.rangeX(in); x1 >= p.Bounds.Lanes.Min.X+p.Bounds.Gutter && x0 <= p.Bounds.Lanes.Max.X {
			r := p.pillAt(u, p.rangeMiddle(in), letters[i]+units.Duration(in.To-in.From)).Sub(p.Bounds.Ruler.Min)
			at[i] = [2]int{r.Min.X, r.Max.X}
		}
	}
	return at
}

// besideHeaders returns the vertical ranges of the lanes, from and to, that are not
// covered by headers of processes: lines through the lanes must not strike through
// headers.
func (p *Timeline) besideHeaders(height int) (parts [][2]int) {
	type span struct{ from, to int }
	var heads []span
	if i, y := p.Plan.Sticky(p.View.Scroll); i >= 0 {
		heads = append(heads, span{y, y + p.Plan.Rows[i].Height})
	}
	for i := max(0, p.Plan.RowAt(0, p.View.Scroll)); i < len(p.Plan.Rows); i++ {
		r := &p.Plan.Rows[i]
		top := p.Plan.Top(r, p.View.Scroll)
		if top >= height {
			break
		}
		if p.Plan.Headline(r) && !p.Plan.Under(r, top) {
			heads = append(heads, span{top, top + r.Height})
		}
	}
	order.By(heads, func(a, b span) int { return a.from - b.from })
	y := 0
	for _, h := range heads {
		if h.from > y {
			parts = append(parts, [2]int{y, h.from})
		}
		y = max(y, h.to)
	}
	if y < height {
		parts = append(parts, [2]int{y, height})
	}
	return parts
}

// pill shows a time or a length on the ruler.
func (p *Timeline) pill(u *ui.UI, x int, label string) {
	r := p.pillAt(u, x, label)
	u.Round(r, 9, u.Theme.Accent)
	u.Text(r, label, ui.Style{Size: 11, Weight: ui.Medium, Color: u.Theme.OnAccent, Align: ui.Middle})
}

// pillAt returns the position of a pill whose middle is at x, moved into the ruler.
func (p *Timeline) pillAt(u *ui.UI, x int, label string) image.Rectangle {
	w := u.Measure(label, ui.Style{Size: 11, Weight: ui.Medium}).X + u.Px(18)
	r := ui.Rect(x-w/2, p.Bounds.Ruler.Min.Y+u.Px(3), w, u.Px(18))
	if off := p.Bounds.Ruler.Min.X + p.Bounds.Gutter - r.Min.X; off > 0 {
		r = r.Add(image.Pt(off, 0))
	}
	if off := r.Max.X - p.Bounds.Ruler.Max.X; off > 0 {
		r = r.Sub(image.Pt(off, 0))
	}
	return r
}

// outline frames a bar.
func (p *Timeline) outline(u *ui.UI, h *timeline.Hit, c ui.Colour, w int) {
	b := &p.Bounds
	row := p.rowOf(h)
	if row < 0 {
		return
	}
	if h.Counter != nil || h.Instant != nil {
		p.outlinePoint(u, row, h, c, w)
		return
	}
	x0, y0, x1, y1 := p.Plan.Box(p.View, row, h.Lane, h.Start, h.End, b.Lanes.Dx(), b.Gutter)
	if x1 <= b.Gutter || x0 >= b.Lanes.Dx() {
		return
	}
	above := p.above(row)
	lanes := image.Rect(b.Lanes.Min.X+b.Gutter, b.Lanes.Min.Y+above, b.Lanes.Max.X, b.Lanes.Max.Y)
	u.At(lanes, func(u *ui.UI) {
		r := image.Rect(x0-b.Gutter, y0-above, x1-b.Gutter, y1-above).Inset(-w + 1)
		if r.Dx() < 3*w {
			u.Fill(r, c)
			return
		}
		u.Border(r, 0, w, c)
		if w > 1 && r.Dx() > 6*w { // a dark line inside sets the frame off from a bar of its colour
			u.Border(r.Inset(w), 0, 1, u.Theme.OnBar)
		}
	})
}

// above returns the height of the rows held at the top of the lanes that may cover a row;
// 0 for a held row.
func (p *Timeline) above(row int) int {
	if p.Plan.Holds(&p.Plan.Rows[row]) {
		return 0
	}
	return p.Plan.Held
}

// outlinePoint marks a point of a counter's graph, or a moment.
func (p *Timeline) outlinePoint(u *ui.UI, row int, h *timeline.Hit, c ui.Colour, w int) {
	b := &p.Bounds
	r := &p.Plan.Rows[row]
	top := p.Plan.Top(r, p.View.Scroll)
	x, y := b.Gutter+int(p.View.X(h.Start, p.LaneWidth())), top+u.Px(2)
	if h.Counter != nil {
		x, y = p.Plan.CounterPoint(p.Rec, p.View, row, h.Point, b.Lanes.Dx(), b.Gutter)
	}
	if x < b.Gutter || x > b.Lanes.Dx() {
		return
	}
	u.At(image.Rect(b.Lanes.Min.X+b.Gutter, b.Lanes.Min.Y, b.Lanes.Max.X, b.Lanes.Max.Y), func(u *ui.UI) {
		n := u.Px(float32(w) + 2.5)
		u.VLine(x-b.Gutter, top, top+r.Height-1, theme.WithAlpha(c, .5))
		u.Round(ui.Rect(x-b.Gutter-n, y-n, 2*n+1, 2*n+1), float32(w)+3, c)
	})
}

// rowOf returns the current row of a hit, -1 for none; rows move while a file loads.
func (p *Timeline) rowOf(h *timeline.Hit) int {
	same := func(i int) bool {
		r := &p.Plan.Rows[i]
		switch {
		case h.Window >= 0:
			return r.Kind == timeline.WindowRow && r.Index == h.Track
		case h.Counter != nil:
			return r.Kind == timeline.CounterRow && r.Index == h.Track
		}
		return r.Kind == timeline.TrackRow && r.Index == h.Track
	}
	if h.Row >= 0 && h.Row < len(p.Plan.Rows) && same(h.Row) {
		return h.Row
	}
	for i := range p.Plan.Rows {
		if same(i) {
			return i
		}
	}
	return -1
}

// without draws the reason why there is no timeline.
func (p *Timeline) without(u *ui.UI) {
	r := p.Bounds.Lanes
	text := "Aggregated profile: no timestamps, so no timeline"
	if p.Rec.HasTime && p.Rec.Duration() > 0 {
		text = "Aggregated profile of " + units.Duration(p.Rec.Duration()) + ": no timestamps, so no timeline"
	}
	if len(p.Rec.Events) > 0 && p.Rec.Events[0].Basis == recording.FromSpans {
		text = "No timeline: this trace has no spans, samples or counters"
	}
	if !p.Rec.Done {
		text = "Loading…"
	}
	u.Text(image.Rect(r.Min.X+u.Px(14), r.Min.Y, r.Max.X, r.Max.Y), text, ui.Style{Size: 12.5, Color: u.Theme.Dim})
}
