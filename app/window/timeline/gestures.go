package timeline

import (
	"maps"
	"math"

	"gioui.org/f32"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// zoomStep is the zoom factor of one wheel notch.
const zoomStep = 1.28

// TakeEvents handles the pointer events since the last frame.
func (p *Timeline) TakeEvents(s *panel.Host, u *ui.UI) {
	for {
		g, e, ok := p.Lanes.Next(u, p.Bounds.Lanes.Min)
		if !ok {
			break
		}
		p.onLanes(s, u, g, e)
	}
	for {
		g, e, ok := p.RulerArea.Next(u, p.Bounds.Ruler.Min)
		if !ok {
			break
		}
		p.onRuler(s, u, g, e)
	}
	for {
		g, e, ok := p.Strip.Next(u, p.Bounds.Overview.Min)
		if !ok {
			break
		}
		p.onStrip(u, g, e)
	}
	p.Inside, p.At = p.Lanes.Inside, p.Lanes.At
	p.Hit = timeline.Hit{Row: -1, Window: -1}
	if p.Inside && p.Plan != nil && !p.Bounds.Lanes.Empty() {
		p.Hit = timeline.At(p.Rec, p.Plan, p.View, int(p.At.X), int(p.At.Y), p.Bounds.Lanes.Dx(), p.Bounds.Gutter)
	}
}

// TimeAt returns the time at a pixel of the lanes.
func (p *Timeline) TimeAt(x float32) int64 {
	return p.View.Time(float64(x)-float64(p.Bounds.Gutter), p.LaneWidth())
}

func (p *Timeline) onLanes(s *panel.Host, u *ui.UI, g widget.Gesture, e pointer.Event) {
	d := &p.Lanes
	switch g {
	case widget.Wheeled:
		p.wheel(u, e, d.At)
	case widget.Pressed:
		p.grab, p.origin, p.Motion.Kind = grabNone, p.View, AtRest
	case widget.Dragged:
		if p.grab == grabNone {
			p.grab = grabPan
			switch {
			case int(d.Start.X) < p.Bounds.Gutter && p.trackAt(d.Start) >= 0:
				p.grab = grabTrack
			case p.boxing || d.Mods.Contain(key.ModCtrl) && !d.Mods.Contain(key.ModShift):
				p.grab = grabBox
			case d.Mods.Contain(key.ModShift):
				p.startRange(u, d, d.Start.Y)
				if i := p.trackAt(d.Start); i >= 0 && d.Mods.Contain(key.ModCtrl) {
					p.Scope.Tracks = []int{i} // within one thread
				}
			}
		}
		p.drag(u, d, d.At.Y, e)
	case widget.Dropped:
		switch p.grab {
		case grabTrack:
			p.moveTrack(p.trackAt(d.Start), p.trackAt(d.At))
		case grabPan:
			p.Motion.Throw(p, u, e.Time)
		case grabBox:
			p.zoomToBox(u, p.box(d.Start, d.At))
			p.boxing = false
		}
		p.grab = grabNone
	case widget.MenuAsked:
		p.contextMenu(s, u)
	case widget.Clicked, widget.DoubleClicked:
		if p.Plan == nil {
			return
		}
		h := timeline.At(p.Rec, p.Plan, p.View, int(d.At.X), int(d.At.Y), p.Bounds.Lanes.Dx(), p.Bounds.Gutter)
		if h.Gutter && e.Modifiers.Contain(key.ModCtrl) {
			if h.Row >= 0 && p.Plan.Rows[h.Row].Heads() {
				p.toggleTracks(p.tracksBelow(&p.Plan.Rows[h.Row]))
			} else {
				p.ToggleTrack(p.trackAt(d.At))
			}
			return
		}
		if h.Gutter || h.Row >= 0 && p.Plan.Rows[h.Row].Heads() {
			p.foldHit(h)
			return
		}
		p.PickHit(h)
		if p.AtGoal = false; g == widget.DoubleClicked && h.End > h.Start {
			p.ZoomToBar(&h)
			p.keepThread(&h)
		}
	}
}

// keepThread limits the scope to the thread of a call, except in a comparison or if the
// recording has only one track. Other limits stay.
func (p *Timeline) keepThread(h *timeline.Hit) {
	if h.Found && !p.Linkable && p.Against == nil && len(p.Rec.Tracks) > 1 && p.Rec.Tracks[h.Track].Kind == recording.ThreadTrack {
		p.Scope = p.Scope.On([]int{h.Track})
	}
}

// startRange begins to select a range at the start of a drag.
func (p *Timeline) startRange(u *ui.UI, d *widget.Drag, y float32) {
	p.grab, p.anchor, p.second = grabRange, p.edge(u, d.Start.X, y, d.Mods), false
}

// edge returns the time for an edge of a selection: the edge of a nearby bar, unless Alt
// is held.
func (p *Timeline) edge(u *ui.UI, x, y float32, mods key.Modifiers) int64 {
	if mods.Contain(key.ModAlt) {
		return p.TimeAt(x)
	}
	return p.snap(u, x, y)
}

// drag pans the view or extends the selection, whichever was grabbed; y is the pointer's
// position in the lanes.
func (p *Timeline) drag(u *ui.UI, d *widget.Drag, y float32, e pointer.Event) {
	start, at := d.Start, d.At
	switch p.grab {
	case grabPan:
		p.Motion.Follow(at, e.Time)
		from, to := p.ViewLimits()
		v := p.origin.Pan(float64(start.X-at.X), p.LaneWidth(), from, to)
		p.View.From, p.View.To = v.From, v.To
		p.ScrollTo(p.origin.Scroll + int(start.Y-at.Y))
		p.Moved = true
	case grabRange:
		if to := p.edge(u, at.X, y, e.Modifiers); p.second {
			p.CompareRange(p.anchor, to)
		} else {
			p.SelectRange(p.anchor, to)
		}
	}
}

// wheel zooms at the pointer. Horizontal scrolling pans; over the names, the wheel
// scrolls the rows.
func (p *Timeline) wheel(u *ui.UI, e pointer.Event, at f32.Point) {
	x, y := widget.Notches(e)
	if x != 0 {
		from, to := p.ViewLimits()
		p.View = p.View.Pan(float64(x)*float64(p.LaneWidth())*.08, p.LaneWidth(), from, to)
		p.Moved = true
	}
	switch {
	case y == 0:
	case int(at.X) < p.Bounds.Gutter || e.Modifiers.Contain(key.ModCtrl):
		p.scrollRows(u, y)
	default:
		p.ZoomAt(math.Pow(zoomStep, float64(y)), float64(at.X)-float64(p.Bounds.Gutter))
	}
}

// scrollRows scrolls by wheel notches: whole notches smoothly, fractions of a notch from
// a trackpad at once.
func (p *Timeline) scrollRows(u *ui.UI, notches float32) {
	px := int(notches * float32(u.Px(widget.RowsPerNotch)))
	if max(notches, -notches) >= 1 {
		p.Motion.scroll(p, u, px)
	} else {
		p.ScrollTo(p.View.Scroll + px)
	}
}

// onRuler selects a range without a modifier key; with Shift it selects the range to
// compare the selection with.
func (p *Timeline) onRuler(s *panel.Host, u *ui.UI, g widget.Gesture, e pointer.Event) {
	d := &p.RulerArea
	switch g {
	case widget.Wheeled:
		p.wheel(u, e, d.At)
	case widget.Dragged:
		if p.grab == grabNone {
			p.startRange(u, d, -1)
			p.second = d.Mods.Contain(key.ModShift) && !p.Linkable
		}
		p.drag(u, d, -1, e)
	case widget.Dropped:
		if p.grab = grabNone; p.second && p.Against != nil {
			p.ShowComparison()
		}
		p.second = false
	case widget.MenuAsked:
		p.flagMenu(s, u)
	case widget.Clicked:
		if m := p.flagAt(u, d.At.X); m != nil {
			p.Callbacks.GoToMark(*m)
			return
		}
		p.Scope.Ranged = false
	}
}

// onStrip handles drags on the overview, which move the view.
func (p *Timeline) onStrip(u *ui.UI, g widget.Gesture, e pointer.Event) {
	d := &p.Strip
	at := p.stripTime(d.At.X)
	switch g {
	case widget.Wheeled:
		_, y := widget.Notches(e)
		x := p.View.X(at, p.LaneWidth())
		p.ZoomAt(math.Pow(zoomStep, float64(y)), math.Max(0, math.Min(x, float64(p.LaneWidth()))))
	case widget.Pressed:
		p.origin = p.View
		if p.grab = p.edgeAt(u); p.grab == grabView {
			if at < p.View.From || at > p.View.To { // jump there first
				half := p.View.Span() / 2
				p.View.From, p.View.To = at-half, at-half+p.View.Span()
				p.View = p.View.Clamp(p.ViewLimits())
				p.Moved = true
				p.origin = p.View
			}
		}
	case widget.Dragged:
		delta := at - p.stripTime(d.Start.X)
		switch p.grab {
		case grabLeft:
			p.View.From = min(p.origin.From+delta, p.View.To-1000)
		case grabRight:
			p.View.To = max(p.origin.To+delta, p.View.From+1000)
		default:
			p.View.From, p.View.To = p.origin.From+delta, p.origin.To+delta
			p.View = p.View.Clamp(p.ViewLimits())
		}
		p.Moved = true
	case widget.Dropped, widget.Clicked:
		p.grab = grabNone
	case widget.DoubleClicked:
		p.grab = grabNone
		p.FitAll()
	}
}

// edgeAt returns the part of the view that a drag on the overview moves: all of it, or one
// edge.
func (p *Timeline) edgeAt(u *ui.UI) grab {
	x := p.Bounds.Overview.Min.X + int(p.Strip.At.X)
	l, r := p.stripX(p.View.From), p.stripX(p.View.To)
	near := u.Px(6)
	switch {
	case r-l <= 3*near:
	case abs(x-l) <= near:
		return grabLeft
	case abs(x-r) <= near:
		return grabRight
	}
	return grabView
}

func abs(i int) int { return max(i, -i) }

// PickHit shows the details of a bar. An empty hit clears the selection.
func (p *Timeline) PickHit(h timeline.Hit) {
	switch {
	case h.Found:
		p.Pick = panel.Picked{Kind: panel.PickBar, Hit: h}
		if h.Call != recording.NoCall {
			p.Pick.Fn = p.Rec.Func(h.Call)
		}
	case h.Window >= 0:
		p.Pick = panel.Picked{Kind: panel.PickWindow, Hit: h}
		p.SelectRange(h.Start, h.End)
	case h.Counter != nil:
		p.Pick = panel.Picked{Kind: panel.PickCounter, Hit: h}
	case h.Instant != nil:
		p.Pick = panel.Picked{Kind: panel.PickInstant, Hit: h}
	default:
		p.Pick = panel.Picked{}
	}
}

// foldHit opens or closes the process or track whose name was clicked, as [Timeline.Fold]
// does.
func (p *Timeline) foldHit(h timeline.Hit) {
	if h.Row < 0 {
		return
	}
	if r := &p.Plan.Rows[h.Row]; h.More {
		p.Folds = With(p.Folds, r.Index, timeline.Full)
	} else {
		p.Fold(r)
	}
}

// Fold opens or closes a row: a process, a group or a thread. A thread goes through three
// states: one lane, some lanes (see timeline.Auto), and all lanes.
func (p *Timeline) Fold(r *timeline.Row) {
	switch r.Kind {
	case timeline.ProcessRow:
		p.Closed = With(p.Closed, r.Index, !p.Closed[r.Index])
	case timeline.GroupRow:
		p.Groups = With(p.Groups, p.Plan.Group(r).Name, r.Collapsed)
	case timeline.TrackRow:
		switch {
		case r.Collapsed:
			p.Folds = maps.Clone(p.Folds)
			delete(p.Folds, r.Index)
		case r.Lanes < r.All:
			p.Folds = With(p.Folds, r.Index, timeline.Full)
		case r.All > 1:
			p.Folds = With(p.Folds, r.Index, timeline.Closed)
		}
	}
}

// With returns a copy of a map with one value changed. The maps of a pane are never
// modified in place, so frames can compare them by address.
func With[K comparable, V any](m map[K]V, k K, v V) map[K]V {
	m = maps.Clone(m)
	m[k] = v
	return m
}

// MenuOfPick opens the context menu at the picked bar, or the menu of the current thread.
func (p *Timeline) MenuOfPick(s *panel.Host, u *ui.UI) {
	at := p.Lanes.At
	defer func() { p.Lanes.At = at }()
	if i := p.pickedRow(); i >= 0 {
		h := &p.Pick.Hit
		x0, y0, x1, y1 := p.Plan.Box(p.View, i, h.Lane, h.Start, h.End, p.Bounds.Lanes.Dx(), p.Bounds.Gutter)
		x := max(p.Bounds.Gutter, min((x0+x1)/2, p.Bounds.Lanes.Dx()-1))
		p.Lanes.At = f32.Pt(float32(x), float32(max(0, min((y0+y1)/2, p.Bounds.Lanes.Dy()-1))))
	} else if r := p.currentRow(); r != nil {
		p.Lanes.At = f32.Pt(float32(u.Px(40)), float32(max(0, p.Plan.Top(r, p.View.Scroll)+u.Px(12))))
	}
	p.contextMenu(s, u)
}
