package chrome

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"

	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/model/recording"
)

// Asynchronous operations: b, n and e nest and are identified by category and id; the
// older S, T, p and F are identified by category, name and id. An operation is drawn on a
// track of its process, named after the category and name of its outermost span. T and p,
// which mark steps, and n are instants there.

// asyncKey identifies an operation.
type asyncKey struct {
	scope, id uint32 // scope is the event's scope, else its category
	name      uint32 // for the older phases
	pid       int64  // if the id is local to a process
	old       bool
}

// asyncOp is an operation with open spans.
type asyncOp struct {
	track *recording.TrackBuilder
	stack []asyncSpan
	group uint32 // group of its spans; spans of other groups are not their children
	end   int64  // the latest end of its spans
}

// asyncDone is an operation that has ended. Files need not be in order of time, so spans
// within it may follow.
type asyncDone struct {
	key   asyncKey
	track *recording.TrackBuilder
	group uint32
	end   int64
}

// maxAsyncDone is the number of ended operations that are kept.
const maxAsyncDone = 1 << 10

type asyncSpan struct {
	start, off int64
	args       uint64
	name       uint32
	frame      recording.FrameID
	op         *asyncOp
	key        asyncKey
}

// asyncEnd is an end whose begin comes later in the file or is missing.
type asyncEnd struct {
	at, off int64
	args    uint64
	name    uint32
	ph      byte
	key     asyncKey
}

// maxAsyncLate is the maximum number of ends without a begin that are kept until the end
// of the file.
const maxAsyncLate = 1 << 16

type asyncOps struct {
	d     *decoder
	open  map[asyncKey]*asyncOp
	spare []*asyncOp // ended operations, for reuse: files have millions, but few at a time
	ends  []asyncEnd
	label map[uint64]string
	done  []asyncDone
	next  int   // index of the element of done to replace next, once done is full
	last  int64 // the latest end in done
	// groups is the number of operations so far.
	groups uint32
	twice  asyncTwice
	// numbers maps unfinished spans whose id is a number to that id as written.
	numbers map[numberedSpan]uint32
}

func (a *asyncOps) init(d *decoder) {
	a.d, a.open, a.label, a.numbers = d, map[asyncKey]*asyncOp{}, map[uint64]string{}, map[numberedSpan]uint32{}
	a.twice.seed = maphash.MakeSeed()
}

// key returns the operation that an event belongs to.
func (a *asyncOps) key(it *item, t *thread) (asyncKey, bool) {
	k := asyncKey{scope: it.cat<<1 | 1}
	found := it.id != 0 && it.flags&oddID == 0
	var m jsonscan.Members // members of the event, if the scanner did not keep its id
	if found {
		k.id = a.d.ids.id(it.bt.id(it.event))
	} else {
		m = jsonscan.Object(it.text())
	}
	for {
		name, v, ok := m.Next()
		if !ok {
			break
		}
		switch string(name) {
		case "id":
			if !found {
				k.id, found = a.d.ids.id(jsonscan.Unquoted(v)), true
			}
		case "id2":
			if local := jsonscan.Member(v, "local"); local != nil {
				k.id, k.pid, found = a.d.ids.id(jsonscan.Unquoted(local)), t.pid, true
			} else if global := jsonscan.Member(v, "global"); global != nil {
				k.id, found = a.d.ids.id(jsonscan.Unquoted(global)), true
			}
		case "scope":
			if s := jsonscan.Unquoted(v); len(s) > 0 {
				k.scope = a.d.ids.id(s) << 1
			}
		}
	}
	switch it.ph {
	case 'S', 'T', 'p', 'F':
		k.old, k.name = true, it.name
	}
	return k, found
}

// track returns the track for operations whose outermost span has the event's name and
// category.
func (a *asyncOps) track(it *item, t *thread) *recording.TrackBuilder {
	key := uint64(it.cat)<<32 | uint64(it.name)
	label, ok := a.label[key]
	if !ok {
		label = a.d.textOf(it.name)
		if it.name == 0 {
			label = nameless
		}
		if it.cat != 0 {
			label = a.d.textOf(it.cat) + "/" + label
		}
		a.label[key] = label
	}
	a.d.process(t)
	return a.d.b.Track(recording.TrackKey{Kind: recording.AsyncTrack, PID: t.pid, Name: label})
}

