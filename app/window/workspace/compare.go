package workspace

import (
	"image"
	"slices"
	"time"

	"ashlar/app/core/session"
	"ashlar/app/core/view"
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/trend"
	"ashlar/app/window/scopebar"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare/match"
	"ashlar/render/raster"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// Comparison is two recordings side by side: A, the baseline, and B. Above are
// two timelines, below is one answer about both.
type Comparison struct {
	ofTwo
	Panes [2]*Pane
	trail

	splitter splitter
	Heads    [2]widget.ClickArea
	Strips   [2]comparison.RunStrip
	ScopeBar scopebar.Bar
	Bounds   compareBounds
	rowsOf   rowsKey
	keyIn    [2]bool // whether the keyboard focus was in the timelines
	swapped  bool    // by an odd number of swaps; makes a swap a step of the history
}

// compareBounds are the places of the parts in the last frame.
type compareBounds struct {
	Heads, halves [2]image.Rectangle
	panel.LowerBounds
}

// OpenBeside opens a file as B, to compare with the open recording. If nothing is open,
// it just opens the file.
func (d *Workspace) OpenBeside(path string) {
	if d.Pane == nil {
		d.Open(path)
		return
	}
	a := d.Pane
	if c := d.Versus; c != nil {
		a = c.Panes[0]
	}
	d.Compare(a, d.openPane(path))
}

// OpenBaseline opens a file in place of A. Without a comparison, it just opens the file.
func (d *Workspace) OpenBaseline(path string) {
	c := d.Versus
	if c == nil {
		d.Open(path)
		return
	}
	d.Compare(d.openPane(path), c.Panes[1])
}

// openPane begins to load a file, or the first file of an address.
func (d *Workspace) openPane(path string) *Pane {
	if view.IsAddress(path) {
		if v, err := view.Parse(path); err == nil && len(v.Files) > 0 {
			path = v.Files[0]
		}
	}
	return d.load(path, "", recording.Part{})
}

func newComparison(a, b *Pane) *Comparison {
	c := &Comparison{Panes: [2]*Pane{a, b}}
	c.begin(&a.Side, &b.Side, PairPanels)
	return c
}

// Compare compares two panes, replacing any previous comparison. Undo leads back to what
// was shown.
func (d *Workspace) Compare(a, b *Pane) {
	back := d.wayBack()
	for _, p := range []*Pane{a, b} {
		p.Runs = p.Runs[:min(len(p.Runs), mostRuns-1)]
	}
	c := newComparison(a, b)
	panel.Find[*trend.OfTwo](c.Deck.All).Store = &d.trends
	c.Look = pairLook()
	c.Above = d.Preferred.Look.State().Layout == view.Above
	if old := d.Versus; old != nil {
		c.Look = old.Look
		c.Zoom, c.ByCall = nil, false
		c.Options.Match.Hand = nil
		d.drop(old, a, b)
	} else {
		a.AnchorAtCore()
		b.AnchorAtCore()
	}
	d.Session.Show(c.docs()...)
	c.Engine = d.Session.Pair()
	for _, p := range c.Panes {
		p.Linkable = true
		p.Tab, p.Against, p.ScopeComparison = panel.Flamegraph, nil, nil
		p.Transforms, p.Like = a.Transforms, nil
	}
	d.Versus, d.Menu, d.back = c, nil, back
	d.Pane = a
	c.LastLinked = c.LinkedState()
	d.title()
	d.Wake()
}

// docs returns the recordings that the comparison keeps open.
func (c *Comparison) docs() []*session.Side {
	all := []*session.Side{c.Panes[0].Doc, c.Panes[1].Doc}
	for _, p := range c.Panes {
		for _, r := range slices.Concat(p.Runs, p.shelf) {
			if r.doc != nil {
				all = append(all, r.doc)
			}
		}
	}
	return all
}

// drop releases the panes of a comparison except those in stay.
func (d *Workspace) drop(c *Comparison, stay ...*Pane) {
	c.Deck.Stop()
	for _, p := range c.Panes {
		if !slices.Contains(stay, p) {
			p.stopFollowing()
			d.gone = append(d.gone, p)
		}
	}
}

// EndComparison goes back to one recording: the one that was open before, as it was
// shown then, else the one with the focus. It ends a comparison in place, as Esc does.
func (d *Workspace) EndComparison() {
	switch c := d.Versus; {
	case c != nil:
		stays := c.Focus
		for i := range c.Panes {
			if d.single(i) {
				stays = i
				break
			}
		}
		d.CloseSide(1 - stays)
	case d.Pane != nil:
		d.Pane.EndScopeComparison()
	}
}

// single reports whether a side of the comparison was open by itself before.
func (d *Workspace) single(i int) bool {
	back := d.back
	return back != nil && len(back.state.Files) == 1 && back.state.Files[0] == d.Versus.Panes[i].file()
}

// CloseSide closes a side of the comparison. If the other one was open by itself before,
// it is shown as it was then.
func (d *Workspace) CloseSide(i int) {
	c, back := d.Versus, d.back
	if c == nil {
		return
	}
	asItWas := d.single(1 - i)
	d.closeTo(c.Panes[1-i])
	if d.back = nil; !asItWas {
		return
	}
	to := *back.state
	to.Marks = slices.Clone(d.Pane.Marks)
	d.restore(&to)
	d.back = back.before
}

// closeTo ends the comparison and keeps one of its panes.
func (d *Workspace) closeTo(p *Pane) {
	c := d.Versus
	d.Pane = p
	d.Pane.First, d.Pane.Limits, d.Pane.Share, d.Pane.Like, d.Pane.Anchor = [2]int64{}, [2]int64{}, 0, nil, 0
	d.Pane.Tab, d.Pane.Linkable = panel.Flamegraph, false
	if d.Pane.Pick.Kind == panel.PickFunc {
		d.Pane.Pick = panel.Picked{}
	}
	// The comparison may have shown more time, in which only the other recording had any.
	if all := p.View.Fit(p.Extent()); p.View.From < all.From || p.View.To > all.To {
		p.View, p.Moved = all, false
	}
	d.Versus, d.Menu = nil, nil
	d.Note.Until = time.Time{} // the note was about both recordings
	d.drop(c, d.Pane)
	d.Session.Show(d.Pane.Doc)
	d.keepRuns(d.Pane)
	d.title()
}

// Compares reports whether two recordings are shown.
func (d *Workspace) Compares() bool { return d.Versus != nil }

// Swap exchanges A and B, of two recordings or of a comparison in place.
func (d *Workspace) Swap() {
	c := d.Versus
	if p := d.Pane; c == nil && p != nil && p.Against != nil && p.Against.Outside {
		p.AgainstIsA = !p.AgainstIsA
		return
	} else if c == nil && p != nil && p.Against != nil && !p.Scope.IsWhole() {
		a, b := p.Scope, *p.Against
		p.Scope, p.Against = b, &a
		return
	}
	if c == nil {
		d.Say("Nothing to swap: open a second file first")
		return
	}
	c.swap()
	d.Session.Show(c.docs()...)
	c.Engine = d.Session.Pair()
	d.title()
}

func (c *Comparison) swap() {
	c.swapped = !c.swapped
	c.Panes[0], c.Panes[1] = c.Panes[1], c.Panes[0]
	c.Sides[0], c.Sides[1] = c.Sides[1], c.Sides[0]
	c.Focus = 1 - c.Focus
	c.Panes[0].Like, c.rowsOf = nil, rowsKey{}
	c.Link.Swap()
	hand := c.Options.Match.Hand
	c.Options.Match.Hand = nil
	for _, p := range hand {
		c.Options.Match.Hand = append(c.Options.Match.Hand, match.Pair{A: p.B, B: p.A})
	}
	c.LastLinked = c.LinkedState()
}

// title sets the window's title to the name of the open recordings.
func (d *Workspace) title() {
	if d.Do.Title != nil {
		d.Do.Title(OneLine(d.OpenName()) + " – Ashlar")
	}
}

// versus stands between the names of two recordings.
const versus = " vs "

// OpenName returns the names of the open recordings.
func (d *Workspace) OpenName() string {
	if c := d.Versus; c != nil {
		return c.Panes[0].Doc.Name + versus + c.Panes[1].Doc.Name
	}
	if d.Pane == nil {
		return ""
	}
	return d.Pane.Doc.Name
}

// ShortName is OpenName, with words of the names left out if it is wider than w pixels.
func (d *Workspace) ShortName(f *raster.Face, w float32) string {
	name := d.OpenName()
	c := d.Versus
	if c == nil || f.Measure(name) <= w {
		return f.FileName(name, "", w)
	}
	a, b := c.Panes[0].Doc.Name, c.Panes[1].Doc.Name
	room := w - f.Measure(versus)
	most := max(room/2, room-f.Measure(b)) // a short name leaves its room to the other
	a, b = f.FileName(a, b, most), f.FileName(b, a, max(room/2, room-f.Measure(a)))
	if a == "" || b == "" {
		return ""
	}
	return a + versus + b
}

// Draw lays out both recordings in r.
func (c *Comparison) Draw(d *Workspace, u *ui.UI, r image.Rectangle) {
	c.LinkLimits()
	c.linkFirst()
	for i, p := range c.Panes {
		p.Tab = panel.Flamegraph // the comparison has tabs of its own
		p.Update(d)
		c.takeOver(d, i)
		if !p.Moved && p.Rec.HasTime {
			p.View = p.View.Fit(p.FirstExtent()) // the other side's limits may have grown
		}
	}
	if _, err := c.ResumeVisit(d); err != nil {
		d.Say(err.Error())
	}
	for i, p := range c.Panes {
		if i == 1 {
			c.rowsAlike()
		}
		p.Room = d.timelineRoom(u, r.Dy())
		if c.Above {
			p.Room /= 2
		}
		p.Replan(u.Metric.PxPerDp)
	}
	c.KeptPairs(&d.Host)
	c.place(d, u, r)
	c.restoreScroll(u)
	c.events(d, u)
	c.focusByKey(d)
	c.Panes[c.Focus].menuByKey(d, u)
	for _, p := range c.Panes {
		p.Motion.Step(&d.Host, &p.Timeline, u)
		p.Flows.Update(&d.Host, &p.Timeline)
	}
	c.agree(d)
	c.withRuns(d, false)
	c.Engine.Ask(c.Question(), c.recs())
	if d.View.Above() {
		for i, p := range c.Panes {
			c.half(d, u, i, p)
		}
		c.guide(u)
	}
	if d.View.below() {
		c.lower(d, u)
	}
	if d.View == Both && c.timed() {
		c.splitter.layout(u, c.Bounds.Tabs.Min.Y, r, &c.Split)
	}
	for i, p := range c.Panes {
		d.borderOfNames(u, i, &p.Bounds)
	}
	d.borderOfDetails(u, c.Bounds.Side)
	d.remember(u)
	for i, p := range c.Panes {
		p.Tooltip(&d.Host, u)
		if c.hasRuns() {
			c.Strips[i].Tooltip(u, i, c.RunsOf(i), c.runDetail)
		}
	}
	if d.View.below() {
		c.Deck.Tooltip(&d.Host, u, c.Tab, &c.Comparison)
	}
	if d.View == Both {
		c.ScopeBar.Tooltip(u)
	}
}

// events handles the pointer events since the last frame.
func (c *Comparison) events(d *Workspace, u *ui.UI) {
	c.Hover = -1
	a := c.Answer()
	c.Held = -1
	if x, ok := c.Deck.Shown(c.Tab).(panel.Pointed[*comparison.Comparison]); ok {
		x.Events(&d.Host, &c.Comparison, u)
	}
	for i, p := range c.Panes {
		if p.TakeEvents(&d.Host, u); p.Inside && p.Hit.Found && p.Hit.Call != recording.NoCall {
			c.Hover = c.Key(a, i, p.Rec.Func(p.Hit.Call))
		}
	}
	for i, p := range c.Panes {
		p.Hover = nil
		if f, ok := c.FuncOn(a, i, c.Hover); ok {
			p.Hover = &f
		}
	}
}
