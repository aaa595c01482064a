package comparison

import (
	"maps"
	"slices"

	gio "gioui.org/widget"

	"ashlar/app/core/session"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare"
	"ashlar/render/timeline"
)

// link mirrors what the user does on one side to the other.
type link struct {
	// Call is the selected call whose counterpart is being looked up. whole is true if
	// the call's time is selected, so that the counterpart's time will be selected, too.
	Call  *compare.Occurrence
	whole bool
	// Twin is the last counterpart that was shown.
	Twin *compare.Place

	Button gio.Clickable
}

// Swap resets the link after the sides have changed places.
func (l *link) Swap() {
	l.Call, l.Twin = nil, nil
}

// linkedState is the state that linked sides share, as of the last frame.
type linkedState struct {
	View       [2]timeline.View
	Sel        [2]recording.Scope
	Pick       [2]panel.Picked
	Zoom       [2][]recording.FuncName
	Folds      [2]map[int]timeline.Fold
	Closed     [2]map[int]bool
	Groups     [2]map[string]bool
	transforms []analyze.Transform
	search     string
	Anchors    [2]int64
	On         bool
}

// LinkedState returns the current state that linked sides share.
func (c *Comparison) LinkedState() (n linkedState) {
	for i, p := range c.Sides {
		n.View[i], n.Sel[i], n.Pick[i], n.Zoom[i] = p.View, p.Scope, p.Pick, p.Zoom
		n.Folds[i], n.Closed[i], n.Groups[i] = maps.Clone(p.Folds), maps.Clone(p.Closed), p.Groups
		n.Sel[i].Tracks = slices.Clone(p.Scope.Tracks)
		n.Pick[i].InCallers = false // not set by the user
	}
	f := c.Sides[c.Focus]
	n.transforms, n.search, n.Anchors, n.On = f.Transforms, f.Find, [2]int64{c.Sides[0].Anchor, c.Sides[1].Anchor}, c.Linked
	return n
}

// Shift returns the offset to add to a time on one side for the matching time on the
// other side.
func (c *Comparison) Shift(from int) int64 {
	to := 1 - from
	return c.Sides[to].Rec.Start + c.Sides[to].Anchor - c.Sides[from].Rec.Start - c.Sides[from].Anchor
}

// LinkLimits lets linked views go as far as the longer recording does.
func (c *Comparison) LinkLimits() {
	for i, p := range c.Sides {
		p.Limits = [2]int64{}
		if o := c.Sides[1-i]; c.Linked && p.Rec.HasTime && o.Rec.HasTime {
			back := c.Shift(1 - i)
			p.Limits = [2]int64{min(p.Rec.Start, o.Rec.Start+back), max(p.Rec.End, o.Rec.End+back)}
		}
	}
}

// Follow shows the focused side's time range on the other side.
func (c *Comparison) Follow() {
	f, o := c.Sides[c.Focus], c.Sides[1-c.Focus]
	if !f.Rec.HasTime || !o.Rec.HasTime {
		return
	}
	d := c.Shift(c.Focus)
	o.View.From, o.View.To, o.Moved = f.View.From+d, f.View.To+d, f.Moved
}

// SelectMatching copies the focused side's selection to the other side: the same time
// counted from the anchors, and the matching threads.
func (c *Comparison) SelectMatching() {
	f, o := c.Sides[c.Focus], c.Sides[1-c.Focus]
	c.Link.whole = false
	if f.Scope.Ranged && o.Rec.HasTime {
		if h := &f.Pick.Hit; c.ByCall && f.Pick.Kind == panel.PickBar && h.Start == f.Scope.From && h.End == f.Scope.To {
			c.Link.whole = true // the counterpart's time, once it is known
		}
		d := c.Shift(c.Focus)
		within := func(t int64) int64 { return max(o.Rec.Start, min(o.Rec.End, t)) }
		o.Scope.Ranged, o.Scope.From, o.Scope.To = true, within(f.Scope.From+d), within(f.Scope.To+d)
		// If the selection is past the other side's end, select nothing there, not its last
		// moment.
		switch {
		case f.Scope.From+d > o.Rec.End:
			o.Scope.From, o.Scope.To = o.Rec.End+1, o.Rec.End+1
		case f.Scope.To+d < o.Rec.Start:
			o.Scope.From, o.Scope.To = o.Rec.Start-1, o.Rec.Start-1
		}
		if c.Link.whole {
			c.Link.Twin = nil
			c.PickTwin()
		}
	} else {
		o.Scope.Ranged = false
	}
	o.Scope.Tracks = nil
	if a := c.Answer(); c.IsCurrent(a) && f.Scope.Tracks != nil {
		o.Scope.Tracks = MatchingTracks(a, c.Focus, f.Scope.Tracks)
	}
}

// FoldMatching folds the threads, groups and processes of the other side like their counterparts
// on the focused side.
func (c *Comparison) FoldMatching() {
	f, o, a := c.Sides[c.Focus], c.Sides[1-c.Focus], c.Answer()
	if !c.IsCurrent(a) {
		return
	}
	o.Folds, o.Closed, o.Groups = maps.Clone(o.Folds), maps.Clone(o.Closed), f.Groups
	for t := range f.Rec.Tracks {
		for _, twin := range MatchingTracks(a, c.Focus, []int{t}) {
			pickFunction(o.Folds, twin, f.Folds, t)
			pickFunction(o.Closed, o.Rec.Tracks[twin].Process, f.Closed, f.Rec.Tracks[t].Process)
		}
	}
}

