package shell

import (
	"image"

	"ashlar/app/panel"
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
	panes [2]*pane
	pair  *session.Comparing
	visit visit // what is left to do of an address
	focus int
	compareLook
	link link

	// chosen is the function that is marked everywhere, and hover the one under
	// the pointer, an index in the answer's Tree.Funcs or -1.
	chosen *recording.FuncName
	hover  int32
	// alike is that of the last frame, to tell what has changed since.
	alike alike

	flame    differencePart
	table    differenceTable
	dist     distributionPart
	pairing  pairingPart
	splitter widget.Drag
	dragged  float32
	history  history[compareSpot]
	heads    [2]widget.ClickArea
	tabKeys  [len(compareTabs)]widget.ClickArea
	buttons  compareButtons
	lines    ui.Sheet // of the side panel
	largest  [24]widget.ClickArea
	bounds   compareBounds
	rowsOf   rowsKey
	paired   bool    // pairs that were made before have been looked for
	keyIn    [2]bool // whether the keyboard was in the timelines
}

// compareOptions are what a person chooses about the numbers.
type compareOptions struct {
	Event, Metric string
	Normalize     compare.Normalize
	Match         compare.MatchOptions
	Width         compare.Width
	By            compare.By
	Total         bool // the table is about total, not self
	SelfTime      bool // the distribution is of self times
}

// compareLook is how two recordings are looked at together, beside the Look of
// each.
type compareLook struct {
	options compareOptions
	tab     string
	split   float32 // the timelines' share of the height; 0 until it is chosen
	above   bool    // A's timeline is above B's, not beside it
	// linked sides show the same time, counted from an anchor in each, and what is
	// selected in one is selected in the other. byCall moves the anchors to the
	// calls that are picked: the nth call of a function here and there.
	linked, byCall bool
	// zoom is the path of functions to the bar that fills the differential
	// flamegraph.
	zoom []recording.FuncName
}

// compareTabs are those of the lower half; addresses call them by their names,
// which never change.
var compareTabs = [...]struct{ name, title string }{
	{compareFlame, "Difference"}, {compareTwo, "Two flamegraphs"}, {compareTable, "Table of differences"},
	{compareDistribution, "Distribution"}, {comparePairing, "How it was compared"}, {compareAbout, "About the files"},
}

const (
	compareFlame        = "difference"
	compareTwo          = "two"
	compareTable        = "table"
	compareDistribution = "distribution"
	comparePairing      = "pairing"
	compareAbout        = "about"
)

// compareTabAt is a tab's place among the others, -1 for none of that name.
func compareTabAt(name string) int {
	for i := range compareTabs {
		if compareTabs[i].name == name {
			return i
		}
	}
	return -1
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
	s.compare(s.openPane(path), c.panes[1], c.panes[0])
}

