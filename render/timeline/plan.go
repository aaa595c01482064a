// Package timeline draws timelines: a row for each thread with its lanes of spans or
// samples, rows for windows and counters, the ruler and the overview.
package timeline

import (
	"image"
	"math"
	"slices"
	"sort"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
)

// Sizes in dp.
const (
	GutterWidth  = 170
	laneHeight   = 18
	trackPad     = 6
	minTrack     = 38 // two lines of text in the gutter
	instantTrack = 22 // a thread with nothing but instants
	headerHeight = 22
	windowHeight = 30
	counterSize  = 42
	// compactLanes is the number of lanes that a deep track shows until it is unfolded,
	// if other tracks need room too.
	compactLanes = 8
	// mostFound is the largest number of lanes that a track shows because of search
	// results in it.
	mostFound = 40
	// manyTracks is the number of tracks of a process above which its counters come before
	// them: nobody scrolls past hundreds of threads.
	manyTracks = 24
	// stripHeight is the height of the strip of a thread's states above its spans.
	stripHeight = 6
)

// RowKind is the content of a row.
type RowKind uint8

// Kinds of rows.
const (
	ProcessRow RowKind = iota // Index -1 stands for the pinned tracks
	TrackRow
	WindowRow
	CounterRow
	GroupRow // Index is that of Plan.Group
)

// A Row is one horizontal strip of the timeline. Y and Height are in pixels from the top
// of the content.
type Row struct {
	Kind RowKind
	// Index is the index of the process, track, window set, counter or group.
	Index     int
	Y, Height int
	// Lanes is the number of visible lanes out of All. The first Spans of All are lanes
	// of spans, the rest are depths of samples. Of both, only the outermost are visible:
	// SpanLanes lanes of spans and Depths depths of samples.
	Lanes, All, Spans, SpanLanes, Depths int
	Samples                              *recording.Samples
	Collapsed                            bool
	// Stripes are the tracks that stand for a closed process.
	Stripes []int
	// Strip is the height of the strip of thread states, 0 if there are none. The strip
	// is above the lanes; without lanes, it takes the place of one.
	Strip int
	// Busy is how busy a track is, 0 to 1: the share of the recording that its outermost
	// spans cover, or its sample count relative to the busiest track.
	Busy float32
}

// Heads reports whether the row is the head of the rows below it: a process's or a
// group's.
func (r *Row) Heads() bool { return r.Kind == ProcessRow || r.Kind == GroupRow }

// hasSamples reports whether samples are drawn in the row, below its spans.
func (r *Row) hasSamples() bool { return r.Samples != nil && r.Depths > 0 }

// Shows reports whether a lane is visible.
func (r *Row) Shows(lane int) bool {
	return lane < r.SpanLanes || lane >= r.Spans && lane < r.Spans+r.Depths
}

// slot returns the position of a lane among the visible ones.
func (r *Row) slot(lane int) int {
	if lane >= r.Spans {
		return lane - r.Spans + r.SpanLanes
	}
	return lane
}

// show sets the total number of visible lanes. If a row has both, samples keep at least a
// few of the lanes, and get most of them if their event is the selected one.
func (r *Row) show(lanes int, chosen bool) {
	depths := r.All - r.Spans
	if r.Samples == nil {
		depths = 0
	}
	r.Lanes = min(lanes, r.All)
	few := r.Lanes * 3 / 8
	switch {
	case depths == 0:
		r.SpanLanes = r.Lanes
	case chosen:
		r.SpanLanes = min(r.Spans, max(r.Lanes-depths, min(few, r.Lanes-1)))
	default:
		r.SpanLanes = min(r.Spans, r.Lanes-min(depths, few))
	}
	r.Depths = min(depths, r.Lanes-r.SpanLanes)
}

// Fold says how much of a track is shown.
type Fold uint8

// Folds of a track.
const (
	Auto   Fold = iota // up to compactLanes if there are several tracks, the busiest track more
	Full               // every lane
	Closed             // one lane
)

