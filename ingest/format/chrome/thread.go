package chrome

import (
	"cmp"
	"slices"

	"ashlar/ingest/model/recording"
)

// How B, E and X become spans.
//
// As long as a thread's events are in order of time and nest, which is nearly always,
// they go straight into the track's lanes: a B opens a span, and so does an X, which is
// closed as soon as an event comes after its end.
//
// At the first event that is out of order, overlaps without nesting, or closes a span
// other than the innermost, the thread switches to loose spans for good: each span is
// added as a whole, with the times in the file, and the track nests the spans by
// containment. Only an end that rounding moved past the parent's end is changed: see
// roundedBy.
//
// An E closes the innermost open B of its name (of any name if the E has none) that did
// not begin later than the E. Where both have an id, it must be the same, unless no B of
// the name has the E's id. Spans opened inside it stay open: their own E may follow;
// otherwise they are shown as unfinished, up to the end of their parent. If no span of
// its name is open, an E closes the innermost span, because names of ends are optional
// and some writers use other names. If nothing is open, the E is kept until the end of
// the file, in case a B with an earlier time follows; otherwise it is left out.

// thread is a thread whose spans are being put together.
type thread struct {
	key      threadKey
	pid, tid int64
	track    *recording.TrackBuilder
	// nested reports whether the spans on stack are also open on track, in the same
	// order.
	nested bool
	last   int64 // the latest time, while nested
	any    bool  // last is valid
	stack  []open
	// orphans are open spans whose parents were closed first, by name.
	orphans map[uint32][]open
	ends    []lateEnd
	// waiting lists the steps of flows that belong to the thread's next span.
	waiting []int32
}

// open is a span that has begun.
type open struct {
	start int64
	end   int64 // end of an X; for an orphan, the end of its parent
	bound int64 // end of the innermost X that encloses the span, or of the span itself
	args  uint64
	off   int64
	ending
	frame recording.FrameID
	kind  openKind
}

// ending tells which B an E closes: the name and the id of an event, 0 for none.
type ending struct{ name, id uint32 }

// closes reports whether an E with that ending may close o.
func (e ending) closes(o *open) bool {
	return (e.name == 0 || e.name == o.name) && (e.id == 0 || o.id == 0 || e.id == o.id)
}

type openKind uint8

const (
	begun    openKind = iota // a B
	complete                 // an X: end is known
	endless                  // an X without a duration
)

// never is the end of an open span.
const never = 1<<63 - 1

// lateEnd is an E that found no span to close.
type lateEnd struct {
	at   int64
	off  int64
	args uint64
	ending
}

// maxLate is the maximum number of ends per thread that are kept for begins later in the
// file. maxSearch is the maximum number of open spans to search for the begin of an end.
const (
	maxLate   = 1 << 20
	maxSearch = 4096
)

// farTrack is the name of the track of a process for spans whose times are too far from
// all others.
const farTrack = "Outside the time range"

// sync adds a B, E or X. It reports whether the event is kept; settleAll may still leave it
// out.
func (d *decoder) sync(it *item, k *recording.Tally) bool {
	if t := d.threadOf(it); t.track == nil && d.total(it, t, k) || d.names.Ref(int(it.cat)).annotation && d.annotation(it, t, k) {
		return true
	}
	t := d.use(it)
	at := d.at(it.ts, it.off)
	if it.ph == 'E' {
		return d.end(t, it, at, k)
	}
	d.spans()
	if it.name == 0 {
		d.repaired(k, it.off)
		d.warn(noName, it.off, "")
	}
	o := open{start: at, end: never, bound: never, off: it.off, ending: d.ending(it), frame: d.frame(it.name, it.cat), args: d.ref(it)}
	if it.ph == 'X' {
		o.kind, o.end = d.length(it, at, k)
	}
	if o.kind == complete && !d.inRange(it.ts.US) {
		// A span too far away is shown at the edge of the recording, in a row of its own, so that
		// it does not nest with spans that ran there.
		d.b.Track(recording.TrackKey{Kind: recording.AsyncTrack, PID: t.pid, Name: farTrack}).Span(o.start, o.end, o.frame, o.args, false)
		return true
	}
	if t.nested && !t.fits(&o) {
		t.loosen()
	}
	t.begin(&o)
	if it.flags&hasBind != 0 {
		d.flows.bound(it, t, at)
	}
	return true
}

func (d *decoder) ending(it *item) ending {
	e := ending{name: it.name}
	if it.id != 0 && it.flags&oddID == 0 {
		e.id = d.ids.id(it.bt.id(it.event))
	}
	return e
}

