package shell

import (
	"image"
	"math"

	"gioui.org/widget"

	"ashlar/app/doc"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/render/flame"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/ui"
)

// selection is what everything below the timeline answers for.
type selection struct {
	ranged   bool
	from, to int64
	// tracks limits it to some threads, sorted; nil means all.
	tracks []int
}

func (s selection) any() bool { return s.ranged || s.tracks != nil }

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
	marks marksPart
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
	sort   timeline.Sort
	filter string // of the tracks' names
	sel    selection
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
	splitter  drag
	dragged   float32
	tabKeys   [len(tabs)]clickArea
	near      nearPart
	stats     statsPart
	heat      heatPart
	search    searchPart

	transforms []analyze.Transform
	chipClicks []clickArea

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

	eventButton, metricButton, viewButton widget.Clickable
	statusClick                           clickArea
}

// paneBounds are the places of the parts in the last frame, in pixels.
type paneBounds struct {
	overview, ruler, lanes, rows, tabs, lower, side image.Rectangle
	gutter                                          int
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
	p.events(s, u)
	p.motion.step(s, p, u)
	p.flows.update(s, p)
	if !p.behind {
		p.doc.Ask(p.question())
	}
	b := &p.bounds
	if s.View != Flame {
		p.timeline.layout(s, p, u)
	}
	if s.View != Timeline {
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
	q := analyze.Query{First: p.has(analyze.ByTime()), Event: p.event, Metric: p.metric, Ranged: p.sel.ranged, From: p.sel.from, To: p.sel.to,
		Tracks: p.sel.tracks}
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

// place divides r among the parts.
func (p *pane) place(s *Shell, u *ui.UI, r image.Rectangle) {
	b := &p.bounds
	*b = paneBounds{gutter: u.Px(timeline.GutterWidth)}
	top := r.Min.Y
	bottom := r.Max.Y
	right := r.Max.X
	cut := bottom
	if s.View == Both {
		if p.timed() {
			cut = top + p.timelineHeight(u, r.Dy())
		} else {
			cut = top + u.Px(44)
		}
	} else if s.View == Flame {
		cut = top
	}
	if s.View != Flame {
		p.placeTimeline(u, image.Rect(r.Min.X, top, right, cut))
	}
	if s.View == Timeline {
		return
	}
	y := cut
	if s.View == Both {
		b.tabs = image.Rect(r.Min.X, y, right, y+u.Px(tabsHeight))
		y = b.tabs.Max.Y
		w := min(u.Px(sideWidth), r.Dx()/3)
		b.side = image.Rect(right-w, y, right, bottom)
		right = b.side.Min.X
	}
	b.lower = image.Rect(r.Min.X, y, right, bottom)
}

// placeTimeline divides r among overview, ruler and lanes.
func (p *pane) placeTimeline(u *ui.UI, r image.Rectangle) {
	b := &p.bounds
	if !p.timed() {
		b.lanes = r
		return
	}
	right := r.Max.X - u.Px(timeline.MapWidth+4)
	y := r.Min.Y + u.Px(overviewTop)
	b.overview = image.Rect(r.Min.X, y, right, y+u.Px(timeline.OverviewHeight))
	y = b.overview.Max.Y + u.Px(2)
	b.ruler = image.Rect(r.Min.X, y, right, y+u.Px(timeline.RulerHeight))
	b.lanes = image.Rect(r.Min.X, b.ruler.Max.Y, right, r.Max.Y)
	b.rows = image.Rect(right+u.Px(2), b.lanes.Min.Y, r.Max.X-u.Px(2), r.Max.Y-u.Px(2))
}

// limits are how far the view goes.
func (p *pane) limits() (from, to int64) {
	if p.reach[0] < p.reach[1] {
		return p.reach[0], p.reach[1]
	}
	return p.rec.Start, p.rec.End
}

// timed tells whether there is a timeline to draw.
func (p *pane) timed() bool { return p.timeline.plan != nil && p.timeline.plan.Empty == "" }

// timelineHeight is how much of height the timeline gets, in pixels: the share
// the person chose, else what its rows need as long as the flamegraph does not
// go short of what it needs.
func (p *pane) timelineHeight(u *ui.UI, height int) int {
	least, most := u.Px(130), height-u.Px(120)
	if p.split > 0 {
		return max(least, min(int(float32(height)*p.split), most))
	}
	strips := u.Px(overviewTop + timeline.OverviewHeight + 2 + timeline.RulerHeight)
	want := strips + u.Px(60)
	if p.timeline.plan != nil {
		want = strips + p.timeline.plan.Height + u.Px(8)
	}
	// Halves that move while a filter is being typed would be a nuisance.
	if p.filter == "" {
		p.unfiltered = want
	} else {
		want = max(want, p.unfiltered)
	}
	share := height * 11 / 20
	if want > share {
		// More than its share only where the flamegraph leaves it.
		below := u.Px(tabsHeight + 220)
		if p.flame.tree != nil {
			below = max(below, u.Px(tabsHeight+2*flamePad)+flame.Height(p.flame.tree, u.Metric.PxPerDp))
		}
		want = max(share, min(want, height-below))
	}
	return max(least, min(want, most))
}

// The view's commands.

func (p *pane) laneWidth() int { return max(1, p.bounds.lanes.Dx()-p.bounds.gutter) }

func (p *pane) zoomAt(factor, x float64) {
	from, to := p.limits()
	p.view = p.view.Zoom(factor, x, p.laneWidth(), from, to)
	p.moved = true
}

// zoomBy zooms at the pointer when it is over the lanes, else in the middle.
func (p *pane) zoomBy(factor float64) {
	x := float64(p.laneWidth()) / 2
	if p.timeline.inside && p.timeline.at.X > float32(p.bounds.gutter) {
		x = float64(p.timeline.at.X) - float64(p.bounds.gutter)
	}
	p.zoomAt(factor, x)
}

func (p *pane) panBy(share float64) {
	w := p.laneWidth()
	from, to := p.limits()
	p.view = p.view.Pan(share*float64(w), w, from, to)
	p.moved = true
}

func (p *pane) scrollBy(px int) {
	if p.flame.inside && p.tab == tabFlame {
		p.flame.scrollBy(px)
		return
	}
	if p.tab == tabTable && p.table.inside {
		p.table.scroll += px
		return
	}
	p.scrollTo(p.view.Scroll + px)
}

func (p *pane) scrollTo(y int) { p.view.Scroll = p.scrollLimit(y) }

// scrollLimit keeps rows from being scrolled past their end.
func (p *pane) scrollLimit(y int) int {
	most := 0
	if p.timeline.plan != nil {
		most = max(0, p.timeline.plan.Height-p.bounds.lanes.Dy())
	}
	return max(0, min(y, most))
}

func (p *pane) fitAll() {
	p.view = p.view.Fit(p.extent())
	p.moved = false
	p.flame.zoomTo(p, nil)
}

// fitSelection zooms to the selected range, else to the picked bar.
func (p *pane) fitSelection() {
	switch {
	case p.pick.is != pickNone && p.pick.is != pickNode && p.pick.hit.End > p.pick.hit.Start:
		p.fit(p.pick.hit.Start, p.pick.hit.End)
	case p.sel.ranged:
		p.fit(p.sel.from, p.sel.to)
	}
}

func (p *pane) fit(from, to int64) {
	if !p.rec.HasTime {
		return
	}
	p.view = p.view.Fit(from, to)
	p.moved = true
}

func (p *pane) setEvent(i int) {
	p.event = i
	p.metric = p.rec.Events[i].Primary
	p.flame.zoomTo(p, nil)
	p.pick = picked{}
}

func (p *pane) nextEvent() {
	if n := len(p.rec.Events); n > 1 {
		p.setEvent((p.event + 1) % n)
	}
}

func (p *pane) nextMetric() {
	if p.event < len(p.rec.Events) {
		p.metric = (p.metric + 1) % max(1, len(p.rec.Events[p.event].Metrics))
	}
}

// back takes back the nearest thing; it does nothing when there is none.
func (p *pane) back() {
	switch {
	case p.searching() || p.search.text != "":
		p.search.clear()
		p.search.blur = true
	case len(p.flame.zoom) > 0 && p.tab != tabNear:
		p.flame.zoomTo(p, nil)
	case p.tab == tabNear && p.near.zoomed():
		p.near.zoom = [2][]step{}
	case p.pick.is != pickNone:
		p.pick = picked{}
	case p.atGoal:
		p.atGoal = false
	case p.sel.any():
		p.sel = selection{}
	case p.filter != "":
		p.filter = ""
	case p.moved:
		p.fitAll()
	}
}

// mark is the function whose bars stand out: the one under the pointer, else
// the picked one.
func (p *pane) mark() func(recording.FuncID) bool {
	var f recording.FuncID
	switch {
	case p.searching():
		if p.palette.Mode == theme.BySearch {
			return nil // colours tell already
		}
		return p.found()
	case p.hover != nil:
		f = *p.hover
	case p.pick.named():
		f = p.pick.fn
	default:
		return nil
	}
	return func(g recording.FuncID) bool { return g == f }
}

// marked is what mark depends on, to tell whether a picture is out of date.
func (p *pane) marked() int64 {
	switch {
	case p.searching():
		p.found() // which may be new
		return -2 - int64(p.search.version)
	case p.hover != nil:
		return int64(*p.hover)
	case p.pick.named():
		return int64(p.pick.fn)
	}
	return -1
}

// found tells which functions the search matches.
func (p *pane) found() func(recording.FuncID) bool {
	sp := &p.search
	var hits *analyze.Hits
	if !sp.pattern.OfFunctions() {
		if hits = p.doc.Hits(); hits == nil || !hits.Pattern.Is(sp.pattern) {
			hits = nil // not known yet
		}
	}
	if !sp.isOf.Is(sp.pattern) || sp.isHits != hits || len(sp.is) < p.rec.Functions.Len() {
		sp.is, sp.isOf, sp.isHits = make([]int8, p.rec.Functions.Len()), sp.pattern, hits
		sp.version++
	}
	// Only those that are asked for are looked at: there may be a million.
	rec, is, pattern := p.rec, sp.is, sp.pattern
	return func(f recording.FuncID) bool {
		if int(f) >= len(is) {
			return false
		}
		if is[f] == 0 {
			is[f] = -1
			if hits != nil {
				if hits.Matches(f) {
					is[f] = 1
				}
			} else if fn := rec.Functions.At(int(f)); pattern.MatchFunction(&fn) {
				is[f] = 1
			}
		}
		return is[f] > 0
	}
}

// markAt is what marks the timeline's bars where functions do not tell.
func (p *pane) markAt() func(track, lane, i, n int) bool {
	if p.searching() && !p.search.pattern.OfFunctions() {
		if h := p.doc.Hits(); h != nil && h.Pattern.Is(p.search.pattern) {
			return h.Marked
		}
	}
	return nil
}

func clampInt64(f float64) int64 {
	return int64(math.Max(math.MinInt64/4, math.Min(math.MaxInt64/4, f)))
}
