package relation

import (
	"sort"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
)

// lanePart is a lane of spans, with the lanes above and below it in its column.
type lanePart struct {
	track, lane       int
	l, above, below   *lanes.Lane
	first, firstAbove int64 // row of the first span of the lane and of the lane above
}

// layout orders the lanes: by track and within it from the outermost lane inwards.
func (s *Set) layout() {
	n := int64(0)
	s.firstSpan = make([][]int64, len(s.rec.Tracks))
	for ti, t := range s.rec.Tracks {
		if len(t.Lanes) == 0 {
			continue
		}
		s.firstSpan[ti] = make([]int64, len(t.Lanes))
		for _, column := range t.Columns(&s.rec.Calls) {
			for k, lane := range column {
				p := lanePart{track: ti, lane: lane, l: &t.Lanes[lane], first: n}
				if k > 0 {
					p.above, p.firstAbove = &t.Lanes[column[k-1]], s.firstSpan[ti][column[k-1]]
				}
				if k+1 < len(column) {
					p.below = &t.Lanes[column[k+1]]
				}
				s.firstSpan[ti][lane] = n
				n += int64(p.l.Len())
				s.spans = append(s.spans, p)
			}
		}
	}
}

// stretch reads a lane: some spans at a time when they are read one after another, single
// spans otherwise.
type stretch struct {
	l      *lanes.Lane
	from   int
	starts []int64
	ends   []int64
	calls  []recording.CallID
	room   lanes.Room
}

func (w *stretch) of(l *lanes.Lane) {
	if w.l != l {
		w.l, w.from, w.starts = l, 0, nil
	}
}

// at returns the index of span i in the columns of the stretch.
func (w *stretch) at(i int) int {
	if k := i - w.from; uint(k) < uint(len(w.starts)) {
		return k
	}
	n := 1
	if len(w.starts) > 0 && i == w.from+len(w.starts) {
		n = min(4*len(w.starts), lanes.RoomLen)
	}
	w.from = i
	w.starts, w.ends, w.calls = w.l.Columns(i, min(n, w.l.Len()-i), &w.room)
	return 0
}

// spanRow is a span.
type spanRow struct {
	rec          *recording.Recording
	p            *lanePart
	i            int
	own          stretch
	above, below stretch
	start, end   int64
	call         recording.CallID
	// child is the first span of the lane below that ends after the start of span childOf, and
	// nextChild the first one after its end.
	child, nextChild, childOf int
	parent                    int // a span of the lane above, near the last parent
}

func (x *spanRow) of(p *lanePart) {
	if x.p != p {
		x.p, x.child, x.childOf, x.parent = p, 0, -2, 0
		x.own.of(p.l)
		x.above.of(p.above)
		x.below.of(p.below)
	}
}

func (x *spanRow) move(p *lanePart, i int) {
	x.of(p)
	x.take(x.own.at(i))
}

// take moves to row k of the block.
func (x *spanRow) take(k int) {
	x.i, x.start, x.end, x.call = x.own.from+k, x.own.starts[k], x.own.ends[k], x.own.calls[k]
}

// block makes the row a block of rows: those of x.own.
func (x *spanRow) block(p *lanePart, i, most int) int {
	x.of(p)
	x.own.from = i
	x.own.starts, x.own.ends, x.own.calls = p.l.Columns(i, min(most, lanes.RoomLen), &x.own.room)
	return len(x.own.starts)
}

// self returns the duration without the time in the spans directly below.
func (x *spanRow) self() int64 {
	self := x.end - x.start
	if x.p.below == nil || self == 0 {
		return self
	}
	switch {
	case x.childOf == x.i:
	case x.childOf == x.i-1:
		x.child = x.nextChild
	default:
		x.child = x.p.below.SearchNear(x.start, x.child)
	}
	n := x.p.below.Len()
	k := x.child
	for ; k < n; k++ {
		j := x.below.at(k)
		if x.below.starts[j] >= x.end {
			break
		}
		if x.below.ends[j] > x.start {
			self -= x.below.ends[j] - x.below.starts[j]
		}
	}
	x.nextChild, x.childOf = k, x.i
	return self
}

