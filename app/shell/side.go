package shell

import (
	"fmt"
	"image"
	"strings"

	"ashlar/app/doc"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/units"
)

func withAlpha(c colour, a float64) colour { return theme.WithAlpha(c, a) }

func shortModule(m string) string {
	if m == "" {
		return ""
	}
	return analyze.ModuleBase(m)
}

// pickFunction shows a function of the table: its heaviest node.
func (p *pane) pickFunction(a *doc.Answer, f recording.FuncID) {
	best := int32(-1)
	if int(f) >= a.Rec.Functions.Len() {
		return
	}
	for i := 1; i < len(a.Tree.Nodes); i++ {
		if a.Tree.Nodes[i].Func == f && (best < 0 || a.Tree.Nodes[i].Total > a.Tree.Nodes[best].Total) {
			best = int32(i)
		}
	}
	if best >= 0 {
		p.pick = picked{is: pickNode, node: best, tree: a.Tree, fn: f}
	}
}

// detail is a line of the panel: exact is what a copy gives. A line without a
// key is a text of its own.
type detail struct{ key, value, exact string }

// side draws the details of what is picked, or of the whole.
func (p *pane) side(s *Shell, u *ui.UI) {
	r := p.bounds.side
	th := u.Theme
	u.Fill(r, th.Surface)
	u.VLine(r.Min.X, r.Min.Y, r.Max.Y, th.Rule)
	title, sub, ds := p.details()
	if f, ok := p.pickedFunction(); ok {
		if note := p.marks.markOf(f); note != "" {
			ds = append([]detail{{"Note", note, ""}}, ds...)
		}
	}
	x, right := r.Min.X+u.Px(16), r.Max.X-u.Px(14)
	y := r.Min.Y + u.Px(12)
	sz := u.Text(image.Rect(x, y, right, y+u.Px(54)), title, ui.Style{Size: 13, Weight: medium, Color: th.Text, Lines: 3})
	y += sz.Y + u.Px(2)
	u.Text(image.Rect(x, y, right, y+u.Px(18)), sub, ui.Style{Size: 11.5, Color: th.Dim})
	y += u.Px(30)
	for _, d := range ds {
		if y > r.Max.Y-u.Px(18) {
			break
		}
		if d.key == "" { // a long text of its own
			sz := u.Text(image.Rect(x, y, right, r.Max.Y), d.value, ui.Style{Size: 11.5, Color: th.Dim, Lines: 12})
			y += sz.Y + u.Px(8)
			continue
		}
		u.Text(image.Rect(x, y, x+u.Px(90), y+u.Px(20)), d.key, ui.Style{Size: 12, Color: th.Dim})
		u.Text(image.Rect(x+u.Px(84), y, right, y+u.Px(20)), d.value, ui.Style{Size: 12, Color: th.Text, Align: end})
		y += u.Px(22)
	}
	if p.pick.is == pickNone {
		p.heaviest(s, u, image.Rect(x, y+u.Px(6), right, r.Max.Y-u.Px(8)))
	}
	if p.copy {
		p.copy = false
		s.copyTo(u, "the details of "+title, copyText(title, sub, ds))
	}
}

// heaviest lists the functions with the largest self weight.
func (p *pane) heaviest(s *Shell, u *ui.UI, r image.Rectangle) {
	a := p.doc.Answer()
	if a == nil || len(a.Rows) == 0 {
		return
	}
	th := u.Theme
	m := a.Metric()
	line := u.Px(22)
	y := r.Min.Y
	if r.Dy() < 3*line {
		return
	}
	u.Text(image.Rect(r.Min.X, y, r.Max.X, y+line), "Heaviest by self", ui.Style{Size: 12, Weight: medium, Color: th.Dim})
	y += line + u.Px(2)
	for i := 0; i < len(a.Rows) && i < len(p.sideClicks) && y+line <= r.Max.Y; i++ {
		row := &a.Rows[i]
		if row.Self == 0 {
			break
		}
		box := image.Rect(r.Min.X-u.Px(6), y, r.Max.X+u.Px(6), y+line)
		clicked, hovered := p.sideClicks[i].clicked(u, box)
		if clicked {
			p.pickFunction(a, row.Func)
		}
		if hovered {
			u.Round(box, 4, withAlpha(th.Text, .06))
		}
		u.Round(ui.Rect(r.Min.X, y+line/2-u.Px(4), u.Px(8), u.Px(8)), 2, p.swatch(a, row))
		value := units.Percent(row.Self, a.Tree.Nodes[0].Total)
		u.Text(image.Rect(r.Max.X-u.Px(130), y, r.Max.X-u.Px(50), y+line), units.Value(row.Self, m), ui.Style{Size: 12, Color: th.Text, Align: end})
		u.Text(image.Rect(r.Max.X-u.Px(48), y, r.Max.X, y+line), value, ui.Style{Size: 12, Color: th.Dim, Align: end})
		f := s.fonts.face(12 * u.Metric.PxPerDp)
		w := r.Dx() - u.Px(14+134)
		u.Text(image.Rect(r.Min.X+u.Px(14), y, r.Min.X+u.Px(14)+w+u.Px(4), y+line), f.Fit(row.Name, float32(w)), ui.Style{Size: 12, Color: th.Text})
		y += line
	}
}