// Plan is the vertical layout of a recording's rows.
type Plan struct {
	Rows   []Row
	Height int
	// Held is the total height of the rows of pinned tracks, which stay at the top while
	// the others scroll.
	Held int
	// Scale is the number of pixels per dp.
	Scale float32
	// Empty is the reason why there is nothing to show, "" if there is something.
	Empty string
	// Opened is the index of the busiest thread's row if it shows more lanes than others of
	// its depth, -1 for none.
	Opened int
	// Unseen is the number of tracks that Layout's Hidden and Filter leave out.
	Unseen int

	rec     *recording.Recording
	order   func(a, b int) int // compares two tracks
	cpu     *recording.OnCPU
	groups  []Group
	weighed []weighed
}

// A Layout holds the options for laying out a recording.
type Layout struct {
	Scale float32
	// Event and Metric select the samples and windows that are shown.
	Event, Metric int
	// Folds holds the tracks whose fold is not Auto, Closed the processes that are
	// closed.
	Folds  map[int]Fold
	Closed map[int]bool
	// Groups holds the groups, by name, that were opened or closed by hand.
	Groups map[string]bool
	// Hidden tracks are left out. So are tracks if neither their own name nor their
	// process's contains the words of Filter. Pinned tracks come first. In a process,
	// tracks in Order come before the others; Sort arranges the rest.
	Hidden map[int]bool
	Pinned []int
	// Hold is the room, in pixels, for pinned rows that stay at the top while others
	// scroll.
	Hold   int
	Order  []int
	Sort   Sort
	Filter string
	// OnCPU, if known, tells how busy threads are.
	OnCPU *recording.OnCPU
	// Found maps a track to the number of span lanes needed to show the search results in
	// it; rows that are Auto grow to that number.
	Found map[int]int
	// Deep is the number of lanes for which there is room on screen: the busiest thread
	// shows that many if it is Auto. 0 opens no thread.
	Deep int
}

// Sort is the order of the tracks of a process.
type Sort string

// Orders of tracks.
const (
	SortFile Sort = ""     // in file order
	SortName Sort = "name" // by name, then id
	SortBusy Sort = "busiest"
)

// Sorts lists the orders in the sequence in which the window offers them.
var Sorts = []Sort{SortFile, SortName, SortBusy}

func (l Layout) px(dp float32) int { return int(math.Round(float64(dp * l.Scale))) }

// NewPlan lays out a recording.
func NewPlan(rec *recording.Recording, l Layout) *Plan {
	p := &Plan{Scale: l.Scale, Opened: -1, rec: rec, cpu: l.OnCPU}
	if !rec.HasTime {
		p.Empty = "No timeline"
		return p
	}
	byProcess, pinned, unseen, compare := byProcess(rec, l)
	p.Unseen, p.order = unseen, compare
	shown, most := 0, 1+len(byProcess)+len(rec.Counters)+len(rec.Windows)
	for pi, ts := range append(byProcess, pinned) {
		if pi >= len(rec.Processes) || !rec.Processes[pi].Grouped {
			most += len(ts)
		}
		for _, t := range ts {
			if shown > 1 { // counting to two suffices, and there may be a million
				break
			}
			if lanes, _, _ := lanesOf(rec, t, l.Event); lanes > 0 || rec.Tracks[t].States.Len() > 0 {
				shown++
			}
		}
	}
	// A million threads have a row each, so the slice is allocated once instead of
	// growing.
	p.Rows = make([]Row, 0, most)
	counters := countersOf(rec, l)
	headers := 0
	for pi, ts := range byProcess {
		if len(ts)+len(counters[pi]) > 0 {
			headers++
		}
	}
	p.process(rec, l, -1, pinned, nil, shown, true)
	p.hold(l.Hold)
	order, recordings := byRecording(rec, processOrder(rec))
	open, last := true, ""
	for k, pi := range order {
		if name := rec.Processes[pi].Recording; name != last {
			open, last = p.recording(l, order[k:], byProcess, counters, recordings), name
		}
		if !open {
			continue
		}
		p.process(rec, l, pi, byProcess[pi], counters[pi], shown, headers > 1 || named(rec, pi))
	}
	for i, w := range rec.Windows {
		if w.Event == l.Event && len(w.Windows) > 0 {
			p.add(Row{Kind: WindowRow, Index: i, Height: l.px(windowHeight)})
		}
	}
	if len(p.Rows) == 0 && l.Filter == "" && len(l.Hidden) == 0 {
		p.Empty = "No timestamps"
	}
	p.shares()
	p.open(l, shown)
	return p
}

