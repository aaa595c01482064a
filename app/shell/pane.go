package shell

import (
	"image"

	gio "gioui.org/widget"

	"ashlar/app/doc"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// picked is the one thing whose details are shown: a bar of the timeline or a
// node of the flamegraph.
type picked struct {
	hit  timeline.Hit
	node int32 // of tree
	tree *analyze.Tree
	fn   recording.FuncID
	is   pickKind
	near bool // the sandwich knows of it
}

type pickKind uint8

const (
	pickNone pickKind = iota
	pickBar
	pickNode
	pickWindow
	pickFunc // a function, without a place
	pickCounter
	pickInstant
)

// named tells whether what is picked has a function.
func (p *picked) named() bool { return p.is == pickBar || p.is == pickNode || p.is == pickFunc }

// pane shows one recording.
type pane struct {
	doc  *doc.Doc
	rec  *recording.Recording
	demo bool           // it is the built-in one, which has no path
	part recording.Part // what was asked to be opened of it
	path string
	exe  string // the program that names were taken from, "" for the one the file names
	kept bool   // among the files that were opened
	// visit is what is left to do of an address.
	visit visit
	// visited tells that an address has just been gone to: that the pane looks as
	// it says is no wish to look so ever after.
	visited bool
	marks   marksPart
	// generation is that of rec; the pane is behind while there is a newer one.
	generation int
	behind     bool
	took       *taken // how the recording was taken over last
	unfollow   func() // stops following; nil when the file is not followed

	sourcePart sourcePart

	event, metric         int
	wantEvent, wantMetric string

	view  timeline.View
	reach [2]int64 // how far the view may go; the recording where they are equal
	moved bool     // the person has moved the view: it no longer follows loading
	shown bool
	// Maps and lists of tracks are replaced, never written to (see with).
	folds  map[int]timeline.Fold
	closed map[int]bool
	hidden map[int]bool // tracks that are not shown
	pinned []int        // tracks that are shown first
	order  []int        // tracks in the order they were dragged to
	like   []int        // and in which they stand while they were not: as on the other side
	sort   timeline.Sort
	filter string          // of the tracks' names
	sel    recording.Scope // what everything below the timeline answers for; its tracks ascend
	pick   picked
	hover  *recording.FuncID
	copy   bool
	tab    int
	split  float32 // the timeline's share of the height; 0 until it is chosen

	palette *theme.Palette
	// paletteOf changes with what colours stand for.
	paletteOf int
	bounds    paneBounds
	timeline  timelinePart
	flame     flamePart
	table     tablePart
	about     aboutPart
	history   history[place]
	splitter  widget.Drag
	dragged   float32
	tabKeys   [len(tabs)]widget.ClickArea
	near      nearPart
	stats     statsPart
	heat      heatPart
	search    searchPart

	transforms []analyze.Transform
	chipClicks []widget.ClickArea

	motion  motion
	tracks  filterPart
	rowsMap mapPart
	flows   flowPart
	rank    rankPart
	sideOf  sidePart
	// goal is the time that was gone to, while atGoal; rangeFrom where the
	// selected range was begun by keys.
	goal, rangeFrom int64
	atGoal          bool
	wantMenu        bool // of what is selected, asked for by a key
	unfiltered      int  // the height that all rows want

	eventButton, metricButton, viewButton gio.Clickable
	statusClick                           widget.ClickArea
}

var tabs = [...]string{"Flamegraph", "Functions", "Callers & callees", "Statistics", "Heatmap", "Source", "About this file"}

const (
	tabFlame = iota
	tabTable
	tabNear
	tabStats
	tabHeat
	tabSource
	tabAbout
)

func newPane(d *doc.Doc) *pane {
	rec, generation := d.Latest()
	return &pane{table: tablePart{tableShape: newTableShape()}, doc: d, rec: rec, generation: generation, folds: map[int]timeline.Fold{}, closed: map[int]bool{}, hidden: map[int]bool{}}
}

// layout lays out the pane in r.
func (p *pane) layout(s *Shell, u *ui.UI, r image.Rectangle) {
	p.update(s)
	p.took = nil // nobody else goes by the old numbers
	if _, err := p.arrive(); err != nil {
		s.Say(err.Error())
	}
	p.timeline.replan(p, u.Metric.PxPerDp)
	if err := p.doc.Err(); err != nil && !p.rec.Done {
		p.failed(u, r, err)
		return
	}
	p.place(s, u, r)
	p.arriveScrolled(u)
	p.events(s, u)
	p.motion.step(s, p, u)
	p.flows.update(s, p)
	if !p.behind {
		p.doc.Ask(p.question())
	}
	b := &p.bounds
	if s.View.above() {
		p.timeline.layout(s, p, u)
	}
	if s.View.below() {
		p.lower(s, u)
	}
	if s.View == Both && p.timed() {
		p.layoutSplitter(u, image.Rect(r.Min.X, b.tabs.Min.Y-u.Px(4), r.Max.X, b.tabs.Min.Y+u.Px(4)), r)
	}
	p.remember(u)
	p.timeline.tooltip(s, p, u)
	p.flame.tooltip(s, p, u)
	p.near.pic.tooltip(s, p, u)
	p.heat.tooltip(s, p, u)
}

// update takes the newest snapshot and what follows from it.
func (p *pane) update(s *Shell) {
	was := p.rec
	rec := p.latest()
	fresh := rec != was
	p.rec = rec
	p.colours(s)
	if len(rec.Events) > 0 {
		p.chooseByName(rec)
		p.event = min(p.event, len(rec.Events)-1)
		if !p.shown {
			p.metric = rec.Events[p.event].Primary
		}
		p.metric = min(p.metric, len(rec.Events[p.event].Metrics)-1)
		p.shown = true
	}
	if (fresh || p.view.To == 0) && !p.moved && rec.HasTime {
		p.view = p.view.Fit(p.extent())
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
		p.event, p.metric, p.shown = i, m, true
		p.wantEvent, p.wantMetric = "", ""
		return
	}
}

// question is what the pane wants to know now.
func (p *pane) question() doc.Question {
	q := doc.Question{Generation: p.generation, Threads: p.palette.Mode == theme.ByThread, Query: p.query(), Transforms: p.transforms, Search: p.search.pattern, Stats: p.tab == tabTable, By: p.grouped(), Heat: p.tab == tabHeat && p.rec.HasTime}
	if p.near.follow(p); p.tab == tabNear && p.near.any {
		ref := analyze.RefTo(p.near.of)
		q.Around = &ref
	} else if f, ok := p.pickedFunction(); ok && p.tab == tabStats {
		q.Durations = functionsOf(p.rec, f)
	} else if ok && p.tab == tabSource {
		q.Source, _ = p.sourceFile()
	}
	return q
}

// grouped is what the table's rows stand for, as far as that is asked for.
func (p *pane) grouped() analyze.By {
	if p.tab != tabTable {
		return analyze.ByFunction
	}
	return p.table.group
}

func (p *pane) query() analyze.Query {
	q := analyze.Query{First: p.has(analyze.ByTime()), Event: p.event, Metric: p.metric, Scope: p.sel}
	return q.With(p.rec, p.transforms)
}

// metricOf is the metric that is shown, never nil.
func (p *pane) metricOf() *recording.Metric {
	if p.event < len(p.rec.Events) {
		if e := &p.rec.Events[p.event]; p.metric >= 0 && p.metric < len(e.Metrics) {
			return &e.Metrics[p.metric]
		}
	}
	return &recording.Metric{}
}
