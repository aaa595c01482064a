package recording

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"ashlar/ingest/column"
	"ashlar/ingest/pairs"
)

// Builder collects a recording. One goroutine owns it.
type Builder struct {
	rec    Recording
	shelf  *column.Shelf // of all columns
	funcs  map[FuncName]FuncID
	frames map[Frame]FrameID
	shared map[sharedSymbol]bool
	// whole maps a function to the frame that stands for all of it (traces).
	whole []FrameID
	paths [2][]CallID // of CommonCall
	calls pairs.Table
	// first is each call's first child: most calls have just one,
	// and only the others are in the table.
	first  column.Vec[firstCall]
	ctxs   map[uint64]ContextID // by their hash, or the next one that was free
	seed   maphash.Seed
	attrs  []Attr // room for those of more contexts
	tracks map[TrackKey]*TrackBuilder
	order  []*TrackBuilder
	procs  map[int64]int
	warn   map[string]int
	tally  map[string]*Tally
	tallys []*Tally

	sums       []callSum // of the spans in lanes, by call
	timed      bool
	start, end int64
	window     windowKey // the last one that was counted
	part       *parting  // what is kept; nil for everything

	// OnPublish receives each snapshot; see Progress. Without it none are made
	// before the last.
	OnPublish func(*Recording)
	// OnProgress, if set, is called whenever Progress is.
	OnProgress func()
	next       time.Time // of the next snapshot
	turn       int       // the track that is laid out first in it
	empty      time.Time // of the first one, where there is nothing in it

	held    held
	unlaid  int64           // spans that there was no time to lay out
	until   context.Context // see Until
	adopted *Recording      // see Adopt
	halted  atomic.Bool     // see Halt
}

// firstCall is a call's first child; call is NoCall while it has none.
type firstCall struct {
	frame FrameID
	call  CallID
}

// callSum is the time that a call's spans cover and their number. The time has
// 128 bits, so that what was added can be taken back, however much it is.
type callSum struct {
	low   uint64
	high  int64
	count int64
}

func (s *callSum) add(dur int64) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, uint64(dur), 0)
	s.high += int64(carry)
	s.count++
}

func (s *callSum) take(dur int64) {
	var borrow uint64
	s.low, borrow = bits.Sub64(s.low, uint64(dur), 0)
	s.high -= int64(borrow)
	s.count--
}

// attrsAtOnce is how many attributes of contexts are allocated together.
const attrsAtOnce = 512

type windowKey struct {
	id         string
	start, end int64
}

// NewBuilder returns an empty builder.
func NewBuilder() *Builder {
	b := &Builder{
		shelf:  new(column.Shelf),
		funcs:  map[FuncName]FuncID{},
		frames: map[Frame]FrameID{},
		ctxs:   map[uint64]ContextID{},
		seed:   maphash.MakeSeed(),
		tracks: map[TrackKey]*TrackBuilder{},
		procs:  map[int64]int{},
		warn:   map[string]int{},
		tally:  map[string]*Tally{},
		start:  math.MaxInt64,
		end:    math.MinInt64,
	}
	c := &b.rec.Calls
	c.parent, c.frame, c.depth = column.On[CallID](b.shelf), column.On[FrameID](b.shelf), column.On[uint32](b.shelf)
	b.rec.Calls.parent.Append(0)
	b.rec.Calls.frame.Append(0)
	b.rec.Calls.depth.Append(0)
	b.first.Append(firstCall{})
	b.rec.Contexts.Append(nil)
	return b
}

// Until has snapshots and Finish end early once ctx does: see Finish.
func (b *Builder) Until(ctx context.Context) { b.until = ctx }

// Stopped reports whether what takes long shall be given up.
func (b *Builder) Stopped() bool { return b.until != nil && b.until.Err() != nil }

// Halt makes whatever is added next panic, from any goroutine: for a decoder
// that goes on though its context has ended, since there is no memory for what it
// does or nobody wants it. Loading recovers, and Finish gives what there is.
func (b *Builder) Halt() { b.halted.Store(true) }

func (b *Builder) check() {
	if b.halted.Load() {
		panic("the builder was halted")
	}
}

