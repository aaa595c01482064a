package shell

import (
	"image"
	"slices"
	"time"

	"ashlar/app/pair"
	"ashlar/app/panel"
	"ashlar/app/panel/details"
	"ashlar/app/panel/difftable"
	"ashlar/app/panel/pairing"
	"ashlar/app/session"
	"ashlar/app/view"
	"ashlar/ingest/compare"
	"ashlar/ingest/recording"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// comparison is two recordings side by side: A, the baseline, and B. Above are
// two timelines, below is one answer about both.
type comparison struct {
	pair.Pair
	panes [2]*pane
	of    *pane // what both are parts of, as it was looked at; nil for two files
	visit visit // what is left to do of an address

	deck     panel.Deck[*pair.Pair]
	table    *difftable.Panel
	pairing  *pairing.Panel
	splitter widget.Drag
	dragged  float32
	history  history[compareSpot]
	heads    [2]widget.ClickArea
	buttons  compareButtons
	details  details.OfTwo
	bounds   compareBounds
	rowsOf   rowsKey
	keyIn    [2]bool // whether the keyboard was in the timelines
}

// compareBounds are the places of the parts in the last frame.
type compareBounds struct {
	heads, halves [2]image.Rectangle
	tabs, lower   image.Rectangle
	side          image.Rectangle
}

// OpenBeside shows a file beside what is open, to compare it: it becomes B.
// Where nothing is open it is just opened.
func (s *Shell) OpenBeside(path string) {
	if s.pane == nil {
		s.Open(path)
		return
	}
	s.showBeside(s.openPane(path))
}

// OpenBaseline puts a file in the place of A, or just opens it where nothing is
// compared.
func (s *Shell) OpenBaseline(path string) {
	c := s.versus
	if c == nil {
		s.Open(path)
		return
	}
	s.compare(s.openPane(path), c.panes[1], nil)
}

// showBeside compares what is open with another recording.
func (s *Shell) showBeside(b *pane) {
	if c := s.versus; c != nil {
		s.compare(c.panes[0], b, nil)
		return
	}
	s.compare(s.pane, b, nil)
}

// openPane begins to load a file, or what the first file of an address is.
func (s *Shell) openPane(path string) *pane {
	if view.Is(path) {
		if v, err := view.Parse(path); err == nil && len(v.Files) > 0 {
			path = v.Files[0]
		}
	}
	if path == view.Demo {
		p := s.newPane(session.Demo(s.Wake))
		p.Demo = true
		return p
	}
	p := s.newPane(session.Open(path, s.Wake))
	p.Path = path
	if s.FollowFiles && p.Doc.CanFollow() {
		p.follow()
	}
	return p
}

// newComparison puts two panes side by side.
func newComparison(a, b *pane) *comparison {
	c := &comparison{panes: [2]*pane{a, b}, deck: panel.NewDeck(pairPanels)}
	c.details.Pair = &c.Pair
	c.Sides, c.Hover, c.Node = [2]*panel.Side{&a.Side, &b.Side}, -1, -1
	c.table, c.pairing = panel.Find[*difftable.Panel](c.deck.All), panel.Find[*pairing.Panel](c.deck.All)
	return c
}

// compare shows two panes, in place of a comparison that was. Where they are parts
// of a recording, closing the comparison leads back to the pane of that.
func (s *Shell) compare(a, b, of *pane) {
	o := pair.Options{Width: compare.WidthLarger, By: compare.ByFunction, Normalize: compare.Raw}
	c := newComparison(a, b)
	c.of = of
	c.Look = pair.Look{Options: o, Tab: pair.Difference, Linked: true, Above: s.prefs.Above}
	old := s.versus
	if old != nil {
		c.Look = old.Look
		c.Zoom, c.ByCall = nil, false
		c.Options.Match.Hand = nil
	}
	if old == nil {
		a.Anchor, b.Anchor = 0, 0
	}
	if old != nil {
		s.drop(old, a, b)
	}
	s.session.Show(c.docs()...)
	c.Engine = s.session.Pair()
	for _, p := range c.panes {
		p.Tab = panel.Flamegraph
		p.Transforms, p.Like = a.Transforms, nil
	}
	s.versus, s.Menu = c, nil
	s.pane = a
	c.Alike = c.Now()
	s.title()
	s.Wake()
}

// docs are the recordings that a comparison needs to be open.
func (c *comparison) docs() []*session.Side {
	docs := []*session.Side{c.panes[0].Doc, c.panes[1].Doc}
	if c.of != nil {
		docs = append(docs, c.of.Doc)
	}
	return docs
}

// drop lets go of the panes of a comparison, but for those that stay.
func (s *Shell) drop(c *comparison, stay ...*pane) {
	for _, p := range append(c.panes[:], c.of) {
		if p != nil && !slices.Contains(stay, p) {
			p.stay()
			s.gone = append(s.gone, p)
		}
	}
}

// endComparison goes back to one recording: what both sides are parts of, just as
// it was left, else the one with the focus.
func (s *Shell) endComparison() {
	c := s.versus
	if c == nil {
		return
	}
	if s.pane = c.of; s.pane != nil {
		for _, p := range c.panes {
			s.pane.noted.Take(&p.noted)
		}
	} else {
		s.pane = c.panes[c.Focus]
		s.pane.Reach, s.pane.Share, s.pane.Like, s.pane.Anchor = [2]int64{}, 0, nil, 0
		s.pane.Tab = panel.Flamegraph
		if s.pane.Pick.Is == panel.PickFunc {
			s.pane.Pick = panel.Picked{}
		}
	}
	s.versus, s.Menu = nil, nil
	s.Note.Until = time.Time{} // it was about both
	s.drop(c, s.pane)
	s.session.Show(s.pane.Doc)
	s.title()
}

// Compares tells whether two recordings are shown.
func (s *Shell) Compares() bool { return s.versus != nil }

// swap makes A of B and B of A.
func (s *Shell) swap() {
	c := s.versus
	if c == nil {
		s.Say("There is nothing to swap: compare with another file first")
		return
	}
	c.swap()
	s.session.Show(c.docs()...)
	c.Engine = s.session.Pair()
	s.title()
}

func (c *comparison) swap() {
	c.panes[0], c.panes[1] = c.panes[1], c.panes[0]
	c.Sides[0], c.Sides[1] = c.Sides[1], c.Sides[0]
	c.Focus = 1 - c.Focus
	c.panes[0].Like, c.rowsOf = nil, rowsKey{}
	c.Link.Swap()
	hand := c.Options.Match.Hand
	c.Options.Match.Hand = nil
	for _, p := range hand {
		c.Options.Match.Hand = append(c.Options.Match.Hand, compare.Pair{A: p.B, B: p.A})
	}
	c.Alike = c.Now()
}

// title names what is open in the window's title.
func (s *Shell) title() {
	if s.Do.Title != nil {
		s.Do.Title(oneLine(s.OpenName()) + " – Ashlar")
	}
}

// OpenName is what is open.
func (s *Shell) OpenName() string {
	if c := s.versus; c != nil {
		return c.panes[0].Doc.Name + " vs " + c.panes[1].Doc.Name
	}
	if s.pane == nil {
		return ""
	}
	return s.pane.Doc.Name
}

// layout lays out both recordings in r.
func (c *comparison) layout(s *Shell, u *ui.UI, r image.Rectangle) {
	c.Reach()
	for i, p := range c.panes {
		p.Tab = panel.Flamegraph // the comparison has tabs of its own
		p.update(s)
		c.takeOver(s, i)
		if !p.Moved && p.Rec.HasTime {
			p.View = p.View.Fit(p.Limits()) // the other side may have grown
		}
	}
	if _, err := c.arrive(s); err != nil {
		s.Say(err.Error())
	}
	for i, p := range c.panes {
		if i == 1 {
			c.rowsAlike()
		}
		p.Replan(u.Metric.PxPerDp)
	}
	c.KeptPairs(&s.Host)
	c.place(s, u, r)
	c.arriveScrolled(u)
	c.events(s, u)
	c.focusByKey(s)
	c.panes[c.Focus].menuByKey(s, u)
	for _, p := range c.panes {
		p.Motion.Step(&s.Host, &p.Timeline, u)
		p.Flows.Update(&s.Host, &p.Timeline)
	}
	c.agree(s)
	c.Engine.Ask(c.question(), [2]*recording.Recording(c.Recs()))
	if s.View.above() {
		for i, p := range c.panes {
			c.half(s, u, i, p)
		}
		c.guide(u)
	}
	if s.View.below() {
		c.lower(s, u)
	}
	if s.View == Both && c.timed() {
		c.layoutSplitter(u, r)
	}
	c.history.remember(u, c.spot(s), s.state)
	for _, p := range c.panes {
		p.Tooltip(&s.Host, u)
	}
	if t, ok := c.deck.Shown(c.Tab).(panel.Tipped[*pair.Pair]); ok && s.View.below() {
		t.Tooltip(&s.Host, &c.Pair, u)
	}
}

// question is what is to be known now.
func (c *comparison) question() session.CompareQuestion {
	o := &c.Options
	q := session.CompareQuestion{Width: o.Width, By: o.By, Self: o.SelfTime,
		What: session.What{Event: o.Event, Metric: o.Metric, Normalize: o.Normalize, Match: o.Match, Transforms: c.panes[c.Focus].Transforms}}
	for i, p := range c.panes {
		q.Generations[i] = p.Generation
		q.Scopes[i] = p.Scope
	}
	if c.Tab == pair.Distribution {
		q.Of = c.Chosen
	}
	q.Call = c.Link.Call
	return q
}

// events takes what the pointer did since the last frame.
func (c *comparison) events(s *Shell, u *ui.UI) {
	c.Hover = -1
	a := c.Answer()
	c.Held = -1
	if x, ok := c.deck.Shown(c.Tab).(panel.Pointed[*pair.Pair]); ok {
		x.Events(&s.Host, &c.Pair, u)
	}
	for i, p := range c.panes {
		if p.TakeEvents(&s.Host, u); p.Inside && p.Hit.Found && p.Hit.Call != recording.NoCall {
			c.Hover = c.Key(a, i, p.Rec.Func(p.Hit.Call))
		}
	}
	for i, p := range c.panes {
		p.Hover = nil
		if f, ok := c.Own(a, i, c.Hover); ok {
			p.Hover = &f
		}
	}
}
