package timeline

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"ashlar/ingest/model/recording"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

// Fonts are the faces of a timeline's labels.
type Fonts struct {
	Bar, Name, Small *raster.Face
}

// Picture draws the rows of a timeline.
type Picture struct {
	Rec     *recording.Recording
	Plan    *Plan
	View    View
	Palette *theme.Palette
	Fonts   Fonts
	// Gutter is the width of the column of names, in pixels.
	Gutter int
	// Mark, if set, reports whether a function's bars are highlighted, for example
	// because the function is under the pointer or a search result. DimOthers fades all
	// other bars.
	Mark      func(recording.FuncID) bool
	DimOthers bool
	// MarkAt, if set, is used instead of Mark. It reports whether any of the n spans from
	// i on in a lane, or samples if lane is -1, is highlighted.
	MarkAt func(track, lane, i, n int) bool

	// Sets are up to two sets of calls, looked up in Rec. If there are any, bars outside
	// all of them are faded.
	Sets []*recording.CallSet

	// OnCPU is the time of spans on CPU; the rest of a span's bar is darker.
	OnCPU *recording.OnCPU

	// Activity is drawn in the rows of groups; nil draws nothing.
	Activity *Activity

	// Chosen tracks have a stripe in the gutter.
	Chosen map[int]bool

	// Event and Metric select the values of windows.
	Event, Metric int

	// Gathered, if set, caches the first step of drawing, and is reused while the picture
	// shows the same.
	Gathered *Gathered

	// Bars counts the bars drawn.
	Bars int

	c    raster.Surface
	w, h int // size of c
	// pixels is c if c is a raster canvas. Its lanes are drawn as strips (see
	// [Picture.spans]).
	pixels *raster.Canvas
	// drawn and drawnSamples count the gathered bars and samples already drawn.
	drawn, drawnSamples int
	lanes               struct {
		bg, rule raster.Color
		least    float64 // minimum strength of a column
		res      float64 // picoseconds per pixel
	}
	// onBar is the colour of labels, onFaded the colour of labels on faded bars; faded
	// reports whether the last colour was for a faded bar.
	onBar, onFaded raster.Color
	faded          bool
	of             int // track being drawn
	// grounded is the height down to which the row being drawn has its background, bottom
	// the end of the background.
	grounded, bottom int
	hit              bool // result of MarkAt for the current bar
	out              bool // the current bar is in none of the Sets
	tints            [256]tint
	scale            float32
	perPs            float64 // pixels per picosecond
	whole            int64   // picoseconds per pixel, 0 if not an integer
	// last is the view of the last picture. movedBy is the number of pixels by which this
	// picture begins later. If the two pictures overlap, the common part is reused.
	last    View
	movedBy int
	// otherSets reports whether the last picture had other Sets.
	otherSets bool
}

// Paint draws the view on a surface and covers all of it.
func (p *Picture) Paint(on raster.Surface) {
	t := p.Palette.Theme
	p.scale = p.Plan.Scale
	p.c = on
	p.w, p.h = on.Size()
	p.pixels, _ = on.(*raster.Canvas)
	p.perPs = float64(p.width()) / float64(p.View.Span())
	if p.whole = p.res(); p.whole*int64(p.width()) != p.View.Span() {
		p.whole = 0
	}
	p.lanes.bg, p.lanes.rule = raster.Pack(t.Lane), raster.Pack(t.Rule)
	p.lanes.least = faintest
	if !t.Dark {
		p.lanes.least = faintestOnLight
	}
	p.lanes.res = float64(p.res())
	p.onBar, p.onFaded = raster.Pack(t.OnBar), raster.Pack(t.OnFaded())
	// Rows cover the surface from its top to the end of the last row; fill what is below.
	on.Rect(0, max(0, p.Plan.Height-p.View.Scroll), p.w, p.h, raster.Pack(t.Background))
	rows, held := p.seen()
	p.gather(rows)
	for i := range rows {
		if i == held { // covers rows scrolled below it
			p.sticky()
		}
		p.row(&rows[i], p.Plan.Top(&rows[i], p.View.Scroll))
	}
	p.gatheredAll()
	if held == len(rows) {
		p.sticky()
	} else {
		p.c.Rect(0, p.Plan.Held-1, p.w, p.Plan.Held, raster.Pack(t.Faint))
	}
}

