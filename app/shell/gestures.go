package shell

import (
	"maps"
	"math"

	"gioui.org/f32"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/panel"
	"ashlar/ingest/recording"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// zoomStep is the factor for a notch of the wheel.
const zoomStep = 1.28

// events takes what the pointer did since the last frame.
func (p *pane) events(s *Shell, u *ui.UI) {
	p.timeline.events(s, p, u)
	p.rowsMap.events(p, u)
	shown := p.panel()
	if x, ok := shown.(panel.Pointed[*panel.Side]); ok {
		x.Events(&s.Host, &p.Side, u)
	}
	p.menuByKey(s, u)
	p.Hover = nil
	switch {
	case p.timeline.inside && p.timeline.hit.Found && p.timeline.hit.Call != recording.NoCall:
		f := p.Rec.Func(p.timeline.hit.Call)
		p.Hover = &f
	default:
		if x, ok := shown.(panel.Hovered[*panel.Side]); ok {
			if f, ok := x.Hover(&p.Side); ok {
				p.Hover = &f
			}
		}
	}
}

func (t *timelinePart) events(s *Shell, p *pane, u *ui.UI) {
	for {
		g, e, ok := t.lanes.Next(u, p.Bounds.Lanes.Min)
		if !ok {
			break
		}
		t.onLanes(s, p, u, g, e)
	}
	for {
		g, e, ok := t.rulerArea.Next(u, p.Bounds.Ruler.Min)
		if !ok {
			break
		}
		t.onRuler(s, p, u, g, e)
	}
	for {
		g, e, ok := t.strip.Next(u, p.Bounds.Overview.Min)
		if !ok {
			break
		}
		t.onStrip(p, u, g, e)
	}
	t.inside, t.at = t.lanes.Inside, t.lanes.At
	t.hit = timeline.Hit{Row: -1, Window: -1}
	if t.inside && t.plan != nil && !p.Bounds.Lanes.Empty() {
		t.hit = timeline.At(p.Rec, t.plan, p.View, int(t.at.X), int(t.at.Y), p.Bounds.Lanes.Dx(), p.Bounds.Gutter)
	}
}

func (t *timelinePart) timeAt(p *pane, x float32) int64 {
	return p.View.Time(float64(x)-float64(p.Bounds.Gutter), p.laneWidth())
}

func (t *timelinePart) onLanes(s *Shell, p *pane, u *ui.UI, g widget.Gesture, e pointer.Event) {
	d := &t.lanes
	switch g {
	case widget.Wheeled:
		t.wheel(p, u, e, d.At)
	case widget.Pressed:
		t.grab, t.origin, p.motion.kind = grabNone, p.View, atRest
	case widget.Dragged:
		if t.grab == grabNone {
			t.grab = grabPan
			switch {
			case int(d.Start.X) < p.Bounds.Gutter && t.trackAt(p, d.Start) >= 0:
				t.grab = grabTrack
			case t.boxing || d.Mods.Contain(ctrlKey) && !d.Mods.Contain(shiftKey):
				t.grab = grabBox
			case d.Mods.Contain(shiftKey):
				t.beginRange(p, u, d, d.Start.Y)
				if i := t.trackAt(p, d.Start); i >= 0 && d.Mods.Contain(ctrlKey) {
					p.Scope.Tracks = []int{i} // within one thread
				}
			}
		}
		t.drag(p, u, d, d.At.Y, e)
	case widget.Dropped:
		switch t.grab {
		case grabTrack:
			p.moveTrack(t.trackAt(p, d.Start), t.trackAt(p, d.At))
		case grabPan:
			p.motion.throw(p, u, e.Time)
		case grabBox:
			p.zoomToBox(u, t.box(p, d.Start, d.At))
			t.boxing = false
		}
		t.grab = grabNone
	case widget.MenuAsked:
		t.contextMenu(s, p, u)
	case widget.Clicked, widget.DoubleClicked:
		if t.plan == nil {
			return
		}
		h := timeline.At(p.Rec, t.plan, p.View, int(d.At.X), int(d.At.Y), p.Bounds.Lanes.Dx(), p.Bounds.Gutter)
		if h.Gutter && e.Modifiers.Contain(ctrlKey) {
			p.toggleTrack(t.trackAt(p, d.At))
			return
		}
		if h.Gutter || h.Row >= 0 && t.plan.Rows[h.Row].Kind == timeline.ProcessRow {
			t.fold(p, h)
			return
		}
		p.pickHit(h)
		if p.AtGoal = false; g == widget.DoubleClicked && h.End > h.Start {
			p.Fit(h.Start, h.End)
		}
	}
}

// beginRange begins to select a range where a drag did.
func (t *timelinePart) beginRange(p *pane, u *ui.UI, d *widget.Drag, y float32) {
	t.grab, t.anchor = grabRange, t.edge(p, u, d.Start.X, y, d.Mods)
}

// edge is the time of an edge of a selection: that of a bar that is near,
// unless Alt is held.
func (t *timelinePart) edge(p *pane, u *ui.UI, x, y float32, mods key.Modifiers) int64 {
	if mods.Contain(key.ModAlt) {
		return t.timeAt(p, x)
	}
	return t.snap(p, u, x, y)
}

// drag moves what is held; y is where the pointer is in the lanes.
func (t *timelinePart) drag(p *pane, u *ui.UI, d *widget.Drag, y float32, e pointer.Event) {
	start, at := d.Start, d.At
	switch t.grab {
	case grabPan:
		p.motion.follow(at, e.Time)
		from, to := p.Limits()
		v := t.origin.Pan(float64(start.X-at.X), p.laneWidth(), from, to)
		p.View.From, p.View.To = v.From, v.To
		p.scrollTo(t.origin.Scroll + int(start.Y-at.Y))
		p.Moved = true
	case grabRange:
		p.SelectRange(t.anchor, t.edge(p, u, at.X, y, e.Modifiers))
	}
}

// wheel zooms at the pointer; sideways it pans, over the names it scrolls.
func (t *timelinePart) wheel(p *pane, u *ui.UI, e pointer.Event, at f32.Point) {
	x, y := widget.Notches(e)
	if x != 0 {
		from, to := p.Limits()
		p.View = p.View.Pan(float64(x)*float64(p.laneWidth())*.08, p.laneWidth(), from, to)
		p.Moved = true
	}
	switch {
	case y == 0:
	case int(at.X) < p.Bounds.Gutter || e.Modifiers.Contain(ctrlKey):
		p.scrollRows(u, y)
	default:
		p.zoomAt(math.Pow(zoomStep, float64(y)), float64(at.X)-float64(p.Bounds.Gutter))
	}
}

// scrollRows scrolls by notches of a wheel: smoothly by whole ones, with the
// hand by the parts of one that a trackpad sends.
func (p *pane) scrollRows(u *ui.UI, notches float32) {
	px := int(notches * float32(u.Px(widget.RowsPerNotch)))
	if max(notches, -notches) >= 1 {
		p.motion.scroll(p, u, px)
	} else {
		p.scrollTo(p.View.Scroll + px)
	}
}

// onRuler selects a range without a key held down.
func (t *timelinePart) onRuler(s *Shell, p *pane, u *ui.UI, g widget.Gesture, e pointer.Event) {
	d := &t.rulerArea
	switch g {
	case widget.Wheeled:
		t.wheel(p, u, e, d.At)
	case widget.Dragged:
		if t.grab == grabNone {
			t.beginRange(p, u, d, -1)
		}
		t.drag(p, u, d, -1, e)
	case widget.Dropped:
		t.grab = grabNone
	case widget.MenuAsked:
		t.markMenu(s, p, u)
	case widget.Clicked:
		if m := t.markAt(p, u, d.At.X); m != nil {
			p.goToMark(s, *m)
			return
		}
		p.Scope.Ranged = false
	}
}

// onStrip moves the view by the overview.
func (t *timelinePart) onStrip(p *pane, u *ui.UI, g widget.Gesture, e pointer.Event) {
	d := &t.strip
	at := t.stripTime(p, d.At.X)
	switch g {
	case widget.Wheeled:
		_, y := widget.Notches(e)
		x := p.View.X(at, p.laneWidth())
		p.zoomAt(math.Pow(zoomStep, float64(y)), math.Max(0, math.Min(x, float64(p.laneWidth()))))
	case widget.Pressed:
		t.origin = p.View
		if t.grab = t.edgeAt(p, u); t.grab == grabView {
			if at < p.View.From || at > p.View.To { // jump there first
				half := p.View.Span() / 2
				p.View.From, p.View.To = at-half, at-half+p.View.Span()
				p.View = p.View.Clamp(p.Limits())
				p.Moved = true
				t.origin = p.View
			}
		}
	case widget.Dragged:
		delta := at - t.stripTime(p, d.Start.X)
		switch t.grab {
		case grabLeft:
			p.View.From = min(t.origin.From+delta, p.View.To-1000)
		case grabRight:
			p.View.To = max(t.origin.To+delta, p.View.From+1000)
		default:
			p.View.From, p.View.To = t.origin.From+delta, t.origin.To+delta
			p.View = p.View.Clamp(p.Limits())
		}
		p.Moved = true
	case widget.Dropped, widget.Clicked:
		t.grab = grabNone
	case widget.DoubleClicked:
		t.grab = grabNone
		p.fitAll()
	}
}

// edgeAt is what a drag from where the pointer is over the overview moves: the
// view, or one of its edges.
func (t *timelinePart) edgeAt(p *pane, u *ui.UI) grab {
	x := p.Bounds.Overview.Min.X + int(t.strip.At.X)
	l, r := t.stripX(p, p.View.From), t.stripX(p, p.View.To)
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

// pickHit makes a bar of the timeline the one whose details are shown; nothing
// under the pointer picks nothing.
func (p *pane) pickHit(h timeline.Hit) {
	switch {
	case h.Found:
		p.Pick = panel.Picked{Is: panel.PickBar, Hit: h}
		if h.Call != recording.NoCall {
			p.Pick.Fn = p.Rec.Func(h.Call)
		}
	case h.Window >= 0:
		p.Pick = panel.Picked{Is: panel.PickWindow, Hit: h}
		p.SelectRange(h.Start, h.End)
	case h.Counter != nil:
		p.Pick = panel.Picked{Is: panel.PickCounter, Hit: h}
	case h.Instant != nil:
		p.Pick = panel.Picked{Is: panel.PickInstant, Hit: h}
	default:
		p.Pick = panel.Picked{}
	}
}

// fold opens or closes what a click on the names means: a process, or a track
// (closed, then as much as fits, then all of it).
func (t *timelinePart) fold(p *pane, h timeline.Hit) {
	if h.Row < 0 {
		return
	}
	p.fold(&t.plan.Rows[h.Row])
}

func (p *pane) fold(r *timeline.Row) {
	switch r.Kind {
	case timeline.ProcessRow:
		p.Closed = with(p.Closed, r.Index, !p.Closed[r.Index])
	case timeline.TrackRow:
		switch {
		case r.Collapsed:
			p.Folds = maps.Clone(p.Folds)
			delete(p.Folds, r.Index)
		case r.Lanes < r.All:
			p.Folds = with(p.Folds, r.Index, timeline.Full)
		case r.All > 1:
			p.Folds = with(p.Folds, r.Index, timeline.Closed)
		}
	}
}

// with is a map with one thing changed: the maps of a pane are never written to,
// so that a frame tells from where they lie whether they are the same.
func with[V any](m map[int]V, k int, v V) map[int]V {
	m = maps.Clone(m)
	m[k] = v
	return m
}

// menuOfPick opens the menu where the picked bar is, or that of the current
// thread.
func (t *timelinePart) menuOfPick(s *Shell, p *pane, u *ui.UI) {
	at := t.lanes.At
	defer func() { t.lanes.At = at }()
	if i := p.pickedRow(); i >= 0 {
		h := &p.Pick.Hit
		x0, y0, x1, y1 := t.plan.Box(p.View, i, h.Lane, h.Start, h.End, p.Bounds.Lanes.Dx(), p.Bounds.Gutter)
		x := max(p.Bounds.Gutter, min((x0+x1)/2, p.Bounds.Lanes.Dx()-1))
		t.lanes.At = f32.Pt(float32(x), float32(max(0, min((y0+y1)/2, p.Bounds.Lanes.Dy()-1))))
	} else if r := p.currentRow(); r != nil {
		t.lanes.At = f32.Pt(float32(u.Px(40)), float32(max(0, r.Y-p.View.Scroll+u.Px(12))))
	}
	t.contextMenu(s, p, u)
}
