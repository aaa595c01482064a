// Package callers implements the panel with the callers and callees of a function.
package callers

import (
	"image"

	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/core/session"
	"ashlar/app/core/tables"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Panel shows the callers and callees of a function: as a sandwich, or as
// two lists.
type Panel struct {
	sides [2]neighbourList
	side  int // the list in which keys move the selection
	pic   sandwich
	form  widget.Segments
}

type neighbourList struct {
	widget.List
	chosen int // the row chosen with keys
}

func (n *Panel) Layout(s *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) {
	a := p.Doc.Answer()
	th := u.Theme
	if p.Around != nil && (a == nil || a.Near == nil) {
		p.Wait(u, r)
		return
	}
	if p.Around == nil {
		widget.Empty(u, r, "No function selected", "Select one in the flamegraph, timeline or table to see its callers and callees")
		return
	}
	// Use the name from the answer on screen, which may be the previous one.
	name := a.Around.Text
	m := a.Metric()
	total := a.Tree.Nodes[0].Total
	head := a.Near.Function
	words := []string{"Flamegraph", "Lists"}
	at := r.Max.X - u.Px(12) - n.form.Width(u, words)
	if i := n.form.Layout(u, at, r.Min.Y+u.Px(7), words, panel.Index(p.Lists)); i >= 0 {
		p.Lists = i == 1
	}
	numbers := "self " + units.Value(head.Self, m) + "   total " + units.Value(head.Total, m) + "   " + units.Percent(head.Total, total)
	w := u.Measure(numbers, ui.Style{Size: 12}).X
	line := image.Rect(r.Min.X+u.Px(16), r.Min.Y+u.Px(6), at-u.Px(10), r.Min.Y+u.Px(30))
	u.Text(image.Rect(line.Max.X-w, line.Min.Y, line.Max.X, line.Max.Y), numbers, ui.Style{Size: 12, Color: th.Dim, Align: ui.End})
	line.Max.X -= w + u.Px(12)
	u.Text(line, s.Fonts.Medium(13*u.Metric.PxPerDp).Fit(name, float32(line.Dx())), ui.Style{Size: 13, Weight: ui.Medium, Color: th.Text})
	rest := image.Rect(r.Min.X, r.Min.Y+u.Px(36), r.Max.X, r.Max.Y)
	if !p.Lists {
		n.pic.layout(s, p, u, a, rest)
		return
	}
	mid := (r.Min.X + r.Max.X) / 2
	n.sides[0].layout(s, p, u, a, n.side == 0, "Callers", a.Near.Callers, image.Rect(r.Min.X, rest.Min.Y, mid, r.Max.Y))
	n.sides[1].layout(s, p, u, a, n.side == 1, "Callees", a.Near.Callees, image.Rect(mid, rest.Min.Y, r.Max.X, r.Max.Y))
	u.VLine(mid, rest.Min.Y, r.Max.Y, th.Rule)
}

func (l *neighbourList) layout(s *panel.Host, p *panel.Side, u *ui.UI, a *session.Answer, keyed bool, title string, rows []analyze.Row, r image.Rectangle) {
	th := u.Theme
	h := u.Px(widget.RowHeight)
	u.Text(image.Rect(r.Min.X+u.Px(16), r.Min.Y, r.Max.X, r.Min.Y+h), title+"  ("+units.Count(int64(len(rows)))+")", ui.Style{Size: 11.5, Weight: ui.Medium, Color: th.Dim})
	u.HLine(r.Min.X, r.Max.X, r.Min.Y+h, th.Rule)
	body := image.Rect(r.Min.X, r.Min.Y+h+1, r.Max.X, r.Max.Y)
	l.Events(u, body, h, len(rows), func(g widget.Gesture, i int) {
		if (g == widget.Clicked || g == widget.DoubleClicked) && i >= 0 && rows[i].IsFunction(a.Rec) {
			p.PickFunction(a, rows[i].Func)
		}
	})
	m := a.Metric()
	total := a.Near.Function.Total
	u.At(body, func(u *ui.UI) {
		l.Rows(body, h, len(rows), func(i int, at image.Rectangle) {
			row, y := &rows[i], at.Min.Y
			if c, ok := l.Ground(u, at, s.Focus.Shown && s.Focus.In(&p.Tab) && keyed && i == l.chosen); ok {
				u.Fill(at, c)
			}
			u.Round(ui.Rect(u.Px(16), y+h/2-u.Px(4), u.Px(8), u.Px(8)), 2, p.Swatch(a, row))
			w := body.Dx() - u.Px(32+160)
			u.Text(ui.Rect(u.Px(32), y, w, h), s.Fonts.Regular(12*u.Metric.PxPerDp).Fit(row.Name, float32(w-u.Px(4))), ui.Style{Size: 12, Color: th.Text})
			u.Text(ui.Rect(body.Dx()-u.Px(160), y, u.Px(86), h), units.Value(row.Total, m), ui.Style{Size: 12, Color: th.Text, Align: ui.End})
			u.Text(ui.Rect(body.Dx()-u.Px(70), y, u.Px(56), h), units.Percent(row.Total, total), ui.Style{Size: 12, Color: th.Dim, Align: ui.End})
		})
	})
	l.Area(u, body, pointer.CursorDefault)
}

// Key moves among the callers and callees; Return puts the chosen one in the middle.
func (n *Panel) Key(p *panel.Side, k key.Event, _ int) bool {
	a := p.Doc.Answer()
	if a == nil || a.Near == nil || k.Modifiers != 0 {
		return false
	}
	if !p.Lists {
		return n.pic.keyed(p, k)
	}
	rows := a.Near.Callers
	if n.side == 1 {
		rows = a.Near.Callees
	}
	l := &n.sides[n.side]
	switch k.Name {
	case key.NameLeftArrow:
		n.side = 0
	case key.NameRightArrow:
		n.side = 1
	case key.NameReturn:
		if l.chosen < len(rows) {
			p.PickFunction(a, rows[l.chosen].Func)
			n.sides[0].chosen, n.sides[1].chosen = 0, 0
		}
	default:
		to, ok := l.Key(k, l.chosen, len(rows))
		if ok {
			l.chosen = to
		}
		return ok
	}
	return true
}

// neighbour is a row of the table with its relation to the function in the middle.
type neighbour struct {
	relation string
	analyze.Row
}

// grid returns a table of the callers and callees.
func grid(a *session.Answer) *tables.Grid {
	rows := []neighbour{{"function", a.Near.Function}}
	for _, r := range a.Near.Callers {
		rows = append(rows, neighbour{"caller", r})
	}
	for _, r := range a.Near.Callees {
		rows = append(rows, neighbour{"callee", r})
	}
	return tables.NewGrid("callers and callees", append([]tables.Column[neighbour]{
		tables.Named("relation", func(r *neighbour) string { return r.relation }),
		tables.Named("function", func(r *neighbour) string { return r.Name }),
		tables.Named("module", func(r *neighbour) string { return r.Module }),
	}, tables.Amounts(a.Metric(), func(r *neighbour) (self, total, count int64) { return r.Self, r.Total, r.Count })...), rows)
}

// Ask asks for the callers and callees of the function.
func (n *Panel) Ask(p *panel.Side, q *session.Question) {
	if p.Around != nil {
		ref := analyze.RefTo(p.Middle())
		q.Around = &ref
	}
}

// Events handles the pointer events since the last frame.
func (n *Panel) Events(s *panel.Host, p *panel.Side, u *ui.UI) { n.pic.events(s, p, u) }

// Tooltip describes the item under the pointer.
func (n *Panel) Tooltip(s *panel.Host, p *panel.Side, u *ui.UI) { n.pic.tooltip(s, p, u) }

// Scroll returns the scroll position of the picture; lists keep their own.
func (n *Panel) Scroll(p *panel.Side) *int {
	if p.Lists {
		return nil
	}
	return &p.DownAround
}

// Hover returns the function under the pointer.
func (n *Panel) Hover(*panel.Side) (recording.FuncID, bool) {
	if n.pic.under > 0 {
		return n.pic.pics[n.pic.side].Tree.Nodes[n.pic.under].Func, true
	}
	return 0, false
}

// Areas returns the areas that focus the panel when clicked.
func (n *Panel) Areas() []event.Tag {
	return []event.Tag{&n.pic.Drag, &n.sides[0].Drag, &n.sides[1].Drag}
}

// Table returns a table of the callers and callees.
func (n *Panel) Table(p *panel.Side) func() *tables.Grid {
	if a := p.Doc.Answer(); a != nil && a.Near != nil {
		return func() *tables.Grid { return grid(a) }
	}
	return nil
}
