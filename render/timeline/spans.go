package timeline

import (
	"sort"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
	"ashlar/render/raster"
)

// Spans and samples are drawn in two steps. The first finds what each column of pixels
// shows. It mostly waits for memory: for a picture of millions of spans it reads
// thousands of places far apart. So several goroutines share it, each taking a lane or a
// row of samples at a time. The second turns the results into pixels and text, and begins
// as soon as the first lane is ready.

// Gathered is the result of the first step. A picture that differs only in highlighted
// bars reuses all of it. A picture whose view has moved by whole pixels, that shows other
// lanes, or that has other sets of calls reuses the part that both pictures show. The
// zero value is ready to use.
type Gathered struct {
	of      gatheredOf
	lanes   []laneSpans
	before  []laneSpans // lanes of the last picture
	samples []rowSamples
	strip   raster.Strip // the lane being drawn
	look    *shared      // nil once everything is gathered
}

// gatheredOf has everything that the first step depends on.
type gatheredOf struct {
	plan         *Plan
	view         View
	w, h, gutter int
	sets         [mostSets]*recording.CallSet
	cpu          *recording.OnCPU
}

// moved returns by how many pixels the picture now begins later than the gathered one. ok
// is false if they differ in anything but the position of the view, its height and the
// sets, or if the view has not moved by whole pixels.
func (of *gatheredOf) moved(now gatheredOf, whole int64) (px int, ok bool) {
	d := now.view.From - of.view.From
	like := *of
	like.view, like.h, like.sets = now.view, now.h, now.sets
	switch {
	case like != now || of.view.Span() != now.view.Span():
		return 0, false
	case d == 0:
		return 0, true
	case whole == 0 || d%whole != 0 || max(d, -d) >= now.view.Span():
		return 0, false
	}
	return int(d / whole), true
}

// laneSpans are the visible spans of a lane.
type laneSpans struct {
	spans       *lanes.Lane
	track, lane int
	columns     []column
	wide        []wideBar
	last        *laneSpans // the same lane in the last picture, if it can be reused
}

// column is a column of pixels of spans too narrow to tell apart.
type column struct {
	inLane
	x    int32
	call recording.CallID // call of the leading span
	busy float32          // time that spans cover in the column, in picoseconds
	hit  bool
	thin bool // see Picture.alone
	membership
}

// A wideBar is a bar from x0 to x1. Its part wait..x1 stands for the time that the call
// waited.
type wideBar struct {
	inLane
	start, end      int64
	ran             int64 // time on CPU; recording.Missing if unknown
	x0, x1, wait    int
	call            recording.CallID
	unfinished, hit bool
	thin            bool // see Picture.alone
	membership
}

// another appends an element, which reuses the memory of an earlier one, and returns it.
func another[T any](all *[]T) *T {
	if n := len(*all); n < cap(*all) {
		*all = (*all)[:n+1]
	} else {
		var none T
		*all = append(*all, none)
	}
	return &(*all)[len(*all)-1]
}

// worthSharing is the number of bars that take about as long as waking another goroutine.
const worthSharing = 2000

