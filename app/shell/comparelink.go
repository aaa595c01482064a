package shell

import (
	"image"
	"math"
	"reflect"
	"slices"

	gio "gioui.org/widget"

	"ashlar/app/panel"
	"ashlar/app/session"
	"ashlar/ingest/analyze"
	"ashlar/ingest/compare"
	"ashlar/ingest/recording"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/units"
)

// link is what follows on one side from what was done on the other.
type link struct {
	// call is the picked call whose twin is wanted; whole that the time of its
	// twin is to be selected, as its own is.
	call  *compare.Occurrence
	whole bool
	// twin is the answer that has been acted on.
	twin *compare.Place

	button gio.Clickable
}

func (l *link) swap() {
	l.call, l.twin = nil, nil
}

// alike is what both sides have in common when they are linked, as it was in the
// last frame.
type alike struct {
	view       [2]timeline.View
	sel        [2]recording.Scope
	pick       [2]panel.Picked
	zoom       [2][]recording.FuncName
	transforms []analyze.Transform
	search     string
	anchors    [2]int64
	on         bool
}

func (c *comparison) now() (n alike) {
	for i, p := range c.panes {
		n.view[i], n.sel[i], n.pick[i], n.zoom[i] = p.View, p.Scope, p.Pick, p.Zoom
		n.sel[i].Tracks = slices.Clone(p.Scope.Tracks)
		n.pick[i].Near = false // nobody's doing
	}
	f := c.panes[c.focus]
	n.transforms, n.search, n.anchors, n.on = f.Transforms, f.Find, [2]int64{c.panes[0].Anchor, c.panes[1].Anchor}, c.linked
	return n
}

// shift is what a time of one side is more on the other.
func (c *comparison) shift(from int) int64 {
	to := 1 - from
	return c.panes[to].Rec.Start + c.panes[to].Anchor - c.panes[from].Rec.Start - c.panes[from].Anchor
}

// reach lets linked views go as far as the longer recording does.
func (c *comparison) reach() {
	for i, p := range c.panes {
		p.Reach = [2]int64{}
		if o := c.panes[1-i]; c.linked && p.Rec.HasTime && o.Rec.HasTime {
			back := c.shift(1 - i)
			p.Reach = [2]int64{min(p.Rec.Start, o.Rec.Start+back), max(p.Rec.End, o.Rec.End+back)}
		}
	}
}

// agree carries what was changed on one side over to the other.
func (c *comparison) agree(s *Shell) {
	c.takeMetric()
	c.takeTwin()
	now, was := c.now(), c.alike
	for i := range c.panes {
		if c.panes[i].Moved && now.view[i] != was.view[i] || !reflect.DeepEqual(now.sel[i], was.sel[i]) || now.pick[i] != was.pick[i] || c.pressed(i) {
			c.focusOn(s, i)
		}
	}
	f := c.panes[c.focus]
	o := c.panes[1-c.focus]
	o.LookFor(f.Find)
	o.Transforms, o.Up = f.Transforms, f.Up
	if now.pick[c.focus] != was.pick[c.focus] {
		c.picked(c.focus)
	}
	if c.linked {
		moved := now.view[c.focus].From != was.view[c.focus].From || now.view[c.focus].To != was.view[c.focus].To
		if moved || now.anchors != was.anchors || !was.on {
			c.follow()
		}
		if !reflect.DeepEqual(now.sel[c.focus], was.sel[c.focus]) {
			c.selectAlike()
		}
	}
	if !reflect.DeepEqual(now.zoom[c.focus], was.zoom[c.focus]) {
		o.ZoomTo(c.path(c.focus, f.Zoom))
	}
	c.alike = c.now()
}

func (c *comparison) pressed(i int) bool {
	t := c.panes[i]
	return t.Lanes.Pressed || t.RulerArea.Pressed || t.Strip.Pressed || c.tab == compareTwo && c.panes[i].flame.Pressed
}

// focusOn gives a side the focus: keys are for it.
func (c *comparison) focusOn(s *Shell, i int) {
	if c.focus != i {
		c.focus = i
		s.Wake()
	}
	s.pane = c.panes[i]
}

// follow shows in the other side what the one with the focus shows.
func (c *comparison) follow() {
	f, o := c.panes[c.focus], c.panes[1-c.focus]
	if !f.Rec.HasTime || !o.Rec.HasTime {
		return
	}
	d := c.shift(c.focus)
	o.View.From, o.View.To, o.Moved = f.View.From+d, f.View.To+d, f.Moved
}