// add adds an event. It reports whether the event is kept; finish may still leave it out.
func (a *asyncOps) add(it *item, k *recording.Tally) bool {
	d := a.d
	t := d.threadOf(it)
	key, ok := a.key(it, t)
	if !ok {
		d.warn(noID, it.off, "")
		return false
	}
	at := d.at(it.ts, it.off)
	op := a.open[key]
	switch it.ph {
	case 'b', 'S':
		d.spans()
		if op == nil {
			op = a.begin(key, at, it, t)
			a.open[key] = op
		}
		d.b.Cover(at, at)
		op.stack = append(op.stack, asyncSpan{at, it.off, d.ref(it), it.name, d.frame(it.name, it.cat), op, key})
		return true
	case 'e', 'F':
		return a.end(it, k, key, op, at)
	}
	track := (*recording.TrackBuilder)(nil)
	if op != nil {
		track = op.track
	} else {
		track = a.track(it, t)
	}
	track.Instant(at, a.step(it), d.ref(it))
	return true
}

// step returns the name of an instant. For T and p, the name includes the step argument.
func (a *asyncOps) step(it *item) string {
	name := a.d.textOf(it.name)
	if it.name == 0 {
		name = nameless
	}
	if it.ph == 'n' {
		return name
	}
	if step := jsonscan.Plain(jsonscan.Member(jsonscan.Member(it.text(), "args"), "step")); step != "" {
		return name + ": " + step
	}
	return name
}

// end closes the innermost open span of the event's name.
func (a *asyncOps) end(it *item, k *recording.Tally, key asyncKey, op *asyncOp, at int64) bool {
	d := a.d
	i := -1
	if op != nil {
		for i = len(op.stack) - 1; i >= 0; i-- {
			if it.name == 0 || op.stack[i].name == it.name || i < len(op.stack)-maxSearch {
				break
			}
		}
		if i < len(op.stack)-maxSearch {
			i = -1
		}
	}
	if i < 0 {
		if len(a.ends) < maxAsyncLate {
			a.ends = append(a.ends, asyncEnd{at, it.off, d.ref(it), it.name, it.ph, key})
			return true
		}
		d.warn(unmatchedEnd, it.off, "")
		return false
	}
	o := op.stack[i]
	if at < o.start {
		d.repaired(k, it.off)
		d.warn(timeBackward, it.off, "")
		at = o.start
	}
	again := a.again(&o, at)
	if !again {
		o.op.track.SpanOf(o.op.group, o.start, at, o.frame, d.args.pair(o.args, d.ref(it)), false)
	}
	op.stack = slices.Delete(op.stack, i, i+1)
	if op.end = max(op.end, at); len(op.stack) == 0 {
		delete(a.open, key)
		a.ended(key, op)
	}
	return !again
}

// begin returns the operation for the first open span of a key: an ended operation if the
// span begins within it, else a new one.
func (a *asyncOps) begin(key asyncKey, at int64, it *item, t *thread) *asyncOp {
	op := new(asyncOp)
	if n := len(a.spare); n > 0 {
		op, a.spare = a.spare[n-1], a.spare[:n-1]
	}
	if at < a.last && !key.old {
		for i := range a.done {
			if x := &a.done[i]; x.key == key && at < x.end {
				op.track, op.group, op.end = x.track, x.group, x.end
				x.key, x.end = asyncKey{}, 0
				return op
			}
		}
	}
	a.groups++
	op.track, op.group, op.end = a.track(it, t), a.groups, at
	return op
}

// ended keeps an operation that has no open spans, for spans that follow out of order.
func (a *asyncOps) ended(key asyncKey, op *asyncOp) {
	x := asyncDone{key, op.track, op.group, op.end}
	if a.spare = append(a.spare, op); len(a.done) < maxAsyncDone {
		a.done = append(a.done, x)
	} else {
		a.done[a.next] = x
		a.next = (a.next + 1) % maxAsyncDone
	}
	a.last = max(a.last, op.end)
}