// gather begins to collect the visible spans of all lanes of the rows; gatheredAll ends it.
func (p *Picture) gather(rows []Row) {
	p.drawn, p.drawnSamples = 0, 0
	if p.Gathered == nil {
		p.Gathered = new(Gathered)
	}
	g := p.Gathered
	if p.MarkAt == nil && g.of == p.gatheredOf() {
		return
	}
	px, ok := g.of.moved(p.gatheredOf(), p.whole)
	if ok = ok && p.MarkAt == nil; ok {
		p.last, p.movedBy, p.otherSets = g.of.view, px, g.of.sets != p.gatheredOf().sets
	}
	g.of, g.samples, g.before, g.lanes = gatheredOf{}, g.samples[:0], g.lanes, g.before[:0]
	next := 0 // index into the last picture's lanes; both are in picture order
	last := func(track, lane int) *laneSpans {
		if p.otherSets && lane == recording.StateLane {
			return nil
		}
		for k := next; ok && k < len(g.before); k++ {
			if l := &g.before[k]; l.track == track && l.lane == lane {
				next = k + 1
				return l
			}
		}
		return nil
	}
	bars := 0
	for i := range rows {
		r := &rows[i]
		for _, ti := range r.Stripes {
			lane, _ := stripeOf(p.Rec.Tracks[ti])
			l := another(&g.lanes)
			*l = laneSpans{p.Rec.Tracks[ti].Lane(lane), ti, lane, l.columns[:0], l.wide[:0], last(ti, lane)}
			bars += p.toFind(l)
		}
		if r.Kind != TrackRow {
			continue
		}
		lanes := p.Rec.Tracks[r.Index].Lanes
		y := p.Plan.Top(r, p.View.Scroll)
		if r.Strip > 0 {
			l := another(&g.lanes)
			*l = laneSpans{&p.Rec.Tracks[r.Index].States, r.Index, recording.StateLane, l.columns[:0], l.wide[:0], last(r.Index, recording.StateLane)}
			bars += p.toFind(l)
		}
		p.lanesIn(r, y, func(lane, _ int) {
			if lane < len(lanes) {
				l := another(&g.lanes)
				*l = laneSpans{&lanes[lane], r.Index, lane, l.columns[:0], l.wide[:0], last(r.Index, lane)}
				bars += p.toFind(l)
			}
		})
		if r.hasSamples() {
			s := another(&g.samples)
			*s = rowSamples{r, y, s.bars[:0], s.path, s.open[:0]}
			bars += 4 * min(r.Samples.Len(), p.width()) // samples are drawn at several depths
		}
	}
	n := len(g.lanes)
	g.look = newShared(n+len(g.samples), bars/worthSharing, func(i int) {
		if i < n {
			p.look(&g.lanes[i])
		} else {
			p.lookSamples(&g.samples[i-n])
		}
	})
}

// nextLane and nextSamples return the gathered rows in order.
func (p *Picture) nextLane() *laneSpans {
	if p.Gathered.look != nil {
		p.Gathered.look.need(p.drawn)
	}
	p.drawn++
	return &p.Gathered.lanes[p.drawn-1]
}

func (p *Picture) nextSamples() *rowSamples {
	g := p.Gathered
	if g.look != nil {
		g.look.need(len(g.lanes) + p.drawnSamples)
	}
	p.drawnSamples++
	return &g.samples[p.drawnSamples-1]
}

// gatheredAll is called when all spans and samples have been drawn.
func (p *Picture) gatheredAll() {
	g := p.Gathered
	if g.look == nil {
		return
	}
	g.look = nil
	// The gathered result must not keep a closed recording alive.
	for i := range g.lanes {
		g.lanes[i].spans, g.lanes[i].last = nil, nil
	}
	for i := range g.samples {
		g.samples[i].row = nil
	}
	if p.MarkAt == nil { // MarkAt may give other results in the next frame
		g.of = p.gatheredOf()
	}
}

func (p *Picture) gatheredOf() gatheredOf {
	of := gatheredOf{plan: p.Plan, view: p.View, w: p.w, h: p.h, gutter: p.Gutter, cpu: p.OnCPU}
	copy(of.sets[:], p.Sets)
	return of
}

// toFind estimates how many bars of a lane are not left over from the last frame, so that
// look must search for them.
func (p *Picture) toFind(l *laneSpans) int {
	if l.last != nil {
		n := min(l.spans.Len(), max(p.movedBy, -p.movedBy))
		if p.otherSets {
			// Looking up a bar's sets counts as a quarter of a search.
			n += (len(l.last.columns) + len(l.last.wide)) / 4
		}
		return n
	}
	return min(l.spans.Len(), p.width())
}

// look finds the visible spans of a lane. It may run on several goroutines, one lane
// each.
func (p *Picture) look(l *laneSpans) {
	from, to := p.View.From, p.View.To
	switch {
	case l.last == nil:
		p.lookBetween(l, from, to)
	case p.movedBy == 0: // keep takes over the whole lane
		p.keep(l)
		return
	case p.movedBy < 0: // the picture has a new part on the left
		p.lookBetween(l, from, p.last.From)
		p.keep(l)
	default:
		p.keep(l)
		p.lookBetween(l, p.last.To, to)
	}
	p.alone(l)
}