// length returns the kind and end of an X that begins at the given time.
func (d *decoder) length(it *item, at int64, k *recording.Tally) (openKind, int64) {
	if it.flags&(hasDur|lengthIsCPU) == 0 {
		d.repaired(k, it.off)
		if it.flags&badNum != 0 { // its ts is a number
			d.warn(badDur, it.off, "")
		} else {
			d.warn(noDur, it.off, "")
		}
		return endless, never
	}
	if it.flags&hasDur == 0 {
		d.repaired(k, it.off)
		d.warn(cpuDur, it.off, "")
	}
	dur, ok := it.dur.Picos()
	if ok && dur < 0 {
		d.repaired(k, it.off)
		d.warn(negativeDur, it.off, "")
		return complete, at
	}
	if !ok || dur > maxTime-max(at, 0) {
		d.repaired(k, it.off)
		d.warn(timeFar, it.off, "The end of a span")
		dur = max(d.latest-at, 0)
		if it.dur.US < 0 {
			dur = 0
		}
	}
	d.latest = max(d.latest, at+dur)
	return complete, at + dur
}

// fits closes the spans that ended before o starts, and reports whether o nests in the
// spans still open.
func (t *thread) fits(o *open) bool {
	if t.any && o.start < t.last {
		return false
	}
	t.closePast(o.start, o.end)
	if n := len(t.stack); n > 0 {
		bound := t.stack[n-1].bound
		return o.start <= bound && (o.end == never || o.end <= bound)
	}
	return true
}

// closePast closes the X spans on top of the stack that ended before an event that lasts
// from at to end. An event of zero length at the very end of a span still belongs to that
// span, as it does when loose spans are nested.
func (t *thread) closePast(at, end int64) {
	for n := len(t.stack); n > 0; n-- {
		o := &t.stack[n-1]
		if o.kind != complete || o.end > at || o.end == at && end == at && o.start < at {
			return
		}
		t.track.End(o.end)
		t.stack = t.stack[:n-1]
	}
}

// begin opens the span o, for which fits returned true. If the thread is not nested, a
// complete span is added to the track at once.
func (t *thread) begin(o *open) {
	if !t.nested {
		if o.kind == complete {
			t.track.Span(o.start, o.end, o.frame, o.args, false)
			return
		}
		t.stack = append(t.stack, *o)
		return
	}
	t.any, t.last = true, o.start
	t.track.Begin(o.start, o.frame, o.args)
	o.bound = o.end
	if n := len(t.stack); n > 0 {
		o.bound = min(o.bound, t.stack[n-1].bound)
	}
	t.stack = append(t.stack, *o)
}

// loosen switches the thread to loose spans, which are added as a whole.
func (t *thread) loosen() {
	t.nested = false
	t.track.Forget()
	kept := t.stack[:0]
	for _, o := range t.stack {
		if o.kind == complete {
			t.track.Span(o.start, o.end, o.frame, o.args, false)
		} else {
			kept = append(kept, o)
		}
	}
	t.stack = kept
}

// end adds an E. It reports whether the event is kept; settleAll may still leave it out.
func (d *decoder) end(t *thread, it *item, at int64, k *recording.Tally) bool {
	e := d.ending(it)
	if t.nested {
		if t.any && at < t.last {
			t.loosen()
		} else {
			t.closePast(at, never)
		}
	}
	if t.nested {
		n := len(t.stack)
		if n > 0 {
			o := &t.stack[n-1]
			if e.id != 0 && !e.closes(o) && innermost(t.stack, e, at) < 0 {
				e.id = 0
			}
			if o.kind == begun && at <= o.bound && (e.closes(o) || innermost(t.stack, e, at) < 0) {
				if it.name != 0 && it.name != o.name {
					d.mismatch(it, k)
				}
				if it.flags&hasArgs != 0 {
					t.track.SetArgs(d.args.pair(o.args, d.ref(it)))
				}
				t.track.End(at)
				t.any, t.last = true, at
				t.stack = t.stack[:n-1]
				return true
			}
			t.loosen()
		}
	}
	return d.endLoose(t, it, e, at, k)
}

func (d *decoder) mismatch(it *item, k *recording.Tally) {
	d.repaired(k, it.off)
	d.warn(mismatchedEnd, it.off, d.textOf(it.name))
}

// innermost returns the index of the innermost of open spans that an E at a time may close,
// or -1.
func innermost(stack []open, e ending, at int64) int {
	for i := len(stack) - 1; i >= max(0, len(stack)-maxSearch); i-- {
		if o := &stack[i]; o.kind == begun && o.start <= at && e.closes(o) {
			return i
		}
	}
	return -1
}