// finish closes the open spans: with ends that came earlier in the file, or as
// unfinished.
func (a *asyncOps) finish() {
	d := a.d
	var left []asyncSpan
	for _, op := range a.open {
		left = append(left, op.stack...)
	}
	slices.SortFunc(left, func(a, b asyncSpan) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.off, b.off))
	})
	ends := map[asyncKey][]*asyncEnd{}
	slices.SortStableFunc(a.ends, func(a, b asyncEnd) int { return cmp.Compare(a.at, b.at) })
	for i := range a.ends {
		ends[a.ends[i].key] = append(ends[a.ends[i].key], &a.ends[i])
	}
	for i := len(left) - 1; i >= 0; i-- { // the innermost first
		o := &left[i]
		list := ends[o.key]
		m := slices.IndexFunc(list[:min(len(list), maxSearch)], func(e *asyncEnd) bool { return e.at >= o.start && (e.name == 0 || e.name == o.name) })
		if m < 0 {
			ph := byte('b')
			if o.key.old {
				ph = 'S'
			}
			d.later(unclosed, string(rune(ph)), o.off, false)
			a.unfinished(o)
			o.op.track.SpanOf(o.op.group, o.start, max(o.start, d.latest), o.frame, o.args, true)
			continue
		}
		e := list[m]
		ends[o.key] = slices.Delete(list, m, m+1)
		k := d.kind(string(rune(e.ph)))
		if a.again(o, e.at) {
			k.Kept--
			d.left(k, e.off)
			continue
		}
		o.op.track.SpanOf(o.op.group, o.start, e.at, o.frame, d.args.pair(o.args, e.args), false)
		d.repaired(k, e.off)
	}
	unmatched := slices.Concat(slices.Collect(maps.Values(ends))...)
	slices.SortFunc(unmatched, func(a, b *asyncEnd) int { return cmp.Compare(a.off, b.off) })
	for _, e := range unmatched {
		d.later(unmatchedEnd, string(rune(e.ph)), e.off, true)
		a.misspelled(e)
	}
	a.open, a.ends, a.spare, a.twice = nil, nil, nil, asyncTwice{}
}

// numberedSpan identifies an unfinished span by the number in its id.
type numberedSpan struct {
	id    uint64
	scope uint32
	pid   int64
	name  uint32
}

// numbered returns the number in an operation's id: decimal, or hexadecimal after 0x.
func (a *asyncOps) numbered(k asyncKey, name uint32) (numberedSpan, bool) {
	n, err := strconv.ParseUint(a.d.ids.raw[k.id-1], 0, 64)
	return numberedSpan{n, k.scope, k.pid, name}, err == nil
}

// unfinished keeps the id of an unfinished span for misspelled.
func (a *asyncOps) unfinished(o *asyncSpan) {
	if len(a.numbers) < maxAsyncLate && o.key.id != 0 {
		if n, ok := a.numbered(o.key, o.name); ok {
			a.numbers[n] = o.key.id
		}
	}
}

// misspelled notes an end whose id is that of an unfinished span in another spelling,
// such as 5 and "0x5": viewers compare ids as texts, so the two are not matched.
func (a *asyncOps) misspelled(e *asyncEnd) {
	if e.key.id == 0 {
		return
	}
	n, ok := a.numbered(e.key, e.name)
	if id := a.numbers[n]; ok && id != 0 && id != e.key.id {
		raw := a.d.ids.raw
		a.d.warn(idSpelling, e.off, strconv.Quote(raw[id-1])+" and "+strconv.Quote(raw[e.key.id-1]))
	}
}

// asyncTwice finds spans that a file has in both forms, with b and e and with S and F.
type asyncTwice struct {
	seed maphash.Seed
	// spans holds the hashes of the spans of each form. While the file has only one form,
	// first holds them instead, in less memory.
	spans [2]map[uint64]int
	first []uint64
	old   bool // the form of first
}

// again reports whether a span is the same as one of the other form, and counts its begin
// as left out.
func (a *asyncOps) again(o *asyncSpan, end int64) bool {
	type span struct {
		id, scope, name uint32
		pid, start, end int64
		track           int
	}
	w := &a.twice
	sum := maphash.Comparable(w.seed, span{o.key.id, o.key.scope, o.name, o.key.pid, o.start, end, o.op.track.Index()})
	form := func(old bool) int {
		if old {
			return 1
		}
		return 0
	}
	if w.spans[0] == nil {
		if len(w.first) == 0 || w.old == o.key.old {
			w.old = o.key.old
			w.first = append(w.first, sum)
			return false
		}
		w.spans = [2]map[uint64]int{{}, {}}
		for _, sum := range w.first {
			w.spans[form(w.old)][sum]++
		}
		w.first = nil
	}
	if others := w.spans[form(!o.key.old)]; others[sum] == 0 {
		w.spans[form(o.key.old)][sum]++
		return false
	} else if others[sum]--; others[sum] == 0 {
		delete(others, sum)
	}
	ph := "b"
	if o.key.old {
		ph = "S"
	}
	k := a.d.kind(ph)
	k.Kept--
	a.d.left(k, o.off)
	a.d.warn(asyncAgain, o.off, "")
	return true
}