// seen returns the rows to draw; those from index held on stay at the top.
func (p *Picture) seen() (rows []Row, held int) {
	all := p.Plan.Rows
	first := p.Plan.At(p.View.Scroll + p.Plan.Held)
	if first < 0 {
		first = len(all)
	}
	end := first
	for end < len(all) && all[end].Y-p.View.Scroll < p.h {
		end++
	}
	rows = all[first:end]
	if held = len(rows); p.Plan.Held > 0 {
		rows = slices.Concat(rows, all[:p.Plan.At(p.Plan.Held-1)+1])
	}
	return rows, held
}

func (p *Picture) px(dp float32) int { return int(math.Round(float64(dp * p.scale))) }

// row draws one row with its top at y.
func (p *Picture) row(r *Row, y int) {
	t := p.Palette.Theme
	switch {
	case p.Plan.Headline(r) && r.Collapsed:
		p.folded(r, y)
		return
	case p.Plan.Headline(r):
		p.header(r, y)
		return
	}
	p.grounded, p.bottom = y, y+r.Height-1
	if r.Kind != TrackRow || p.pixels == nil {
		p.ground(p.bottom)
	}
	switch r.Kind {
	case TrackRow:
		p.track(r, y)
	case WindowRow:
		p.windows(r, y)
	case CounterRow:
		p.counter(r, y)
	case GroupRow:
		p.ran(r, y)
	}
	p.c.Rect(0, y, p.Gutter, y+r.Height, raster.Pack(t.Background))
	p.c.Rect(0, y+r.Height-1, p.w, y+r.Height, p.lanes.rule)
	if r.Kind == GroupRow {
		p.group(r, y)
	} else {
		p.gutter(r, y)
	}
}

// ground draws the background of the row being drawn down to a height.
func (p *Picture) ground(y int) {
	if y = min(y, p.bottom); y > p.grounded {
		p.c.Rect(p.Gutter, p.grounded, p.w, y, p.lanes.bg)
		p.grounded = y
	}
}

// header draws the name of an open process or recording across the whole width.
func (p *Picture) header(r *Row, y int) {
	t := p.Palette.Theme
	p.c.Rect(0, y, p.w, y+r.Height, raster.Pack(t.Surface))
	base := y + p.px(15)
	p.arrow(p.px(12), y+p.px(11), false)
	x := float32(p.px(26))
	f := p.Fonts.Name
	name := p.Plan.Name(r)
	f.Draw(p.c, x, base, name, raster.Pack(t.Text), 0, p.w)
	if note := p.Plan.note(r); note != "" {
		p.Fonts.Small.Draw(p.c, x+f.Measure(name)+float32(p.px(10)), base, note, raster.Pack(t.Dim), 0, p.w)
	}
}

// sticky draws the header of the process whose tracks are scrolled at the top of the
// picture.
func (p *Picture) sticky() {
	if i, y := p.Plan.Sticky(p.View.Scroll); i >= 0 {
		r := &p.Plan.Rows[i]
		p.header(r, y)
		p.c.Rect(0, y+r.Height-1, p.w, y+r.Height, p.lanes.rule)
	}
}