// Adopt has the builder give a recording that was complete before, with the warnings
// that come to it. It is of another file then, and of the whole of it.
func (b *Builder) Adopt(r *Recording) error {
	if b.part != nil {
		return errors.New("a stored recording is opened as a whole, which takes no time; leave out --range and --thread where they limit what is read, or open what it was made of")
	}
	c := *r
	c.Source.Path, c.Source.Name, c.Source.Bytes = b.rec.Source.Path, b.rec.Source.Name, b.rec.Source.Bytes
	b.adopted = &c
	return nil
}

// Shows reports whether there is anything to look at.
func (b *Builder) Shows() bool {
	c := &b.rec.Counts
	return b.adopted != nil || c.Spans+c.States+c.Samples+c.Stacks+c.Windows+c.Instants > 0 || len(b.rec.Counters)+len(b.rec.Flows) > 0 ||
		slices.ContainsFunc(b.order, func(t *TrackBuilder) bool { return len(t.open) > 0 })
}

// Shelf is where the columns are.
func (b *Builder) Shelf() *column.Shelf { return b.shelf }

// Source, Clock and Events may be written until the end.
func (b *Builder) Source() *Source { return &b.rec.Source }

// Clock is where the decoder says what the file's times mean.
func (b *Builder) Clock() *Clock { return &b.rec.Clock }

// AddEvent adds an event and returns its index. The totals of its metrics are
// the builder's to find.
func (b *Builder) AddEvent(e Event) int {
	b.rec.Events = append(b.rec.Events, e)
	b.rec.Stacks = append(b.rec.Stacks, nil)
	return len(b.rec.Events) - 1
}

// Event gives access to an event that was added.
func (b *Builder) Event(i int) *Event { return &b.rec.Events[i] }

// Events is how many events there are.
func (b *Builder) Events() int { return len(b.rec.Events) }

// SetArgs says how references to arguments become text. The function is called
// from any goroutine, also after decoding has ended.
func (b *Builder) SetArgs(f func(ref uint64) string) { b.rec.Args = f }

// SetArgState says that references to arguments are places in the file, and what has to
// be known beside it: see [Recording.ArgState]. It is called once the recording is done.
func (b *Builder) SetArgState(f func() []byte) { b.rec.ArgState = f }

// SetCPU says how long spans ran on a processor, by the reference to their
// arguments; it is called as the function of SetArgs is.
func (b *Builder) SetCPU(f func(ref uint64) (ps int64, known bool)) { b.rec.CPU = f }

// Function interns a function; kind, file and symbol are taken from the first
// time it is seen. A mangled name is made readable.
func (b *Builder) Function(f Function) FuncID {
	k := f.FuncName()
	id, ok := b.funcs[k]
	if ok {
		if f.Symbol != "" {
			b.share(id, f.Symbol)
		}
		return id
	}
	if g, mangled := b.symbol(f); mangled {
		// From here on the mangled name finds the same function.
		id = b.Function(g)
		b.funcs[k] = id
		return id
	}
	id = FuncID(b.rec.Functions.Len())
	b.rec.Functions.Append(f)
	b.held.symbols += int64(len(f.Name) + len(f.Module) + len(f.File) + len(f.Symbol))
	b.funcs[k] = id
	return id
}

// FunctionFrame returns the one frame that stands for all of a function, for
// formats that know no more.
func (b *Builder) FunctionFrame(f FuncID) FrameID {
	for int(f) >= len(b.whole) {
		b.whole = append(b.whole, math.MaxUint32)
	}
	if b.whole[f] == math.MaxUint32 {
		b.whole[f] = FrameID(b.rec.Frames.Len())
		b.rec.Frames.Append(Frame{Func: f, Kind: b.rec.Functions.At(int(f)).Kind})
	}
	return b.whole[f]
}

// Frame interns a frame.
func (b *Builder) Frame(f Frame) FrameID {
	if f == (Frame{Func: f.Func, Kind: b.rec.Functions.At(int(f.Func)).Kind}) {
		return b.FunctionFrame(f.Func)
	}
	id, ok := b.frames[f]
	if !ok {
		id = FrameID(b.rec.Frames.Len())
		b.rec.Frames.Append(f)
		b.frames[f] = id
	}
	return id
}

