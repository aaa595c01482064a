// Package timeline is the upper half of the window, one of each recording: the
// overview, the ruler, the rows of threads, counters and windows, and what a
// person does there with the pointer and by keys.
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

	"ashlar/app/panel"
	"ashlar/app/session"
	"ashlar/app/view"
	"ashlar/ingest/calls"
	"ashlar/ingest/recording"
	"ashlar/ingest/search"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Timeline is one side's upper half: overview, ruler and rows.
type Timeline struct {
	panel.Side
	// Does leads to the window.
	Does Acts

	Motion  motion
	Tracks  filterPart
	RowsMap mapPart
	Flows   flowPart
	way     way
	// Like is the order of tracks while there is no other: as on the other side.
	Like      []int
	rangeFrom int64 // where the selected range was begun by keys
	// Unfiltered is the height that all rows want.
	Unfiltered int
	Flag       string // the id of the mark that was gone to last

	// against are the calls that those that are selected are compared with.
	against session.Async[againstKey, *recording.CallSet]
	second  bool // the range that is being dragged is B's
	// Linkable tells that it is one of two recordings that are compared.
	Linkable bool

	marks    []bool // where the search has hits
	marksOf  marksKey
	Plan     *timeline.Plan
	planned  *recording.Recording // what plan is of
	layoutOf timeline.Layout      // and how

	Lanes, RulerArea, Strip widget.Drag
	Inside                  bool
	At                      f32.Point
	KeyedAt                 f32.Point // where the pointer was when a key was pressed last
	Hit                     timeline.Hit
	grab                    grab
	origin                  timeline.View // when the drag began
	anchor                  int64         // where a range selection began
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

// Forget lets go of the pictures, so that the next frame draws all anew.
func (p *Timeline) Forget() { p.Plan, p.densityOf, p.pictKey = nil, densityKey{}, pictKey{} }

// Acts lead from a timeline to the rest of the window.
type Acts struct {
	// Items lists what can be done with what is under the pointer beside what the
	// timeline knows of it.
	Items func() []widget.Item
	// MarkItems lists what can be done with a mark, or with the moment at the pointer
	// where that is on none.
	MarkItems func(m *view.Mark) []widget.Item
	GoToMark  func(m view.Mark)
	// KeyOf is the key of a command, for menus; "" where it has none.
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
	// chosen tells selections of threads apart: where the list of them lies,
	// which is never written to.
	chosen *int
	count  int
	sets   [2]*recording.CallSet
}

type rulerKey struct {
	view  timeline.View
	start int64
	size  image.Point
	theme *theme.Theme
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

// Layout draws the part.
func (p *Timeline) Layout(s *panel.Host, u *ui.UI) {
	b := &p.Bounds
	if !p.Timed() {
		p.without(u)
		return
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

// rows is how the rows are laid out.
func (p *Timeline) rows(scale float32) timeline.Layout {
	order := p.Order
	if order == nil {
		order = p.Like
	}
	return timeline.Layout{Scale: scale, Event: p.Event, Metric: p.Metric, Folds: p.Folds, Closed: p.Closed,
		Hidden: p.Hidden, Pinned: p.Pinned, Order: order, Sort: p.Sort, Filter: p.Filter, OnCPU: p.Doc.SpansOnCPU(p.Rec)}
}

// Replan lays out the rows anew where what they follow from has changed.
func (p *Timeline) Replan(scale float32) {
	l := p.rows(scale)
	if p.Plan == nil || p.planned != p.Rec || !reflect.DeepEqual(p.layoutOf, l) {
		p.Plan, p.planned = timeline.NewPlan(p.Rec, l), p.Rec
		p.layoutOf = l
	}
}

func (p *Timeline) drawLanes(s *panel.Host, u *ui.UI) {
	b := &p.Bounds
	k := pictKey{p.Plan, p.View, b.Lanes.Size(), p.Palette, p.Marked(), u.Metric.PxPerDp, unsafe.SliceData(p.Scope.Tracks), len(p.Scope.Tracks), p.sets(s.Do.Wake)}
	if !p.picture.Serves(u) || p.pictKey != k {
		px := u.Metric.PxPerDp
		pic := timeline.Picture{
			Rec: p.Rec, Plan: p.Plan, View: p.View, Palette: p.Palette, Gutter: b.Gutter,
			Fonts: timeline.Fonts{Bar: s.Fonts.Regular(11.5 * px), Name: s.Fonts.Medium(12.5 * px), Small: s.Fonts.Regular(11.5 * px)},
			Mark:  p.Mark(), MarkAt: p.MarkAt(), DimOthers: p.Searching(), Event: p.Event, Metric: p.Metric, Chosen: p.chosenTracks(),
			Gathered: &p.gathered, OnCPU: p.layoutOf.OnCPU, Sets: slices.DeleteFunc(slices.Clone(k.sets[:]), func(s *recording.CallSet) bool { return s == nil }),
		}
		p.picture = u.Cover(&p.canvases, b.Lanes.Size(), pic.Paint)
		p.pictKey, p.bars = k, pic.Bars
	}
	s.Bars += p.bars
	u.Draw(p.picture, b.Lanes.Min)
	if len(p.Plan.Rows) == 0 {
		text := "All threads are hidden: V lists them"
		if p.Filter != "" {
			text = "No thread or process is called " + panel.CutName(p.Filter)
		}
		u.Text(image.Rect(b.Lanes.Min.X+b.Gutter, b.Lanes.Min.Y, b.Lanes.Max.X, b.Lanes.Max.Y), text, ui.Style{Size: 12.5, Color: u.Theme.Dim, Align: ui.Middle})
	}
}

// sets are the calls that are selected, as the latest answer has looked them up, and
// those they are compared with: those of before are shown until there are others.
func (p *Timeline) sets(wake func()) (sets [2]*recording.CallSet) {
	if a := p.Doc.Answer(); p.Scope.Calls != nil && a != nil && a.Rec == p.Rec && a.Scope.Calls != nil && a.Scope.Calls.Runs != nil {
		sets[0] = a.Scope.Calls
	}
	if b := p.Against; b != nil && b.Calls != nil {
		k := againstKey{p.Rec, b.Calls.Text, b.Ranged, b.From, b.To, unsafe.SliceData(b.Tracks), len(b.Tracks)}
		set, of, ok := p.against.Ask(k, wake, func(ctx context.Context) (*recording.CallSet, error) {
			in, err := calls.Bind(ctx, k.rec, *b)
			return in.Calls, err
		})
		if ok && of.rec == p.Rec {
			sets[1] = set
		}
	}
	return sets
}

// againstKey has everything that the calls which others are compared with follow from.
type againstKey struct {
	rec      *recording.Recording
	text     string
	ranged   bool
	from, to int64
	tracks   *int
	n        int
}

func (p *Timeline) drawRuler(s *panel.Host, u *ui.UI) {
	b := &p.Bounds
	k := rulerKey{p.View, p.Rec.Start, b.Ruler.Size(), s.Theme}
	if !p.ruler.Serves(u) || p.rulerKey != k {
		p.ruler = u.Paint(&p.rulers, b.Ruler.Size(), func(on raster.Surface) {
			timeline.PaintRuler(on, p.View, p.Rec.Start, s.Theme, s.Fonts.Regular(11*u.Metric.PxPerDp), u.Metric.PxPerDp, b.Gutter)
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

// stripX is the pixel of a time in the overview, which goes as far as the view can:
// beyond the recording where a longer one is compared. stripTime is its inverse.
func (p *Timeline) stripX(at int64) int {
	w := p.Bounds.Overview.Dx() - p.Bounds.Gutter
	from, to := p.Limits()
	f := float64(at-from) / float64(max(1, to-from))
	return p.Bounds.Overview.Min.X + p.Bounds.Gutter + int(math.Round(math.Max(-1, math.Min(2, f))*float64(w)))
}

func (p *Timeline) stripTime(x float32) int64 {
	w := p.Bounds.Overview.Dx() - p.Bounds.Gutter
	f := (float64(x) - float64(p.Bounds.Gutter)) / float64(max(1, w))
	from, to := p.Limits()
	return from + clampInt64(f*float64(to-from))
}

// drawSelection draws the selected range through all rows, its length on the
// ruler, the picked bar and the bar under the pointer.
func (p *Timeline) drawSelection(u *ui.UI) {
	b := &p.Bounds
	th := u.Theme
	lanes := image.Rect(b.Lanes.Min.X+b.Gutter, b.Lanes.Min.Y, b.Lanes.Max.X, b.Lanes.Max.Y)
	a := th.Accent
	if b := p.Against; b != nil {
		a = th.Dim
		if b.Ranged && (!p.Scope.Ranged || b.From != p.Scope.From || b.To != p.Scope.To) {
			p.band(u, lanes, b, th.Accent, "B  ")
		}
	}
	if p.Scope.Ranged {
		p.band(u, lanes, &p.Scope, a, "")
	}
	p.drawMark(u)
	switch p.grab {
	case grabTrack:
		p.dropLine(u)
	case grabBox:
		p.drawBox(u)
	}
	p.way.draw(p, u)
	p.Flows.draw(p, u)
	if p.pickedRow() >= 0 {
		p.outline(u, &p.Pick.Hit, th.Accent, 2)
	}
	if p.Inside && p.Hit.Any() && !p.Lanes.Pressed {
		p.outline(u, &p.Hit, theme.WithAlpha(th.Text, .75), 1)
	}
}

// band draws a range through all rows, its length on the ruler.
func (p *Timeline) band(u *ui.UI, lanes image.Rectangle, in *recording.Scope, c ui.Colour, name string) {
	w := p.LaneWidth()
	x := func(at int64) int {
		return lanes.Min.X + int(math.Floor(math.Max(-2, math.Min(float64(w+2), p.View.X(at, w)))))
	}
	x0, x1 := x(in.From), x(in.To)
	if x1 < lanes.Min.X || x0 > lanes.Max.X {
		return
	}
	u.At(lanes, func(u *ui.UI) {
		o := lanes.Min.X
		u.Fill(image.Rect(x0-o, 0, x1-o, lanes.Dy()), theme.WithAlpha(c, u.Theme.Band))
		u.VLine(x0-o, 0, lanes.Dy(), c)
		u.VLine(x1-o, 0, lanes.Dy(), c)
	})
	p.pill(u, (max(x0, lanes.Min.X)+min(x1, lanes.Max.X))/2, name+units.Duration(in.To-in.From))
}

// pill shows a time or a length on the ruler.
func (p *Timeline) pill(u *ui.UI, x int, label string) {
	st := ui.Style{Size: 11, Weight: ui.Medium, Color: u.Theme.OnAccent, Align: ui.Middle}
	w := u.Measure(label, st).X + u.Px(18)
	r := ui.Rect(x-w/2, p.Bounds.Ruler.Min.Y+u.Px(3), w, u.Px(18))
	if off := p.Bounds.Ruler.Min.X + p.Bounds.Gutter - r.Min.X; off > 0 {
		r = r.Add(image.Pt(off, 0))
	}
	if off := r.Max.X - p.Bounds.Ruler.Max.X; off > 0 {
		r = r.Sub(image.Pt(off, 0))
	}
	u.Round(r, 9, u.Theme.Accent)
	u.Text(r, label, st)
}

// outline frames a bar.
func (p *Timeline) outline(u *ui.UI, h *timeline.Hit, c ui.Colour, w int) {
	b := &p.Bounds
	row := p.rowOf(h)
	if row < 0 {
		return
	}
	if h.Counter != nil || h.Instant != nil {
		p.outlinePoint(u, row, h, c, w)
		return
	}
	x0, y0, x1, y1 := p.Plan.Box(p.View, row, h.Lane, h.Start, h.End, b.Lanes.Dx(), b.Gutter)
	if x1 <= b.Gutter || x0 >= b.Lanes.Dx() {
		return
	}
	lanes := image.Rect(b.Lanes.Min.X+b.Gutter, b.Lanes.Min.Y, b.Lanes.Max.X, b.Lanes.Max.Y)
	u.At(lanes, func(u *ui.UI) {
		r := image.Rect(x0-b.Gutter, y0, x1-b.Gutter, y1).Inset(-w + 1)
		if r.Dx() < 3*w {
			u.Fill(r, c)
			return
		}
		u.Border(r, 0, w, c)
	})
}

// outlinePoint marks a point of a counter's graph, or a moment.
func (p *Timeline) outlinePoint(u *ui.UI, row int, h *timeline.Hit, c ui.Colour, w int) {
	b := &p.Bounds
	r := &p.Plan.Rows[row]
	x, y := b.Gutter+int(p.View.X(h.Start, p.LaneWidth())), r.Y-p.View.Scroll+u.Px(2)
	if h.Counter != nil {
		x, y = p.Plan.CounterPoint(p.Rec, p.View, row, h.Point, b.Lanes.Dx(), b.Gutter)
	}
	if x < b.Gutter || x > b.Lanes.Dx() {
		return
	}
	u.At(image.Rect(b.Lanes.Min.X+b.Gutter, b.Lanes.Min.Y, b.Lanes.Max.X, b.Lanes.Max.Y), func(u *ui.UI) {
		n := u.Px(float32(w) + 2.5)
		u.VLine(x-b.Gutter, r.Y-p.View.Scroll, r.Y-p.View.Scroll+r.Height-1, theme.WithAlpha(c, .5))
		u.Round(ui.Rect(x-b.Gutter-n, y-n, 2*n+1, 2*n+1), float32(w)+3, c)
	})
}

// rowOf finds the row of a hit again: rows move while a file loads.
func (p *Timeline) rowOf(h *timeline.Hit) int {
	same := func(i int) bool {
		r := &p.Plan.Rows[i]
		switch {
		case h.Window >= 0:
			return r.Kind == timeline.WindowRow && r.Index == h.Track
		case h.Counter != nil:
			return r.Kind == timeline.CounterRow && r.Index == h.Track
		}
		return r.Kind == timeline.TrackRow && r.Index == h.Track
	}
	if h.Row >= 0 && h.Row < len(p.Plan.Rows) && same(h.Row) {
		return h.Row
	}
	for i := range p.Plan.Rows {
		if same(i) {
			return i
		}
	}
	return -1
}

// without says why there is no timeline.
func (p *Timeline) without(u *ui.UI) {
	r := p.Bounds.Lanes
	text := "No timeline: these are stacks added up over the whole recording; nothing says when each was taken."
	if p.Rec.HasTime && p.Rec.Duration() > 0 {
		text = "No timeline: these are stacks added up over " + units.Duration(p.Rec.Duration()) + "; nothing says when each was taken."
	}
	if len(p.Rec.Events) > 0 && p.Rec.Events[0].Basis == recording.FromSpans {
		text = "No timeline: there are no spans in this trace, nor samples or counters."
	}
	if !p.Rec.Done {
		text = "Reading…"
	}
	u.Text(image.Rect(r.Min.X+u.Px(14), r.Min.Y, r.Max.X, r.Max.Y), text, ui.Style{Size: 12.5, Color: u.Theme.Dim})
}

// drawHits marks where the search has hits, at the top of the overview.
func (p *Timeline) drawHits(u *ui.UI, in image.Rectangle) {
	h := p.Doc.Hits()
	sp := &p.Search
	if sp.Pattern == nil || h == nil || !h.Pattern.Is(sp.Pattern) {
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
