package shell

import (
	"image"

	gio "gioui.org/widget"

	"ashlar/app/session"
	"ashlar/app/view"
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
	// Look is what a person has chosen: it is undone, kept while a file is
	// followed, and said in addresses.
	view.Look
	doc  *session.Side
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
	renewed    bool   // the recording has just been read anew
	unfollow   func() // stops following; nil when the file is not followed

	sourcePart sourcePart

	wantEvent, wantMetric string

	reach [2]int64 // how far the view may go; the recording where they are equal
	shown bool
	like  []int // the order of tracks while there is no other: as on the other side
	pick  picked
	hover *recording.FuncID
	copy  bool

	palette *theme.Palette
	// paletteOf changes with what colours stand for.
	paletteOf int
	bounds    paneBounds
	timeline  timelinePart
	flame     flamePart
	table     tablePart
	about     aboutPart
	history   history[spot]
	splitter  widget.Drag
	dragged   float32
	tabKeys   [len(tabs)]widget.ClickArea
	near      nearPart
	stats     statsPart
	heat      heatPart
	search    searchPart

	chipClicks []widget.ClickArea

	motion    motion
	tracks    filterPart
	rowsMap   mapPart
	flows     flowPart
	rank      rankPart
	sideOf    sidePart
	rangeFrom int64 // where the selected range was begun by keys
	wantMenu  bool  // of what is selected, asked for by a key
	// unfiltered is the height that all rows want.
	unfiltered int

	eventButton, metricButton, viewButton gio.Clickable
	statusClick                           widget.ClickArea
}

// tabs are those of the lower half; addresses call them by their names, which
// never change.
var tabs = [...]struct{ name, title string }{
	{tabFlame, "Flamegraph"}, {tabTable, "Functions"}, {tabNear, "Callers & callees"}, {tabStats, "Statistics"},
	{tabHeat, "Heatmap"}, {tabSource, "Source"}, {tabAbout, "About this file"},
}

const (
	tabFlame  = view.FirstTab
	tabTable  = "functions"
	tabNear   = "callers"
	tabStats  = "statistics"
	tabHeat   = "heatmap"
	tabSource = "source"
	tabAbout  = "about"
)

func tabNames() (names []string) {
	for i := range tabs {
		names = append(names, tabs[i].name)
	}
	return names
}

// tabAt is a tab's place among the others, -1 for none of that name.
func tabAt(name string) int {
	for i := range tabs {
		if tabs[i].name == name {
			return i
		}
	}
	return -1
}

func newPane(d *session.Side) *pane {
	rec, generation := d.Latest()
	return &pane{Look: view.NewLook(), table: tablePart{tableShape: newTableShape()}, doc: d, rec: rec, generation: generation}
}

// stop ends what is computed in the background to be shown.
func (p *pane) stop() {
	p.rank.Stop()
	p.flows.indices.Stop()
	p.table.order.orders.Stop()
	p.search.list.lists.Stop()
	p.search.list.functions.orders.Stop()
	p.sourcePart.texts.Stop()
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
	p.remember(s, u)
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
		p.Event = min(p.Event, len(rec.Events)-1)
		if !p.shown {
			p.Metric = rec.Events[p.Event].Primary
		}
		p.Metric = min(p.Metric, len(rec.Events[p.Event].Metrics)-1)
		p.shown = true
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
		p.Event, p.Metric, p.shown = i, m, true
		p.wantEvent, p.wantMetric = "", ""
		return
	}
}

// question is what the pane wants to know now.
func (p *pane) question() session.Question {
	q := session.Question{Generation: p.generation, Threads: p.palette.Mode == theme.ByThread, Query: p.query(), Transforms: p.Transforms, Search: p.search.pattern, Stats: p.Tab == tabTable, By: p.grouped(), Heat: p.Tab == tabHeat && p.rec.HasTime}
	if p.near.follow(p); p.Tab == tabNear && p.Around != nil {
		ref := analyze.RefTo(p.near.of(p))
		q.Around = &ref
	} else if f, ok := p.pickedFunction(); ok && p.Tab == tabStats {
		q.Durations = functionsOf(p.rec, f)
	} else if ok && p.Tab == tabSource {
		q.Source, _ = p.sourceFile()
	}
	return q
}

// grouped is what the table's rows stand for, as far as that is asked for.
func (p *pane) grouped() analyze.By {
	if p.Tab != tabTable {
		return analyze.ByFunction
	}
	return p.table.group
}

func (p *pane) query() analyze.Query {
	q := analyze.Query{First: p.has(analyze.ByTime()), Event: p.Event, Metric: p.Metric, Scope: p.Scope}
	return q.With(p.rec, p.Transforms)
}

// metricOf is the metric that is shown, never nil.
func (p *pane) metricOf() *recording.Metric {
	if p.Event < len(p.rec.Events) {
		if e := &p.rec.Events[p.Event]; p.Metric >= 0 && p.Metric < len(e.Metrics) {
			return &e.Metrics[p.Metric]
		}
	}
	return &recording.Metric{}
}