// Call interns the call of frame from parent (NoCall for an outermost one).
func (b *Builder) Call(parent CallID, frame FrameID) CallID {
	c := &b.rec.Calls
	first := *b.first.Ref(int(parent))
	if first.call != NoCall {
		if first.frame == frame {
			return first.call
		}
		if v := b.calls.Get(uint32(parent), uint32(frame)); v != 0 {
			return CallID(v)
		}
	}
	b.check()
	id := CallID(c.parent.Len())
	c.parent.Append(parent)
	c.frame.Append(frame)
	c.depth.Append(c.depth.At(int(parent)) + 1)
	b.first.Append(firstCall{})
	if first.call == NoCall {
		*b.first.Ref(int(parent)) = firstCall{frame, id}
	} else {
		b.calls.Put(uint32(parent), uint32(frame), uint32(id))
	}
	return id
}

// Stack interns a stack whose frames are given from the outermost to the leaf
// and returns the leaf's call.
func (b *Builder) Stack(frames []FrameID) CallID {
	id, _ := b.Below(NoCall, frames)
	return id
}

// Below interns the calls of frames, from the outermost to the leaf, below a call and
// returns the leaf's. The last fresh of them were not there before: their numbers
// follow each other.
func (b *Builder) Below(call CallID, frames []FrameID) (leaf CallID, fresh int) {
	for i, f := range frames {
		n := b.rec.Calls.parent.Len()
		call = b.Call(call, f)
		if int(call) == n { // so nothing is below it
			b.chain(call, frames[i+1:])
			fresh = len(frames) - i
			return call + CallID(fresh-1), fresh
		}
	}
	return call, 0
}

// chain adds calls each of which is the first child of the one before.
func (b *Builder) chain(call CallID, frames []FrameID) {
	c := &b.rec.Calls
	if len(frames) == 0 {
		return
	}
	depth := c.depth.At(int(call))
	*b.first.Ref(int(call)) = firstCall{frames[0], call + 1}
	for len(frames) > 0 {
		// The columns have as many elements, so their chunks end together.
		parents := c.parent.More(len(frames))
		n := len(parents)
		depths, firsts := c.depth.More(n), b.first.More(n)
		copy(c.frame.More(n), frames)
		for i := range n {
			parents[i] = call
			call++
			depth++
			depths[i] = depth
			if i+1 < len(frames) {
				firsts[i] = firstCall{frames[i+1], call + 1}
			}
		}
		frames = frames[n:]
	}
}

// Context interns a set of attributes; it sorts attrs by key.
func (b *Builder) Context(attrs []Attr) ContextID {
	if len(attrs) == 0 {
		return 0
	}
	byKey := func(a, b Attr) int { return strings.Compare(a.Key, b.Key) }
	if !slices.IsSortedFunc(attrs, byKey) {
		slices.SortStableFunc(attrs, byKey)
	}
	var h uint64
	for i := range attrs {
		h = bits.RotateLeft64(h, 23) ^ maphash.String(b.seed, attrs[i].Key)
		h = bits.RotateLeft64(h, 23) ^ maphash.String(b.seed, attrs[i].Value)
	}
	for ; ; h++ { // two may have one hash
		id, ok := b.ctxs[h]
		if !ok {
			break
		}
		if slices.Equal(b.rec.Contexts.At(int(id)), attrs) {
			return id
		}
	}
	if len(b.attrs) < len(attrs) {
		b.attrs = make([]Attr, max(attrsAtOnce, len(attrs)))
	}
	own := b.attrs[:len(attrs):len(attrs)]
	b.attrs = b.attrs[len(attrs):]
	copy(own, attrs)
	id := ContextID(b.rec.Contexts.Len())
	b.rec.Contexts.Append(own)
	for i := range attrs {
		b.held.symbols += 4 * int64(len(attrs[i].Key)+len(attrs[i].Value)+2)
	}
	b.ctxs[h] = id
	return id
}

// ContextOf is a context that was interned.
func (b *Builder) ContextOf(id ContextID) Context { return b.rec.Contexts.At(int(id)) }

// AddStack adds a stack record of an event: its leaf call, its track (or
// NoTrack), context, and values by metric (Missing where it has none), in
// units of each metric's Decimals. Totals are kept. It returns the record's
// index, -1 when it is outside the part that is kept.
func (b *Builder) AddStack(event int, call CallID, track int, ctx ContextID, values []int64) int {
	if b.part != nil && len(b.part.Threads) > 0 && (track == NoTrack || b.order[track].out) {
		b.part.left++
		return -1
	}
	if b.rec.Stacks[event] == nil {
		b.rec.Stacks[event] = newStacks(b.shelf)
	}
	ms := b.rec.Events[event].Metrics
	for m, v := range values {
		if v != Missing {
			ms[m].Total = b.total(ms[m].Total, v, ms[m].Name)
		}
	}
	b.check()
	b.rec.Counts.Stacks++
	b.held.values += int64(len(values))
	return b.rec.Stacks[event].append(call, track, ctx, values)
}