// open shows more lanes of the busiest thread that does not show all its lanes, as many
// as there is room for. Of threads that are about as busy, it is the first.
func (p *Plan) open(l Layout, shown int) {
	best := -1
	for i := range p.Rows {
		r := &p.Rows[i]
		if r.Kind != TrackRow || r.Lanes == r.All || l.Folds[r.Index] != Auto || p.rec.Tracks[r.Index].Kind != recording.ThreadTrack || p.Holds(r) {
			continue
		}
		if best < 0 || r.Busy > 1.25*p.Rows[best].Busy {
			best = i
		}
	}
	if best < 0 || l.Deep <= compactLanes {
		return
	}
	old := p.Rows[best]
	r := trackRow(p.rec, l, old.Index, shown, l.Deep)
	more := r.Height - old.Height
	if more <= 0 {
		return
	}
	r.Y, r.Busy = old.Y, old.Busy
	p.Rows[best], p.Opened = r, best
	for i := range p.Rows[best+1:] {
		p.Rows[best+1+i].Y += more
	}
	p.Height += more
}

// shares converts numbers of samples to shares of the busiest track's number.
func (p *Plan) shares() {
	most := 0
	for i := range p.Rows {
		if r := &p.Rows[i]; r.Samples != nil && r.Spans == 0 {
			most = max(most, r.Samples.Len())
		}
	}
	for i := range p.Rows {
		if r := &p.Rows[i]; r.Samples != nil && r.Spans == 0 {
			r.Busy = float32(r.Samples.Len()) / float32(max(1, most))
		}
	}
}

func (p *Plan) add(r Row) {
	r.Y = p.Height
	p.Height += r.Height
	p.Rows = append(p.Rows, r)
}

func named(rec *recording.Recording, process int) bool {
	p := &rec.Processes[process]
	return p.Name != "" || p.PID != 0
}

// process adds a process's header, its tracks and its counters.
func (p *Plan) process(rec *recording.Recording, l Layout, pi int, tracks, counters []int, shown int, header bool) {
	empty := func(ti int) bool {
		lanes, _, _ := lanesOf(rec, ti, l.Event)
		return lanes == 0 && len(rec.Tracks[ti].Instants) == 0 && rec.Tracks[ti].States.Len() == 0
	}
	if len(counters) == 0 && !slices.ContainsFunc(tracks, func(ti int) bool { return !empty(ti) }) {
		return
	}
	closed := l.Closed[pi]
	if row := (Row{Kind: ProcessRow, Index: pi, Height: l.px(headerHeight)}); closed && header {
		p.add(p.closed(row, l, tracks, len(rec.Processes) > manyTracks))
	} else if header {
		p.add(row)
	}
	if closed {
		return
	}
	below := len(tracks) <= manyTracks
	if !below {
		p.counters(l, counters)
	}
	for _, g := range groups(rec, l, pi, tracks) {
		if g.headed() {
			closed := !l.open(&g, len(tracks))
			p.groups = append(p.groups, g)
			p.add(Row{Kind: GroupRow, Index: len(p.groups) - 1, Height: l.px(minTrack), Collapsed: closed, Busy: float32(min(1, g.Busy))})
			if closed {
				continue
			}
		}
		if pi >= 0 && rec.Processes[pi].Grouped {
			sortTracks(g.Tracks, p.order)
		}
		for _, ti := range g.Tracks {
			if !empty(ti) {
				p.add(trackRow(rec, l, ti, shown, compactLanes))
			}
		}
	}
	if below {
		p.counters(l, counters)
	}
}

func (p *Plan) counters(l Layout, counters []int) {
	for _, ci := range counters {
		p.add(Row{Kind: CounterRow, Index: ci, Height: l.px(counterSize)})
	}
}

