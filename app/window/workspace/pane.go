package workspace

import (
	"image"
	"time"

	gio "gioui.org/widget"

	"ashlar/app/core/session"
	"ashlar/app/core/view"
	"ashlar/app/window/finder"
	"ashlar/app/window/marks"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/details"
	"ashlar/app/window/panel/flamegraph"
	"ashlar/app/window/panel/functions"
	"ashlar/app/window/panel/source"
	"ashlar/app/window/scopebar"
	"ashlar/app/window/timeline"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// Pane shows one recording.
type Pane struct {
	timeline.Timeline
	Kept bool // added to the recently opened files
	trail
	// Visited reports that an address has just been applied, so the resulting view is not
	// stored as the user's preference.
	Visited bool
	// Addressed reports that the recording was opened with an address.
	Addressed bool
	MarkList  marks.Marks
	// Runs are the additional recordings of this side of a comparison, shelf those that were
	// removed and can come back.
	Runs, shelf []*Run
	renewed     bool   // the recording has just been read again
	Unfollow    func() // stops following; nil when the file is not followed

	SourcePart *source.Panel

	wantEvent, wantMetric string

	begun bool
	// byDefault is the event that Update chose last.
	byDefault int

	Deck     panel.Deck[*panel.Side]
	Flame    *flamegraph.Panel
	Table    *functions.Panel
	Splitter splitter
	deepest  int // depth of the flamegraph of the whole recording

	Finder   finder.Finder
	ScopeBar scopebar.Bar

	Details details.Panel
	Leads   leads

	// ScopeComparison compares two parts in place, nil without such a comparison. shown
	// is the pane's view in the last frame without one.
	ScopeComparison *scopeComparison
	shown           before

	// numbered counts the names that differ only in numbers. Folded and Mine are the
	// settings for this file: whether they are shown as one, and the pattern of own code.
	numbered session.Async[numberedKey, int]
	Folded   bool
	Mine     string
	sighted  bool // the first view has been chosen
	// asked is the time when the last question was asked, zero if it is answered.
	asked time.Time

	EventButton, MetricButton, viewButton gio.Clickable
	StatusClick                           widget.ClickArea
}

// newPane returns a pane for a recording, with all panels of the registry.
func newPane(d *session.Side) *Pane {
	rec, generation := d.Latest()
	p := &Pane{Timeline: timeline.Timeline{Side: panel.Side{Look: view.NewLook(), Doc: d, Rec: rec, Generation: generation}}, Deck: panel.NewDeck(Panels)}
	p.Details.Timeline, p.Finder.Timeline, p.MarkList.Timeline = &p.Timeline, &p.Timeline, &p.Timeline
	p.MarkList.Find = func(f recording.FuncName) { p.visit.answered = &view.State{Function: &f} }
	p.MarkList.Merge = mergeMarks(&p.History)
	p.Flame, p.Table, p.SourcePart = panel.Find[*flamegraph.Panel](p.Deck.All), panel.Find[*functions.Panel](p.Deck.All), panel.Find[*source.Panel](p.Deck.All)
	p.Finder.Table = p.Table
	return p
}

// stop cancels the pane's background work.
func (p *Pane) stop() {
	p.Details.Stop()
	p.Flows.Indices.Stop()
	p.Finder.Stop()
	p.MarkList.Stop()
	p.numbered.Stop()
	p.Leads.found.Stop()
	p.Deck.Stop()
}

// Draw lays out the pane in r.
func (p *Pane) Draw(d *Workspace, u *ui.UI, r image.Rectangle) {
	p.Update(d)
	p.renewed = false
	if _, err := p.ResumeVisit(d); err != nil {
		d.Say(err.Error())
	}
	if err := p.Doc.Err(); err != nil && !p.Rec.Done {
		p.failed(u, r, err)
		return
	}
	r = p.findings(d, u, r)
	p.Room = d.timelineRoom(u, r.Dy())
	p.Replan(u.Metric.PxPerDp)
	p.comparing(d)
	p.place(d, u, r)
	p.firstSight(d)
	p.restoreScroll(u)
	p.events(d, u)
	if p.ScopeComparison != nil {
		p.ScopeComparison.ask(d, p, u)
	}
	p.Motion.Step(&d.Host, &p.Timeline, u)
	p.Flows.Update(&d.Host, &p.Timeline)
	if !p.Behind {
		p.ask(d, u)
	}
	if d.View.Above() {
		p.Layout(&d.Host, u)
	}
	if d.View.below() {
		p.lower(d, u)
	}
	if d.View == Both && p.Timed() {
		p.Splitter.layout(u, p.Bounds.Tabs.Min.Y, r, &p.Split)
	}
	d.borderOfNames(u, 0, &p.Bounds)
	d.borderOfDetails(u, p.Bounds.Side)
	d.remember(u)
	p.Tooltip(&d.Host, u)
	p.Deck.Tooltip(&d.Host, u, p.Tab, &p.Side)
	if w := p.ScopeComparison; w != nil && w.shows(p) {
		w.Deck.Tooltip(&d.Host, u, p.Tab, &w.Comparison)
	}
	if d.View == Both {
		p.ScopeBar.Tooltip(u)
		p.Leads.Bar.Tooltip(u)
	}
}

// signDelay is the time after which work shows a sign that it goes on.
const signDelay = 100 * time.Millisecond

// ask asks the question about everything shown, and notes whether its answer is late.
func (p *Pane) ask(d *Workspace, u *ui.UI) {
	q := p.Question()
	p.Doc.Ask(q)
	a := p.Doc.Answer()
	if !p.Rec.Done || a != nil && a.Rec == p.Rec && a.Answers(&q) || p.Doc.Problem() != "" {
		p.asked, p.Late = time.Time{}, false
		return
	}
	if p.asked.IsZero() {
		p.asked = u.Now
	}
	if p.Late = u.Now.Sub(p.asked) >= signDelay; !p.Late {
		d.WakeAt(p.asked.Add(signDelay))
	}
}

// firstSight scrolls to the busiest thread once the recording is read, unless it is in view
// or the user has scrolled or asked for a view. This is not a step of the history.
func (p *Pane) firstSight(d *Workspace) {
	if p.sighted || !p.Rec.Done || p.Plan == nil {
		return
	}
	p.sighted = true
	if p.Addressed || p.View.Scroll != 0 || p.Plan.Opened < 0 || !d.View.Above() {
		return
	}
	r := &p.Plan.Rows[p.Plan.Opened]
	if r.Y+r.Height <= p.Bounds.Lanes.Dy() {
		return
	}
	p.ScrollTo(p.Plan.ScrollTo(p.Plan.Opened))
	if h := &p.History; len(h.steps) == 1 && h.at == 0 {
		h.steps[0] = d.ViewState()
		h.setCurrent(p.Spot(d))
	}
}

// Update takes over the newest snapshot and updates whatever depends on it.
func (p *Pane) Update(d *Workspace) {
	was := p.Rec
	rec := p.latest()
	fresh := rec != was
	p.Rec = rec
	p.colours(d)
	if len(rec.Events) > 0 {
		p.chooseByName(rec)
		p.Event = min(p.Event, len(rec.Events)-1)
		// Show the first event with data unless the user has chosen one. Which event that
		// is may change while the file loads.
		if d := rec.DefaultEvent(); fresh && p.Event == p.byDefault && p.Event != d || !p.begun {
			p.Event, p.byDefault = d, d
			p.Metric = rec.Events[d].Primary
		}
		p.Metric = min(p.Metric, len(rec.Events[p.Event].Metrics)-1)
		p.begun = true
	}
	if (fresh || p.View.To == 0) && !p.Moved && rec.HasTime {
		p.View = p.View.Fit(p.FirstExtent())
	}
	p.FindCore(d.Do.Wake)
	if fresh && rec.Done {
		p.SelectPart()
	}
}

// chooseByName picks the event and metric asked for on the command line, once.
func (p *Pane) chooseByName(rec *recording.Recording) {
	if p.wantEvent == "" && p.wantMetric == "" {
		return
	}
	for i := range rec.Events {
		e := &rec.Events[i]
		if p.wantEvent != "" && e.Name != p.wantEvent {
			continue
		}
		m := e.Primary
		if p.wantMetric != "" {
			if m = e.Metric(p.wantMetric); m < 0 {
				continue
			}
		}
		p.Event, p.Metric, p.begun = i, m, true
		p.wantEvent, p.wantMetric = "", ""
		return
	}
}

// Question returns the question about everything the pane shows.
func (p *Pane) Question() session.Question {
	q := session.Question{Generation: p.Generation, Threads: p.Palette.Mode == theme.ByThread, Query: p.Query(), Transforms: p.Transforms, Search: p.Search.Pattern, By: analyze.ByFunction}
	p.FollowPick()
	if x, ok := p.panel().(panel.Asker[*panel.Side, session.Question]); ok {
		x.Ask(&p.Side, &q)
	}
	return q
}
