package recording

import (
	"cmp"
	"slices"

	"ashlar/ingest/model/column"
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/unordered"
)

// TrackBuilder adds to one track.
//
// Begin and End nest like calls and go straight into lanes. Span adds whole spans in any
// order; snapshots lay them out by containment, and spans that overlap without nesting
// get rows of their own. A track may use both.
type TrackBuilder struct {
	b *Builder
	// There may be a million tracks, of short-lived threads, so small fields are next to
	// each other to save memory.
	index   int32
	any     bool   // last is set
	out     bool   // not one of the threads that are kept: see Builder.Only
	waits   bool   // loose spans wait for their final layout: see layOut
	shared  bool   // track is a snapshot: see own
	track   *Track // content of snapshots, except lanes, open and samples
	lanes   []lanes.Lane
	open    []openSpan
	last    int64 // the latest time seen by Begin and End
	samples []sampleBuilder
	loose   *looseSpans
	spans   int64
	late    int64  // number of spans that never ended
	cached  *Track // the last snapshot, nil when something changed since
	shown   *Track // the last snapshot with loose spans, until their final layout
}

// sampleBuilder holds samples. Some of them may have arrived out of order since the last
// sort.
type sampleBuilder struct {
	*Samples
	unsorted bool
	sorted   int   // number of samples before the first that came out of order
	late     int64 // the earliest time among the other samples
}

type openSpan struct {
	start int64
	call  CallID
	args  uint64
}

// Index returns the track's index in Recording.Tracks.
func (t *TrackBuilder) Index() int { return int(t.index) }

// own makes track writable, by copying it if a snapshot shares it. Sharing as long as
// possible pays off: if there are many tracks, most have ended and no longer change.
func (t *TrackBuilder) own() {
	if !t.shared {
		return
	}
	c := *t.track
	c.States = t.track.States.Copy()
	c.Lanes, c.Open, c.Samples = nil, nil, nil
	t.track, t.shared = &c, false
}

// SetName names the track.
func (t *TrackBuilder) SetName(name string) {
	t.own()
	t.track.Name, t.cached = name, nil
	t.thread()
}

// Name returns the track's name so far.
func (t *TrackBuilder) Name() string { return t.track.Name }

// SetSort sets the position of the track among the tracks of its process.
func (t *TrackBuilder) SetSort(sort int) {
	t.own()
	t.track.Sort, t.cached = sort, nil
}

// clock returns at or, if the latest time of the track is later, that time; it reports
// whether the time was in order.
func (t *TrackBuilder) clock(at int64) (int64, bool) {
	if !t.any {
		t.any, t.last = true, at
		t.b.Cover(at, at)
		return at, true
	}
	if at < t.last {
		return t.last, false
	}
	t.last = at
	return at, true
}

// Begin opens a span. If the time is earlier than the latest on this track, it uses the
// latest and returns false.
func (t *TrackBuilder) Begin(at int64, frame FrameID, args uint64) bool {
	parent := NoCall
	if n := len(t.open); n > 0 {
		parent = t.open[n-1].call
	}
	return t.BeginCall(at, t.b.Call(parent, frame), args)
}

// BeginCall is Begin for a decoder that has the call already: its parent must be the call
// of the innermost open span, or NoCall if none is open.
func (t *TrackBuilder) BeginCall(at int64, call CallID, args uint64) bool {
	at, ok := t.clock(at)
	t.cached = nil
	t.b.held.open++
	t.open = append(t.open, openSpan{at, call, args})
	return ok
}

// End closes the innermost open span. matched is false if none is open (nothing happens
// then); forward is false if the time was earlier than the latest on this track, which is
// then used.
func (t *TrackBuilder) End(at int64) (matched, forward bool) {
	at, forward = t.clock(at)
	if len(t.open) == 0 {
		return false, forward
	}
	t.pop(at, false)
	return true, forward
}

func (t *TrackBuilder) pop(at int64, unfinished bool) {
	n := len(t.open) - 1
	o := t.open[n]
	t.open = t.open[:n]
	t.b.held.open--
	t.close(n, o, at, unfinished)
}

// Nested adds spans within open ones, for a decoder that matches ends with begins itself.
// depth is the number of spans around each span, including those that Open will add
// later. The spans must be in order, must not overlap and must follow the spans already
// at that depth; the track's first time must have been passed to Cover. Adding many spans
// at once costs half as much.
func (t *TrackBuilder) Nested(depth int, spans []lanes.Span) {
	n := len(spans)
	if n == 0 {
		return
	}
	if last := spans[n-1].End; !t.any || last > t.last {
		t.any, t.last = true, last
	}
	if t.b.part != nil || t.loose != nil {
		for i := range spans {
			s := &spans[i]
			t.close(depth, openSpan{s.Start, s.Call, s.Args}, s.End, false)
		}
		return
	}
	t.b.check()
	for depth >= len(t.lanes) {
		t.addLane()
	}
	t.cached = nil
	t.spans += int64(n)
	t.b.rec.Counts.Spans += int64(n)
	t.lanes[depth].AppendAll(spans)
	t.b.countSpans(spans)
}

