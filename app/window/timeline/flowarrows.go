package timeline

import (
	"context"
	"image"
	"math"

	"gioui.org/f32"

	"ashlar/app/core/session"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/spans"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/ui"
)

// flowPart draws the arrows of the picked span. It finds the span's flows in an index
// that is built in the background when first needed.
type flowPart struct {
	index   *spans.Flows
	Indices session.Async[*recording.Recording, *spans.Flows]

	Ends   []spans.FlowEnd // flow ends on the picked span
	endsOf flowKey
}

type flowKey struct {
	track, lane int
	start, end  int64
	index       *spans.Flows
}

// mostArrows is the maximum number of arrows drawn.
const mostArrows = 200

// Update finds the flows of the picked span.
func (f *flowPart) Update(s *panel.Host, p *Timeline) {
	if p.Pick.Kind != panel.PickBar || p.Pick.Hit.IsState() || len(p.Rec.Flows) == 0 {
		f.Ends, f.endsOf = nil, flowKey{}
		return
	}
	rec := p.Rec
	f.index, _, _ = f.Indices.Ask(rec, s.Do.Wake, func(context.Context) (*spans.Flows, error) { return spans.NewFlows(rec), nil })
	h := &p.Pick.Hit
	k := flowKey{h.Track, h.Lane, h.Start, h.End, f.index}
	if f.index == nil || f.endsOf == k {
		return
	}
	f.endsOf = k
	f.Ends = f.index.Of(h.Track, h.Lane, h.Start, h.End, mostArrows)
}

// draw draws an arrow from each step of the flows to the next.
func (f *flowPart) draw(p *Timeline, u *ui.UI) {
	from, to, woken := p.wake()
	if len(f.Ends) == 0 && !woken {
		return
	}
	b := &p.Bounds
	u.At(image.Rect(b.Lanes.Min.X+b.Gutter, b.Lanes.Min.Y, b.Lanes.Max.X, b.Lanes.Max.Y), func(u *ui.UI) {
		join := func(from, to recording.FlowStep) {
			a, hidden1, ok1 := f.at(p, from)
			b, hidden2, ok2 := f.at(p, to)
			if ok1 && ok2 && !(hidden1 && hidden2) {
				arrow(u, a, b)
			}
		}
		if woken {
			join(from, to)
		}
		seen := map[int]bool{}
		for _, e := range f.Ends {
			if seen[e.Flow] {
				continue
			}
			seen[e.Flow] = true
			steps := p.Rec.Flows[e.Flow].Steps
			for i := range len(steps) - 1 {
				join(steps[i], steps[i+1])
			}
		}
	})
}

// at returns the position of a step in the lanes: on the span it is bound to, else in the
// middle of its row. A step hidden behind the rows that stay at the top is placed at
// their edge.
func (f *flowPart) at(p *Timeline, st recording.FlowStep) (at f32.Point, hidden, ok bool) {
	i := p.rowOf(&timeline.Hit{Row: -1, Window: -1, Track: st.Track})
	if i < 0 {
		return at, false, false
	}
	plan := p.Plan
	lane := min(max(0, spans.LaneAt(p.Rec.Tracks[st.Track], st.Time)), max(0, plan.Rows[i].Lanes-1))
	if p.Pick.Hit.IsState() {
		lane = recording.StateLane
	}
	_, y0, _, y1 := plan.Box(p.View, i, lane, st.Time, st.Time, p.Bounds.Lanes.Dx(), p.Bounds.Gutter)
	w := float64(p.LaneWidth())
	x := math.Max(-w, math.Min(2*w, p.View.X(st.Time, p.LaneWidth())))
	y := float32(y0+y1) / 2
	if hidden = plan.Under(&plan.Rows[i], int(y)); hidden {
		y = float32(plan.Held)
	}
	return f32.Pt(float32(x), y), hidden, true
}

