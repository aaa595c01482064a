package timeline

import (
	"image"
	"math"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
)

// Hit is the thing under a point of the timeline.
type Hit struct {
	// Row is the index in Plan.Rows, -1 for none. Gutter reports whether the point is on
	// the names.
	Row    int
	Gutter bool
	// More reports whether the point is on the button that shows the row's hidden lanes.
	More bool
	// Found reports whether the hit is a call: Call, from Start to End.
	Found bool
	// Track is the index of the row's track, counter or window set.
	Track      int
	Lane       int
	Span       int // index in the lane; -1 for samples and open spans
	Call       recording.CallID
	Start, End int64
	Unfinished bool
	Args       uint64
	// Samples is set if the bar consists of samples First..Last-1.
	Samples     *recording.Samples
	First, Last int
	// Window is the window under the point, -1 for none.
	Window int
	// Instant is the instant under the point, nil for none. Close is the number of
	// instants drawn as one strip with it, including itself.
	Instant *recording.Instant
	Close   int
	// Counter is the counter under the point, nil for none. Point is its last point
	// before that time.
	Counter *recording.Counter
	Point   int
}

// Key identifies a bar: two hits with the same key are on the same bar.
type Key struct {
	Row, Lane, Span int
	Start           int64
}

// Key returns the key of the bar hit.
func (h Hit) Key() Key { return Key{h.Row, h.Lane, h.Span, h.Start} }

// At returns what is drawn at pixel x, y of a picture w pixels wide with a gutter.
func At(rec *recording.Recording, p *Plan, v View, x, y, w, gutter int) Hit {
	h := Hit{Row: p.RowAt(y, v.Scroll), Span: -1, Window: -1, Gutter: x < gutter}
	if i, top := p.Sticky(v.Scroll); i >= 0 && y >= p.Held && y < top+p.Rows[i].Height {
		h.Row = i
	}
	if h.Row < 0 {
		return h
	}
	r := &p.Rows[h.Row]
	if h.Gutter {
		h.More = image.Pt(x, y).In(p.MoreButton(r, v.Scroll, gutter))
		return h
	}
	lanes := max(1, w-gutter)
	at := v.Time(float64(x-gutter)+.5, lanes)
	slack := v.Span()/int64(lanes) + 1
	h.Track = r.Index
	switch r.Kind {
	case TrackRow:
		in := y - p.Top(r, v.Scroll)
		bare := !r.hasLanes() && r.Strip == 0
		if r.Strip == 0 && (bare || in < int(7*p.Scale)) && h.instant(rec.Tracks[r.Index], at, 5*slack) {
			return h
		}
		lane := -1
		for k := range r.Spans + r.Depths {
			if top := p.laneTop(r, k); r.Shows(k) && in >= top && in < top+int(math.Round(float64(laneHeight*p.Scale))) {
				lane = k
			}
		}
		if top := p.laneTop(r, recording.StateLane); r.Strip > 0 && in >= top-1 && in <= top+r.Strip {
			h.state(&rec.Tracks[r.Index].States, at, slack)
			return h
		}
		if lane < 0 {
			return h
		}
		h.Lane = lane
		if lane < r.Spans {
			h.span(rec.Tracks[r.Index], at, slack, rec.End)
		} else if r.Samples != nil {
			h.sample(rec, r, lane-r.Spans, at)
		}
		if !h.Found {
			h.instant(rec.Tracks[r.Index], at, 3*slack)
		}
	case CounterRow:
		h.counter(rec.Counters[r.Index], at)
	case WindowRow:
		for i, win := range rec.Windows[r.Index].Windows {
			if win.Start <= at && at < win.End {
				h.Window = i
				h.Start, h.End = win.Start, win.End
			}
		}
	}
	return h
}

// instant finds the instant nearest to a time, within slack.
func (h *Hit) instant(t *recording.Track, at, slack int64) bool {
	i := firstInstant(t.Instants, at)
	best := slack + 1
	for _, k := range []int{i - 1, i} {
		if k < 0 || k >= len(t.Instants) {
			continue
		}
		if d := max(t.Instants[k].Time-at, at-t.Instants[k].Time); d < best {
			best, h.Instant = d, &t.Instants[k]
		}
	}
	if h.Instant == nil {
		return false
	}
	h.Start, h.End = h.Instant.Time, h.Instant.Time
	h.Close = firstInstant(t.Instants, at+slack+1) - firstInstant(t.Instants, at-slack)
	return true
}

// counter finds the point that determines a counter's value at a time.
func (h *Hit) counter(c *recording.Counter, at int64) {
	if i := c.Search(at) - 1; i >= 0 {
		h.Value(c, i)
	}
}

// Value sets the hit to point i of a counter.
func (h *Hit) Value(c *recording.Counter, i int) {
	h.Counter, h.Point = c, i
	h.Start = c.Time(i)
	if h.End = h.Start; i+1 < c.Len() {
		h.End = c.Time(i + 1)
	}
}

// Any reports whether there is something under the point.
func (h *Hit) Any() bool {
	return h.Found || h.Window >= 0 || h.Instant != nil || h.Counter != nil
}