// outer returns the row of the span that this one lies in.
func (x *spanRow) outer() (int64, bool) {
	l := x.p.above
	if l == nil {
		return 0, false
	}
	parent := x.rec.Calls.Parent(x.call)
	is := func(i int) bool {
		if i < 0 || i >= l.Len() {
			return false
		}
		k := x.above.at(i)
		return x.above.starts[k] <= x.start && x.above.ends[k] >= x.end && x.above.calls[k] == parent
	}
	if !is(x.parent) || x.end == x.start {
		// A span of no length at the common edge of two spans belongs to the first whose
		// call matches.
		i := l.SearchNear(x.start, x.parent)
		for i > 0 && l.End(i-1) >= x.start {
			i--
		}
		for i < l.Len() && l.Start(i) <= x.start && !is(i) {
			i++
		}
		if !is(i) {
			return 0, false
		}
		x.parent = i
	}
	return x.p.firstAbove + int64(x.parent), true
}

func (x *spanRow) args() string {
	ref := x.p.l.Args(x.i)
	if ref == 0 || x.rec.Args == nil {
		return ""
	}
	return x.rec.Args(ref)
}

// spanAt returns the row of the innermost span of a track at a time.
func (s *Set) spanAt(track int, at int64) (row int64, call recording.CallID, ok bool) {
	t := s.rec.Tracks[track]
	deepest := 0
	for lane := range t.Lanes {
		l := &t.Lanes[lane]
		i := l.Search(at)
		if i == l.Len() || l.Start(i) > at {
			if i == 0 || l.End(i-1) != at {
				continue
			}
			i-- // the flow ends with the span
		}
		if d := s.rec.Calls.Depth(l.Call(i)); d > deepest {
			deepest, row, call, ok = d, s.firstSpan[track][lane]+int64(i), l.Call(i), true
		}
	}
	return row, call, ok
}

// Span returns the place of a span by its span_id, false if there is none.
func (s *Set) Span(id int64) (track, lane, index int, ok bool) {
	k := sort.Search(len(s.spans), func(k int) bool { return s.spans[k].first+int64(s.spans[k].l.Len()) > id })
	if id < 0 || k == len(s.spans) {
		return 0, 0, 0, false
	}
	p := &s.spans[k]
	return p.track, p.lane, int(id - p.first), true
}

func functionID(rec *recording.Recording, c recording.CallID) (int64, bool) {
	if c == recording.NoCall {
		return 0, false
	}
	return int64(rec.Func(c)), true
}

func functionOf(rec *recording.Recording, c recording.CallID) string {
	if c == recording.NoCall {
		return ""
	}
	return rec.Functions.Ref(int(rec.Func(c))).Name
}

// inBlock gives a column the function that reads it from a block.
func inBlock(c column[spanRow], all func(*spanRow, *Batch)) column[spanRow] {
	c.all = all
	return c
}

// ofArgs is a column that is NULL in lanes without arguments.
func ofArgs(c column[spanRow]) column[spanRow] {
	return inBlock(c, func(x *spanRow, b *Batch) {
		none := !x.p.l.HasArgs()
		for k := range b.Null {
			if none {
				b.Null[k] = true
				continue
			}
			x.take(k)
			b.set(k, c.get(x))
		}
	})
}

// functionNames is the column of functions, numbered from 1; 0 is none.
func functionNames(c column[spanRow]) column[spanRow] {
	c.numbered = true
	return inBlock(c, func(x *spanRow, b *Batch) {
		rec := x.rec
		b.Text = func(n int64) string {
			if n == 0 {
				return ""
			}
			return rec.Functions.Ref(int(n - 1)).Name
		}
		for k, call := range x.own.calls {
			if b.Ints[k] = 0; call != recording.NoCall {
				b.Ints[k] = int64(rec.Func(call)) + 1
			}
		}
	})
}