// keep takes over the bars of a lane from the last picture that are still visible. If the
// picture has a new part on the left, it leaves out bars that began before the last
// picture, because the search finds them again.
func (p *Picture) keep(l *laneSpans) {
	columns, wide := len(l.columns), len(l.wide)
	if p.movedBy == 0 { // the whole lane
		l.columns, l.last.columns = l.last.columns, l.columns
		l.wide, l.last.wide = l.last.wide, l.wide
		if p.otherSets {
			p.tellMembers(l, 0, 0)
		}
		return
	}
	seen := func(x int) int {
		return sort.Search(len(l.last.columns), func(i int) bool { return int(l.last.columns[i].x) >= x+p.movedBy })
	}
	l.columns = append(l.columns, l.last.columns[seen(p.Gutter):seen(p.w)]...)
	for i := range l.columns[columns:] {
		c := &l.columns[columns+i]
		c.x, c.thin = c.x-int32(p.movedBy), false
	}
	for i := range l.last.wide {
		b := l.last.wide[i]
		b.thin = false
		if b.end >= p.View.From && b.start < p.View.To && (p.movedBy >= 0 || b.start >= p.last.From) {
			p.place(&b)
			l.wide = append(l.wide, b)
		}
	}
	if p.otherSets {
		p.tellMembers(l, columns, wide)
	}
}

// lookBetween finds the bars of a lane in from..to. Bars that began earlier come from the
// last picture, unless this picture begins at from.
func (p *Picture) lookBetween(l *laneSpans, from, to int64) {
	acc := fine{x: -1}
	columns, wide := len(l.columns), len(l.wide)
	res := p.res()
	cpu := p.cpuOf(l)
	first := -1 // the pixel of from, if pixels are those of Walk
	if p.whole > 0 {
		first = p.Gutter + int((from-p.View.From)/p.whole)
	}
	l.spans.Walk(from, to, res, func(b *lanes.Bar) bool {
		if b.Start < from && from != p.View.From {
			return true
		}
		x0 := first + b.Pixel
		if first < 0 || b.Pixel < 0 {
			x0 = p.x(b.Start)
		}
		hit := p.MarkAt != nil && l.lane != recording.StateLane && p.MarkAt(l.track, l.lane, b.Index, b.N)
		out := l.lane == recording.StateLane && !p.sampled(l.track, b.Start, b.End)
		if b.End-b.Start >= res {
			if x1 := p.x(b.End); x1-x0 >= 2 || b.N == 1 && x1 > x0 {
				p.full(l, &acc)
				w := wideBar{inLane: inLane{b.Index, b.Index + b.N}, start: b.Start, end: b.End, ran: recording.Missing, call: b.Call,
					unfinished: b.N == 1 && l.spans.Unfinished(b.Index), hit: hit, membership: membership{out: out}}
				if b.N == 1 && b.Index < len(cpu) {
					w.ran = cpu[b.Index]
				}
				p.place(&w)
				l.wide = append(l.wide, w)
				return true
			}
		}
		if x0 != acc.x {
			p.full(l, &acc)
			acc.begin(b.Index, x0)
		}
		acc.last = b.Index + b.N
		acc.busy += float64(b.Busy)
		acc.hit, acc.out = acc.hit || hit, acc.out && out
		if b.Busy >= acc.most {
			acc.most, acc.call = b.Busy, b.Call
		}
		return true
	})
	p.full(l, &acc)
	if len(p.Sets) > 0 {
		p.tellMembers(l, columns, wide)
	}
}

// place sets the position of a bar in the picture.
func (p *Picture) place(b *wideBar) {
	x1 := p.x(b.end)
	b.x0 = p.x(b.start)
	b.x1 = max(x1, b.x0+1)
	b.wait = b.x1
	if b.ran != recording.Missing && x1-b.x0 >= p.px(leastTones) {
		b.wait = p.x(b.start + b.ran)
	}
}

// leastTones is the minimum width, in dp, of a bar that shows how much of it waited; in
// narrower bars the two tones would blur.
const leastTones = 6