// trackRow lays out a track. shown is the number of tracks that are not empty, counted up
// to 2. If there are several, a track that is Auto and has more than compact+2 lanes shows
// only compact of them.
func trackRow(rec *recording.Recording, l Layout, ti, shown, compact int) Row {
	t := rec.Tracks[ti]
	lanes, spans, samples := lanesOf(rec, ti, l.Event)
	bare := lanes == 0 && t.States.Len() == 0 // it has nothing but instants
	lanes = max(1, lanes)
	r := Row{Kind: TrackRow, Index: ti, All: lanes, Lanes: lanes, Spans: spans, Samples: samples}
	chosen := l.Event < len(rec.Events) && rec.Events[l.Event].Basis != recording.FromSpans
	switch {
	case l.Folds[ti] == Closed:
		lanes, r.Collapsed = 1, true
	case l.Folds[ti] == Auto && shown > 1 && lanes > compact+2:
		lanes = compact
	}
	r.show(lanes, chosen)
	if n := min(l.Found[ti], spans, mostFound); n > r.SpanLanes && !r.Collapsed {
		r.SpanLanes, r.Lanes = n, n+r.Depths
	}
	r.Height = l.px(float32(r.Lanes)*laneHeight) + l.px(trackPad)
	switch {
	case t.States.Len() == 0:
	case spans == 0 && samples == nil:
		r.Strip = l.px(laneHeight)
	default:
		r.Strip = l.px(stripHeight)
		r.Height += r.Strip + l.px(1)
	}
	switch {
	case bare:
		r.Height = l.px(instantTrack)
	case !r.Collapsed:
		r.Height = max(r.Height, l.px(minTrack))
	}
	share, _ := busy(rec, l.OnCPU, ti)
	r.Busy = float32(share)
	return r
}

// lanesOf counts a track's lanes for an event: the lanes of spans (including open ones)
// and, below them, the depths of samples.
func lanesOf(rec *recording.Recording, ti, event int) (all, spans int, samples *recording.Samples) {
	t := rec.Tracks[ti]
	spans = max(len(t.Lanes), len(t.Open))
	samples = t.SamplesOf(event)
	if samples == nil && event < len(rec.Events) && rec.Events[event].Basis == recording.FromSpans && len(t.Samples) > 0 {
		samples = t.Samples[0]
	}
	all = spans
	if samples != nil {
		all += max(1, samples.Depth())
	}
	return all, spans, samples
}

// LanesIn returns how many lanes fit into a height in pixels.
func LanesIn(height int, scale float32) int { return int(float32(height) / (laneHeight * scale)) }

// MoreButton returns the position, in the picture, of the button that shows a row's hidden
// lanes, beside names gutter pixels wide; empty if it shows them all.
func (p *Plan) MoreButton(r *Row, scroll, gutter int) image.Rectangle {
	px := func(dp float32) int { return int(math.Round(float64(dp * p.Scale))) }
	if r.Kind != TrackRow || r.Collapsed || r.Lanes >= r.All || r.Height < px(60) {
		return image.Rectangle{}
	}
	bottom := p.Top(r, scroll) + r.Height - px(5)
	return image.Rect(px(22), bottom-px(18), gutter-px(8), bottom)
}

// moreText returns the text of the button.
func (r *Row) moreText() string { return "Show " + safetext.Plural(r.All-r.Lanes, "more lane") }

// At returns the index of the row at y in the content, -1 if there is none.
func (p *Plan) At(y int) int {
	i := sort.Search(len(p.Rows), func(i int) bool { return p.Rows[i].Y+p.Rows[i].Height > y })
	if i == len(p.Rows) || y < 0 {
		return -1
	}
	return i
}

// laneTop returns where a lane begins, in pixels from the top of its row.
func (p *Plan) laneTop(r *Row, lane int) int {
	top := int(math.Round(float64(p.Scale * trackPad / 2)))
	if lane == recording.StateLane {
		return top
	}
	if r.Strip > 0 && r.hasLanes() {
		top += r.Strip + int(math.Round(float64(p.Scale)))
	}
	return top + int(math.Round(float64(float32(r.slot(lane))*laneHeight*p.Scale)))
}

// hasLanes reports whether the row has any lanes below the strip of states.
func (r *Row) hasLanes() bool { return r.Spans > 0 || r.Samples != nil }