// gutter draws a row's name and, below it, notes.
func (p *Picture) gutter(r *Row, y int) {
	t := p.Palette.Theme
	x, right := p.px(26), p.Gutter-p.px(8)
	text, dim := raster.Pack(t.Text), raster.Pack(t.Dim)
	if r.Kind == TrackRow && r.All > 1 {
		p.arrow(p.px(12), y+p.px(12), r.Collapsed)
	}
	if r.Kind == TrackRow && p.Chosen[r.Index] {
		p.c.Rect(0, y, p.px(3), y+r.Height-1, raster.Pack(t.Accent))
	}
	full, note := p.Plan.Name(r), p.Plan.note(r)
	if r.Height < p.px(34) {
		// The end of a name distinguishes it from others, so the middle is cut.
		id, end := "", right
		if r.Kind == TrackRow {
			id, _, _ = strings.Cut(note, " · ")
			if w := int(p.Fonts.Small.Measure(id)) + p.px(8); id != "" && w < (right-x)/2 {
				end -= w
			}
		}
		name := p.Fonts.Name.FitText(full, float32(end-x))
		p.Fonts.Name.Draw(p.c, float32(x), y+p.px(16), name, text, x, end)
		if x += int(p.Fonts.Name.Measure(name)) + p.px(8); end < right {
			p.Fonts.Small.Draw(p.c, float32(x), y+p.px(16), id, dim, x, right)
		}
		return
	}
	name := p.Fonts.Name.FitText(full, float32(right-x))
	p.Fonts.Name.Draw(p.c, float32(x), y+p.px(16), name, text, x, right)
	p.Fonts.Small.Draw(p.c, float32(x), y+p.px(31), p.Fonts.Small.FitText(note, float32(right-x)), dim, x, right)
	p.subRow(r, y, x, right)
	p.more(r)
}

// more draws the button that shows the hidden lanes of a row.
func (p *Picture) more(r *Row) {
	b := p.Plan.MoreButton(r, p.View.Scroll, p.Gutter)
	if b.Empty() {
		return
	}
	t, f := p.Palette.Theme, p.Fonts.Small
	text := r.moreText()
	if f.Measure(text) > float32(b.Dx()-p.px(12)) {
		text = "+" + strconv.Itoa(r.All-r.Lanes)
	}
	p.c.Bar(b.Min.X, b.Min.Y, b.Max.X, b.Max.Y, raster.Pack(t.Rule), p.px(4))
	p.c.Bar(b.Min.X+1, b.Min.Y+1, b.Max.X-1, b.Max.Y-1, raster.Pack(t.Raised), p.px(4))
	f.Draw(p.c, float32(b.Min.X+p.px(6)), b.Max.Y-p.px(5), text, raster.Pack(t.Dim), b.Min.X, b.Max.X)
}

// subRow writes the name of the samples below a thread's spans, next to the samples'
// first lane, and draws a line between spans and samples.
func (p *Picture) subRow(r *Row, y, x, right int) {
	name := p.Plan.sampled(r)
	if name == "" {
		return
	}
	t := p.Palette.Theme
	top := p.Plan.laneTop(r, r.Spans)
	if r.SpanLanes > 0 {
		p.c.Rect(p.px(12), y+top-1, p.w, y+top, p.lanes.rule)
	}
	base := max(top+p.px(13), p.px(45))
	if end := r.Height - p.px(4); base > end || r.Lanes < r.All && base > end-p.px(22) {
		return
	}
	if !strings.Contains(strings.ToLower(name), "sample") {
		name += " samples"
	}
	ink := t.Dim
	if p.Event == r.Samples.Event {
		ink = t.Text
	}
	p.Fonts.Small.Draw(p.c, float32(x), y+base, p.Fonts.Small.FitText(name, float32(right-x)), raster.Pack(ink), x, right)
}

// arrow draws the small triangle for folding a row, centred at x, y.
func (p *Picture) arrow(x, y int, closed bool) {
	col := raster.Pack(p.Palette.Theme.Dim)
	n := p.px(3.5)
	for i := -n; i <= n; i++ {
		half := (n - abs(i))
		if closed {
			p.c.Rect(x-n/2, y+i, x-n/2+half+1, y+i+1, col)
		} else if i+n <= n {
			d := n - (i + n)
			p.c.Rect(x-d, y+i+n-n/2, x+d+1, y+i+n-n/2+1, col)
		}
	}
}

func abs(i int) int {
	if i < 0 {
		return -i
	}
	return i
}

