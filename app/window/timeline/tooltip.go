package timeline

import (
	"image"
	"strings"

	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Tooltip describes the item under the pointer exactly. It is hidden while keys are used,
// since it would cover their target, and returns when the pointer moves.
func (p *Timeline) Tooltip(s *panel.Host, u *ui.UI) {
	if !p.Inside || p.At == p.KeyedAt || p.Lanes.Pressed || s.Menu != nil || s.Help || p.Plan == nil {
		return
	}
	h := &p.Hit
	at := widget.Point(p.Bounds.Lanes.Min, p.At)
	if row := p.rowOf(h); h.Found && row >= 0 { // below the bar, which it would cover
		_, _, _, y1 := p.Plan.Box(p.View, row, h.Lane, h.Start, h.End, p.Bounds.Lanes.Dx(), p.Bounds.Gutter)
		at.Y = max(at.Y, p.Bounds.Lanes.Min.Y+y1-u.Px(10))
	}
	switch {
	case h.Window >= 0:
		lines := []string{"from " + units.Duration(h.Start-p.Rec.Start)}
		if ws := p.Rec.Windows[h.Track]; h.Window < len(ws.Windows) {
			m := p.MetricOf()
			v := timeline.WindowWeight(ws, h.Window, p.Metric)
			lines = append(lines, m.Name+" "+units.Value(v, m)+"   ("+units.Exact(v, m)+")")
		}
		widget.Tip(u, at, "Window of "+units.Duration(h.End-h.Start), lines)
	case h.Counter != nil:
		c := h.Counter
		lines := []string{c.Label(), "since " + units.Duration(h.Start-p.Rec.Start)}
		if h.Point > 0 {
			lines = append(lines, "before "+timeline.Number(c.Value(h.Point-1)))
		}
		widget.Tip(u, at, strings.TrimSpace(timeline.Number(c.Value(h.Point))+" "+c.Unit), lines)
	case h.Instant != nil:
		lines := []string{"at " + units.Duration(h.Start-p.Rec.Start)}
		if h.Close > 1 {
			lines = append(lines, "nearest of "+units.Count(int64(h.Close))+" at this point")
		}
		widget.Tip(u, at, panel.CutName(h.Instant.Name), append(lines, p.argLines(h.Instant.Args, false)...))
	case h.IsState():
		widget.Tip(u, at, panel.CutName(StateTitle(p.Rec, h.Call)), p.stateLines(h), stateLegend(u.Theme)...)
	case h.Row >= 0 && h.Row < len(p.Plan.Rows) && p.Plan.Rows[h.Row].Kind == timeline.GroupRow:
		p.groupTip(u, at, &p.Plan.Rows[h.Row])
	case h.Found:
		title := p.Rec.FuncName(h.Call)
		if h.Call == recording.NoCall {
			title = "[no stack]"
		}
		widget.Tip(u, at, panel.CutName(title), p.callLines(h))
	}
}

// groupTip describes a group of goroutines.
func (p *Timeline) groupTip(u *ui.UI, at image.Point, r *timeline.Row) {
	g := p.Plan.Group(r)
	line := "Click to show them"
	if !r.Collapsed {
		line = "Click to hide them"
	}
	lines := []string{p.Plan.GroupNote(g), "Height: running goroutines; full height: all processors", line}
	if g.Recording {
		lines = []string{lines[0], line}
	}
	widget.Tip(u, at, panel.CutName(g.Name), lines)
}

// callLines describes a span, or consecutive samples of one stack.
func (p *Timeline) callLines(h *timeline.Hit) (lines []string) {
	if h.Samples != nil {
		lines = append(lines, units.Plural(int64(h.Last-h.First), "sample")+" in a row")
	} else {
		ns := recording.Metric{Unit: "ns", Decimals: 3}
		text := units.Duration(h.End-h.Start) + "   (" + units.Exact(h.End-h.Start, &ns) + ")"
		if h.Unfinished {
			text += ", never ended"
		}
		lines = append(lines, text)
		if share := p.OnCPU(h); share != "" {
			lines = append(lines, share)
		}
	}
	lines = append(lines, "at "+units.Duration(h.Start-p.Rec.Start))
	if h.Call != recording.NoCall {
		fn := p.Rec.Functions.At(int(p.Rec.Func(h.Call)))
		if fn.Module != "" {
			lines = append(lines, panel.ShortModule(fn.Module))
		}
	}
	return append(lines, p.argLines(h.Args, p.OnCPU(h) != "")...)
}

// Limits of the arguments in the tooltip. The details show all.
const (
	tipArgs     = 8
	tipArgBytes = 64 << 10 // longer texts are not parsed
)

// argLines returns the first arguments of a span or an instant, which often distinguish
// bars of one name. If withoutCPU is true, it leaves out the span's CPU time.
func (p *Timeline) argLines(ref uint64, withoutCPU bool) (lines []string) {
	if ref == 0 || p.Rec.Args == nil {
		return nil
	}
	text := p.Rec.Args(ref)
	if len(text) > tipArgBytes {
		return []string{panel.CutName(text)}
	}
	for _, m := range calls.Members(text) {
		line := m.Key + "  " + m.Value
		switch {
		case withoutCPU && (m.Key == "tdur" || m.Key == "tts"):
			continue
		case m.Key == calls.WholeArgs:
			line = m.Value
		}
		for l := range strings.Lines(line) {
			if len(lines) == tipArgs {
				return append(lines, "…")
			}
			lines = append(lines, panel.CutName(strings.TrimRight(l, "\r\n")))
		}
	}
	return lines
}

// OnCPU returns the share of a span spent on CPU, "" if unknown.
func (p *Timeline) OnCPU(h *timeline.Hit) string {
	if h.Span < 0 || h.IsState() || h.End <= h.Start {
		return ""
	}
	ps, known := p.Rec.SpanCPU(&p.Rec.Tracks[h.Track].Lanes[h.Lane], h.Span)
	if !known {
		return ""
	}
	return "on CPU " + units.Percent(ps, h.End-h.Start)
}

// StateTitle returns the name of a state, with its reason.
func StateTitle(rec *recording.Recording, c recording.CallID) string {
	return panel.Title1(strings.Trim(rec.FuncName(c), "[]"))
}

// stateLines describes how long a state lasted, where it began, its function and its
// waker.
func (p *Timeline) stateLines(h *timeline.Hit) []string {
	ns := recording.Metric{Unit: "ns", Decimals: 3}
	lines := []string{units.Duration(h.End-h.Start) + "   (" + units.Exact(h.End-h.Start, &ns) + ")", "at " + units.Duration(h.Start-p.Rec.Start)}
	if up := p.Rec.Calls.Parent(h.Call); up != recording.NoCall {
		lines = append(lines, "in "+panel.CutName(p.Rec.FuncName(up)))
	}
	if w := h.Waker(p.Rec); w != recording.NoTrack {
		lines = append(lines, "woken by "+panel.CutName(timeline.NameAndID(p.Rec.Tracks[w])))
	}
	return lines
}

// stateLegend returns the colours of the strip of thread states.
func stateLegend(th *theme.Theme) []widget.Swatch {
	return []widget.Swatch{
		{Colour: th.State(recording.Running), Name: "Running"}, {Colour: th.State(recording.Runnable), Name: "Runnable"},
		{Colour: th.State(recording.Blocked), Name: "Blocked"}, {Colour: th.State(recording.InSystemCall), Name: "Syscall"}, {Colour: th.State(recording.Collecting), Name: "GC"},
	}
}