func copyText(title, sub string, ds []detail) string {
	var b strings.Builder
	fmt.Fprintln(&b, title)
	if sub != "" {
		fmt.Fprintln(&b, sub)
	}
	for _, d := range ds {
		v := d.exact
		if v == "" {
			v = d.value
		}
		fmt.Fprintf(&b, "%s\t%s\n", d.key, v)
	}
	return b.String()
}

// details lists what is known of the picked thing.
func (p *pane) details() (title, sub string, ds []detail) {
	switch p.pick.is {
	case pickBar:
		return p.barDetails(&p.pick.hit)
	case pickWindow:
		h := &p.pick.hit
		return "Window", durationText(h.End - h.Start), []detail{{"Start", units.Duration(h.Start - p.rec.Start), p.rec.Clock.Text(h.Start)}, {"End", units.Duration(h.End - p.rec.Start), p.rec.Clock.Text(h.End)}}
	case pickNode:
		return p.nodeDetails()
	}
	title, sub = "Whole recording", summary(p.rec)
	if n := len(p.sel.tracks); n > 0 {
		title, sub = plural(int64(n), "selected thread"), ""
	}
	if p.sel.ranged {
		title, sub = "Selected time", durationText(p.sel.to-p.sel.from)
		ds = append(ds, detail{"From", units.Duration(p.sel.from - p.rec.Start), p.rec.Clock.Text(p.sel.from)},
			detail{"To", units.Duration(p.sel.to - p.rec.Start), p.rec.Clock.Text(p.sel.to)})
	}
	if a := p.doc.Answer(); a != nil && len(a.Rec.Events) > 0 {
		m := a.Metric()
		ds = append(ds, detail{"Total", units.Bound(m) + units.Full(a.Tree.Nodes[0].Total, m), units.Exact(a.Tree.Nodes[0].Total, m)},
			detail{title1(string(a.Tree.Weights.Basis)), units.Count(a.Tree.Weights.Records), ""},
			detail{"Functions", units.Count(int64(len(a.Rows))), ""})
		if kind := units.KindText(m); kind != "" {
			ds = append(ds, detail{"", title1(m.Name) + " is " + kind + ".", ""})
		}
	}
	return title, sub, ds
}

