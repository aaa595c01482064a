// Package comparison holds the state of a comparison in the window: the view and the
// highlights that both sides share, the link between the sides, and the texts.
package comparison

import (
	"slices"

	"ashlar/app/core/session"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/compare/match"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Comparison compares two sides: A, the baseline, and B.
type Comparison struct {
	Look
	Sides  [2]*panel.Side
	Engine *session.Comparing
	Focus  int // the side with the keyboard focus
	Link   link

	// Chosen is the function selected everywhere, Hover the function under the pointer,
	// an index in the answer's Tree.Funcs, or -1.
	Chosen *recording.FuncName
	Hover  int32
	// Node is the clicked bar of the differential flamegraph, an index in the answer's
	// tree; -1 for none. Down is the flamegraph's scroll position, in pixels.
	Node int32
	Down int
	// Held is the side where the pointer is pressed in a panel, -1 for none.
	Held int
	// OneRecording reports whether both sides are parts of one recording.
	OneRecording bool
	// LastLinked is Linked in the last frame, to detect changes.
	LastLinked linkedState
	Paired     bool // stored pairs have been looked up
}

// Options are the user's choices for computing the comparison.
type Options struct {
	Event, Metric string
	Normalize     compare.Normalize
	Match         match.Options
	Width         compare.Width
	By            compare.By
	Total         bool // the table shows total, not self
	SelfTime      bool // the distribution is of self times
}

// Look is the view of a comparison, in addition to the Look of each side.
type Look struct {
	Options Options
	Tab     string
	Split   float32 // the timelines' share of the height; 0 until the user sets it
	Above   bool    // A's timeline is above B's, not beside it
	// Linked sides show the same time, counted from an anchor in each, and share their
	// selection. ByCall moves the anchors to the selected calls: the nth call of a
	// function on each side.
	Linked, ByCall bool
	// Zoom is the path of functions to the widest bar of the differential flamegraph.
	Zoom []recording.FuncName
}

// The names of comparison panels in addresses; these never change.
const (
	Difference   = "difference"
	CallTree     = "calltree"
	Two          = "two"
	Table        = "table"
	Distribution = "distribution"
	Assembly     = "assembly"
	Pairing      = "pairing"
	Trend        = panel.Trend
	About        = "about"
)

// Answer returns the latest answer without an error, nil if there is none.
func (c *Comparison) Answer() *session.CompareAnswer {
	if a := c.Engine.Answer(); a != nil && a.Err == nil {
		return a
	}
	return nil
}

// Key returns the index in the comparison of a side's function, -1 if it is not known
// yet.
func (c *Comparison) Key(a *session.CompareAnswer, side int, f recording.FuncID) int32 {
	if !c.IsCurrent(a) {
		return -1
	}
	if ids := a.Compared.Matching.IDs[a.Compared.Lead(side)]; int(f) < len(ids) {
		return ids[f]
	}
	return -1
}

// FuncOn returns the id that a function of the comparison has in a side's current
// recording; false if that side lacks it.
func (c *Comparison) FuncOn(a *session.CompareAnswer, side int, key int32) (recording.FuncID, bool) {
	if !c.IsCurrent(a) {
		return 0, false
	}
	return In(a, side, key)
}

// In returns the id that a function of the comparison has in a side's recording as of the
// answer; false if that side lacks it.
func In(a *session.CompareAnswer, side int, key int32) (recording.FuncID, bool) {
	if key < 0 || int(key) >= len(a.Compared.Tree.Funcs) {
		return 0, false
	}
	f := a.Compared.Tree.Funcs[key].In[a.Compared.Lead(side)]
	return recording.FuncID(max(0, f)), f >= 0
}

// ChosenKey returns the index of the chosen function in an answer, -1 for none.
func (c *Comparison) ChosenKey(a *session.CompareAnswer) int32 {
	if a == nil || c.Chosen == nil {
		return -1
	}
	for f := range a.Compared.Tree.Funcs {
		if a.Compared.Tree.Funcs[f].FuncName == *c.Chosen {
			return int32(f)
		}
	}
	return -1
}

// Choose selects a function of the comparison everywhere; -1 selects none.
func (c *Comparison) Choose(a *session.CompareAnswer, key int32) {
	c.Chosen = nil
	if a != nil && key >= 0 {
		n := a.Compared.Tree.Funcs[key].FuncName
		c.Chosen = &n
	}
	c.Link.Call = nil
	for i, p := range c.Sides {
		p.Pick = panel.Picked{}
		if f, ok := c.FuncOn(a, i, key); ok && int(f) < p.Rec.Functions.Len() {
			p.Pick = panel.Picked{Kind: panel.PickFunc, Fn: f}
		}
	}
	c.LastLinked = c.LinkedState()
}

// Function returns a function of the comparison for colours and menus: A's if A has it,
// otherwise B's.
func (c *Comparison) Function(a *session.CompareAnswer, key int32) recording.Function {
	for i := range c.Sides {
		if f, ok := In(a, i, key); ok {
			return a.Recs[i].Functions.At(int(f))
		}
	}
	f := &a.Compared.Tree.Funcs[key]
	return recording.Function{Name: f.Name, Module: f.Module}
}

// IsCurrent reports whether an answer's function ids are valid for the sides' current
// recordings.
func (c *Comparison) IsCurrent(a *session.CompareAnswer) bool {
	return a != nil && a.Generations == [2]int{c.Sides[0].Generation, c.Sides[1].Generation}
}

// SideName returns "A" for side 0 and "B" for side 1.
func SideName(i int) string { return "AB"[i : i+1] }

// Recs returns both recordings.
func (c *Comparison) Recs() []*recording.Recording {
	return []*recording.Recording{c.Sides[0].Rec, c.Sides[1].Rec}
}

// MetricName returns the name of the compared metric.
func (c *Comparison) MetricName() string {
	a := c.Answer()
	if a == nil {
		return c.Sides[0].MetricOf().Name
	}
	m := a.Compared.Metric
	name := MetricTitle(&a.Recs[0].Events[m.Event[0]], m.Metric[0])
	if other := MetricTitle(&a.Recs[1].Events[m.Event[a.Compared.Sides]], m.Metric[a.Compared.Sides]); other != name {
		name += " with " + other
	}
	return name
}

// MetricItems lists the metrics that both sides have, with their names in B.
func (c *Comparison) MetricItems() []widget.Item {
	a, b := c.Sides[0].Rec, c.Sides[1].Rec
	var items []widget.Item
	for e := range a.Events {
		for k := range a.Events[e].Metrics {
			event, metric := a.Events[e].NameOrKind(), a.Events[e].Metrics[k].Name
			m, err := compare.MatchMetric(c.Recs(), event, metric)
			if err != nil {
				continue
			}
			detail := ""
			if m.Rule != "event and metric" {
				detail = "with " + MetricTitle(&b.Events[m.Event[1]], m.Metric[1])
			}
			on := false
			if ans := c.Answer(); ans != nil {
				on = ans.Compared.Metric.Event[0] == e && ans.Compared.Metric.Metric[0] == k
			}
			items = append(items, widget.Item{Title: MetricTitle(&a.Events[e], k), Detail: detail, On: on, Do: func() {
				c.Options.Event, c.Options.Metric = event, metric
			}})
		}
	}
	return items
}

// Unanswered returns the reason why there is no comparison, "" while it is computed.
func (c *Comparison) Unanswered() string {
	for i, p := range c.Sides {
		if p.Doc.Err() != nil && !p.Rec.Done {
			return SideName(i) + " cannot be read. Open another file in its place, or close the comparison."
		}
	}
	for i, p := range c.Sides {
		if !p.Rec.Done {
			return "Loading " + SideName(i) + ", " + p.Doc.Name + "…"
		}
	}
	// An earlier answer may have failed because a recording had no metric yet.
	if a := c.Engine.Answer(); a != nil && a.Err != nil && slices.Equal(a.Recs[:], c.Recs()) {
		return "Cannot compare: " + a.Err.Error() + "."
	}
	return ""
}

// Mark returns the highlighted function: the one under the pointer, otherwise the chosen
// one; -1 for none.
func (c *Comparison) Mark(a *session.CompareAnswer) int32 {
	if c.Hover >= 0 {
		return c.Hover
	}
	return c.ChosenKey(a)
}

// Found returns a function that reports whether the search matches a function; nil
// without a search.
func (c *Comparison) Found(a *session.CompareAnswer) func(int32) bool {
	p := c.Sides[c.Focus].Search.Pattern
	if p == nil {
		return nil
	}
	known := map[int32]bool{}
	return func(f int32) bool {
		is, ok := known[f]
		if !ok {
			for i := range c.Sides {
				if g, has := In(a, i, f); has {
					fn := a.Recs[i].Functions.At(int(g))
					is = is || p.MatchFunction(&fn)
				}
			}
			known[f] = is
		}
		return is
	}
}

// FunctionItems lists the actions for a function of the comparison.
func (c *Comparison) FunctionItems(fn recording.Function) []widget.Item {
	items := []widget.Item{{Title: "Distribution of calls", Do: func() { c.Tab = Distribution }}}
	return append(items, c.Sides[c.Focus].Actions.FunctionItems(fn)...)
}

// FunctionKey returns the index of a row's function, -1 if the row is not a function.
func FunctionKey(a *session.CompareAnswer, row *compare.Row) int32 {
	switch {
	case row.Key < 0:
		return -1
	case a.Table.By == compare.ByFunction:
		return row.Key
	case a.Table.By == compare.ByStack:
		return a.Compared.Tree.Nodes[row.Key].Func
	}
	return -1
}

// IsChosen reports whether a row is the chosen function.
func (c *Comparison) IsChosen(a *session.CompareAnswer, row *compare.Row) bool {
	k := FunctionKey(a, row)
	return k >= 0 && c.Chosen != nil && a.Compared.Tree.Funcs[k].FuncName == *c.Chosen
}

// threadKey returns the index of a row's thread in the answer's Threads, -1 for none. If
// a side has several runs, the table has the threads of all runs, but Threads only those
// of the first.
func threadKey(a *session.CompareAnswer, row *compare.Row) int {
	if len(a.Compared.Runs) > 2 {
		return slices.IndexFunc(a.Threads.Funcs, func(f match.Func) bool { return f.Name == row.Name })
	}
	if int(row.Key) >= len(a.Threads.Funcs) {
		return -1
	}
	return int(row.Key)
}

// ChooseRow selects a row's function or its threads.
func (c *Comparison) ChooseRow(a *session.CompareAnswer, row *compare.Row) {
	if key := threadKey(a, row); a.Table.By == compare.ByThread && c.IsCurrent(a) && key >= 0 {
		for i, p := range c.Sides {
			p.Scope.Tracks = []int{}
			if t := a.Threads.Funcs[key].In[i]; t >= 0 {
				p.Scope.Tracks = []int{int(t)}
			}
		}
		c.LastLinked = c.LinkedState()
		return
	}
	c.Choose(a, FunctionKey(a, row))
	c.Node = -1
	if a.Table.By == compare.ByStack {
		c.Node = row.Key
	}
}

// PairItems lists the actions for the match of the chosen function.
func (c *Comparison) PairItems(s *panel.Host) []widget.Item {
	items := []widget.Item{{Title: "Pair by hand…", Do: func() { c.PairByHand(s) }}}
	if c.Chosen == nil {
		return items
	}
	for i, p := range c.Options.Match.Hand {
		if p.A == c.Chosen.String() || p.B == c.Chosen.String() {
			items = append(items, widget.Item{Title: "Unpair", Do: func() {
				c.Options.Match.Hand = append(append([]match.Pair(nil), c.Options.Match.Hand[:i]...), c.Options.Match.Hand[i+1:]...)
				if s.Paired != nil {
					s.Paired.SetPair(p, false)
				}
			}})
		}
	}
	return items
}

// PairByHand asks for the function on the other side that matches the chosen one. Functions
// that exist only there come first.
func (c *Comparison) PairByHand(s *panel.Host) {
	a := c.Answer()
	key := c.ChosenKey(a)
	if key < 0 || int(key) >= len(a.Compared.Matching.Funcs) {
		s.Say("Select a function first (click a bar or a row)")
		return
	}
	f := &a.Compared.Matching.Funcs[key]
	here := 0
	if f.In[a.Compared.Lead(0)] < 0 {
		here = 1
	}
	own := *c.Chosen
	there := 1 - here
	s.OpenChooser(widget.NewChooser("Match "+f.Name+" with a function of "+SideName(there), "", func(text string) []widget.Line {
		var ls []widget.Line
		for _, alone := range []bool{true, false} {
			for i := range a.Functions.Rows {
				row := &a.Functions.Rows[i]
				if row.Key < 0 || int(row.Key) >= len(a.Compared.Matching.Funcs) {
					continue
				}
				g := &a.Compared.Matching.Funcs[row.Key]
				led, leads := a.Compared.Lead(there), a.Compared.Lead(here)
				if g.In[led] < 0 || (g.In[leads] < 0) != alone || !widget.HasWords(row.Name+" "+row.NameB, text) || len(ls) > 300 {
					continue
				}
				fn := a.Recs[there].Functions.At(int(g.In[led]))
				other := fn.FuncName()
				_, v := row.ASelf, row.BSelf
				if there == 0 {
					v = row.ASelf
				}
				ls = append(ls, widget.Line{Title: fn.Name, Detail: units.Value(a.Compared.Metric.Readable(v)), Dim: !alone, Take: func() {
					s.Chooser = nil
					c.PairUp(s, own, other, here)
				}})
			}
		}
		return ls
	}))
}

// PairUp matches two functions by hand; existing pairs with either function are removed.
func (c *Comparison) PairUp(s *panel.Host, own, other recording.FuncName, here int) {
	p := match.Pair{A: own.String(), B: other.String()}
	if here == 1 {
		p.A, p.B = p.B, p.A
	}
	hand := []match.Pair{p}
	for _, q := range c.Options.Match.Hand {
		if q.A != p.A && q.B != p.B {
			hand = append(hand, q)
		}
	}
	c.Options.Match.Hand = hand
	if s.Paired != nil {
		s.Paired.SetPair(p, true)
	}
}

// KeptPairs applies the user's stored pairs once both recordings are read. It skips pairs
// of functions that the recordings lack.
func (c *Comparison) KeptPairs(s *panel.Host) {
	a, b := c.Sides[0].Rec, c.Sides[1].Rec
	if c.Paired || s.Paired == nil || !a.Done || !b.Done {
		return
	}
	c.Paired = true
	for _, p := range s.Paired.Pairs() {
		if match.HasFunction(a, p.B) && match.HasFunction(b, p.A) {
			p.A, p.B = p.B, p.A
		} else if !match.HasFunction(a, p.A) || !match.HasFunction(b, p.B) {
			continue
		}
		c.Options.Match.Hand = append(c.Options.Match.Hand, p)
	}
}

// RowAt returns the index of the chosen function's row, -1 for none.
func RowAt(c *Comparison, rows []compare.Row, key func(*compare.Row) int32) int {
	a := c.Answer()
	if a == nil || c.Chosen == nil {
		return -1
	}
	for i := range rows {
		if f := key(&rows[i]); f >= 0 && a.Compared.Tree.Funcs[f].FuncName == *c.Chosen {
			return i
		}
	}
	return -1
}
