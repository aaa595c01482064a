// Package details implements the details pane for the selected item, for one recording or
// for two.
package details

import (
	"cmp"
	"fmt"
	"image"
	"strings"

	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/io/pointer"
	"gioui.org/op"

	"ashlar/app/core/session"
	"ashlar/app/window/panel"
	lanes "ashlar/app/window/timeline"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Detail is a line of the panel. Copying all lines, or clicking this one, copies Exact. A
// line without a key is plain text. If To is set, a click calls it instead; if Label, the
// key of a label, is set, a click lists the label's values.
type Detail struct {
	Key, Value, Exact string
	To                func()
	Label             string
	Share             string // percentage beside the value, left out where there is little room
	head              bool   // heading of the lines that follow
	link              bool   // drawn as clickable
}

func heading(text string) Detail { return Detail{Value: text, head: true} }

// Panel is the details pane beside the lower half.
type Panel struct {
	*lanes.Timeline
	area           widget.Drag
	rank           rankPart
	slow           slowPart
	scroll, height int
	of             panel.Picked
	clicks         []widget.ClickArea
	used           int
	sheet          ui.Sheet
}

// Tag identifies the area for the keyboard focus.
func (t *Panel) Tag() event.Tag { return &t.area }

// Stop stops the computations in the background.
func (t *Panel) Stop() {
	t.rank.Stop()
	t.slow.Stop()
}

// click returns the click area of the next clickable line.
func (t *Panel) click() *widget.ClickArea {
	if t.used == len(t.clicks) {
		t.clicks = append(t.clicks, widget.ClickArea{})
	}
	t.used++
	return &t.clicks[t.used-1]
}

// Layout draws the details of the selected item or, without one, of the recording.
func (p *Panel) Layout(s *panel.Host, u *ui.UI) {
	r := p.Bounds.Side
	th := u.Theme
	t := p
	u.Fill(r, th.Surface)
	u.VLine(r.Min.X, r.Min.Y, r.Max.Y, th.Rule)
	for {
		g, e, ok := t.area.Next(u, r.Min)
		if !ok {
			break
		}
		t.area.Scrolls(u, g, e, &t.scroll)
	}
	if !p.Pick.Same(&t.of) {
		t.of, t.scroll = p.Pick, 0
	}
	t.scroll = max(0, min(t.scroll, t.height-r.Dy()))
	title, sub, ds := p.Lines(s)
	if f, ok := p.PickedFunction(); ok {
		if note := p.markOf(f); note != "" {
			ds = append([]Detail{{Key: "Note", Value: note}}, ds...)
		}
		if text := p.slow.of(s, p); text != "" {
			in := p.slow.in
			ds = append([]Detail{{Value: text, To: func() { p.Actions.WhySlow(f, in) }, link: true}}, ds...)
		}
	}
	var keys func(key.Event) bool
	if t.height > r.Dy() { // otherwise keys only move from line to line
		keys = func(k key.Event) bool { return widget.ScrollKey(&t.scroll, k, u.Px(22), r.Dy()) }
	}
	ring := u.Area(&t.area, keys)
	t.area.Area(u, r, pointer.CursorDefault)
	t.used = 0
	u.At(image.Rect(r.Min.X+1, r.Min.Y+1, r.Max.X, r.Max.Y), func(u *ui.UI) {
		over := op.Record(u.Ops) // the focus marker is drawn over the texts
		y := u.Px(12) - t.scroll
		x, right := u.Px(16), r.Dx()-u.Px(14)
		y += t.sheet.Paragraph(u, image.Rect(x, y, right, y), panel.CutName(title), ui.Style{Size: 13, Weight: ui.Medium, Color: th.Text, Lines: 3}) + u.Px(2)
		f := s.Fonts.Regular(11.5 * u.Metric.PxPerDp)
		sub := panel.WholeParts(sub, 0, func(text string) bool { return f.Measure(text) <= float32(right-x) })
		t.sheet.Text(image.Rect(x, y, right, y+u.Px(18)), sub, ui.Style{Size: 11.5, Color: th.Dim})
		y += u.Px(30)
		for i := range ds {
			y = p.detailLine(s, u, &ds[i], x, y, right)
		}
		if p.Pick.Kind == panel.PickNone {
			// The lines above may reach below the panel, and image.Rect would swap the edges.
			y = p.heaviest(s, u, image.Rectangle{Min: image.Pt(x, y+u.Px(6)), Max: image.Pt(right, r.Dy()-u.Px(8)-t.scroll)})
		}
		t.height = y + t.scroll + u.Px(12)
		rings := over.Stop()
		t.sheet.Show(u, image.Rect(0, 0, r.Dx()-1, r.Dy()-1), th.Surface)
		rings.Add(u.Ops)
	})
	if ring {
		u.Ring(r, 2)
	}
	if p.Copy {
		p.Copy = false
		s.CopyTo(u, "the details of "+title, copyText(title, sub, ds))
	}
}

// detailLine draws a line of the panel and returns where the next one begins.
func (p *Panel) detailLine(s *panel.Host, u *ui.UI, d *Detail, x, y, right int) int {
	th := u.Theme
	if d.Key == "" && d.To == nil { // plain text
		if d.Value == "" {
			return y
		}
		y += u.Px(5) // the gap above a line equals the gap between its texts
		st := ui.Style{Size: 11.5, Color: th.Dim, Lines: 40}
		if d.head {
			y += u.Px(5)
			st.Weight = ui.Medium
		}
		return y + p.sheet.Paragraph(u, image.Rect(x, y, right, y), d.Value, st) + u.Px(4)
	}
	if d.link {
		return p.question(s, u, d, x, y, right)
	}
	line := u.Px(22)
	sheet := &p.sheet
	box := image.Rect(x-u.Px(6), y, right+u.Px(6), y+line)
	clicked, hovered := p.click().Clicked(u, box)
	if hovered {
		sheet.Fill(box, 4, theme.WithAlpha(th.Text, .06))
	}
	st := ui.Style{Size: 12, Color: th.Text, Align: ui.End}
	if d.Key == "" {
		st.Align = ui.Start
		sheet.Text(image.Rect(x, y, right, y+line), s.Fonts.Regular(12*u.Metric.PxPerDp).Fit(d.Value, float32(right-x)), st)
	} else {
		value := panel.CutName(d.Value)
		if d.Share != "" && right-x >= u.Px(leastForShares) {
			sheet.Text(image.Rect(x, y, right, y+line), d.Share, ui.Style{Size: 12, Color: th.Dim, Align: ui.End})
			right -= u.Px(shareColumn)
		}
		w := keyWidth(right-x, u.Px(84), u.Width(d.Key, ui.Style{Size: 12})+u.Px(10), u.Width(value, ui.Style{Size: 12}), isNumber(value))
		f, key := s.Fonts.Regular(12*u.Metric.PxPerDp), d.Key
		if _, reason, ok := strings.Cut(key, ": "); ok && f.Measure(key) > float32(w-u.Px(10)) {
			key = reason // several states have the same beginning
		}
		key = f.Middle(key, float32(w-u.Px(10)))
		sheet.Text(image.Rect(x, y, x+w, y+line), key, ui.Style{Size: 12, Color: th.Dim})
		sheet.Text(image.Rect(x+w, y, right, y+line), value, st)
	}
	if clicked {
		switch {
		case d.To != nil:
			d.To()
		case d.Label != "":
			p.ChooseLabel(s, d.Label)
		default:
			s.CopyLater(d.Copied())
		}
	}
	return y + line
}

// shareColumn is the width, in dp, of the column of percentages, and leastForShares the least
// width of the lines that leaves room for it.
const shareColumn, leastForShares = 48, 200

// keyWidth returns how much of a line of all pixels its key takes, if whole it is key pixels
// wide and its value value pixels. The key has least pixels or more, unless the value is a
// number that needs them: half a number would be wrong.
func keyWidth(all, least, key, value int, number bool) int {
	room := all - value
	if !number {
		room = max(room, least)
	}
	return max(0, min(max(least, key), room))
}

// isNumber reports whether a value begins with a number.
func isNumber(value string) bool {
	value = strings.TrimLeft(value, "<>≥≤~+−-")
	return value != "" && value[0] >= '0' && value[0] <= '9'
}

// question draws a sentence that is a link, wrapped, and returns where the next line
// begins.
func (p *Panel) question(s *panel.Host, u *ui.UI, d *Detail, x, y, right int) int {
	area := p.click()
	st := ui.Style{Size: 12, Color: u.Theme.Accent, Lines: 4}
	if area.Inside {
		st.Color = u.Theme.Text
	}
	h := p.sheet.Paragraph(u, image.Rect(x, y+u.Px(3), right, y), d.Value, st) + u.Px(6)
	if clicked, _ := area.Clicked(u, image.Rect(x-u.Px(6), y, right+u.Px(6), y+h)); clicked {
		d.To()
		s.Wake()
	}
	return y + h
}

// Copied returns the text that copying the line puts on the clipboard: the exact value if there is
// one.
func (d *Detail) Copied() string {
	if d.Exact != "" {
		return d.Exact
	}
	return d.Value
}

func copyText(title, sub string, ds []Detail) string {
	var b strings.Builder
	fmt.Fprintln(&b, title)
	if sub != "" {
		fmt.Fprintln(&b, sub)
	}
	for _, d := range ds {
		if !d.link && (d.Key != "" || d.Copied() != "") {
			fmt.Fprintf(&b, "%s\t%s\n", d.Key, d.Copied())
		}
	}
	return b.String()
}

// Lines returns the details of the selected item.
func (p *Panel) Lines(s *panel.Host) (title, sub string, ds []Detail) {
	switch p.Pick.Kind {
	case panel.PickBar:
		return p.barDetails(s, &p.Pick.Hit)
	case panel.PickWindow:
		return p.windowDetails(&p.Pick.Hit)
	case panel.PickCounter:
		return p.counterDetails(&p.Pick.Hit)
	case panel.PickInstant:
		return p.instantDetails(&p.Pick.Hit)
	case panel.PickNode:
		return p.NodeDetails()
	}
	title, sub = "Whole recording", panel.Extent(p.Rec)
	if n := len(p.Scope.Tracks); n > 0 {
		title, sub = units.Plural(int64(n), "selected "+p.Rec.ThreadWord(p.Scope.Tracks[0])), p.selectedThreads()
	}
	if p.Scope.Ranged {
		title, sub = "Selected time", units.Duration(p.Scope.To-p.Scope.From)
		ds = append(ds, p.timeDetail("From", p.Scope.From), p.timeDetail("To", p.Scope.To), lengthDetail("Length", p.Scope.To-p.Scope.From))
	}
	if a := p.Doc.Answer(); a != nil && len(a.Rec.Events) > 0 {
		m := a.Metric()
		ds = append(ds, Detail{Key: "Total", Value: units.Bound(m) + units.Full(a.Tree.Nodes[0].Total, m), Exact: units.Exact(a.Tree.Nodes[0].Total, m)},
			Detail{Key: panel.Title1(string(a.Tree.Weights.Basis)), Value: recordsOf(a)},
			Detail{Key: "Functions", Value: units.Count(int64(len(a.Rows)))})
		if kind := units.KindText(m); kind != "" {
			ds = append(ds, Detail{Value: m.Name + " is " + kind + "."})
		}
	}
	return title, sub, append(ds, p.stateSums()...)
}

// recordsOf returns the number of records in the answer. If it is only a part of the
// recording's spans, it adds the number of all spans: 12 of 340.
func recordsOf(a *session.Answer) string {
	n := a.Tree.Weights.Records
	text := units.Count(n)
	if all := a.Rec.Counts.Spans; a.Tree.Weights.Basis == analyze.Spans && n < all {
		text += " of " + units.Count(all)
	}
	return text
}

// selectedThreads names the first of the selected threads.
func (p *Panel) selectedThreads() string {
	const most = 3
	var names []string
	for _, i := range p.Scope.Tracks[:min(most, len(p.Scope.Tracks))] {
		if i >= 0 && i < len(p.Rec.Tracks) {
			names = append(names, timeline.NameAndID(p.Rec.Tracks[i]))
		}
	}
	if n := len(p.Scope.Tracks) - most; n > 0 {
		names = append(names, "and "+units.Count(int64(n))+" more")
	}
	return strings.Join(names, " · ")
}

// selfTime returns a span's duration without its direct children. The next lane may also
// hold children of other spans that overlap it.
func selfTime(calls *recording.Calls, t *recording.Track, h *timeline.Hit) int64 {
	self := h.End - h.Start
	if h.Lane+1 >= len(t.Lanes) {
		return self
	}
	l := &t.Lanes[h.Lane+1]
	for i := l.Search(h.Start); i < l.Len() && l.Start(i) < h.End; i++ {
		if l.End(i) <= h.End && calls.Parent(l.Call(i)) == h.Call {
			self -= l.End(i) - l.Start(i)
		}
	}
	return self
}

// frameDetails returns the location of a call's code.
func (p *Panel) frameDetails(c recording.CallID) (ds []Detail) {
	if c == recording.NoCall {
		return nil
	}
	f := p.Rec.Frames.At(int(p.Rec.Calls.Frame(c)))
	fn := p.Rec.Functions.At(int(f.Func))
	if fn.Symbol != "" {
		ds = append(ds, Detail{Key: "Symbol", Value: fn.Symbol})
	}
	if fn.Module != "" {
		key := "Module"
		if fn.File == "" && analyze.HasCategories(p.Rec) { // functions of scripts have files; their modules are not categories
			key = "Category"
		}
		ds = append(ds, Detail{Key: key, Value: panel.ShortModule(fn.Module), Exact: fn.Module})
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
		ds = append(ds, Detail{Key: "Source", Value: panel.ShortModule(loc), Exact: loc})
	}
	if f.Addr != 0 {
		a := fmt.Sprintf("0x%x", f.Addr)
		if f.Offset != 0 {
			a += fmt.Sprintf(" + 0x%x", f.Offset)
		}
		ds = append(ds, Detail{Key: "Address", Value: a})
	}
	if f.Kind != recording.KindUnknown || f.Inlined {
		k := f.Kind.String()
		if f.Inlined {
			k += ", inlined"
			if f.InlineDepth > 0 {
				k += fmt.Sprintf(" at depth %d", f.InlineDepth)
			}
		}
		ds = append(ds, Detail{Key: "Kind", Value: k})
	}
	return append(ds, symbolDetails(&p.Rec.Source, &f)...)
}

// NodeDetails returns the details of a flamegraph bar in its answer.
func (p *Panel) NodeDetails() (title, sub string, ds []Detail) {
	a := p.Doc.Answer()
	fn := p.Rec.Functions.At(int(p.Pick.Fn))
	if p.Pick.Tree != nil {
		fn = p.Pick.Tree.Function(p.Rec, int(p.Pick.Node))
	}
	title = fn.Name
	if a == nil {
		return title, "", nil
	}
	m := a.Metric()
	all := a.Tree.Nodes[0].Total
	t := p.Pick.Tree
	here := t != nil && (t == a.Tree || t == a.Above || t == a.Below)
	sub = panel.BasisText(a.Rec, a.Tree.Weights)
	value := func(key string, v int64) Detail {
		bound := ""
		if strings.HasPrefix(key, "Total") {
			bound = units.Bound(m)
		}
		return Detail{Key: key, Value: bound + units.Value(v, m) + "   " + units.Percent(v, all), Exact: units.Exact(v, m)}
	}
	if here {
		nd := &t.Nodes[p.Pick.Node]
		ds = append(ds, value("Total on this path", nd.Total), value("Self on this path", nd.Self))
		if of := p.Doc.OnCPU(a); of != nil && of.Tree == t {
			ds = append(ds, onCPU(of.CPU[p.Pick.Node], of.Waiting[p.Pick.Node], nd.Total)...)
		}
	}
	for i := range a.Rows {
		if row := &a.Rows[i]; row.Func == p.Pick.Fn {
			ds = append(ds, value("Total", row.Total), value("Self", row.Self),
				Detail{Key: countKey(a.Tree.Weights.Basis), Value: units.Count(row.Count)},
				Detail{Key: "Rank by self", Value: units.Count(int64(i+1)) + " of " + units.Count(int64(len(a.Rows)))})
		}
	}
	if here {
		call := t.Nodes[p.Pick.Node].Call
		ds = append(ds, p.frameDetails(call)...)
		ds = append(ds, ContextDetails(p.Doc.NodeContexts(a, int(p.Pick.Node)), m, false)...)
		ds = append(ds, p.nodeCallers()...)
	}
	return title, sub, ds
}

// countKey names the count of a function's row: its spans or states, or the samples or other
// records that end in it.
func countKey(of analyze.Basis) string {
	if of == analyze.Spans || of == analyze.States {
		return panel.Title1(string(of))
	}
	return "Self " + string(of)
}

// nodeCallers lists the nodes above the selected one, innermost first; a click goes to
// one.
func (p *Panel) nodeCallers() (ds []Detail) {
	t := p.Pick.Tree
	path := t.Path(int(p.Pick.Node))
	for i := len(path) - 2; i >= 0 && len(ds) < mostCallers; i-- {
		n := int32(path[i])
		ds = append(ds, Detail{Value: t.Function(p.Rec, int(n)).Name, To: func() {
			p.Pick = panel.Picked{Kind: panel.PickNode, Node: n, Tree: t, Fn: t.Nodes[n].Func}
		}})
	}
	if len(ds) == 0 {
		return nil
	}
	return append([]Detail{heading("Callers")}, ds...)
}

// markOf returns the note on a function, "" for none.
func (p *Panel) markOf(f recording.Function) string {
	for _, x := range p.Marks {
		if x.Func != nil && *x.Func == f.FuncName() {
			return cmp.Or(x.Text, "marked")
		}
	}
	return ""
}