// SetDecimals brings a metric to units of 10^-decimals, finer or coarser ones.
// Everything recorded so far is scaled; snapshots keep what they have. Where a
// value would no longer fit it reports false and changes nothing. Coarser values
// are rounded, halves away from zero, and the total is that of the rounded ones.
func (b *Builder) SetDecimals(event, metric, decimals int) bool {
	m := &b.rec.Events[event].Metrics[metric]
	if decimals == m.Decimals {
		return true
	}
	var cols []*column.Vec[int64]
	var sums []*int64 // of the columns with the same number, where kept
	add := func(c *column.Vec[int64], sum *int64) { cols, sums = append(cols, c), append(sums, sum) }
	if s := b.rec.Stacks[event]; s != nil && metric < len(s.values) {
		add(&s.values[metric], &m.Total)
	}
	for _, w := range b.rec.Windows {
		if w.Event == event && metric < len(w.Rows.values) {
			add(&w.Rows.values[metric], new(int64))
		}
	}
	for _, t := range b.order {
		for _, s := range t.samples {
			if s.Event == event && metric < len(s.values) && s.values[metric] != nil {
				add(s.values[metric], &s.sums[metric])
			}
		}
	}
	f := pow10(max(decimals-m.Decimals, m.Decimals-decimals))
	scale := func(v int64) int64 { return divRound(v, f) }
	if decimals > m.Decimals {
		limit := int64(math.MaxInt64) / f
		fits := func(v int64) bool { return v == Missing || v <= limit && v >= -limit }
		for i, c := range cols {
			if !fits(*sums[i]) {
				return false
			}
			for k := range c.Len() {
				if !fits(c.At(k)) {
					return false
				}
			}
		}
		scale = func(v int64) int64 { return v * f }
	}
	for _, t := range b.order {
		t.cached = nil
	}
	for i, c := range cols {
		out := column.On[int64](c.Shelf())
		*sums[i] = 0
		for k := range c.Len() {
			v := c.At(k)
			if v != Missing {
				v = scale(v)
				Add(sums[i], v)
			}
			out.Append(v)
		}
		*c = out
	}
	m.Decimals = decimals
	return true
}

// pow10 is 10^n as far as it fits, the largest power of ten beyond.
func pow10(n int) int64 {
	p := int64(1)
	for range min(n, 18) {
		p *= 10
	}
	return p
}

// divRound divides by a positive number, halves away from zero.
func divRound(v, by int64) int64 {
	q, rest := v/by, v%by
	switch {
	case rest >= by-by/2 && by > 1:
		q++
	case -rest >= by-by/2 && by > 1:
		q--
	}
	return q
}

// AddWindow adds a window of an event; its rows are added with AddWindowStack
// before the next window of that event.
func (b *Builder) AddWindow(event int, id string, start, end int64) {
	b.Cover(start, end)
	if b.outside(false, start, end) {
		b.part.skip = true
		return
	}
	if b.part != nil {
		b.part.skip = false
	}
	w := b.windowSet(event)
	n := w.Rows.Len()
	w.Windows = append(w.Windows, Window{ID: id, Start: start, End: end, First: n, Last: n})
	// A window with rows of several events is added once for each.
	if k := (windowKey{id, start, end}); k != b.window || b.rec.Counts.Windows == 0 {
		b.window = k
		b.rec.Counts.Windows++
	}
}

// AddWindowStack adds a row to the event's newest window.
func (b *Builder) AddWindowStack(event int, call CallID, track int, ctx ContextID, values []int64) {
	if p := b.part; p != nil && (p.skip || len(p.Threads) > 0 && (track == NoTrack || b.order[track].out)) {
		p.left++
		return
	}
	w := b.windowSet(event)
	w.Rows.append(call, track, ctx, values)
	b.held.rows++
	b.held.values += int64(len(values))
	w.Windows[len(w.Windows)-1].Last++
}

