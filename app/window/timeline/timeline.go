// Package timeline implements the upper half of the window for one recording: the
// overview, the ruler, the tracks of threads, counters and windows, and their mouse and
// keyboard input.
package timeline

import (
	"context"
	"image"
	"math"
	"reflect"
	"slices"
	"unsafe"

	"gioui.org/f32"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/core/session"
	"ashlar/app/core/view"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/search"
	"ashlar/ingest/query/spans"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// Timeline is one side's upper half: overview, ruler and rows.
type Timeline struct {
	panel.Side
	// Callbacks connects the timeline to the window.
	Callbacks Callbacks

	Motion  motion
	Tracks  filterPart
	RowsMap mapPart
	Flows   flowPart
	way     way
	// Like is the other side's order of tracks, which is used if the user has chosen
	// none.
	Like      []int
	rangeFrom int64 // the time at which keys began the selected range
	// Room is the maximum height of the lanes, in pixels, regardless of their content.
	Room int
	// Unfiltered is the height of all rows without a filter.
	Unfiltered int
	Flag       string // id of the mark last gone to
	// foundLanes holds, by track, the number of lanes needed to show the search hits.
	foundLanes map[int]int
	foundOf    *search.Hits

	// against holds the calls that the selected calls are compared with.
	against session.Async[againstKey, *recording.CallSet]
	// activity holds the running times of the groups of goroutines.
	activity session.Async[*recording.Recording, *timeline.Activity]
	// First is the extent of the first view of both sides of a comparison; {0, 0} if there is none.
	First [2]int64
	// Core is the part of the recording coreOf that is shown first.
	Core   spans.Core
	coreOf *recording.Recording
	cores  session.Async[*recording.Recording, spans.Core]
	second bool // the range being dragged is the second one, for a comparison
	// Linkable reports whether the recording is one of two being compared.
	Linkable bool

	marks    []bool // where the search has hits, in the overview
	marksOf  marksKey
	Plan     *timeline.Plan
	planned  *recording.Recording // recording that Plan was made for
	layoutOf timeline.Layout      // layout that Plan was made for

	Lanes, RulerArea, Strip widget.Drag
	Inside                  bool
	At                      f32.Point
	KeyedAt                 f32.Point // pointer position at the last key press
	Hit                     timeline.Hit
	grab                    grab
	origin                  timeline.View // view when the drag began
	anchor                  int64         // time where a range selection began
	boxing                  bool          // the next drag draws a box

	picture   *ui.Picture
	canvases  raster.Pool
	gathered  timeline.Gathered
	pictKey   pictKey
	bars      int
	ruler     *ui.Picture
	rulers    raster.Pool
	rulerKey  rulerKey
	overview  *ui.Picture
	overKey   overKey
	density   []float64
	densityOf densityKey
}

// Forget discards the pictures, so that the next frame redraws everything.
func (p *Timeline) Forget() { p.Plan, p.densityOf, p.pictKey = nil, densityKey{}, pictKey{} }

// Callbacks connects a timeline to the rest of the window.
type Callbacks struct {
	// Items returns the menu items for the item under the pointer that the timeline itself
	// cannot provide.
	Items func() []widget.Item
	// MarkItems returns the menu items for a mark, or for the time at the pointer if m is
	// nil.
	MarkItems func(m *view.Mark) []widget.Item
	GoToMark  func(m view.Mark)
	// KeyOf returns the key of a command, for menus; "" if it has none.
	KeyOf func(title string) string
}

// grab names the thing that a drag on the timeline moves.
type grab uint8

const (
	grabNone grab = iota
	grabPan
	grabRange
	grabView // the view's rectangle in the overview
	grabLeft // its edges
	grabRight
	grabTrack // a track, by its name
	grabBox   // a box to zoom to
)

type pictKey struct {
	plan  *timeline.Plan
	view  timeline.View
	size  image.Point
	pal   *theme.Palette
	mark  int64
	fonts float32
	// chosen identifies the selection of threads by the address of its list, which is
	// never modified in place.
	chosen *int
	count  int
	sets   [2]*recording.CallSet
	ran    *timeline.Activity
}

type rulerKey struct {
	view  timeline.View
	start int64
	size  image.Point
	theme *theme.Theme
	pills [2][2]int // from and to of the pills on the ruler
}

type overKey struct {
	of    densityKey
	theme *theme.Theme
	size  image.Point
	own   [2]int
	read  float64
}

type densityKey struct {
	rec           *recording.Recording
	event, metric int
	n             int
}

// Layout lays out and draws the timeline.
func (p *Timeline) Layout(s *panel.Host, u *ui.UI) {
	b := &p.Bounds
	if !p.Timed() {
		p.without(u)
		return
	}
	if p.Rec.Done { // the window may have grown
		p.ScrollTo(p.View.Scroll)
	}
	p.drawOverview(u)
	p.drawRuler(s, u)
	p.drawLanes(s, u)
	p.drawSelection(u)
	p.drawMarks(s, u)
	p.Lanes.Area(u, b.Lanes, p.cursor())
	p.RulerArea.Area(u, b.Ruler, pointer.CursorColResize)
	p.Strip.Area(u, b.Overview, p.stripCursor(u))
	u.Area(&p.Tracks, nil)
	p.Tracks.layout(p, u)
	if u.Area(&p.Lanes, func(key.Event) bool { return false }, &p.RulerArea, &p.Strip) {
		u.Ring(image.Rect(b.Lanes.Min.X, b.Ruler.Min.Y, b.Lanes.Max.X, b.Lanes.Max.Y), 2)
	}
	p.RowsMap.layout(p, u)
	u.NoArea()
}

func (p *Timeline) cursor() pointer.Cursor {
	switch {
	case p.grab == grabPan:
		return pointer.CursorGrabbing
	case p.boxing:
		return pointer.CursorCrosshair
	case p.Inside && p.Hit.Gutter:
		return pointer.CursorPointer
	}
	return pointer.CursorDefault
}

func (p *Timeline) stripCursor(u *ui.UI) pointer.Cursor {
	if p.grab == grabLeft || p.grab == grabRight || p.Strip.Inside && p.edgeAt(u) != grabView {
		return pointer.CursorColResize
	}
	return pointer.CursorGrab
}

// rows returns the layout of the rows.
func (p *Timeline) rows(scale float32) timeline.Layout {
	order := p.Order
	if order == nil {
		order = p.Like
	}
	hold := 0
	if len(p.Pinned) > 0 { // unpinned rows keep a third of the height
		hold = p.Bounds.Lanes.Dy() * 2 / 3
	}
	return timeline.Layout{Scale: scale, Hold: hold, Event: p.Event, Metric: p.Metric, Folds: p.Folds, Closed: p.Closed, Groups: p.Groups,
		Hidden: p.Hidden, Pinned: p.Pinned, Order: order, Sort: p.Sort, Filter: p.Filter, OnCPU: p.Doc.SpansOnCPU(p.Rec), Found: p.found(), Deep: p.deep(scale)}
}

// deep returns the number of lanes that the busiest thread may show: those for which
// there is room below its name and its process. It returns 0 while the recording is being
// read, because another thread may become the busiest.
func (p *Timeline) deep(scale float32) int {
	if !p.Rec.Done {
		return 0
	}
	return max(0, timeline.LanesIn(p.Room, scale)-2)
}

// leastSearched is the minimum number of letters in a search for which rows grow to show
// the hits. Shorter texts match nearly everything.
const leastSearched = 3

// found returns, by track, the number of lanes needed to show the search hits; nil
// without a search.
func (p *Timeline) found() map[int]int {
	h := p.Doc.Hits()
	if h == nil || p.Search.Pattern == nil || len(p.Find) < leastSearched || !h.Of(p.Rec) || !h.Pattern.Equal(p.Search.Pattern) {
		return nil
	}
	if p.foundOf != h {
		p.foundLanes, p.foundOf = h.Lanes(), h
	}
	return p.foundLanes
}

// Replan lays out the rows again if their input has changed.
func (p *Timeline) Replan(scale float32) {
	l := p.rows(scale)
	if p.Plan == nil || p.planned != p.Rec || !reflect.DeepEqual(p.layoutOf, l) {
		p.Plan, p.planned = timeline.NewPlan(p.Rec, l), p.Rec
		p.layoutOf = l
	}
}

func (p *Timeline) drawLanes(s *panel.Host, u *ui.UI) {
	b := &p.Bounds
	k := pictKey{p.Plan, p.View, b.Lanes.Size(), p.Palette, p.Marked(), u.Metric.PxPerDp, unsafe.SliceData(p.Scope.Tracks), len(p.Scope.Tracks), p.sets(s.Do.Wake), p.ran(s.Do.Wake)}
	if !p.picture.Serves(u) || p.pictKey != k {
		px := u.Metric.PxPerDp
		pic := timeline.Picture{
			Rec: p.Rec, Plan: p.Plan, View: p.View, Palette: p.Palette, Gutter: b.Gutter,
			Fonts: timeline.Fonts{Bar: s.Fonts.Regular(11.5 * px), Name: s.Fonts.Medium(12.5 * px), Small: s.Fonts.Regular(11.5 * px)},
			Mark:  p.Mark(), MarkAt: p.MarkAt(), DimOthers: p.Searching(), Event: p.Event, Metric: p.Metric, Chosen: p.chosenTracks(), Activity: k.ran,
			Gathered: &p.gathered, OnCPU: p.layoutOf.OnCPU, Sets: slices.DeleteFunc(slices.Clone(k.sets[:]), func(s *recording.CallSet) bool { return s == nil }),
		}
		p.picture = u.Cover(&p.canvases, b.Lanes.Size(), pic.Paint)
		p.pictKey, p.bars = k, pic.Bars
	}
	s.Bars += p.bars
	u.Draw(p.picture, b.Lanes.Min)
	if len(p.Plan.Rows) == 0 {
		text := "All threads are hidden. Press V to list them"
		if p.Filter != "" {
			text = "No thread, process or counter matches " + panel.CutName(p.Filter)
		}
		u.Text(image.Rect(b.Lanes.Min.X+b.Gutter, b.Lanes.Min.Y, b.Lanes.Max.X, b.Lanes.Max.Y), text, ui.Style{Size: 12.5, Color: u.Theme.Dim, Align: ui.Middle})
	}
}

// sets returns the selected calls, as found by the latest answer, and the calls they are
// compared with. The previous ones are shown until new ones are ready.
func (p *Timeline) sets(wake func()) (sets [2]*recording.CallSet) {
	if a := p.Doc.Answer(); p.Scope.Calls != nil && p.Counts(a) && a.Scope.Calls != nil && a.Scope.Calls.Runs != nil {
		sets[0] = a.Scope.Calls
	}
	if b := p.Against; b != nil && b.Calls != nil {
		k := againstKey{p.Rec, p.Generation, b.Calls.Text, b.Ranged, b.From, b.To, unsafe.SliceData(b.Tracks), len(b.Tracks)}
		set, of, ok := p.against.Ask(k, wake, func(ctx context.Context) (*recording.CallSet, error) {
			in, err := calls.Bind(ctx, k.rec, *b)
			return in.Calls, err
		})
		if ok && of.generation == p.Generation {
			sets[1] = set
		}
	}
	return sets
}

// ran returns the activity of the groups of goroutines, nil until it is known.
func (p *Timeline) ran(wake func()) *timeline.Activity {
	if !p.Rec.Done || !p.Plan.HasGroups() {
		return nil
	}
	rec := p.Rec // the next frame may have another
	a, of, ok := p.activity.Ask(rec, wake, func(ctx context.Context) (*timeline.Activity, error) { return timeline.NewActivity(ctx, rec) })
	if !ok || of != p.Rec {
		return nil
	}
	return a
}

// againstKey holds everything that determines the calls compared with the selected ones.
type againstKey struct {
	rec        *recording.Recording
	generation int
	text       string
	ranged     bool
	from, to   int64
	tracks     *int
	n          int
}

func (p *Timeline) drawRuler(s *panel.Host, u *ui.UI) {
	b := &p.Bounds
	k := rulerKey{p.View, p.Rec.Start, b.Ruler.Size(), s.Theme, p.pills(u)}
	if !p.ruler.Serves(u) || p.rulerKey != k {
		p.ruler = u.Paint(&p.rulers, b.Ruler.Size(), func(on raster.Surface) {
			timeline.PaintRuler(on, p.View, p.Rec.Start, s.Theme, s.Fonts.Regular(11*u.Metric.PxPerDp), u.Metric.PxPerDp, b.Gutter, k.pills[:]...)
		})
		p.rulerKey = k
	}
	u.Draw(p.ruler, b.Ruler.Min)
}

func (p *Timeline) drawOverview(u *ui.UI) {
	b := &p.Bounds
	in := image.Rect(b.Overview.Min.X+b.Gutter, b.Overview.Min.Y, b.Overview.Max.X, b.Overview.Max.Y)
	own := [2]int{p.stripX(p.Rec.Start) - b.Overview.Min.X, p.stripX(p.Rec.End) - b.Overview.Min.X}
	w := own[1] - own[0]
	dk := densityKey{p.Rec, p.Event, p.Metric, w}
	if p.densityOf != dk {
		p.density, p.densityOf = timeline.Density(p.Rec, p.Event, p.Metric, w), dk
	}
	read := 1.0
	if pr := p.Doc.Progress(); !pr.Done && pr.Total > 0 {
		read = float64(pr.Bytes) / float64(pr.Total)
	}
	k := overKey{dk, u.Theme, b.Overview.Size(), own, math.Floor(read * float64(w))}
	if !p.overview.Serves(u) || p.overKey != k {
		p.overview = u.Paint(nil, b.Overview.Size(), func(on raster.Surface) {
			timeline.PaintOverview(on, p.density, u.Theme, u.Metric.PxPerDp, b.Gutter, own, read)
		})
		p.overKey = k
	}
	u.Draw(p.overview, b.Overview.Min)
	x0, x1 := p.stripX(p.View.From), p.stripX(p.View.To)
	x0, x1 = max(x0, in.Min.X), min(x1, in.Max.X)
	if x1-x0 < u.Px(3) {
		x1 = x0 + u.Px(3)
	}
	veil := theme.WithAlpha(u.Theme.Background, .62)
	u.Fill(image.Rect(in.Min.X, in.Min.Y, x0, in.Max.Y), veil)
	u.Fill(image.Rect(x1, in.Min.Y, in.Max.X, in.Max.Y), veil)
	if p.Scope.Ranged {
		u.Fill(image.Rect(p.stripX(p.Scope.From), in.Min.Y, max(p.stripX(p.Scope.From)+1, p.stripX(p.Scope.To)), in.Max.Y), theme.WithAlpha(u.Theme.Accent, .25))
	}
	u.Border(image.Rect(x0, in.Min.Y, x1, in.Max.Y), 3, max(1, u.Px(1)), u.Theme.Accent)
	p.drawHits(u, image.Rect(b.Overview.Min.X+own[0], in.Min.Y, b.Overview.Min.X+own[1], in.Max.Y))
}

// stripX returns the pixel of a time in the overview, which covers everything the view
// can show: more than the recording if it is compared with a longer one. stripTime is its
// inverse.
func (p *Timeline) stripX(at int64) int {
	w := p.Bounds.Overview.Dx() - p.Bounds.Gutter
	from, to := p.ViewLimits()
	f := float64(at-from) / float64(max(1, to-from))
	return p.Bounds.Overview.Min.X + p.Bounds.Gutter + int(math.Round(math.Max(-1, math.Min(2, f))*float64(w)))
}

func (p *Timeline) stripTime(x float32) int64 {
	w := p.Bounds.Overview.Dx() - p.Bounds.Gutter
	f := (float64(x) - float64(p.Bounds.Gutter)) / float64(max(1, w))
	from, to := p.ViewLimits()
	return from + clampInt64(f*float64(to-from))
}

// drawHits marks the search hits at the top of the overview.
func (p *Timeline) drawHits(u *ui.UI, in image.Rectangle) {
	h := p.Doc.Hits()
	sp := &p.Search
	if sp.Pattern == nil || h == nil || !h.Pattern.Equal(sp.Pattern) {
		return
	}
	if k := (marksKey{h, in.Dx()}); p.marksOf != k {
		p.marks, p.marksOf = h.Marks(recording.NoTrack, p.Rec.Start, p.Rec.End+1, in.Dx()), k
	}
	for x := 0; x < len(p.marks); x++ {
		from := x
		for x < len(p.marks) && p.marks[x] {
			x++
		}
		if x > from {
			u.Fill(image.Rect(in.Min.X+from, in.Min.Y, in.Min.X+x, in.Min.Y+u.Px(5)), u.Theme.Warn)
		}
	}
}

type marksKey struct {
	hits *search.Hits
	n    int
}