// pickFunction sets to[key] to from[of]; it deletes to[key] if from has no such entry.
func pickFunction[V any](to map[int]V, key int, from map[int]V, of int) {
	if delete(to, key); to == nil {
		return
	}
	if v, ok := from[of]; ok {
		to[key] = v
	}
}

// Outside returns the side whose recording does not reach the selected time; -1 if there
// is none.
func (c *Comparison) Outside() int {
	for i, p := range c.Sides {
		if p.Scope.Ranged && (p.Scope.From > p.Rec.End || p.Scope.To < p.Rec.Start) {
			return i
		}
	}
	return -1
}

// MatchingTracks returns the counterparts of a side's tracks on the other side; never
// nil.
func MatchingTracks(a *session.CompareAnswer, side int, tracks []int) []int {
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

// Picked repeats a selection on the other side: it selects the function there and looks
// up the counterpart of a span.
func (c *Comparison) Picked(side int) {
	p, o := c.Sides[side], c.Sides[1-side]
	a := c.Answer()
	c.Link.Call, c.Link.Twin = nil, nil
	o.Pick = panel.Picked{}
	f, ok := p.PickedFunction()
	if !ok {
		c.Chosen = nil
		return
	}
	if p.Pick.Kind == panel.PickNode && p.Pick.Tree != nil && p.Pick.Tree.Nodes[p.Pick.Node].Group > 0 {
		c.Chosen = &recording.FuncName{Name: f.Name, Module: f.Module}
		return
	}
	key := c.Key(a, side, p.Pick.Fn)
	if key < 0 {
		return
	}
	n := a.Compared.Tree.Funcs[key].FuncName
	c.Chosen = &n
	if g, ok := c.FuncOn(a, 1-side, key); ok {
		o.Pick = panel.Picked{Kind: panel.PickFunc, Fn: g}
	}
	if h := &p.Pick.Hit; p.Pick.Kind == panel.PickBar && h.Span >= 0 && h.Samples == nil {
		c.Link.Call = &compare.Occurrence{Side: side, Track: h.Track, Lane: h.Lane, Span: h.Span}
	}
}

// PickTwin shows the counterpart of the selected call once it is known.
func (c *Comparison) PickTwin() {
	a := c.Answer()
	if !c.IsCurrent(a) || a.Twin == nil || c.Link.Call == nil || a.Call == nil || *a.Call != *c.Link.Call || c.Link.Twin == a.Twin {
		return
	}
	c.Link.Twin = a.Twin
	t := a.Twin
	o := c.Sides[t.Side]
	if t.Track >= len(o.Rec.Tracks) || t.Lane >= len(o.Rec.Tracks[t.Track].Lanes) {
		return
	}
	l := &o.Rec.Tracks[t.Track].Lanes[t.Lane]
	o.Pick = panel.Picked{Kind: panel.PickBar, Fn: o.Rec.Func(t.Call), Hit: timeline.Hit{Row: -1, Window: -1, Track: t.Track, Lane: t.Lane, Span: t.Span,
		Found: true, Call: t.Call, Start: t.Start, End: t.End, Unfinished: l.Unfinished(t.Span), Args: l.Args(t.Span)}}
	if c.ByCall && c.Linked {
		c.AlignAt(t)
		if c.Link.whole {
			o.Scope.Ranged, o.Scope.From, o.Scope.To = t.Start < t.End, t.Start, t.End
		}
	}
	c.LastLinked.Pick[t.Side], c.LastLinked.Sel[t.Side] = o.Pick, o.Scope // not done by the user
}

// AlignAt sets the anchors to a call and its counterpart.
func (c *Comparison) AlignAt(t *compare.Place) {
	p := c.Sides[1-t.Side]
	if p.Pick.Kind != panel.PickBar {
		return
	}
	c.Sides[t.Side].Anchor = t.Start - c.Sides[t.Side].Rec.Start
	c.Sides[1-t.Side].Anchor = p.Pick.Hit.Start - p.Rec.Start
}

// Path translates a zoomed path of one side's flamegraph into the other side's functions,
// up to the first without a counterpart.
func (c *Comparison) Path(side int, path []recording.FuncName) []recording.FuncName {
	a := c.Answer()
	var out []recording.FuncName
	for _, name := range path {
		fs := panel.FunctionsOf(c.Sides[side].Rec, recording.Function{Name: name.Name, Module: name.Module})
		if len(fs) == 0 {
			break
		}
		f, ok := c.FuncOn(a, 1-side, c.Key(a, side, fs[0]))
		if !ok {
			break
		}
		out = append(out, c.Sides[1-side].Rec.Functions.At(int(f)).FuncName())
	}
	return out
}

// TakeMetric shows the compared metric on both sides.
func (c *Comparison) TakeMetric() {
	a := c.Answer()
	if a == nil || a.Event != c.Options.Event || a.Metric != c.Options.Metric {
		return
	}
	for i, p := range c.Sides {
		if r := a.Compared.Lead(i); a.Compared.Metric.Event[r] < len(p.Rec.Events) {
			p.Event, p.Metric = a.Compared.Metric.Event[r], a.Compared.Metric.Metric[r]
		}
	}
}