// cpuOf returns how long each span of a lane ran on CPU, nil if unknown.
func (p *Picture) cpuOf(l *laneSpans) []int64 {
	if p.OnCPU == nil || l.lane == recording.StateLane || l.track >= len(p.OnCPU.Spans) || l.lane >= len(p.OnCPU.Spans[l.track]) {
		return nil
	}
	return p.OnCPU.Spans[l.track][l.lane]
}

// fine accumulates spans narrower than a pixel until the pixel is complete.
type fine struct {
	inLane
	x    int // -1 when empty
	busy float64
	most float32
	call recording.CallID
	hit  bool
	out  bool // true if all of them are outside the sets
}

// begin and full set field by field: Go would build a whole struct elsewhere and copy it.
func (f *fine) begin(first, x int) {
	f.first, f.x = first, x
	f.busy, f.most, f.call, f.hit, f.out = 0, 0, 0, false, true
}

// full appends a complete column if it is visible.
func (p *Picture) full(l *laneSpans, acc *fine) {
	if acc.x >= p.Gutter && acc.x < p.w {
		c := another(&l.columns)
		c.first, c.last, c.x, c.call, c.busy = acc.first, acc.last, int32(acc.x), acc.call, float32(acc.busy)
		c.hit, c.thin, c.out, c.sets = acc.hit, false, acc.out, 0
	}
	acc.x = -1
}

// The minimum strength of a column. A single short span has to be visible, and bars are
// pale on a light background.
const (
	faintest        = .3
	faintestOnLight = .6
)

// spans draws the next gathered lane, with its top at y and height h. It draws the
// columns first, in the colour of the leading span and as strong as the share of the
// pixel that is covered, then the bars wider than a pixel. On a raster canvas it draws
// them as a strip, which also covers the background of the lane.
func (p *Picture) spans(y, h int) {
	l := p.nextLane()
	p.Bars += len(l.columns)
	striped := p.pixels != nil && len(p.Sets) < 2 // the hues of two sets lie between columns and bars
	if p.pixels == nil {
		for i := range l.columns {
			c := &l.columns[i]
			col, a := p.strength(c)
			x1 := int(c.x) + 1
			if c.thin {
				x1 = int(c.x) + p.px(1)
			}
			p.c.Shade(int(c.x), y, x1, y+h, col, a)
		}
	} else {
		p.ground(y)
		strip := &p.Gathered.strip
		p.columns(l, strip.Start(p.w))
		strip.Filled()
		for i := range l.wide {
			if striped {
				p.box(strip, &l.wide[i], y, h)
			}
		}
		p.pixels.Strip(strip, p.Gutter, y, y+h)
		p.grounded = max(p.grounded, y+h)
	}
	if len(p.Sets) > 1 {
		for i := range l.columns {
			p.hue(int(l.columns[i].x), int(l.columns[i].x)+1, y, l.columns[i].sets)
		}
	}
	for i := range l.wide {
		b := &l.wide[i]
		if !striped {
			p.box(p.c, b, y, h)
		}
		p.label(b, y, h)
		p.hue(b.x0, b.x1-1, y, b.sets)
	}
}

// columns draws a lane's columns and the background between them into a row of pixels.
func (p *Picture) columns(l *laneSpans, row []raster.Color) {
	for x := p.Gutter; x < len(row); x++ {
		row[x] = p.lanes.bg
	}
	for i := range l.columns {
		c := &l.columns[i]
		col, a := p.strength(c)
		row[c.x] = raster.Blend(p.lanes.bg, col, a)
		if c.thin {
			for x := int(c.x) + 1; x < min(int(c.x)+p.px(1), len(row)); x++ {
				row[x] = row[c.x]
			}
		}
	}
}

// strength returns the colour of a column and its opacity of 255.
func (p *Picture) strength(c *column) (raster.Color, uint32) {
	p.hit, p.out = c.hit, c.out
	t := p.tint(c.call)
	color := t.color
	if c.thin {
		color = t.thin
	}
	return color, uint32(255 * (p.lanes.least + (1-p.lanes.least)*min(1, float64(c.busy)/p.lanes.res)))
}