// showBeside compares what is open with another recording.
func (s *Shell) showBeside(b *pane) {
	if c := s.versus; c != nil {
		s.compare(c.panes[0], b, c.panes[1])
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

// compare shows two panes, in place of a comparison that was; drop is a pane that
// is not shown any more.
func (s *Shell) compare(a, b, drop *pane) {
	o := compareOptions{Width: compare.WidthLarger, By: compare.ByFunction, Normalize: compare.Raw}
	c := &comparison{compareLook: compareLook{options: o, tab: compareFlame, linked: true, above: s.prefs.Above}, hover: -1}
	old := s.versus
	if old != nil {
		c.compareLook = old.compareLook
		c.zoom, c.byCall = nil, false
		c.options.Match.Hand = nil
	}
	c.panes = [2]*pane{a, b}
	if old == nil {
		a.Anchor, b.Anchor = 0, 0
	}
	if drop != nil {
		drop.stay()
	}
	s.session.Show(a.Doc, b.Doc)
	c.pair = s.session.Pair()
	for _, p := range c.panes {
		p.Tab = panel.Flamegraph
		p.Transforms, p.Like = a.Transforms, nil
	}
	c.flame.under = -1
	s.versus, s.Menu = c, nil
	s.pane = a
	c.alike = c.now()
	s.title()
	s.Wake()
}

// endComparison goes back to one recording: the one with the focus.
func (s *Shell) endComparison() {
	c := s.versus
	if c == nil {
		return
	}
	drop := c.panes[1-c.focus]
	drop.stay()
	s.pane = c.panes[c.focus]
	s.pane.Reach, s.pane.Like, s.pane.Anchor = [2]int64{}, nil, 0
	s.pane.Tab = panel.Flamegraph
	if s.pane.Pick.Is == panel.PickFunc {
		s.pane.Pick = panel.Picked{}
	}
	s.versus = nil
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
	s.session.Show(c.panes[0].Doc, c.panes[1].Doc)
	c.pair = s.session.Pair()
	s.title()
}

func (c *comparison) swap() {
	c.panes[0], c.panes[1] = c.panes[1], c.panes[0]
	c.focus = 1 - c.focus
	c.panes[0].Like, c.rowsOf = nil, rowsKey{}
	c.link.swap()
	hand := c.options.Match.Hand
	c.options.Match.Hand = nil
	for _, p := range hand {
		c.options.Match.Hand = append(c.options.Match.Hand, compare.Pair{A: p.B, B: p.A})
	}
	c.alike = c.now()
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

// answer is the latest answer that has something to show, nil while there is
// none.
func (c *comparison) answer() *session.CompareAnswer {
	if a := c.pair.Answer(); a != nil && a.Err == nil {
		return a
	}
	return nil
}

// layout lays out both recordings in r.
func (c *comparison) layout(s *Shell, u *ui.UI, r image.Rectangle) {
	c.reach()
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
	c.keptPairs(s)
	c.place(s, u, r)
	c.arriveScrolled(u)
	c.events(s, u)
	c.focusByKey(s)
	c.panes[c.focus].menuByKey(s, u)
	for _, p := range c.panes {
		p.Motion.Step(&s.Host, &p.Timeline, u)
		p.Flows.Update(&s.Host, &p.Timeline)
	}
	c.agree(s)
	c.pair.Ask(c.question(), [2]*recording.Recording(c.recs()))
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
		p.flame.Tooltip(&s.Host, &p.Side, u)
	}
	c.flame.tooltip(s, c, u)
}

// question is what is to be known now.
func (c *comparison) question() session.CompareQuestion {
	o := &c.options
	q := session.CompareQuestion{Width: o.Width, By: o.By, Self: o.SelfTime,
		What: session.What{Event: o.Event, Metric: o.Metric, Normalize: o.Normalize, Match: o.Match, Transforms: c.panes[c.focus].Transforms}}
	for i, p := range c.panes {
		q.Generations[i] = p.Generation
		q.Scopes[i] = p.Scope
	}
	if c.tab == compareDistribution {
		q.Of = c.chosen
	}
	q.Call = c.link.call
	return q
}

// events takes what the pointer did since the last frame.
func (c *comparison) events(s *Shell, u *ui.UI) {
	c.hover = -1
	a := c.answer()
	for i, p := range c.panes {
		p.TakeEvents(&s.Host, u)
		if c.tab == compareTwo {
			p.flame.Events(&s.Host, &p.Side, u)
		}
		switch {
		case p.Inside && p.Hit.Found && p.Hit.Call != recording.NoCall:
			c.hover = c.key(a, i, p.Rec.Func(p.Hit.Call))
		case c.tab == compareTwo && p.flame.Inside && p.flame.Under > 0 && p.flame.Tree != nil:
			c.hover = c.key(a, i, p.flame.Tree.Nodes[p.flame.Under].Func)
		}
	}
	if c.tab == compareFlame {
		c.flame.events(s, c, u)
	}
	for i, p := range c.panes {
		p.Hover = nil
		if f, ok := c.own(a, i, c.hover); ok {
			p.Hover = &f
		}
	}
}

// key is the function of the comparison that one of a side's functions is, -1
// where it is not known yet.
func (c *comparison) key(a *session.CompareAnswer, side int, f recording.FuncID) int32 {
	if !c.knows(a) || int(f) >= len(a.Compared.Matching.IDs[side]) {
		return -1
	}
	return a.Compared.Matching.IDs[side][f]
}

// own is what a function of the comparison is on a side, as the pane counts.
func (c *comparison) own(a *session.CompareAnswer, side int, key int32) (recording.FuncID, bool) {
	if !c.knows(a) {
		return 0, false
	}
	return in(a, side, key)
}

// in is what a function of the comparison is on a side, as the answer counts.
func in(a *session.CompareAnswer, side int, key int32) (recording.FuncID, bool) {
	if key < 0 || int(key) >= len(a.Compared.Tree.Funcs) {
		return 0, false
	}
	f := a.Compared.Tree.Funcs[key].In[side]
	return recording.FuncID(max(0, f)), f >= 0
}

// chosenKey is the chosen function in an answer, -1 for none.
func (c *comparison) chosenKey(a *session.CompareAnswer) int32 {
	if a == nil || c.chosen == nil {
		return -1
	}
	for f := range a.Compared.Tree.Funcs {
		if a.Compared.Tree.Funcs[f].FuncName == *c.chosen {
			return int32(f)
		}
	}
	return -1
}

// choose marks a function of the comparison everywhere; -1 marks none.
func (c *comparison) choose(a *session.CompareAnswer, key int32) {
	c.chosen = nil
	if a != nil && key >= 0 {
		n := a.Compared.Tree.Funcs[key].FuncName
		c.chosen = &n
	}
	c.link.call = nil
	for i, p := range c.panes {
		p.Pick = panel.Picked{}
		if f, ok := c.own(a, i, key); ok && int(f) < p.Rec.Functions.Len() {
			p.Pick = panel.Picked{Is: panel.PickFunc, Fn: f}
		}
	}
	c.alike = c.now()
}

// fn describes a function of the comparison for the colours and menus: as its A
// has it, else its B.
func (c *comparison) fn(a *session.CompareAnswer, key int32) recording.Function {
	for i := range c.panes {
		if f, ok := in(a, i, key); ok {
			return a.Recs[i].Functions.At(int(f))
		}
	}
	f := &a.Compared.Tree.Funcs[key]
	return recording.Function{Name: f.Name, Module: f.Module}
}