// NestedUnfinished is Nested for a span that did not end in the recording.
func (t *TrackBuilder) NestedUnfinished(depth int, s lanes.Span) {
	t.any, t.last = true, max(t.last, s.End)
	t.close(depth, openSpan{s.Start, s.Call, s.Args}, s.End, true)
}

// Open opens a span within the innermost open one, like BeginCall. It is called after
// Nested has added the spans inside it.
func (t *TrackBuilder) Open(start int64, call CallID, args uint64) {
	if !t.any {
		t.any, t.last = true, start
	}
	t.last = max(t.last, start)
	t.cached = nil
	t.b.held.open++
	t.open = append(t.open, openSpan{start, call, args})
}

// Depth returns the number of open spans.
func (t *TrackBuilder) Depth() int { return len(t.open) }

func (t *TrackBuilder) close(depth int, o openSpan, end int64, unfinished bool) {
	if t.b.outside(t.out, o.start, end) {
		return
	}
	t.b.check()
	t.cached = nil
	t.spans++
	t.b.rec.Counts.Spans++
	if unfinished {
		t.late++
		t.b.rec.Counts.Unfinished++
	}
	if t.loose != nil {
		t.b.held.loose++
		t.loose.add(o.start, end, t.b.rec.Calls.Frame(o.call), 0, o.args, unfinished)
		t.loose.compact(t.b)
		return
	}
	for depth >= len(t.lanes) {
		t.addLane()
	}
	t.lanes[depth].Append(o.start, end, o.call, o.args, unfinished)
	t.b.countSpan(o.call, end-o.start)
}

// addLane adds a lane below the others.
func (t *TrackBuilder) addLane() {
	t.lanes = append(t.lanes, lanes.New(t.b.shelf, t.b.squeezed))
	t.b.held.lanes++
}

// Span adds a complete span. Spans may come in any order; end must not be before start.
func (t *TrackBuilder) Span(start, end int64, frame FrameID, args uint64, unfinished bool) {
	t.SpanOf(0, start, end, frame, args, unfinished)
}

// SpanOf is Span for a track with several concurrent activities, each a group: a span's
// parent is always of the same group.
func (t *TrackBuilder) SpanOf(group uint32, start, end int64, frame FrameID, args uint64, unfinished bool) {
	t.b.Cover(start, end)
	if t.b.outside(t.out, start, end) {
		return
	}
	t.b.check()
	if t.loose == nil {
		t.loosen()
	}
	t.cached = nil
	t.spans++
	t.b.rec.Counts.Spans++
	if unfinished {
		t.late++
		t.b.rec.Counts.Unfinished++
	}
	t.b.held.loose++
	t.loose.add(start, end, frame, group, args, unfinished)
	t.loose.compact(t.b)
}

// loosen moves the track's spans from the lanes to loose.
func (t *TrackBuilder) loosen() {
	t.loose = new(looseSpans)
	for i := range t.lanes {
		l := &t.lanes[i]
		t.b.uncount(l, 0)
		for k := range l.Len() {
			t.loose.add(l.Start(k), l.End(k), t.b.rec.Calls.Frame(l.Call(k)), 0, l.Args(k), l.Unfinished(k))
		}
		t.b.held.loose += int64(l.Len())
	}
	t.b.held.lanes -= int64(len(t.lanes))
	t.lanes = nil
}

// Starts visits the times at which the track's spans so far begin, in any order.
func (t *TrackBuilder) Starts(visit func(at int64)) {
	lanes := t.lanes
	if t.loose != nil {
		lanes = t.loose.nests.lanes()
		t.loose.runs.All(func(x *unordered.Span) { visit(x.Start) })
	}
	for i := range lanes {
		for k := range lanes[i].Len() {
			visit(lanes[i].Start(k))
		}
	}
	for i := range t.open {
		visit(t.open[i].start)
	}
}

// Sample adds a sample of an event at time at: the innermost call of its
// stack, the processor (-1 when not known) and its values by metric (used for
// metrics whose PerSample is SampleColumn).
func (t *TrackBuilder) Sample(event int, at int64, call CallID, cpu int, values []int64) {
	t.b.Cover(at, at)
	if t.b.outside(t.out, at, at) {
		return
	}
	t.cached = nil
	t.b.rec.Counts.Samples++
	k := 0
	for k < len(t.samples) && t.samples[k].Event != event {
		k++
	}
	if k == len(t.samples) {
		t.samples = append(t.samples, sampleBuilder{Samples: newSamples(t.b.shelf, event)})
	}
	s := &t.samples[k]
	n := s.Len()
	if !s.unsorted && n > 0 && at < s.times.At(n-1) {
		s.unsorted, s.sorted, s.late = true, n, at
	}
	if s.unsorted {
		s.late = min(s.late, at)
		t.b.held.unsorted = max(t.b.held.unsorted, int64(n))
	}
	s.times.Append(at)
	s.calls.Append(call)
	s.depth = max(s.depth, t.b.rec.Calls.Depth(call))
	if cpu >= 0 && s.cpu == nil {
		s.cpu = new(column.On[int32](t.b.shelf))
	}
	if s.cpu != nil {
		for s.cpu.Len() < n {
			s.cpu.Append(-1)
		}
		s.cpu.Append(int32(cpu))
	}
	for m, v := range values {
		if t.b.rec.Events[event].Metrics[m].PerSample != SampleColumn {
			continue
		}
		for m >= len(s.values) {
			s.values, s.sums = append(s.values, nil), append(s.sums, 0)
		}
		if s.values[m] == nil {
			s.values[m] = new(column.On[int64](t.b.shelf))
		}
		for s.values[m].Len() < n {
			s.values[m].Append(Missing)
		}
		s.values[m].Append(v)
		t.b.held.values++
		if v != Missing {
			s.sums[m] = t.b.total(s.sums[m], v, t.b.rec.Events[event].Metrics[m].Name)
		}
	}
}

