package shell

import (
	"strings"

	"ashlar/ingest/recording"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// tooltip says what is under the pointer, exactly. While keys are used it would
// only cover what they go to; it comes back when the pointer moves.
func (t *timelinePart) tooltip(s *Host, p *Side, u *ui.UI) {
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
