package workspace

import (
	"context"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/search"
	"ashlar/ingest/query/spans"
)

// goal is a request to show a function.
type goal struct {
	asked int // number of the request, to distinguish later ones
	rec   *recording.Recording
	f     recording.FuncID
}

// place is where a function is shown: at its longest call or, without calls, in the event
// with the most records of the function.
type place struct {
	call  *spans.SlowSpan
	event int // -1 for none
}

// GoToFunction marks a function everywhere, and shows its longest call in the selection.
// If the current event does not contain the function, it shows another event that does.
func (d *Workspace) GoToFunction(f recording.FuncID) {
	if c := d.Versus; c != nil {
		if a := c.Answer(); c.IsCurrent(a) {
			c.Choose(a, c.Key(a, c.Focus, f))
		}
		return
	}
	p := d.Pane
	name := p.Rec.Functions.At(int(f)).FuncName()
	p.MarkList.Find(name)
	p.ShowPick = true
	d.asked++
	k := goal{d.asked, p.Rec, f}
	q, rec := p.Query(), p.Rec
	// Do not wait for the answer during the frame. Without a window, wait at once.
	arrive := func() {
		at, of, ok := d.places.Last()
		if ok && of == k && d.Pane == p && p.Rec == rec {
			p.showFunctionAt(at, f, name)
		}
	}
	wake := func() { d.Later(arrive) }
	if d.Do.Wake == nil {
		wake = nil
	}
	d.places.Ask(k, wake, func(ctx context.Context) (place, error) { return placeOf(ctx, rec, q, f) })
	if wake == nil {
		arrive()
	}
}

// showFunctionAt shows where a function is.
func (p *Pane) showFunctionAt(at place, f recording.FuncID, name recording.FuncName) {
	if s := at.call; s != nil && p.Timed() {
		p.GoToTrack(s.Track)
		p.Fit(s.Start-s.Duration, s.Start+2*s.Duration)
		p.Show(search.Hit{Track: s.Track, Lane: s.Lane, Index: s.Span, Call: s.Call, Time: s.Start})
		p.visit.answered = nil
		p.ShowPick = true
	} else if at.event >= 0 && at.event != p.Event {
		p.SetEvent(at.event)
		p.MarkList.Find(name)
		p.ShowPick = true
	}
}

// placeOf finds where to show a function: its slowest call or, without calls, the event
// with the most records of it.
func placeOf(ctx context.Context, rec *recording.Recording, q analyze.Query, f recording.FuncID) (place, error) {
	at := place{event: -1}
	in, err := calls.Bind(ctx, rec, q.Scope)
	if err != nil {
		return at, err
	}
	of := []recording.FuncID{f}
	d, err := calls.Durations(ctx, rec, in, of, recording.SpanTime)
	if err != nil {
		return at, err
	}
	if len(d.Slowest) > 0 {
		at.call = &d.Slowest[0]
		return at, nil
	}
	most := int64(0)
	for e := range rec.Events {
		in := analyze.Query{Event: e, Metric: rec.Events[e].Primary, Scope: in}
		seen, err := spans.PresenceOf(ctx, rec, in, of)
		if err != nil {
			return at, err
		}
		if e == q.Event && seen.Records > 0 {
			at.event = -1
			return at, nil
		}
		if seen.Records > most {
			most, at.event = seen.Records, e
		}
	}
	return at, nil
}