// endLoose adds an E on a thread that is not nested, or has nothing open.
func (d *decoder) endLoose(t *thread, it *item, e ending, at int64, k *recording.Tally) bool {
	i := innermost(t.stack, e, at)
	since := int64(-1)
	if i >= 0 {
		since = t.stack[i].off
	}
	if o := t.orphan(e, at, since); o != nil {
		t.close(o, at, d.args.pair(o.args, d.ref(it)))
		return true
	}
	if i < 0 && e.id != 0 {
		i = innermost(t.stack, ending{name: e.name}, at)
	}
	n := len(t.stack)
	if i < 0 && n > 0 && t.stack[n-1].kind == begun {
		switch o := &t.stack[n-1]; {
		case o.start <= at:
			d.mismatch(it, k)
			i = n - 1
		case it.name == o.name || it.name == 0:
			d.repaired(k, it.off)
			d.warn(timeBackward, it.off, "")
			i, at = n-1, o.start
		}
	}
	if i < 0 {
		if len(t.ends) < maxLate {
			t.ends = append(t.ends, lateEnd{at, it.off, d.ref(it), e})
			return true
		}
		d.warn(unmatchedEnd, it.off, "")
		return false
	}
	o := t.stack[i]
	if i < n-1 {
		if e.id != 0 && o.id == e.id {
			d.warn(crossedID, it.off, d.textOf(o.name))
		} else {
			d.repaired(k, it.off)
			d.warn(crossedEnd, it.off, d.textOf(o.name))
		}
		if t.orphans == nil {
			t.orphans = map[uint32][]open{}
		}
		for _, c := range t.stack[i+1:] {
			c.end = max(at, c.start)
			t.orphans[c.name] = append(t.orphans[c.name], c)
		}
	}
	t.stack = t.stack[:i]
	t.close(&o, at, d.args.pair(o.args, d.ref(it)))
	return true
}

func (t *thread) close(o *open, at int64, args uint64) {
	t.track.Span(o.start, at, o.frame, args, false)
}

// orphan removes and returns the innermost orphaned B that an E at a time may close and
// that comes after offset since in the file; nil if there is none. An E without a name and
// an id closes no orphan.
func (t *thread) orphan(e ending, at, since int64) *open {
	name, found := e.name, -1
	search := func(n uint32, list []open) {
		for i := len(list) - 1; i >= max(0, len(list)-maxSearch); i-- {
			if o := &list[i]; o.kind == begun && o.start <= at && o.off > since && e.closes(o) {
				name, found, since = n, i, o.off
			}
		}
	}
	switch {
	case e.name != 0:
		search(e.name, t.orphans[e.name])
	case e.id != 0:
		for n, list := range t.orphans {
			search(n, list)
		}
	}
	if found < 0 {
		return nil
	}
	list := t.orphans[name]
	o := list[found]
	t.orphans[name] = slices.Delete(list, found, found+1)
	return &o
}

// settleAll closes the open spans of a thread at the end of the file.
func (d *decoder) settleAll(t *thread) {
	if t.nested {
		t.closePast(never, never)
		bound := false
		for i := range t.stack {
			bound = bound || t.stack[i].kind == complete
		}
		if bound || len(t.ends) > 0 && len(t.stack) > 0 {
			t.loosen()
		}
	}
	if len(t.stack) == 0 && len(t.orphans) == 0 && len(t.ends) > 0 {
		d.late(t, nil)
	}
	if t.nested { // the track closes the remaining spans
		for i := range t.stack {
			if t.stack[i].kind == begun {
				d.unfinished(&t.stack[i])
			}
		}
		return
	}
	left := t.stack
	for _, list := range t.orphans {
		left = append(left, list...)
	}
	slices.SortStableFunc(left, func(a, b open) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.off, b.off))
	})
	if len(t.ends) > 0 {
		left = d.late(t, left)
	}
	for i := range left {
		o := &left[i]
		if o.kind == begun {
			d.unfinished(o)
		}
		end := o.end
		if end == never {
			end = min(max(d.latest, o.start), max(o.bound, o.start))
		}
		t.track.Span(o.start, end, o.frame, o.args, true)
	}
	t.stack, t.orphans = nil, nil
}

// unfinished counts a B without an end.
func (d *decoder) unfinished(o *open) {
	d.later(unclosed, "B", o.off, false)
}

// late closes open spans, in order of their begins, with ends that came before them in
// the file. It returns the spans that stay open.
func (d *decoder) late(t *thread, left []open) []open {
	k := d.kind("E")
	slices.SortStableFunc(t.ends, func(a, b lateEnd) int { return cmp.Compare(a.at, b.at) })
	var stack []open
	i := 0
	for _, e := range t.ends {
		for ; i < len(left) && left[i].start <= e.at; i++ {
			stack = append(stack, left[i])
		}
		m := innermost(stack, e.ending, e.at)
		if m < 0 {
			m = innermost(stack, ending{name: e.name}, e.at)
		}
		if m < 0 {
			d.later(unmatchedEnd, "E", e.off, true)
			continue
		}
		o := stack[m]
		stack = append(stack[:m], stack[m+1:]...)
		t.close(&o, e.at, d.args.pair(o.args, e.args))
		d.repaired(k, e.off)
	}
	t.ends = nil
	return append(stack, left[i:]...)
}
