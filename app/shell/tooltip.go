package shell

import (
	"image"
	"strings"

	"ashlar/app/session"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// tooltip says what is under the pointer, exactly. While keys are used it would
// only cover what they go to; it comes back when the pointer moves.
func (t *timelinePart) tooltip(s *Shell, p *pane, u *ui.UI) {
	if !t.inside || t.at == t.keyedAt || t.lanes.Pressed || s.menu != nil || s.help || t.plan == nil {
		return
	}
	h := &t.hit
	at := widget.Point(p.bounds.lanes.Min, t.at)
	switch {
	case h.Window >= 0:
		lines := []string{"from " + units.Duration(h.Start-p.rec.Start)}
		if ws := p.rec.Windows[h.Track]; h.Window < len(ws.Windows) {
			m := p.metricOf()
			v := timeline.WindowWeight(ws, h.Window, p.Metric)
			lines = append(lines, m.Name+" "+units.Value(v, m)+"   ("+units.Exact(v, m)+")")
		}
		widget.Tip(u, at, "Window of "+units.Duration(h.End-h.Start), lines)
	case h.Counter != nil:
		c := h.Counter
		lines := []string{timeline.CounterName(c), "since " + units.Duration(h.Start-p.rec.Start)}
		if h.Point > 0 {
			lines = append(lines, "before "+number(c.Value(h.Point-1)))
		}
		widget.Tip(u, at, strings.TrimSpace(number(c.Value(h.Point))+" "+c.Unit), lines)
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
		widget.Tip(u, at, cutName(h.Instant.Name), lines)
	case h.Found:
		title := p.rec.FuncName(h.Call)
		if h.Call == recording.NoCall {
			title = "[no stack]"
		}
		var lines []string
		if h.Samples != nil {
			lines = append(lines, units.Plural(int64(h.Last-h.First), "sample")+" in a row")
		} else {
			ns := recording.Metric{Unit: "ns", Decimals: 3}
			text := units.Duration(h.End-h.Start) + "   (" + units.Exact(h.End-h.Start, &ns) + ")"
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
		widget.Tip(u, at, cutName(title), lines)
	}
}

func (f *flamePart) tooltip(s *Shell, p *pane, u *ui.UI) {
	if !f.Inside || f.Pressed || f.under < 0 || f.tree == nil || s.menu != nil || s.help || p.Tab != tabFlame {
		return
	}
	if a := p.doc.Answer(); a != nil && a.Tree == f.tree && int(f.under) < len(f.tree.Nodes) {
		nodeTip(u, widget.Point(f.box.Min, f.At), a, f.tree, f.under)
	}
}

func (w *sandwich) tooltip(s *Shell, p *pane, u *ui.UI) {
	if w.under < 0 || w.Pressed || s.menu != nil || s.help || p.Tab != tabNear {
		return
	}
	if a := p.doc.Answer(); a == w.key.of {
		nodeTip(u, widget.Point(w.box.Min, w.At), a, w.pics[w.side].Tree, w.under)
	}
}

// nodeTip says what a bar of a flamegraph is and weighs.
func nodeTip(u *ui.UI, at image.Point, a *session.Answer, t *analyze.Tree, node int32) {
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
	widget.Tip(u, at, title, lines)
}