// span finds the span at a time, or the nearest one within slack, because a bar is drawn
// at least a pixel wide.
func (h *Hit) span(t *recording.Track, at, slack, end int64) {
	if h.Lane < len(t.Lanes) {
		l := &t.Lanes[h.Lane]
		i := l.Search(at)
		best, dist := -1, slack
		for _, k := range []int{i - 1, i} {
			if k < 0 || k >= l.Len() {
				continue
			}
			d := max(l.Start(k)-at, at-l.End(k), 0)
			if d < dist {
				best, dist = k, d
			}
		}
		if best >= 0 {
			h.Found, h.Span = true, best
			h.Call, h.Start, h.End = l.Call(best), l.Start(best), l.End(best)
			h.Unfinished, h.Args = l.Unfinished(best), l.Args(best)
			return
		}
	}
	if h.Lane < len(t.Open) && t.Open[h.Lane].Start <= at && at <= end {
		o := t.Open[h.Lane]
		h.Found, h.Call, h.Start, h.End, h.Unfinished, h.Args = true, o.Call, o.Start, end, true, o.Args
	}
}

// state finds the state at a time.
func (h *Hit) state(l *lanes.Lane, at, slack int64) {
	i := min(l.Search(at), l.Len()-1)
	if i > 0 && l.Start(i) > at+slack {
		return
	}
	row := h.Row
	*h = SpanBar(h.Track, recording.StateLane, i, l)
	h.Row = row
}

// Waker returns the track that woke the thread of a state, or recording.NoTrack.
func (h *Hit) Waker(rec *recording.Recording) int {
	if !h.IsState() {
		return recording.NoTrack
	}
	return int(rec.Waker(rec.Tracks[h.Track], h.Span).Track)
}

// IsState reports whether the hit is a thread state.
func (h *Hit) IsState() bool { return h.Found && h.Lane == recording.StateLane }

// SpanBar returns span i of a lane as a hit without a row.
func SpanBar(track, lane, i int, l *lanes.Lane) Hit {
	return Hit{Row: -1, Window: -1, Track: track, Lane: lane, Span: i, Found: true, Call: l.Call(i),
		Start: l.Start(i), End: l.End(i), Unfinished: l.Unfinished(i), Args: l.Args(i)}
}

// sampleReach limits the number of samples to each side over which a bar is followed.
const sampleReach = 1 << 20

// sample finds the bar of samples at a depth and time.
func (h *Hit) sample(rec *recording.Recording, r *Row, depth int, at int64) {
	i := r.Samples.Search(at+1) - 1
	if i >= 0 && at <= r.Samples.End(i) {
		h.follow(rec, r.Samples, depth, i)
	}
}

// SampleBar returns the bar that contains a sample at a depth of its stack, 0 being the
// outermost call. Its lane is the depth.
func SampleBar(rec *recording.Recording, s *recording.Samples, depth, i int) Hit {
	h := Hit{Row: -1, Span: -1, Window: -1, Lane: depth}
	h.follow(rec, s, depth, i)
	return h
}

// follow extends the hit to neighbouring samples with the same call as sample i at a
// depth.
func (h *Hit) follow(rec *recording.Recording, s *recording.Samples, depth, i int) {
	anc := func(i int) (recording.CallID, bool) {
		c := s.Call(i)
		if rec.Calls.Depth(c) <= depth {
			return c, c == recording.NoCall && depth == 0
		}
		return rec.Calls.Ancestor(c, depth+1), true
	}
	call, ok := anc(i)
	if !ok {
		return
	}
	h.Found, h.Call, h.Samples = true, call, s
	h.First, h.Last = i, i+1
	for n := 0; n < sampleReach && h.First > 0 && s.End(h.First-1) >= s.Time(h.First); n++ {
		if c, ok := anc(h.First - 1); !ok || c != call {
			break
		}
		h.First--
	}
	for n := 0; n < sampleReach && h.Last < s.Len() && s.End(h.Last-1) >= s.Time(h.Last); n++ {
		if c, ok := anc(h.Last); !ok || c != call {
			break
		}
		h.Last++
	}
	h.Start, h.End = s.Time(h.First), s.End(h.Last-1)
}

// Box returns the rectangle of a bar in a row of the picture.
func (p *Plan) Box(v View, row, lane int, start, end int64, w, gutter int) (x0, y0, x1, y1 int) {
	r := &p.Rows[row]
	lanes := max(1, w-gutter)
	clamp := func(x float64) int { return gutter + int(min(max(x, -4), float64(lanes+4))) }
	x0, x1 = clamp(v.X(start, lanes)), clamp(v.X(end, lanes))
	x1 = max(x1, x0+1)
	top := p.Top(r, v.Scroll)
	if r.Kind == WindowRow {
		return x0, top + int(5*p.Scale), x1, top + r.Height - int(6*p.Scale)
	}
	if r.Kind == CounterRow {
		return x0, top, x1, top + r.Height - 1
	}
	y0 = top + p.laneTop(r, lane)
	if lane == recording.StateLane {
		return x0, y0, x1, y0 + r.Strip
	}
	return x0, y0, x1, y0 + int(laneHeight*p.Scale+.5) - 1
}
