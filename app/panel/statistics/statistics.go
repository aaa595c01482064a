// Package statistics shows how long the calls of a function took.
package statistics

import (
	"image"
	"math/big"
	"slices"

	"gioui.org/io/pointer"

	"ashlar/app/panel"
	"ashlar/app/session"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/ingest/search"
	"ashlar/ingest/spans"
	"ashlar/render/histogram"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Panel shows how long the calls of the picked function took.
type Panel struct {
	widget.Drag
	linear bool
	scale  widget.Segments
	slow   [10]widget.ClickArea
	kept   widget.Kept[statsKey]
}

// statsKey is what the picture depends on.
type statsKey struct {
	of     *spans.Durations
	linear bool
	theme  *theme.Theme
	scale  float32
	size   image.Point
}

func (t *Panel) Layout(s *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) {
	for {
		if _, _, ok := t.Next(u, r.Min); !ok {
			break
		}
	}
	th := u.Theme
	a := p.Doc.Answer()
	f, ok := p.PickedFunction()
	switch {
	case a != nil && a.Tree.Weights.Basis != analyze.Spans:
		hint := "This recording has no spans: its stacks say where the cost was, not how long a call took"
		if slices.ContainsFunc(p.Rec.Tracks, func(t *recording.Track) bool { return t.Spans() > 0 }) {
			hint = "Samples say where the cost was, not how long a call took: choose spans in the toolbar"
		}
		widget.Empty(u, r, "No durations of calls", hint)
		return
	case !ok:
		widget.Empty(u, r, "No function is selected", "Select one to see how long its calls took")
		return
	case a == nil || a.Durations == nil:
		return
	}
	d := a.Durations
	u.Text(image.Rect(r.Min.X+u.Px(16), r.Min.Y+u.Px(6), r.Max.X-u.Px(180), r.Min.Y+u.Px(32)), f.Name, ui.Style{Size: 13, Weight: ui.Medium, Color: th.Text})
	words := []string{"Logarithmic", "Linear"}
	if i := t.scale.Layout(u, r.Max.X-u.Px(16)-t.scale.Width(u, words), r.Min.Y+u.Px(7), words, panel.Index(t.linear)); i >= 0 {
		t.linear = i == 1
	}
	right := min(u.Px(300), r.Dx()/2)
	box := image.Rect(r.Min.X+u.Px(8), r.Min.Y+u.Px(38), r.Max.X-right, r.Max.Y-u.Px(6))
	if box.Dy() < u.Px(90) {
		box.Min.Y = r.Min.Y
	}
	k := statsKey{d, t.linear, th, u.Metric.PxPerDp, box.Size()}
	u.Draw(t.kept.Get(u, k, box.Size(), func(on raster.Surface) {
		pic := histogram.Picture{Of: d, Linear: k.linear, Theme: th, Font: s.Fonts.Regular(11 * k.scale), Name: s.Fonts.Medium(11 * k.scale), Scale: k.scale, Hover: -1}
		pic.Paint(on)
	}), box.Min)
	t.numbers(p, u, d, image.Rect(r.Max.X-right+u.Px(12), r.Min.Y+u.Px(40), r.Max.X-u.Px(16), r.Max.Y))
	t.Area(u, box, pointer.CursorDefault)
}

// numbers lists the percentiles and the slowest calls, which a click goes to.
func (t *Panel) numbers(p *panel.Side, u *ui.UI, d *spans.Durations, r image.Rectangle) {
	th := u.Theme
	line := u.Px(19)
	y := r.Min.Y
	row := func(key, value string) {
		u.Text(image.Rect(r.Min.X, y, r.Max.X, y+line), key, ui.Style{Size: 12, Color: th.Dim})
		u.Text(image.Rect(r.Min.X, y, r.Max.X, y+line), value, ui.Style{Size: 12, Color: th.Text, Align: ui.End})
		y += line
	}
	row("Calls", units.Count(d.Count))
	if d.Count == 0 {
		return
	}
	mean, _ := new(big.Float).SetRat(d.Mean()).Int64()
	row("Mean", units.Duration(mean))
	row("Median", units.Duration(d.Median))
	row("p90 · p99", units.Duration(d.P90)+" · "+units.Duration(d.P99))
	row("p99.9", units.Duration(d.P999))
	row("Min · max", units.Duration(d.Min)+" · "+units.Duration(d.Max))
	y += u.Px(6)
	u.Text(image.Rect(r.Min.X, y, r.Max.X, y+line), "Slowest", ui.Style{Size: 12, Weight: ui.Medium, Color: th.Dim})
	y += line
	for i := range min(len(d.Slowest), len(t.slow)) {
		if y+line > r.Max.Y {
			return
		}
		x := &d.Slowest[i]
		box := image.Rect(r.Min.X-u.Px(6), y, r.Max.X+u.Px(6), y+line)
		clicked, hovered := t.slow[i].Clicked(u, box)
		if hovered {
			u.Round(box, 4, theme.WithAlpha(th.Text, .06))
		}
		row(units.Duration(x.Duration), "at "+units.Duration(x.Start-p.Rec.Start))
		if clicked {
			p.Acts.Show(search.Hit{Time: x.Start, Track: x.Track, Lane: x.Lane, Index: x.Span, Call: x.Call})
		}
	}
}

// slowGrid lists the slowest calls, in nanoseconds.
func slowGrid(rec *recording.Recording, d *spans.Durations) *panel.Grid {
	g := &panel.Grid{Name: "slowest calls", Head: []string{"start (ns)", "duration (ns)", "process", "thread", "name"}, Number: []bool{true, true, true, true, false}}
	ns := func(ps int64) string { return recording.Decimal{Mantissa: ps, Scale: 3}.String() }
	for i := range d.Slowest {
		s := &d.Slowest[i]
		t := rec.Tracks[s.Track]
		g.Rows = append(g.Rows, []string{ns(s.Start - rec.Start), ns(s.Duration), recording.IDText(t.PID), recording.IDText(t.TID), t.Name})
	}
	return g
}

// Ask asks how long the calls of the picked function took.
func (t *Panel) Ask(p *panel.Side, q *session.Question) {
	if f, ok := p.PickedFunction(); ok {
		q.Durations = panel.FunctionsOf(p.Rec, f)
	}
}

// Table lists the slowest calls.
func (t *Panel) Table(p *panel.Side) func() *panel.Grid {
	if a, rec := p.Doc.Answer(), p.Rec; a != nil && a.Durations != nil {
		return func() *panel.Grid { return slowGrid(rec, a.Durations) }
	}
	return nil
}
