// Package critical implements the panel with the critical path of the selection: its steps
// in order of time, and their sums. The timeline draws the same path.
package critical

import (
	"image"
	"sort"

	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/core/pathreport"
	"ashlar/app/core/session"
	"ashlar/app/core/tables"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/criticalpath"
	"ashlar/ingest/query/search"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Panel lists the steps of the path below their sums.
type Panel struct {
	panel.List[*panel.Side]
	sheet ui.Sheet
}

// Ask asks for the path.
func (t *Panel) Ask(p *panel.Side, q *session.Question) { q.Path = p.Rec.HasTime }

// Layout draws the panel.
func (t *Panel) Layout(s *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) {
	a := p.Doc.Answer()
	if !p.Rec.HasTime && p.Rec.Done {
		widget.Empty(u, r, "No critical path", "Aggregated profile: no timestamps, so no critical path")
		return
	}
	if !p.Counts(a) || a.Critical == nil {
		p.Wait(u, r)
		return
	}
	c := a.Critical
	switch {
	case c.Err != nil:
		widget.Empty(u, r, "No critical path", c.Err.Error())
		return
	case len(c.Steps) == 0:
		widget.Empty(u, r, "No critical path", "No time was spent in this selection")
		return
	}
	pad := u.Px(16)
	head := image.Rect(r.Min.X+pad, r.Min.Y+u.Px(6), r.Max.X-pad, r.Min.Y+u.Px(28))
	u.Text(head, title(p.Rec, c), ui.Style{Size: 13, Weight: ui.Medium, Color: u.Theme.Text})
	top := head.Max.Y
	if h := min(u.Px(150), r.Dy()/2); h >= u.Px(60) {
		w := (r.Dx() - 2*pad) / len(c.Sums)
		for i, name := range []string{"By state", "By thread", "By function"} {
			sums(p, u, name, c, i, image.Rect(head.Min.X+i*w, top, head.Min.X+(i+1)*w-u.Px(24), top+h))
		}
		top += h
	}
	t.steps(s, p, u, c, image.Rect(r.Min.X, top+u.Px(4), r.Max.X, r.Max.Y))
}

// title describes the path.
func title(rec *recording.Recording, c *session.CriticalPath) string {
	n := units.Plural(int64(len(c.Steps)), "step")
	if len(c.Paths) > 1 {
		return "Critical paths: " + units.Plural(int64(len(c.Paths)), "call") + ": " + units.Duration(length(c)) + " in " + n
	}
	return "Critical path to the end on " + pathreport.Thread(rec, c.Paths[0].Track) + ": " + units.Duration(length(c)) + " in " + n
}

func length(c *session.CriticalPath) (ps int64) {
	for i := range c.Paths {
		recording.Add(&ps, c.Paths[i].To-c.Paths[i].From)
	}
	return ps
}

// sums lists the sums of the steps, as many as fit.
func sums(p *panel.Side, u *ui.UI, name string, c *session.CriticalPath, by int, r image.Rectangle) {
	line := u.Px(18)
	u.Text(image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+line), name, ui.Style{Size: 12, Color: u.Theme.Dim})
	all := length(c)
	for i, s := range c.Sums[by] {
		at := image.Rect(r.Min.X, r.Min.Y+(i+1)*line, r.Max.X, r.Min.Y+(i+2)*line)
		if at.Max.Y > r.Max.Y {
			return
		}
		share := image.Rect(at.Min.X, at.Max.Y-u.Px(3), at.Min.X+int(float64(at.Dx())*float64(s.Time)/float64(max(1, all))), at.Max.Y-u.Px(1))
		u.Fill(share, u.Theme.Accent)
		value := units.Duration(s.Time) + "  " + units.Percent(s.Time, all)
		w := u.Width(value, ui.Style{Size: 12}) + u.Px(6)
		u.Text(image.Rect(at.Max.X-w, at.Min.Y, at.Max.X, at.Max.Y), value, ui.Style{Size: 12, Color: u.Theme.Text, Align: ui.End})
		u.Text(image.Rect(at.Min.X, at.Min.Y, at.Max.X-w-u.Px(6), at.Max.Y), s.Name, ui.Style{Size: 12, Color: u.Theme.Text})
	}
}

func columns(rec *recording.Recording) []tables.Column[criticalpath.Step] {
	return pathreport.Columns(rec, func(s *criticalpath.Step) *criticalpath.Step { return s })
}