// Instant adds an instant.
func (t *TrackBuilder) Instant(at int64, name string, args uint64) {
	t.b.Cover(at, at)
	if t.b.outside(t.out, at, at) {
		return
	}
	t.own()
	t.cached = nil
	t.track.Instants = append(t.track.Instants, Instant{at, name, args})
	t.b.rec.Counts.Instants++
}

// Break closes all open spans as unfinished. Usually the track has no more spans after
// that, but it may.
func (t *TrackBuilder) Break(at int64) {
	for at = max(at, t.last); len(t.open) > 0; {
		t.pop(at, true)
	}
	if t.loose == nil { // otherwise lanes are copies, and the originals are still filled
		for i := range t.lanes {
			t.lanes[i].TrimShort()
		}
	}
	if t.track.States.Unsqueezed() {
		t.own()
		t.cached = nil
		t.track.States.TrimShort()
	}
}

// finish closes the spans that are open at the recording's end.
func (t *TrackBuilder) finish(end int64) {
	t.Break(end)
	if slices.IsSortedFunc(t.track.Instants, byTime) {
		return
	}
	t.own()
	t.cached = nil
	t.track.Instants = slices.Clone(t.track.Instants) // snapshots share the old order
	slices.SortStableFunc(t.track.Instants, byTime)
}

func byTime(x, y Instant) int { return cmp.Compare(x.Time, y.Time) }

// layOut lays out loose spans in lanes. If the builder is stopped, the remaining ones are
// left out; see Builder.Finish.
func (t *TrackBuilder) layOut() {
	whole := t.loose.layout(t.b, t.b.rec.Done)
	if whole && t.b.rec.Done {
		added := t.loose.nests.fill(t.b)
		t.spans += added
		t.b.rec.Counts.Spans += added
		t.b.torn.filled += added
	}
	lanes := t.loose.nests.lanes()
	t.lanes = lanes
	t.loose.shown = true
	if t.b.rec.Done {
		t.b.torn.count(t.track.Kind, &t.loose.nests)
	}
	if whole || !t.b.rec.Done {
		return
	}
	var spans, late int64
	for i := range lanes {
		spans += int64(lanes[i].Len())
		late += int64(lanes[i].UnfinishedCount())
	}
	c := &t.b.rec.Counts
	t.b.unlaid += t.spans - spans
	c.Spans -= t.spans - spans
	c.Unfinished -= t.late - late
	t.spans, t.late = spans, late
}

// snapshot returns the current state of the track, reusing the last snapshot if nothing
// has changed.
func (t *TrackBuilder) snapshot() *Track {
	if t.cached != nil && (t.loose == nil || !t.b.rec.Done) { // the final layout adds to the others
		return t.cached
	}
	if t.waits && t.shown != nil {
		return t.shown
	}
	if t.loose != nil && !t.waits {
		t.layOut()
	}
	t.own()
	s := t.track
	t.shared = true
	if whole := t.b.rec.Done && !t.waits; whole { // nothing more is added
		t.loose = nil
		s.Lanes = t.lanes
		for i := range t.lanes {
			t.lanes[i].Trim()
		}
		s.States.Trim()
	} else if len(t.lanes) > 0 {
		s.Lanes = make([]lanes.Lane, len(t.lanes))
		for i := range t.lanes {
			s.Lanes[i] = t.lanes[i].Snapshot()
		}
	}
	for _, o := range t.open {
		s.Open = append(s.Open, OpenSpan{o.start, o.call, o.args})
	}
	for k := range t.samples {
		c := &t.samples[k]
		if c.unsorted {
			c.sortByTime(c.sorted, c.late)
			c.unsorted = false
		}
		s.Samples = append(s.Samples, c.snapshot())
	}
	t.shown = nil
	if t.waits {
		return s // leaves out spans not laid out yet
	}
	t.cached = s
	if t.loose != nil && !t.b.rec.Done {
		t.shown = s
	}
	return s
}

// Forget drops the open spans without recording them. It is for decoders that find that
// spans do not nest, and from then on add each span with Span once its end is known.
func (t *TrackBuilder) Forget() {
	t.cached = nil
	t.open = t.open[:0]
}

// SetArgs replaces the arguments of the innermost open span, for formats in which end
// events carry arguments too.
func (t *TrackBuilder) SetArgs(args uint64) {
	t.cached = nil
	t.open[len(t.open)-1].args = args
}
