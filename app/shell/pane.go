package shell

import (
	"image"

	gio "gioui.org/widget"

	"ashlar/app/panel"
	"ashlar/app/panel/about"
	"ashlar/app/panel/flamegraph"
	"ashlar/app/panel/functions"
	"ashlar/app/panel/source"
	"ashlar/app/session"
	"ashlar/app/view"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// pane shows one recording.
type pane struct {
	panel.Side
	exe  string // the program that names were taken from, "" for the one the file names
	kept bool   // among the files that were opened
	// visit is what is left to do of an address.
	visit visit
	// visited tells that an address has just been gone to: that the pane looks as
	// it says is no wish to look so ever after.
	visited  bool
	marks    marksPart
	renewed  bool   // the recording has just been read anew
	unfollow func() // stops following; nil when the file is not followed

	sourcePart *source.Panel

	wantEvent, wantMetric string

	begun bool
	like  []int // the order of tracks while there is no other: as on the other side

	timeline timelinePart
	panels   []panel.Panel[*panel.Side]
	flame    *flamegraph.Panel
	table    *functions.Panel
	about    *about.Panel
	history  history[spot]
	splitter widget.Drag
	dragged  float32
	tabKeys  []widget.ClickArea

	finder     finderPart
	chipClicks []widget.ClickArea

	motion    motion
	tracks    filterPart
	rowsMap   mapPart
	flows     flowPart
	rank      rankPart
	sideOf    sidePart
	rangeFrom int64 // where the selected range was begun by keys
	// unfiltered is the height that all rows want.
	unfiltered int

	eventButton, metricButton, viewButton gio.Clickable
	statusClick                           widget.ClickArea
}

// newPane is a pane of a recording; its panels come from their registry.
func newPane(d *session.Side) *pane {
	rec, generation := d.Latest()
	p := &pane{Side: panel.Side{Look: view.NewLook(), Doc: d, Rec: rec, Generation: generation}, tabKeys: make([]widget.ClickArea, len(panels))}
	for i := range panels {
		p.panels = append(p.panels, panels[i].New())
	}
	p.flame, p.table, p.sourcePart, p.about = panel.Find[*flamegraph.Panel](p.panels), panel.Find[*functions.Panel](p.panels), panel.Find[*source.Panel](p.panels), panel.Find[*about.Panel](p.panels)
	return p
}

// stop ends what is computed in the background to be shown.
func (p *pane) stop() {
	p.rank.Stop()
	p.flows.indices.Stop()
	p.table.Order.Orders.Stop()
	p.finding().list.lists.Stop()
	p.finding().list.functions.Orders.Stop()
	p.sourcePart.Texts.Stop()
	p.marks.reads.Stop()
}

// layout lays out the pane in r.
func (p *pane) layout(s *Shell, u *ui.UI, r image.Rectangle) {
	p.update(s)
	p.renewed = false
	if _, err := p.arrive(s); err != nil {
		s.Say(err.Error())
	}
	p.timeline.replan(p, u.Metric.PxPerDp)
	if err := p.Doc.Err(); err != nil && !p.Rec.Done {
		p.failed(u, r, err)
		return
	}
	p.place(s, u, r)
	p.arriveScrolled(u)
	p.events(s, u)
	p.motion.step(s, p, u)
	p.flows.update(s, p)
	if !p.Behind {
		p.Doc.Ask(p.question())
	}
	b := &p.Bounds
	if s.View.above() {
		p.timeline.layout(s, p, u)
	}
	if s.View.below() {
		p.lower(s, u)
	}
	if s.View == Both && p.timed() {
		p.layoutSplitter(u, image.Rect(r.Min.X, b.Tabs.Min.Y-u.Px(4), r.Max.X, b.Tabs.Min.Y+u.Px(4)), r)
	}
	p.remember(s, u)
	p.timeline.tooltip(s, p, u)
	if t, ok := p.panel().(panel.Tipped[*panel.Side]); ok {
		t.Tooltip(&s.Host, &p.Side, u)
	}
}

// update takes the newest snapshot and what follows from it.
func (p *pane) update(s *Shell) {
	was := p.Rec
	rec := p.latest()
	fresh := rec != was
	p.Rec = rec
	p.colours(s)
	if len(rec.Events) > 0 {
		p.chooseByName(rec)
		p.Event = min(p.Event, len(rec.Events)-1)
		if !p.begun {
			p.Metric = rec.Events[p.Event].Primary
		}
		p.Metric = min(p.Metric, len(rec.Events[p.Event].Metrics)-1)
		p.begun = true
	}
	if (fresh || p.View.To == 0) && !p.Moved && rec.HasTime {
		p.View = p.View.Fit(p.extent())
	}
	if fresh && rec.Done {
		p.selectPart()
	}
}

// chooseByName picks the event and metric asked for on the command line, once.
func (p *pane) chooseByName(rec *recording.Recording) {
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

// question is what the pane wants to know now.
func (p *pane) question() session.Question {
	q := session.Question{Generation: p.Generation, Threads: p.Palette.Mode == theme.ByThread, Query: p.Query(), Transforms: p.Transforms, Search: p.Search.Pattern, By: analyze.ByFunction}
	p.FollowPick()
	if x, ok := p.panel().(panel.Asker[*panel.Side, session.Question]); ok {
		x.Ask(&p.Side, &q)
	}
	return q
}
