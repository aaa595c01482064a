package shell

import (
	"image"
	"strings"

	"gioui.org/f32"

	"ashlar/app/doc"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/units"
)

// tip draws a tooltip beside a point, within the window: a title and lines.
func tip(u *ui.UI, at image.Point, title string, lines []string) {
	th := u.Theme
	ts := ui.Style{Size: 12.5, Weight: medium, Color: th.Text}
	ls := ui.Style{Size: 12, Color: th.Dim}
	most := u.Px(460)
	w := min(most, u.Width(title, ts))
	for _, l := range lines {
		w = max(w, min(most, u.Width(l, ls)))
	}
	line := u.Px(18)
	box := ui.Rect(at.X+u.Px(14), at.Y+u.Px(16), w+u.Px(22), line*(1+len(lines))+u.Px(14))
	size := u.Constraints.Max
	if box.Max.X > size.X-u.Px(4) {
		box = box.Sub(image.Pt(box.Max.X-size.X+u.Px(4), 0))
	}
	if box.Max.Y > size.Y-u.Px(4) {
		box = box.Sub(image.Pt(0, box.Dy()+u.Px(28)))
	}
	u.Round(box.Add(image.Pt(0, u.Px(2))), 7, withAlpha(colour{}, .28))
	u.Round(box, 7, th.Raised)
	u.Border(box, 7, 1, th.Rule)
	u.Tip.Text(ui.Rect(0, 0, w, line), title, ts)
	for i, l := range lines {
		u.Tip.Text(ui.Rect(0, (i+1)*line, w, line), l, ls)
	}
	u.Tip.Show(u, ui.Rect(box.Min.X+u.Px(11), box.Min.Y+u.Px(7), w, line*(1+len(lines))), th.Raised)
}

func point(origin image.Point, at f32.Point) image.Point {
	return origin.Add(image.Pt(int(at.X), int(at.Y)))
}

// tooltip says what is under the pointer, exactly.
func (t *timelinePart) tooltip(s *Shell, p *pane, u *ui.UI) {
	if !t.inside || t.lanes.pressed || s.menu != nil || s.help || t.plan == nil {
		return
	}
	h := &t.hit
	at := point(p.bounds.lanes.Min, t.at)
	switch {
	case h.Window >= 0:
		lines := []string{"from " + units.Duration(h.Start-p.rec.Start)}
		if ws := p.rec.Windows[h.Track]; h.Window < len(ws.Windows) {
			m := p.metricOf()
			v := timeline.WindowWeight(ws, h.Window, p.metric)
			lines = append(lines, m.Name+" "+units.Value(v, m)+"   ("+units.Exact(v, m)+")")
		}
		tip(u, at, "Window of "+durationText(h.End-h.Start), lines)
	case h.Counter != nil:
		c := h.Counter
		lines := []string{timeline.CounterName(c), "since " + units.Duration(h.Start-p.rec.Start)}
		if h.Point > 0 {
			lines = append(lines, "before "+number(c.Value(h.Point-1)))
		}
		tip(u, at, strings.TrimSpace(number(c.Value(h.Point))+" "+c.Unit), lines)
	case h.Instant != nil:
		lines := []string{"at " + units.Duration(h.Start-p.rec.Start)}
		if h.Instant.Args != 0 && p.rec.Args != nil {
			for i, l := range strings.Split(p.rec.Args(h.Instant.Args), "\n") {
				if i == 8 {
					lines = append(lines, "…")
					break
				}
				lines = append(lines, cutName(l))
			}
		}
		tip(u, at, cutName(h.Instant.Name), lines)
	case h.Found:
		title := p.rec.FuncName(h.Call)
		if h.Call == recording.NoCall {
			title = "[no stack]"
		}
		var lines []string
		if h.Samples != nil {
			lines = append(lines, plural(int64(h.Last-h.First), "sample")+" in a row")
		} else {
			ns := recording.Metric{Unit: "ns", Decimals: 3}
			text := durationText(h.End-h.Start) + "   (" + units.Exact(h.End-h.Start, &ns) + ")"
			if h.Unfinished {
				text += ", never ended"
			}
			lines = append(lines, text)
		}
		lines = append(lines, "at "+units.Duration(h.Start-p.rec.Start))
		if h.Call != recording.NoCall {
			fn := p.rec.Functions.At(int(p.rec.Func(h.Call)))
			if fn.Module != "" {
				lines = append(lines, shortModule(fn.Module))
			}
		}
		tip(u, at, cutName(title), lines)
	}
}

func (f *flamePart) tooltip(s *Shell, p *pane, u *ui.UI) {
	if !f.inside || f.pressed || f.under < 0 || f.tree == nil || s.menu != nil || s.help || p.tab != tabFlame {
		return
	}
	if a := p.doc.Answer(); a != nil && a.Tree == f.tree && int(f.under) < len(f.tree.Nodes) {
		nodeTip(u, point(f.box.Min, f.at), a, f.tree, f.under)
	}
}

func (w *sandwich) tooltip(s *Shell, p *pane, u *ui.UI) {
	if w.under < 0 || w.pressed || s.menu != nil || s.help || p.tab != tabNear {
		return
	}
	if a := p.doc.Answer(); a == w.key.of {
		nodeTip(u, point(w.box.Min, w.at), a, w.pics[w.side].Tree, w.under)
	}
}

// nodeTip says what a bar of a flamegraph is and weighs.
func nodeTip(u *ui.UI, at image.Point, a *doc.Answer, t *analyze.Tree, node int32) {
	m := a.Metric()
	nd := &t.Nodes[node]
	all := t.Nodes[0].Total
	title := "all"
	lines := []string{
		"total " + units.Bound(m) + units.Value(nd.Total, m) + "   " + units.Percent(nd.Total, all) + "   (" + units.Exact(nd.Total, m) + ")",
		"self " + units.Value(nd.Self, m) + "   " + units.Percent(nd.Self, all) + "   (" + units.Exact(nd.Self, m) + ")",
	}
	if node > 0 {
		fn := t.Function(a.Rec, int(node))
		title = fn.Name
		where := shortModule(fn.Module)
		fr := a.Rec.Frames.At(int(nd.Frame))
		if fr.Kind == recording.KindKernel {
			where = join("kernel", where)
		}
		if fr.Inlined {
			where = join("inlined", where)
		}
		if where != "" {
			lines = append(lines, where)
		}
	}
	tip(u, at, title, lines)
}