var spansTable = table("spans", "A call with its start and end: one bar of the timeline. Async operations are spans of threads whose kind is 'async track'; sums usually leave them out.", "thread_id depth start_ps",
	[]column[spanRow]{
		inBlock(rising(integer("span_id", "", "number of the span", func(x *spanRow) int64 { return x.p.first + int64(x.i) })), func(x *spanRow, b *Batch) {
			b.ints(func(k int) int64 { return x.p.first + int64(x.own.from+k) })
		}),
		inBlock(few(integer("thread_id", "", "refers to threads.thread_id", func(x *spanRow) int64 { return int64(x.p.track) })), func(x *spanRow, b *Batch) {
			b.ints(func(int) int64 { return int64(x.p.track) })
		}),
		inBlock(few(integer("depth", "", "1 for an outermost span", func(x *spanRow) int64 { return int64(x.rec.Calls.Depth(x.call)) })), func(x *spanRow, b *Batch) {
			b.ints(func(k int) int64 { return int64(x.rec.Calls.Depth(x.own.calls[k])) })
		}),
		inBlock(rising(integer("start_ps", "ps", "start, from the start of the recording", func(x *spanRow) int64 { return x.start - x.rec.Start })), func(x *spanRow, b *Batch) {
			b.ints(func(k int) int64 { return x.own.starts[k] - x.rec.Start })
		}),
		inBlock(rising(integer("end_ps", "ps", "end, from the start of the recording", func(x *spanRow) int64 { return x.end - x.rec.Start })), func(x *spanRow, b *Batch) {
			b.ints(func(k int) int64 { return x.own.ends[k] - x.rec.Start })
		}),
		inBlock(integer("duration_ps", "ps", "end minus start", func(x *spanRow) int64 { return x.end - x.start }), func(x *spanRow, b *Batch) {
			b.ints(func(k int) int64 { return x.own.ends[k] - x.own.starts[k] })
		}),
		inBlock(integer("self_ps", "ps", "duration without the spans directly inside", func(x *spanRow) int64 { return x.self() }), func(x *spanRow, b *Batch) {
			b.ints(func(k int) int64 { x.take(k); return x.self() })
		}),
		ofArgs(maybe("cpu_ps", "ps", "time on CPU, if the file has it", func(x *spanRow) (int64, bool) { return x.rec.SpanCPU(x.p.l, x.i) })),
		inBlock(few(integer("call_id", "", "refers to calls.call_id", func(x *spanRow) int64 { return int64(x.call) })), func(x *spanRow, b *Batch) {
			b.ints(func(k int) int64 { return int64(x.own.calls[k]) })
		}),
		inBlock(few(integer("function_id", "", "refers to functions.function_id", func(x *spanRow) int64 { return int64(x.rec.Func(x.call)) })), func(x *spanRow, b *Batch) {
			b.ints(func(k int) int64 { return int64(x.rec.Func(x.own.calls[k])) })
		}),
		functionNames(text("function", "name of the function", func(x *spanRow) string { return functionOf(x.rec, x.call) })),
		inBlock(rising(maybe("parent_id", "", "span_id of the span around it", func(x *spanRow) (int64, bool) { return x.outer() })), func(x *spanRow, b *Batch) {
			for k := range b.Ints {
				x.take(k)
				row, ok := x.outer()
				b.Ints[k], b.Null[k] = row, !ok
			}
		}),
		inBlock(flag("unfinished", "the span never ended in the recording", func(x *spanRow) bool { return x.p.l.Unfinished(x.i) }), func(x *spanRow, b *Batch) {
			clear(b.Ints)
			for _, i := range x.p.l.UnfinishedIn(x.own.from, len(b.Ints)) {
				b.Ints[i-x.own.from] = 1
			}
		}),
		ofArgs(column[spanRow]{Column: Column{Name: "args", Type: Text, Null: true, Doc: "arguments, usually a JSON object"}, get: func(x *spanRow) Value {
			s := x.args()
			return Value{Type: Text, Text: s, Null: s == ""}
		}}),
	}, func(s *Set) (parts []part[spanRow]) {
		for i := range s.spans {
			p := &s.spans[i]
			parts = append(parts, part[spanRow]{p.l.Len(),
				func(x *spanRow, i int) { x.rec = s.rec; x.move(p, i) },
				func(x *spanRow, i, most int) int { x.rec = s.rec; return x.block(p, i, most) }})
		}
		return parts
	})