// selectAlike selects in the other side what the one with the focus has selected:
// the same time from the anchors, the threads that go together.
func (c *comparison) selectAlike() {
	f, o := c.panes[c.focus], c.panes[1-c.focus]
	c.link.whole = false
	if f.Scope.Ranged && o.Rec.HasTime {
		if h := &f.Pick.Hit; c.byCall && f.Pick.Is == panel.PickBar && h.Start == f.Scope.From && h.End == f.Scope.To {
			c.link.whole = true // its twin's, once that is known
		}
		d := c.shift(c.focus)
		within := func(t int64) int64 { return max(o.Rec.Start, min(o.Rec.End, t)) }
		o.Scope.Ranged, o.Scope.From, o.Scope.To = true, within(f.Scope.From+d), within(f.Scope.To+d)
		switch { // its last moment is not what goes with a time after its end
		case f.Scope.From+d > o.Rec.End:
			o.Scope.From, o.Scope.To = o.Rec.End+1, o.Rec.End+1
		case f.Scope.To+d < o.Rec.Start:
			o.Scope.From, o.Scope.To = o.Rec.Start-1, o.Rec.Start-1
		}
		if c.link.whole {
			c.link.twin = nil
			c.takeTwin()
		}
	} else {
		o.Scope.Ranged = false
	}
	o.Scope.Tracks = nil
	if a := c.answer(); c.knows(a) && f.Scope.Tracks != nil {
		o.Scope.Tracks = tracksAlike(a, c.focus, f.Scope.Tracks)
	}
}

// outside is the side that is over, or has not begun, at the time that is
// selected; -1 where there is none.
func (c *comparison) outside() int {
	for i, p := range c.panes {
		if p.Scope.Ranged && (p.Scope.From > p.Rec.End || p.Scope.To < p.Rec.Start) {
			return i
		}
	}
	return -1
}

// tracksAlike are the other side's tracks that go with some of a side's; not nil.
func tracksAlike(a *session.CompareAnswer, side int, tracks []int) []int {
	out := []int{}
	for _, t := range tracks {
		if t < len(a.Threads.IDs[side]) {
			if k := a.Threads.Funcs[a.Threads.IDs[side][t]].In[1-side]; k >= 0 {
				out = append(out, int(k))
			}
		}
	}
	slices.Sort(out)
	return out
}

// picked takes over what was picked on a side: its function is marked on the
// other, and where it is a span its twin is looked for.
func (c *comparison) picked(side int) {
	p, o := c.panes[side], c.panes[1-side]
	a := c.answer()
	c.link.call, c.link.twin = nil, nil
	o.Pick = panel.Picked{}
	f, ok := p.PickedFunction()
	if !ok {
		c.chosen = nil
		return
	}
	if p.Pick.Is == panel.PickNode && p.Pick.Tree != nil && p.Pick.Tree.Nodes[p.Pick.Node].Group > 0 {
		c.chosen = &recording.FuncName{Name: f.Name, Module: f.Module}
		return
	}
	key := c.key(a, side, p.Pick.Fn)
	if key < 0 {
		return
	}
	n := a.Compared.Tree.Funcs[key].FuncName
	c.chosen = &n
	if g, ok := c.own(a, 1-side, key); ok {
		o.Pick = panel.Picked{Is: panel.PickFunc, Fn: g}
	}
	if h := &p.Pick.Hit; p.Pick.Is == panel.PickBar && h.Span >= 0 && h.Samples == nil {
		c.link.call = &compare.Occurrence{Side: side, Track: h.Track, Lane: h.Lane, Span: h.Span}
	}
}

// takeTwin shows the call that goes with the picked one once it is known.
func (c *comparison) takeTwin() {
	a := c.answer()
	if !c.knows(a) || a.Twin == nil || c.link.call == nil || a.Call == nil || *a.Call != *c.link.call || c.link.twin == a.Twin {
		return
	}
	c.link.twin = a.Twin
	t := a.Twin
	o := c.panes[t.Side]
	if t.Track >= len(o.Rec.Tracks) || t.Lane >= len(o.Rec.Tracks[t.Track].Lanes) {
		return
	}
	l := &o.Rec.Tracks[t.Track].Lanes[t.Lane]
	o.Pick = panel.Picked{Is: panel.PickBar, Fn: o.Rec.Func(t.Call), Hit: timeline.Hit{Row: -1, Window: -1, Track: t.Track, Lane: t.Lane, Span: t.Span,
		Found: true, Call: t.Call, Start: t.Start, End: t.End, Unfinished: l.Unfinished(t.Span), Args: l.Args(t.Span)}}
	if c.byCall && c.linked {
		c.alignAt(t)
		if c.link.whole {
			o.Scope.Ranged, o.Scope.From, o.Scope.To = t.Start < t.End, t.Start, t.End
		}
	}
	c.alike.pick[t.Side], c.alike.sel[t.Side] = o.Pick, o.Scope // not what a person did
}

// alignAt puts the anchors at a call and its twin.
func (c *comparison) alignAt(t *compare.Place) {
	p := c.panes[1-t.Side]
	if p.Pick.Is != panel.PickBar {
		return
	}
	c.panes[t.Side].Anchor = t.Start - c.panes[t.Side].Rec.Start
	c.panes[1-t.Side].Anchor = p.Pick.Hit.Start - p.Rec.Start
}