// edges are the left edges of the columns, as shares of the width, followed by the right
// edge of the last.
var edges = [...]float32{0, .11, .23, .42, .6, .82, 1}

// steps draws the rows; a click on a row goes to its step.
func (t *Panel) steps(s *panel.Host, p *panel.Side, u *ui.UI, c *session.CriticalPath, r image.Rectangle) {
	h := u.Px(widget.RowHeight)
	body := image.Rect(r.Min.X, r.Min.Y+h, r.Max.X, r.Max.Y)
	t.Events(u, body, h, len(c.Steps), func(g widget.Gesture, row int) {
		if row >= 0 && (g == widget.Clicked || g == widget.DoubleClicked) {
			show(p, &c.Steps[row])
		}
	})
	x := func(i int) int { return u.Px(16) + int(edges[i]*float32(r.Dx()-u.Px(32))) }
	face, cs := s.Fonts.Regular(12*u.Metric.PxPerDp), columns(p.Rec)
	for i := range cs {
		st := ui.Style{Size: 12, Color: u.Theme.Dim}
		if cs[i].Number {
			st.Align = ui.End
		}
		u.Text(image.Rect(r.Min.X+x(i), r.Min.Y, r.Min.X+x(i+1)-u.Px(12), body.Min.Y), cs[i].Name, st)
	}
	t.Rows(body, h, len(c.Steps), func(i int, line image.Rectangle) {
		step := &c.Steps[i]
		if colour, ok := t.Ground(u, line, picked(p, step)); ok {
			t.sheet.Fill(line, 0, colour)
		}
		if step.Call != recording.NoCall {
			t.sheet.Fill(image.Rect(x(3)-u.Px(10), line.Min.Y+u.Px(5), x(3)-u.Px(4), line.Max.Y-u.Px(5)), 0, p.Palette.Func(p.Rec, p.Rec.Func(step.Call)))
		}
		for k := range cs {
			st := ui.Style{Size: 12, Color: u.Theme.Text}
			if cs[k].Number {
				st.Align = ui.End
			}
			at := image.Rect(x(k), line.Min.Y, x(k+1)-u.Px(12), line.Max.Y)
			fit := face.FitText
			if cs[k].Name == "function" {
				fit = face.Fit
			}
			t.sheet.Text(at, fit(cs[k].Text(step), float32(at.Dx())), st)
		}
	})
	t.sheet.Show(u, body, u.Theme.Background)
	t.Area(u, body, pointer.CursorDefault)
}

// picked reports whether a step's state or span is selected.
func picked(p *panel.Side, s *criticalpath.Step) bool {
	h := &p.Pick.Hit
	return p.Pick.Kind == panel.PickBar && h.Track == s.Track && h.Lane == s.Lane && h.Span == s.Index && s.Index >= 0
}

// show selects the state or span of a step; if it has neither, it brings the step's time
// into view.
func show(p *panel.Side, s *criticalpath.Step) {
	if s.Index < 0 {
		p.Fit(s.From-(s.To-s.From)/4, s.To+(s.To-s.From)/4)
		return
	}
	p.Actions.Show(search.Hit{Track: s.Track, Lane: s.Lane, Index: s.Index, Time: s.From, Call: s.Call})
}

// Key moves from the selected step to others.
func (t *Panel) Key(p *panel.Side, k key.Event, _ int) bool {
	a := p.Doc.Answer()
	if a == nil || a.Critical == nil || len(a.Critical.Steps) == 0 {
		return false
	}
	steps := a.Critical.Steps
	at := -1
	if p.Pick.Kind == panel.PickBar {
		start := p.Pick.Hit.Start
		for at = sort.Search(len(steps), func(i int) bool { return steps[i].To > start }); at < len(steps) && !picked(p, &steps[at]) && steps[at].From <= start; at++ {
		}
		if at == len(steps) || !picked(p, &steps[at]) {
			at = -1
		}
	}
	to, ok := t.List.Key(k, at, len(steps))
	if ok {
		show(p, &steps[to])
	}
	return ok
}

// Table returns the steps.
func (t *Panel) Table(p *panel.Side) func() *tables.Grid {
	a := p.Doc.Answer()
	if a == nil || a.Critical == nil {
		return nil
	}
	rec, steps := p.Rec, a.Critical.Steps
	return func() *tables.Grid { return tables.NewGrid("path", columns(rec), steps) }
}