// lanesIn calls do for each of a row's lanes of spans that is on the canvas.
func (p *Picture) lanesIn(r *Row, y int, do func(lane, top int)) {
	for lane := range r.SpanLanes {
		top := y + p.Plan.laneTop(r, lane)
		if top >= p.h {
			break
		}
		if top+p.px(laneHeight) > 0 {
			do(lane, top)
		}
	}
}

// track draws a thread's lanes.
func (p *Picture) track(r *Row, y int) {
	t := p.Rec.Tracks[r.Index]
	p.of = r.Index
	if r.Strip > 0 {
		p.spans(y+p.Plan.laneTop(r, recording.StateLane), r.Strip)
	}
	p.lanesIn(r, y, func(lane, top int) { p.lane(t, lane, top) })
	p.ground(p.bottom)
	if r.hasSamples() {
		p.samples()
	}
	p.instants(t, y, r)
}

// res returns the number of picoseconds per pixel, rounded up.
func (p *Picture) res() int64 {
	return max(1, (p.View.Span()+int64(p.width())-1)/int64(p.width()))
}

func (p *Picture) width() int { return max(1, p.w-p.Gutter) }

// x returns the pixel of a time, clamped to just outside the lanes.
func (p *Picture) x(t int64) int {
	x := float64(t-p.View.From) * p.perPs
	if x < 0 {
		return p.Gutter - 4
	}
	if x > float64(p.w) {
		return p.w + 4
	}
	n := int(x)
	if p.whole > 0 { // exact, so that scrolling by whole pixels moves every pixel alike
		switch d := t - p.View.From - int64(n)*p.whole; {
		case d < 0:
			n--
		case d >= p.whole:
			n++
		}
	}
	return p.Gutter + n
}

// lane draws a lane of spans whose top is at y.
func (p *Picture) lane(t *recording.Track, lane, y int) {
	if lane < len(t.Lanes) {
		p.spans(y, p.px(laneHeight)-1)
	} else {
		p.ground(y + p.px(laneHeight))
	}
	if lane < len(t.Open) {
		o := t.Open[lane]
		p.hit = p.MarkAt != nil && p.MarkAt(p.of, lane, 0, 0)
		p.out = len(p.Sets) > 0
		if x0, x1 := p.x(o.Start), p.x(p.Rec.End); x1 > x0 {
			p.bar(x0, x1, y, o.Call, true)
		}
	}
}

// instants draws instants as small triangles at the top of the row, each with a line
// below it. Lines side by side would hide the bars below, so if instants touch, a strip
// replaces them, which is stronger the more instants there are.
func (p *Picture) instants(t *recording.Track, y int, r *Row) {
	col := raster.Pack(p.Palette.Theme.Dim)
	n := p.px(instantSize)
	last := math.MinInt // pixel of the previous instant
	for i := firstInstant(t.Instants, p.View.From); i < len(t.Instants) && t.Instants[i].Time <= p.View.To; {
		x := p.x(t.Instants[i].Time)
		// A pixel shows one instant, however many there are in it.
		next := max(i+1, firstInstant(t.Instants, p.View.Time(float64(x-p.Gutter+1), p.width())))
		after := math.MaxInt
		if next < len(t.Instants) && t.Instants[next].Time <= p.View.To {
			after = p.x(t.Instants[next].Time)
		}
		near := min(x-max(last, x-4*n), min(after, x+4*n)-x)
		switch {
		case near > n:
			for k := 0; k <= n; k++ {
				p.c.Rect(x-n+k, y+k, x+n-k+1, y+k+1, col)
			}
			if near > 3*n {
				p.c.Shade(x, y+n, x+1, y+r.Height-1, col, 70)
			}
		default:
			p.c.Shade(x, y, min(after, x+n), y+n, col, uint32(min(255, 90+40*bits.Len(uint(next-i)))))
		}
		last, i = x, next
	}
}

// instantSize is half the width of an instant's triangle, in dp.
const instantSize = 3