func (b *Builder) windowSet(event int) *WindowSet {
	for _, w := range b.rec.Windows {
		if w.Event == event {
			return w
		}
	}
	w := &WindowSet{Event: event, Rows: *newStacks(b.shelf)}
	b.rec.Windows = append(b.rec.Windows, w)
	return w
}

// Cover widens the recording's extent to include start..end.
func (b *Builder) Cover(start, end int64) {
	b.timed = true
	b.start = min(b.start, start)
	b.end = max(b.end, end)
}

// Process returns the index of a process, adding it when it is new.
func (b *Builder) Process(pid int64) int {
	i, ok := b.procs[pid]
	if !ok {
		i = len(b.rec.Processes)
		b.rec.Processes = append(b.rec.Processes, Process{PID: pid})
		b.procs[pid] = i
	}
	return i
}

// ProcessInfo gives access to a process by its index.
func (b *Builder) ProcessInfo(i int) *Process { return &b.rec.Processes[i] }

// AddCounter adds a counter and returns its index; points follow with
// CounterPoint.
func (b *Builder) AddCounter(process int, name, series, unit string) int {
	b.rec.Counters = append(b.rec.Counters, newCounter(b.shelf, process, name, series, unit))
	return len(b.rec.Counters) - 1
}

// CounterPoint sets a counter's value from time t on. Points that come out of
// order are sorted when a snapshot is made.
func (b *Builder) CounterPoint(counter int, t int64, v float64) {
	b.Cover(t, t)
	if b.outside(false, t, t) {
		return
	}
	b.rec.Counters[counter].append(t, v)
	b.held.points++
}

// AddFlow adds an arrow through at least two moments.
func (b *Builder) AddFlow(f Flow) { b.rec.Flows = append(b.rec.Flows, f) }

// Warn notes something wrong at a place. The sentence of the first one with
// the code is kept; later ones are counted.
func (b *Builder) Warn(code, place, format string, args ...any) {
	i, ok := b.warn[code]
	if !ok {
		i = len(b.rec.Warnings)
		b.warn[code] = i
		b.rec.Warnings = append(b.rec.Warnings, Warning{Code: code, First: place, Text: fmt.Sprintf(format, args...)})
	}
	b.rec.Warnings[i].Count++
}

// Remark is Warn for what changes no number: see Warning.Minor.
func (b *Builder) Remark(code, place, format string, args ...any) {
	b.Warn(code, place, format, args...)
	b.rec.Warnings[b.warn[code]].Minor = true
}

// WarnMore counts n more of a warning that Warn has noted.
func (b *Builder) WarnMore(code string, n int64) { b.rec.Warnings[b.warn[code]].Count += n }

// Retract takes a warning back that has turned out to be wrong.
func (b *Builder) Retract(code string) {
	i, ok := b.warn[code]
	if !ok {
		return
	}
	b.rec.Warnings = slices.Delete(slices.Clone(b.rec.Warnings), i, i+1)
	delete(b.warn, code)
	for c, k := range b.warn {
		if k > i {
			b.warn[c] = k - 1
		}
	}
}

// Tally returns the ledger's counters for a kind of record.
func (b *Builder) Tally(kind string) *Tally {
	t := b.tally[kind]
	if t == nil {
		t = &Tally{Kind: kind}
		b.tally[kind] = t
		b.tallys = append(b.tallys, t)
	}
	return t
}

// countSpan adds a span to the totals by call.
func (b *Builder) countSpan(call CallID, dur int64) {
	if int(call) >= len(b.sums) {
		b.growSums(call)
	}
	b.sums[call].add(dur)
}

// countSpans is countSpan for several.
func (b *Builder) countSpans(spans []NestedSpan) {
	for i := range spans {
		s := &spans[i]
		if int(s.Call) >= len(b.sums) {
			b.growSums(s.Call)
		}
		b.sums[s.Call].add(s.End - s.Start)
	}
}

func (b *Builder) growSums(call CallID) {
	n := max(64, 2*len(b.sums), int(call)+1)
	b.sums = append(b.sums, make([]callSum, n-len(b.sums))...)
}

// uncount takes the spans of a lane from number i on back from the totals by call.
func (b *Builder) uncount(l *Lane, i int) {
	for ; i < l.Len(); i++ {
		b.sums[l.Call(i)].take(l.End(i) - l.Start(i))
	}
}
