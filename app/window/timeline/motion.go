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

// motion is how a pane's view goes on by itself: a little further after it has
// been thrown, and smoothly to where rows are scrolled. At rest it asks for no
// frames. Anything else that moves the view ends it.
type motion struct {
	Kind  motionKind
	began time.Time
	from  timeline.View
	set   timeline.View // what the last step made of the view
	// speed of a throw, in pixels a second; to is where rows scroll.
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

// trace is where a drag was at a time.
type trace struct {
	at   f32.Point
	time time.Duration
}

const (
	// throwTime is how long a throw takes to lose most of its speed.
	throwTime = 90 * time.Millisecond
	// slowest is the speed in dp a second that is not a throw.
	slowest = 180
	// scrollTime is the duration of an animated scroll.
	scrollTime = 110 * time.Millisecond
)

// Follow notes where a drag is, for how fast it is let go.
func (m *motion) Follow(at f32.Point, t time.Duration) {
	m.Kind = AtRest
	m.trail = append(m.trail, trace{at, t})
	if n := len(m.trail) - 8; n > 0 {
		m.trail = append(m.trail[:0], m.trail[n:]...)
	}
}

// Throw lets go of a drag: the view goes on as fast as the hand was.
func (m *motion) Throw(p *Timeline, u *ui.UI, t time.Duration) {
	trail := m.trail
	m.trail = m.trail[:0]
	for len(trail) > 0 && t-trail[0].time > 80*time.Millisecond {
		trail = trail[1:]
	}
	if len(trail) < 2 || t-trail[len(trail)-1].time > 40*time.Millisecond {
		return // it rested before it was let go
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

// scroll lets the rows move by px more.
func (m *motion) scroll(p *Timeline, u *ui.UI, px int) {
	to := p.View.Scroll
	if m.Kind == scrolling && m.set == p.View {
		to = m.to
	}
	to = p.scrollLimit(to + px)
	*m = motion{Kind: scrolling, began: u.Now, from: p.View, set: p.View, to: to, trail: m.trail}
}

// Step moves the view to where it is at the time of a frame.
func (m *motion) Step(s *panel.Host, p *Timeline, u *ui.UI) {
	if m.Kind == AtRest {
		return
	}
	if p.View != m.set {
		m.Kind = AtRest
		return
	}
	t := u.Now.Sub(m.began)
	if s.Do.Wake == nil { // pictures do not move
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
