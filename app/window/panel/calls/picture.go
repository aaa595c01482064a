package calls

import (
	"fmt"
	"image"

	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/core/session"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/search"
	"ashlar/ingest/query/spans"
	"ashlar/render/histogram"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// picture draws the durations of calls as a histogram or with one dot per call. Dragging
// over it selects calls (A); with Shift it selects B.
type picture struct {
	widget.Drag
	list   *session.CallList // the drawn list
	shares [2]share          // of A and of B
	bars   histogram.Picture
	dots   histogram.DotPicture
	kept   widget.Kept[picKey]
	at     image.Rectangle
}

// picKey holds everything that the picture depends on, to detect when it is out of date.
type picKey struct {
	of           *session.CallList
	linear, dots bool
	theme        *theme.Theme
	scale        float32
	size         image.Point
}

func (t *picture) layout(s *panel.Host, p *panel.Side, u *ui.UI, l *session.CallList, box image.Rectangle) {
	t.events(s, p, u, l, box)
	if t.at = box; p.Dots && l.Dots == nil {
		widget.Empty(u, box, "Too many calls for dots", "Use the histogram, or filter the calls")
		t.list = nil
		return
	}
	k := picKey{l, p.Linear, p.Dots, u.Theme, u.Metric.PxPerDp, box.Size()}
	u.Draw(t.kept.Get(u, k, box.Size(), func(on raster.Surface) {
		font := s.Fonts.Regular(11 * k.scale)
		if k.dots {
			t.dots = histogram.DotPicture{Of: l.Dots, Linear: k.linear, Start: p.Rec.Start, Theme: k.theme, Font: font, Scale: k.scale}
			t.dots.Paint(on)
			return
		}
		t.bars = histogram.Picture{Of: l.Durations, Linear: k.linear, Theme: k.theme, Font: font, Name: s.Fonts.Medium(11 * k.scale), Scale: k.scale, Hover: -1}
		t.bars.Paint(on)
	}), box.Min)
	t.list = l
	for side, q := range sets(p) {
		if q != nil && (q.Duration.IsSet() || q.Started.IsSet()) {
			t.drawShare(p, u, side, q, t.drawBrush(p, u, q, setColour(u, p, side)))
		}
	}
	if i := t.binAt(p); t.Inside && !t.Pressed && !p.Dots && i >= 0 {
		x0, _, x1, _ := t.bars.Box(i)
		u.Fill(image.Rect(box.Min.X+x0, box.Min.Y+u.Px(40), box.Min.X+x1, box.Max.Y-u.Px(26)), theme.WithAlpha(u.Theme.Text, .06))
	}
	t.Area(u, box, pointer.CursorCrosshair)
}

// setColour returns the colour of a set: the accent, or grey for A in a comparison.
func setColour(u *ui.UI, p *panel.Side, side int) ui.Colour {
	if side == 0 && p.Against != nil {
		return u.Theme.Dim
	}
	return u.Theme.Accent
}

// drawBrush draws the selected durations and times, and returns their area.
func (t *picture) drawBrush(p *panel.Side, u *ui.UI, q *calls.Query, c ui.Colour) image.Rectangle {
	o := t.at.Min
	var r image.Rectangle
	if p.Dots {
		d := t.dots.Of
		from, to := spread(q.Started, d.From-p.Rec.Start, d.To-p.Rec.Start)
		low, high := spread(q.Duration, 0, d.Most)
		r = image.Rect(int(t.dots.X(p.Rec.Start+from)), int(t.dots.Y(max(high, 1))), int(t.dots.X(p.Rec.Start+to)), int(t.dots.Y(max(low, 1))))
		r = r.Intersect(image.Rect(u.Px(64), 0, t.at.Dx(), t.at.Dy()-u.Px(24)))
	} else {
		bins := t.bars.Bins()
		from, to := spread(q.Duration, bins[0].From, bins[len(bins)-1].To)
		r = image.Rect(int(t.bars.X(max(from, bins[0].From))), u.Px(38), int(t.bars.X(to)), t.at.Dy()-u.Px(26))
	}
	r.Max.X = max(r.Max.X, r.Min.X+1)
	u.Fill(r.Add(o), theme.WithAlpha(c, .2))
	u.VLine(r.Min.X+o.X, r.Min.Y+o.Y, r.Max.Y+o.Y, c)
	u.VLine(r.Max.X+o.X-1, r.Min.Y+o.Y, r.Max.Y+o.Y, c)
	return r.Add(o)
}

// spread returns the ends of a range; from and to replace missing ones.
func spread(r recording.Range, from, to int64) (int64, int64) {
	if r.HasFrom {
		from = r.From
	}
	if r.HasTo {
		to = r.To
	}
	return from, to
}

// events handles the pointer on the picture.
func (t *picture) events(s *panel.Host, p *panel.Side, u *ui.UI, l *session.CallList, box image.Rectangle) {
	for {
		g, _, ok := t.Next(u, box.Min)
		if !ok {
			return
		}
		if t.list == nil { // not drawn yet
			continue
		}
		second := t.Mods.Contain(key.ModShift)
		switch g {
		case widget.Dragged, widget.Dropped:
			choose(p, t.brush(p, u), second)
			if g == widget.Dropped && second && p.Against != nil {
				p.ShowComparison()
			}
		case widget.Clicked, widget.DoubleClicked:
			t.click(p, l, second)
		case widget.MenuAsked:
			s.Menu = widget.NewMenu(widget.Point(box.Min, t.At), t.items(p, l))
		}
	}
}

// brush returns the query for the calls that the drag covers.
func (t *picture) brush(p *panel.Side, u *ui.UI) (q calls.Query) {
	if !p.Dots {
		bins := t.bars.Bins()
		i, j := t.bin(t.Start.X), t.bin(t.At.X)
		if i >= 0 && j >= 0 {
			q.Duration = recording.Offsets(bins[min(i, j)].From, bins[max(i, j)].To)
		}
		return q
	}
	// A vertical drag covers all times, a horizontal one all durations.
	dx, dy := abs(t.Start.X-t.At.X), abs(t.Start.Y-t.At.Y)
	if dy >= float32(u.Px(6)) {
		q.Duration = recording.Offsets(t.dots.Took(float64(max(t.Start.Y, t.At.Y))), t.dots.Took(float64(min(t.Start.Y, t.At.Y)))+1)
	}
	if dx >= float32(u.Px(6)) {
		from, to := t.dots.Time(float64(min(t.Start.X, t.At.X))), t.dots.Time(float64(max(t.Start.X, t.At.X)))
		q.Started = recording.Offsets(max(0, from-p.Rec.Start), to-p.Rec.Start+1)
	}
	return q
}

func abs(x float32) float32 { return max(x, -x) }

// click goes to the call of a dot. In the histogram it selects a bin; if the bin is
// selected already, or empty, it clears the selection.
func (t *picture) click(p *panel.Side, l *session.CallList, second bool) {
	if p.Dots {
		if i := t.dots.At(float64(t.At.X), float64(t.At.Y)); i >= 0 {
			show(p, &l.Rows[i])
		} else {
			choose(p, calls.Query{}, second)
		}
		return
	}
	i := t.bin(t.At.X)
	if i < 0 {
		return
	}
	b := t.bars.Bins()[i]
	of := recording.Offsets(b.From, b.To)
	q := sets(p)[panel.Index(second)]
	if b.Count == 0 || q != nil && q.Duration == of {
		choose(p, calls.Query{}, second)
		return
	}
	choose(p, calls.Query{Duration: of}, second)
	if second && p.Against != nil {
		p.ShowComparison()
	}
}

// show goes to a call.
func show(p *panel.Side, r *calls.Row) {
	p.List.All = len(listed(p).Functions) == 0 // selecting a call keeps the list as it is
	p.Actions.Show(search.Hit{Time: r.Start, Track: r.Track, Lane: r.Lane, Index: r.Span, Call: r.Call})
}

// items returns the menu of the histogram or dot plot: commands for its modes and for the
// selected calls, and the choice between both plots.
func (t *picture) items(p *panel.Side, l *session.CallList) []widget.Item {
	var select_, versus []widget.Item
	modes := l.Durations.Modes()
	for i, h := range modes {
		of := calls.Query{Duration: recording.Offsets(h.From, h.To)}
		detail := units.Duration(h.From) + " to " + units.Duration(h.To)
		name := fmt.Sprintf("mode %d of %d (%s)", i+1, len(modes), units.Plural(h.Count, "call"))
		if len(modes) == 1 {
			break
		}
		select_ = append(select_, widget.Item{Title: "Select " + name, Detail: detail, Do: func() { choose(p, of, false) }})
		versus = append(versus, widget.Item{Title: fmt.Sprintf("Compare mode %d with rest", i+1), Detail: detail, Do: func() {
			p.CompareWithRest(inBrush(p, of).String())
		}})
		for k, side := range []string{"A", "B"} {
			versus = append(versus, widget.Item{Title: fmt.Sprintf("Set mode %d as %s", i+1, side), Detail: detail, Do: func() { p.SetCallsAs(k, inBrush(p, of).String()) }})
		}
	}
	var set []widget.Item
	if p.Scope.Calls != nil {
		set = append(set, widget.Item{Title: "Compare selected with rest", Do: func() { p.CompareWithRest(p.Scope.Calls.Text) }},
			widget.Item{Title: "Invert selection", Do: func() { p.OtherCalls() }},
			widget.Item{Title: "Clear selection", Detail: "Esc", Do: func() { choose(p, calls.Query{}, false) }})
	}
	pic := []widget.Item{{Title: "Histogram", On: !p.Dots, Do: func() { p.Dots = false }}, {Title: "Dots", On: p.Dots, Do: func() { p.Dots = true }}}
	return widget.Grouped(versus, select_, set, pic)
}

// bin returns the bin at x, or the nearest; -1 before the picture is drawn.
func (t *picture) bin(x float32) int {
	if t.bars.Of == nil {
		return -1
	}
	n := len(t.bars.Bins())
	if n == 0 {
		return -1
	}
	x0, _, _, _ := t.bars.Box(0)
	_, _, x1, _ := t.bars.Box(n - 1)
	return max(0, min(n-1, int((x-float32(x0))*float32(n)/float32(max(1, x1-x0)))))
}

// binAt returns the bin under the pointer, -1 for none.
func (t *picture) binAt(p *panel.Side) int {
	if t.list == nil || p.Dots || t.bars.Of == nil || len(t.bars.Bins()) == 0 {
		return -1
	}
	if x0, _, _, _ := t.bars.Box(0); int(t.At.X) < x0 {
		return -1
	}
	return t.bin(t.At.X)
}

// Tooltip describes the item under the pointer: the bounds of a bin, its number of calls
// and their share of all; or the call of a dot.
func (t *Panel) Tooltip(s *panel.Host, p *panel.Side, u *ui.UI) {
	x := &t.picture
	if !x.Inside || x.Pressed || s.Menu != nil || s.Help || x.list == nil || p.Tab != panel.Calls {
		return
	}
	at := widget.Point(x.at.Min, x.At)
	if p.Dots {
		if i := x.dots.At(float64(x.At.X), float64(x.At.Y)); i >= 0 && i < len(x.list.Rows) {
			r := &x.list.Rows[i]
			lines := []string{"at " + units.Duration(r.Start-p.Rec.Start) + ", on " + p.Rec.Tracks[r.Track].Title(), "self " + units.Duration(r.Self)}
			args := r.Detail(p.Rec).Args
			for _, m := range args[:min(3, len(args))] {
				lines = append(lines, panel.CutName(m.Key+" "+m.Value))
			}
			widget.Tip(u, at, units.Duration(r.Duration), lines)
		}
		return
	}
	if i := x.binAt(p); i >= 0 {
		b := x.bars.Bins()[i]
		widget.Tip(u, at, units.Duration(b.From)+" to "+units.Duration(b.To), binLines(b, x.list.Durations))
	}
}

func binLines(b spans.Bin, d *spans.Durations) []string {
	return []string{units.Plural(b.Count, "call") + ", " + units.Percent(b.Count, d.Count) + " of all"}
}
