package workspace

import (
	"image"
	"math"
	"reflect"

	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
)

// agree repeats the changes of one side on the other.
func (c *Comparison) agree(d *Workspace) {
	c.TakeMetric()
	c.PickTwin()
	now, was := c.LinkedState(), c.LastLinked
	folded := func(i int) bool {
		return !reflect.DeepEqual(now.Folds[i], was.Folds[i]) || !reflect.DeepEqual(now.Closed[i], was.Closed[i]) || !reflect.DeepEqual(now.Groups[i], was.Groups[i])
	}
	for i := range c.Panes {
		if c.Panes[i].Moved && now.View[i] != was.View[i] || !reflect.DeepEqual(now.Sel[i], was.Sel[i]) || now.Pick[i] != was.Pick[i] || folded(i) || c.pressed(i) {
			c.FocusOn(d, i)
		}
	}
	f := c.Panes[c.Focus]
	o := c.Panes[1-c.Focus]
	o.SearchFor(f.Find)
	o.Transforms, o.Up = f.Transforms, f.Up
	if now.Pick[c.Focus] != was.Pick[c.Focus] {
		c.Picked(c.Focus)
	}
	if c.Linked {
		moved := now.View[c.Focus].From != was.View[c.Focus].From || now.View[c.Focus].To != was.View[c.Focus].To
		if moved || now.Anchors != was.Anchors || !was.On {
			c.Follow()
		}
		if !reflect.DeepEqual(now.Sel[c.Focus], was.Sel[c.Focus]) {
			c.SelectMatching()
		}
		if folded(c.Focus) {
			c.FoldMatching()
		}
	}
	if !reflect.DeepEqual(now.Zoom[c.Focus], was.Zoom[c.Focus]) {
		o.ZoomTo(c.Path(c.Focus, f.Zoom))
	}
	c.LastLinked = c.LinkedState()
}

// linkFirst lets linked sides first show everything on both, except for a few events far from all
// others.
func (c *Comparison) linkFirst() {
	for i, p := range c.Panes {
		from, to := p.CoreExtent()
		if o := c.Panes[1-i]; c.Linked && p.Rec.HasTime && o.Rec.HasTime {
			back := c.Shift(1 - i)
			a, b := o.CoreExtent()
			from, to = min(from, a+back), max(to, b+back)
		}
		p.First = [2]int64{from, to}
	}
}

func (c *Comparison) pressed(i int) bool {
	t := c.Panes[i]
	return t.Lanes.Pressed || t.RulerArea.Pressed || t.Strip.Pressed || c.Held == i
}

// FocusOn gives a side the focus, which directs keys to it.
func (c *Comparison) FocusOn(d *Workspace, i int) {
	if c.Focus != i {
		c.Focus = i
		d.Wake()
	}
	d.Pane = c.Panes[i]
}

// AnchorHere sets the anchor of the side with the focus: the start of its picked bar or
// window, else of its selected range, else its picked mark, else the view's left edge.
func (c *Comparison) AnchorHere(d *Workspace) {
	p := c.Panes[c.Focus]
	at := p.View.From
	what := "the left edge of the view"
	switch {
	case p.Pick.Kind == panel.PickBar || p.Pick.Kind == panel.PickWindow:
		at, what = p.Pick.Hit.Start, "the start of the selected bar"
	case p.Scope.Ranged:
		at, what = p.Scope.From, "the start of the selection"
	default:
		for _, m := range p.Marks {
			if m.ID == p.Flag && m.Func == nil {
				at, what = p.Rec.Start+m.From, "the mark "+m.Text
			}
		}
	}
	c.Panes[c.Focus].Anchor = at - p.Rec.Start
	d.Say("Anchor of " + comparison.SideName(c.Focus) + " is " + what + ", at " + units.Duration(at-p.Rec.Start))
}

// AnchorBoth aligns the picked call with its match on the other side.
func (c *Comparison) AnchorBoth(d *Workspace) {
	if c.Link.Twin == nil {
		d.Say("Select a call in a timeline first. The other side needs the same call (same function and number)")
		return
	}
	c.AlignAt(c.Link.Twin)
	d.Say("Aligned at call " + units.Count(int64(c.Link.Twin.Number)) + " of " + c.Panes[1-c.Link.Twin.Side].Rec.FuncName(c.Panes[1-c.Link.Twin.Side].Pick.Hit.Call))
}

// drawAnchor marks the anchor on the ruler, unless it is the start.
func (c *Comparison) drawAnchor(u *ui.UI, i int) {
	p := c.Panes[i]
	if c.Panes[i].Anchor == 0 || !p.Timed() || !c.Linked {
		return
	}
	b := &p.Bounds
	w := p.LaneWidth()
	x := p.View.X(p.Rec.Start+c.Panes[i].Anchor, w)
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

// pilled reports whether there are two timelines to link.
func (c *Comparison) pilled() bool { return c.Panes[0].Timed() && c.Panes[1].Timed() }

// linkPill shows, between the halves, whether they are linked; a click links or unlinks
// them.
func (c *Comparison) linkPill(u *ui.UI) {
	th := u.Theme
	if !c.pilled() {
		return
	}
	label := "unlinked"
	if c.Linked {
		label = "linked"
		if c.ByCall {
			label = "linked by call"
		}
	}
	st := ui.Style{Size: 11, Weight: ui.Medium, Color: th.Dim, Align: ui.Middle}
	w := u.Measure(label, st).X + u.Px(18)
	r := ui.Rect(c.Bounds.halves[1].Min.X-w/2, c.Bounds.Heads[1].Min.Y+u.Px(5), w, u.Px(20))
	if c.Above {
		r = ui.Rect(c.Bounds.Heads[1].Max.X-u.Px(10)-w, r.Min.Y, w, r.Dy())
	}
	u.Click(&c.Link.Button, r, func(hovered bool) {
		u.Round(r, 10, th.Raised)
		border := th.Rule
		if hovered || c.Linked {
			border = th.Accent
		}
		u.Border(r, 10, 1, border)
		u.Text(r, label, st)
	})
	if c.Link.Button.Clicked(u.Context) {
		c.Linked = !c.Linked
	}
}