func title1(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// barDetails are those of a span, or of a bar made of samples.
func (p *pane) barDetails(h *timeline.Hit) (title, sub string, ds []detail) {
	title = p.rec.FuncName(h.Call)
	if h.Call == recording.NoCall {
		title = "[no stack]"
	}
	t := p.rec.Tracks[h.Track]
	ds = append(ds, detail{"Start", units.Duration(h.Start - p.rec.Start), p.rec.Clock.Text(h.Start) + " " + p.rec.Clock.Unit})
	if h.Samples != nil {
		sub = plural(int64(h.Last-h.First), "sample") + " in a row"
		m := p.metricOf()
		var sum int64
		for i := h.First; i < h.Last; i++ {
			if v := h.Samples.Value(i, m, p.metric); v != recording.Missing {
				sum += v
			}
		}
		ds = append(ds, detail{title1(m.Name), units.Value(sum, m), units.Exact(sum, m)})
		if cpu := h.Samples.CPU(h.First); cpu >= 0 {
			ds = append(ds, detail{"CPU", fmt.Sprint(cpu), ""})
		}
	} else {
		sub = durationText(h.End - h.Start)
		if h.Unfinished {
			sub += ", never ended"
		}
		ns := recording.Metric{Unit: "ns", Decimals: 3}
		ds = append(ds, detail{"Duration", units.Duration(h.End - h.Start), units.Exact(h.End-h.Start, &ns)})
		if h.Span >= 0 {
			self := selfTime(t, h)
			ds = append(ds, detail{"Self", units.Duration(self) + "  " + units.Percent(self, h.End-h.Start), units.Exact(self, &ns)})
		}
	}
	name := t.Name
	if name == "" {
		name = "thread"
	}
	if t.TID != 0 {
		name += fmt.Sprintf("  %d", t.TID)
	}
	ds = append(ds, detail{"Thread", name, ""}, detail{"Depth", fmt.Sprint(p.rec.Calls.Depth(h.Call)), ""})
	ds = append(ds, p.frameDetails(h.Call)...)
	if h.Samples != nil && h.Samples.Event == p.event {
		ds = append(ds, contextDetails(p.doc.CallContexts(p.rec, p.event, p.metric, h.Track, h.Call), p.metricOf(), true)...)
	}
	if h.Args != 0 && p.rec.Args != nil {
		if text := p.rec.Args(h.Args); text != "" {
			ds = append(ds, detail{"", text, ""})
		}
	}
	return title, sub, append(ds, p.parents(h.Call))
}

// selfTime is a span's time without that of the spans directly below it.
func selfTime(t *recording.Track, h *timeline.Hit) int64 {
	self := h.End - h.Start
	if h.Lane+1 >= len(t.Lanes) {
		return self
	}
	l := &t.Lanes[h.Lane+1]
	for i := l.Search(h.Start); i < l.Len() && l.Start(i) < h.End; i++ {
		if l.End(i) <= h.End {
			self -= l.End(i) - l.Start(i)
		}
	}
	return self
}

// parents is the chain of calls above one, innermost first.
func (p *pane) parents(c recording.CallID) detail {
	var names []string
	for c != recording.NoCall && len(names) < 12 {
		c = p.rec.Calls.Parent(c)
		if c != recording.NoCall {
			names = append(names, p.rec.FuncName(c))
		}
	}
	if len(names) == 0 {
		return detail{"", "", ""}
	}
	return detail{"", "called from\n" + strings.Join(names, "\n"), ""}
}

// frameDetails say where a call's code is.
func (p *pane) frameDetails(c recording.CallID) (ds []detail) {
	if c == recording.NoCall {
		return nil
	}
	f := p.rec.Frames.At(int(p.rec.Calls.Frame(c)))
	fn := p.rec.Functions.At(int(f.Func))
	if fn.Module != "" {
		ds = append(ds, detail{"Module", shortModule(fn.Module), fn.Module})
	}
	file := f.File
	if file == "" {
		file = fn.File
	}
	if file != "" {
		loc := file
		if f.Line > 0 {
			loc += fmt.Sprintf(":%d", f.Line)
		}
		ds = append(ds, detail{"Source", shortModule(loc), loc})
	}
	if f.Addr != 0 {
		a := fmt.Sprintf("0x%x", f.Addr)
		if f.Offset != 0 {
			a += fmt.Sprintf(" + 0x%x", f.Offset)
		}
		ds = append(ds, detail{"Address", a, ""})
	}
	if f.Kind != recording.KindUnknown || f.Inlined {
		k := f.Kind.String()
		if f.Inlined {
			k += ", inlined"
			if f.InlineDepth > 0 {
				k += fmt.Sprintf(" at depth %d", f.InlineDepth)
			}
		}
		ds = append(ds, detail{"Kind", k, ""})
	}
	return ds
}

// nodeDetails are those of a bar of the flamegraph, in the answer it stands in.
func (p *pane) nodeDetails() (title, sub string, ds []detail) {
	a := p.doc.Answer()
	fn := p.rec.Functions.At(int(p.pick.fn))
	if p.pick.tree != nil {
		fn = p.pick.tree.Function(p.rec, int(p.pick.node))
	}
	title = fn.Name
	if a == nil {
		return title, "", nil
	}
	m := a.Metric()
	all := a.Tree.Nodes[0].Total
	t := p.pick.tree
	here := t != nil && (t == a.Tree || t == a.Above || t == a.Below)
	sub = basisText(a.Rec, a.Tree.Weights)
	value := func(key string, v int64) detail {
		bound := ""
		if strings.HasPrefix(key, "Total") {
			bound = units.Bound(m)
		}
		return detail{key, bound + units.Value(v, m) + "   " + units.Percent(v, all), units.Exact(v, m)}
	}
	if here {
		nd := &t.Nodes[p.pick.node]
		ds = append(ds, value("Total here", nd.Total), value("Self here", nd.Self))
	}
	for i := range a.Rows {
		if row := &a.Rows[i]; row.Func == p.pick.fn {
			ds = append(ds, value("Total", row.Total), value("Self", row.Self),
				detail{title1(string(a.Tree.Weights.Basis)), units.Count(row.Count), ""},
				detail{"Rank by self", units.Count(int64(i+1)) + " of " + units.Count(int64(len(a.Rows))), ""})
		}
	}
	if here {
		call := t.Nodes[p.pick.node].Call
		ds = append(ds, p.frameDetails(call)...)
		ds = append(ds, contextDetails(p.doc.NodeContexts(a, int(p.pick.node)), m, false)...)
		ds = append(ds, p.parents(call))
	}
	return title, sub, ds
}