// anchorHere makes what is picked or selected on the side with the focus its
// anchor.
func (c *comparison) anchorHere(s *Shell) {
	p := c.panes[c.focus]
	at := p.View.From
	what := "the left edge of the view"
	switch {
	case p.Pick.Is == panel.PickBar || p.Pick.Is == panel.PickWindow:
		at, what = p.Pick.Hit.Start, "where the picked bar begins"
	case p.Scope.Ranged:
		at, what = p.Scope.From, "where the selection begins"
	default:
		for _, m := range p.Marks {
			if m.ID == p.Flag && m.Func == nil {
				at, what = p.Rec.Start+m.From, "the mark "+m.Text
			}
		}
	}
	c.panes[c.focus].Anchor = at - p.Rec.Start
	s.Say("The anchor of " + sideName(c.focus) + " is " + what + ", at " + units.Duration(at-p.Rec.Start))
}

// anchorBoth aligns the picked call with the one that goes with it.
func (c *comparison) anchorBoth(s *Shell) {
	if c.link.twin == nil {
		s.Say("Pick a call in a timeline first; the other side must have a call of the same function and number")
		return
	}
	c.alignAt(c.link.twin)
	s.Say("Aligned at call " + units.Count(int64(c.link.twin.Number)) + " of " + c.panes[1-c.link.twin.Side].Rec.FuncName(c.panes[1-c.link.twin.Side].Pick.Hit.Call))
}

// path says a zoomed path of one side's flamegraph in the other's functions; as
// much of it as there is.
func (c *comparison) path(side int, path []recording.FuncName) []recording.FuncName {
	a := c.answer()
	var out []recording.FuncName
	for _, name := range path {
		fs := panel.FunctionsOf(c.panes[side].Rec, recording.Function{Name: name.Name, Module: name.Module})
		if len(fs) == 0 {
			break
		}
		f, ok := c.own(a, 1-side, c.key(a, side, fs[0]))
		if !ok {
			break
		}
		out = append(out, c.panes[1-side].Rec.Functions.At(int(f)).FuncName())
	}
	return out
}

// takeMetric shows in both sides the metric that was compared.
func (c *comparison) takeMetric() {
	a := c.answer()
	if a == nil || a.Event != c.options.Event || a.Metric != c.options.Metric {
		return
	}
	for i, p := range c.panes {
		if e := a.Compared.Metric.Event[i]; e < len(p.Rec.Events) {
			p.Event, p.Metric = e, a.Compared.Metric.Metric[i]
		}
	}
}

// drawAnchor marks the anchor on the ruler, where it is not the start.
func (c *comparison) drawAnchor(u *ui.UI, i int) {
	p := c.panes[i]
	if c.panes[i].Anchor == 0 || !p.Timed() || !c.linked {
		return
	}
	b := &p.Bounds
	w := p.LaneWidth()
	x := p.View.X(p.Rec.Start+c.panes[i].Anchor, w)
	if x < 0 || x > float64(w) {
		return
	}
	at := b.Lanes.Min.X + b.Gutter + int(math.Floor(x))
	n := u.Px(5)
	for k := range n {
		u.Fill(image.Rect(at-n+k, b.Ruler.Max.Y-n+k, at+n-k+1, b.Ruler.Max.Y-n+k+1), u.Theme.Warn)
	}
	u.VLine(at, b.Ruler.Max.Y, b.Lanes.Max.Y, theme.WithAlpha(u.Theme.Warn, .55))
}

// pilled tells whether there are two timelines to link.
func (c *comparison) pilled() bool { return c.panes[0].Timed() && c.panes[1].Timed() }

// linkPill says between the halves whether they are linked; a click changes it.
func (c *comparison) linkPill(u *ui.UI) {
	th := u.Theme
	if !c.pilled() {
		return
	}
	label := "unlinked"
	if c.linked {
		label = "linked"
		if c.byCall {
			label = "linked by call"
		}
	}
	st := ui.Style{Size: 11, Weight: ui.Medium, Color: th.Dim, Align: ui.Middle}
	w := u.Measure(label, st).X + u.Px(18)
	r := ui.Rect(c.bounds.halves[1].Min.X-w/2, c.bounds.heads[1].Min.Y+u.Px(5), w, u.Px(20))
	if c.above {
		r = ui.Rect(c.bounds.heads[1].Max.X-u.Px(10)-w, r.Min.Y, w, r.Dy())
	}
	u.Click(&c.link.button, r, func(hovered bool) {
		u.Round(r, 10, th.Raised)
		border := th.Rule
		if hovered || c.linked {
			border = th.Accent
		}
		u.Border(r, 10, 1, border)
		u.Text(r, label, st)
	})
	if c.link.button.Clicked(u.Context) {
		c.linked = !c.linked
	}
}
