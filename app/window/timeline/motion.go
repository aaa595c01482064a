package timeline

import (
	"math"
	"time"

	"gioui.org/f32"
	"gioui.org/op"

	"ashlar/app/window/panel"
	"ashlar/render/timeline"
	"ashlar/render/ui"
)

// motion animates a pane's view: it coasts after a throw and scrolls rows smoothly. At
// rest it requests no frames. Any other change of the view stops it.
type motion struct {
	Kind  motionKind
	began time.Time
	from  timeline.View
	set   timeline.View // the view after the last step
	// speed is the speed of a throw, in pixels a second; to is the target of a scroll.
	speed f32.Point
	to    int
	trail []trace
}

type motionKind uint8

const (
	AtRest motionKind = iota
	thrown
	scrolling
)

// trace is a position of a drag and its time.
type trace struct {
	at   f32.Point
	time time.Duration
}

const (
	// throwTime is the time in which a throw loses most of its speed.
	throwTime = 90 * time.Millisecond
	// slowest is the minimum speed of a throw, in dp a second.
	slowest = 180
	// scrollTime is the duration of an animated scroll.
	scrollTime = 110 * time.Millisecond
)

// Follow records a position of the drag, to compute the speed at release.
func (m *motion) Follow(at f32.Point, t time.Duration) {
	m.Kind = AtRest
	m.trail = append(m.trail, trace{at, t})
	if n := len(m.trail) - 8; n > 0 {
		m.trail = append(m.trail[:0], m.trail[n:]...)
	}
}

// Throw ends a drag: the view keeps moving at the speed of the pointer.
func (m *motion) Throw(p *Timeline, u *ui.UI, t time.Duration) {
	trail := m.trail
	m.trail = m.trail[:0]
	for len(trail) > 0 && t-trail[0].time > 80*time.Millisecond {
		trail = trail[1:]
	}
	if len(trail) < 2 || t-trail[len(trail)-1].time > 40*time.Millisecond {
		return // the pointer rested before the release
	}
	d := trail[len(trail)-1].at.Sub(trail[0].at)
	dt := (trail[len(trail)-1].time - trail[0].time).Seconds()
	if dt < .005 {
		return
	}
	v := f32.Pt(d.X/float32(dt), d.Y/float32(dt))
	if math.Hypot(float64(v.X), float64(v.Y)) < float64(u.Px(slowest)) {
		return
	}
	*m = motion{Kind: thrown, began: u.Now, from: p.View, set: p.View, speed: v, trail: m.trail}
}

// scroll starts scrolling the rows by px more pixels.
func (m *motion) scroll(p *Timeline, u *ui.UI, px int) {
	to := p.View.Scroll
	if m.Kind == scrolling && m.set == p.View {
		to = m.to
	}
	to = p.scrollLimit(to + px)
	*m = motion{Kind: scrolling, began: u.Now, from: p.View, set: p.View, to: to, trail: m.trail}
}

// Step moves the view to its position at the time of the frame.
func (m *motion) Step(s *panel.Host, p *Timeline, u *ui.UI) {
	if m.Kind == AtRest {
		return
	}
	if p.View != m.set {
		m.Kind = AtRest
		return
	}
	t := u.Now.Sub(m.began)
	if s.Do.Wake == nil { // still pictures show the final position
		t = time.Hour
	}
	if m.Kind == scrolling {
		x := math.Min(1, float64(t)/float64(scrollTime))
		p.View.Scroll = m.from.Scroll + int(math.Round(float64(m.to-m.from.Scroll)*(1-(1-x)*(1-x)*(1-x))))
	} else {
		far := throwTime.Seconds() * (1 - math.Exp(-float64(t)/float64(throwTime)))
		first, last := p.ViewLimits()
		v := m.from.Pan(-float64(m.speed.X)*far, p.LaneWidth(), first, last)
		v.Scroll = p.scrollLimit(m.from.Scroll - int(float64(m.speed.Y)*far))
		p.View = v
	}
	m.set = p.View
	if m.Kind == scrolling && t >= scrollTime || m.Kind == thrown && t >= 6*throwTime {
		m.Kind = AtRest
		return
	}
	u.Execute(op.InvalidateCmd{})
}