// arrow draws a curved line with a head at its end.
func arrow(u *ui.UI, from, to f32.Point) {
	bend := float32(u.Px(36))
	if d := float32(math.Abs(float64(to.X-from.X))) / 2; d < bend {
		bend = max(d, float32(u.Px(14)))
	}
	head := float32(u.Px(6))
	stroke := func(width float32, c ui.Colour) {
		u.Stroke(ui.LineFrom(from).Curve(from.Add(f32.Pt(bend, 0)), to.Sub(f32.Pt(bend, 0)), to.Sub(f32.Pt(head/2, 0))), width, c)
	}
	// A rim separates the arrow from the bars it crosses.
	stroke(float32(u.Px(4)), theme.WithAlpha(u.Theme.Background, .75))
	stroke(float32(max(1, u.Px(1.5))), u.Theme.Accent)
	u.FillIn(ui.LineFrom(to).To(to.Add(f32.Pt(-head, -head*.6))).To(to.Add(f32.Pt(-head, head*.6))).Close(), u.Theme.Accent)
	r := u.Px(2.5)
	at := image.Pt(int(from.X), int(from.Y))
	u.Round(image.Rectangle{Min: at.Sub(image.Pt(r, r)), Max: at.Add(image.Pt(r, r))}, 2.5, u.Theme.Accent)
}

// Other returns the step at the other end of e's arrow: the next step of the flow, or the
// previous one if e is the last.
func (f *flowPart) Other(p *Timeline, e spans.FlowEnd) (st recording.FlowStep, incoming bool) {
	steps := p.Rec.Flows[e.Flow].Steps
	if e.Step == len(steps)-1 {
		return steps[e.Step-1], true
	}
	return steps[e.Step+1], false
}

// wake returns the arrow from the waker of the picked state's thread to that thread.
func (p *Timeline) wake() (from, to recording.FlowStep, ok bool) {
	h := &p.Pick.Hit
	if p.Pick.Kind != panel.PickBar || h.Waker(p.Rec) == recording.NoTrack {
		return from, to, false
	}
	return recording.FlowStep{Track: h.Waker(p.Rec), Time: h.Start}, recording.FlowStep{Track: h.Track, Time: h.Start}, true
}

// GoToWaker goes to the thread that woke the thread of the picked state. For a running
// state this is the wakeup that led to it. For a span, the search starts at the thread's
// state when the span began.
func (p *Timeline) GoToWaker(s *panel.Host) {
	h := p.Pick.Hit
	if p.Pick.Kind != panel.PickBar || p.Rec.Tracks[h.Track].States.Len() == 0 {
		s.Say("Select a thread state (the strip above the spans) first")
		return
	}
	t := p.Rec.Tracks[h.Track]
	l, i := &t.States, h.Span
	if !h.IsState() {
		i = min(l.Search(h.Start), l.Len()-1)
	}
	for ; i >= 0 && p.Rec.Waker(t, i).Track == recording.NoTrack && p.Rec.State(l.Call(i)) != recording.Blocked; i-- {
	}
	if i < 0 || p.Rec.Waker(t, i).Track == recording.NoTrack {
		s.Say("This recording has no waker for it")
		return
	}
	waker := int(p.Rec.Waker(t, i).Track)
	if to, ok := BarAt(p.Rec.Tracks[waker], waker, recording.StateLane, l.Start(i)); ok {
		p.PickShown(to)
	} else {
		p.GoToStep(recording.FlowStep{Track: waker, Time: l.Start(i)})
	}
}

// FollowFlow goes to the span at the other end of an arrow: the first arrow that leaves
// the picked span or, if back is true, the first that arrives at it.
func (p *Timeline) FollowFlow(s *panel.Host, back bool) {
	if back && len(p.Flows.Ends) == 0 && p.Pick.Hit.IsState() {
		p.GoToWaker(s)
		return
	}
	for _, e := range p.Flows.Ends {
		steps := p.Rec.Flows[e.Flow].Steps
		to := e.Step + 1
		if back {
			to = e.Step - 1
		}
		if to < 0 || to >= len(steps) {
			continue
		}
		p.GoToStep(steps[to])
		return
	}
	s.Say("No arrow: select a span that has one")
}

// GoToStep picks the span that a step of a flow is bound to, and brings it into view.
func (p *Timeline) GoToStep(st recording.FlowStep) {
	t := p.Rec.Tracks[st.Track]
	if h, ok := BarAt(t, st.Track, max(0, spans.LaneAt(t, st.Time)), st.Time); ok {
		p.PickShown(h)
	}
}
