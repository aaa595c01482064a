package recording

import (
	"context"
	"errors"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"ashlar/ingest/model/column"
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/pairmap"
	"ashlar/ingest/model/sets"
)

// Builder collects a recording. One goroutine owns it.
type Builder struct {
	rec   Recording
	shelf *column.Shelf // of all columns
	// squeezed is set to squeeze lanes of spans; see Squeeze.
	squeezed bool
	funcs    funcTable
	frames   map[Frame]FrameID
	mappings map[Mapping]uint16
	shared   map[sharedSymbol]bool
	// whole maps a function to the frame that stands for all of it (traces).
	whole  []FrameID
	paths  [2][]CallID // scratch memory of CommonCall
	calls  *pairmap.Children[FrameID]
	wakers pairmap.Table        // ids of wakers, by track and call
	ctxs   map[uint64]ContextID // by hash; on a collision, by the next free number
	seed   maphash.Seed
	attrs  []Attr // preallocated, for more contexts
	tracks trackTable
	order  []*TrackBuilder // nil for finished tracks
	over   []*Track        // the finished tracks: see TrackBuilder.Over
	alive  sets.Bits       // indices of the unfinished tracks
	spare  []*TrackBuilder // builders of finished tracks, for reuse
	room   []Track         // preallocated, for more tracks
	procs  map[int64]int
	warn   map[string]int
	tally  map[string]*Tally
	tallys []*Tally

	sums       column.Vec[callSum] // of the spans in lanes, by call
	summed     *[2][]int64         // the sums of the last snapshot; nil if they have changed since
	timed      bool
	start, end int64
	window     windowKey     // the last window that was counted
	part       *parting      // the part that is kept; nil for everything
	states     sets.Groups   // scratch memory of AddStates
	inState    [states]int64 // time in each state, over all tracks
	spanned    bool          // a finished track has spans

	// OnPublish receives each snapshot; see Progress. If it is nil, only the last
	// snapshot is made.
	OnPublish func(*Recording)
	// OnProgress, if set, is called whenever Progress is.
	OnProgress func()
	next       time.Time // time of the next snapshot
	turn       int       // the track to lay out first in the next snapshot
	empty      time.Time // time of the first snapshot if it would be empty

	left    map[[2]int][]int64 // see halfLeft
	totals  [][]stackTotal     // by event and metric
	held    held
	unlaid  int64 // spans left out for lack of time to lay them out
	slack   int64 // see Slack
	touch   int64 // see Touch
	torn    torn
	until   context.Context // see Until
	adopted *Recording      // see Adopt
	halted  atomic.Bool     // see Halt
}

// callSum is the number of a call's spans and the time they cover. The time has 128 bits,
// so that additions of any size can be undone.
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

// NewBuilder returns an empty builder.
func NewBuilder() *Builder {
	b := &Builder{
		shelf:  new(column.Shelf),
		frames: map[Frame]FrameID{},
		ctxs:   map[uint64]ContextID{},
		seed:   maphash.MakeSeed(),
		procs:  map[int64]int{},
		warn:   map[string]int{},
		tally:  map[string]*Tally{},
		start:  math.MaxInt64,
		end:    math.MinInt64,
	}
	b.funcs = newFuncTable(&b.rec.Functions)
	c := &b.rec.Calls
	c.parent, c.frame, c.depth = column.On[CallID](b.shelf), column.On[FrameID](b.shelf), column.On[uint32](b.shelf)
	b.rec.Calls.parent.Append(0)
	b.rec.Calls.frame.Append(0)
	b.rec.Calls.depth.Append(0)
	b.calls = pairmap.NewChildren(&c.frame)
	b.rec.Contexts.Append(nil)
	b.rec.Wakers.Append(Waker{Track: NoTrack})
	return b
}

// Until makes snapshots and Finish end early once ctx is done: see Finish.
func (b *Builder) Until(ctx context.Context) { b.until = ctx }

// Stopped reports whether the context of Until has ended: lengthy work should then be
// given up.
func (b *Builder) Stopped() bool { return b.until != nil && b.until.Err() != nil }

// Halt makes the next addition panic. It stops a decoder that goes on although its
// context has ended, because memory is short or the result is no longer wanted. It may be
// called from any goroutine. Loading recovers from the panic, and Finish returns what was
// recorded.
func (b *Builder) Halt() { b.halted.Store(true) }

func (b *Builder) check() {
	if b.halted.Load() {
		panic("the builder was halted")
	}
}

// Adopt makes the builder return a complete recording, with the builder's warnings added
// and the builder's file as its source. It fails if only a part was requested.
func (b *Builder) Adopt(r *Recording) error {
	if b.part != nil {
		return errors.New("a stored recording is always opened as a whole; leave out --range and --thread, or open the original file")
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
		slices.ContainsFunc(b.order, func(t *TrackBuilder) bool { return t != nil && len(t.open) > 0 })
}

// Shelf returns the shelf of the columns.
func (b *Builder) Shelf() *column.Shelf { return b.shelf }

// Squeeze makes spans added from now on take less memory, at the cost of speed. It is for
// formats that are slow to read anyway.
func (b *Builder) Squeeze() { b.squeezed = true }

// Slack sets how many picoseconds later a span may end than the span around it, because
// times were rounded when the file was written. Such a span is cut to end with the span
// around it. The default is 0. Slack must be called before spans are added.
func (b *Builder) Slack(most int64) { b.slack = min(most, math.MaxUint32) }

// Touch sets how many picoseconds before the end of a span the next one may begin, because
// times and durations were rounded apart. The next one is then shown as beginning where the
// other ends. The default is 0. Touch must be called before spans are added.
func (b *Builder) Touch(most int64) { b.touch = min(most, math.MaxUint32) }

// Source returns the description of the file. It may be written to until the end.
func (b *Builder) Source() *Source { return &b.rec.Source }

// Clock returns the description of the file's clock, for the decoder to fill.
func (b *Builder) Clock() *Clock { return &b.rec.Clock }

// AddEvent adds an event and returns its index. The builder computes the totals of its
// metrics.
func (b *Builder) AddEvent(e Event) int {
	b.rec.Events = append(b.rec.Events, e)
	b.rec.Stacks = append(b.rec.Stacks, nil)
	return len(b.rec.Events) - 1
}

// Event returns event i, for the caller to change.
func (b *Builder) Event(i int) *Event { return &b.rec.Events[i] }

// Events returns the number of events.
func (b *Builder) Events() int { return len(b.rec.Events) }

// SetArgs sets the function that returns the text of a reference to arguments. It is
// called from any goroutine, also after decoding has ended.
func (b *Builder) SetArgs(f func(ref uint64) string) { b.rec.Args = f }

// SetArgState declares that references to arguments are places in the file, and sets the
// function that returns the state needed to read them: see [Recording.ArgState]. It is
// called once the recording is done.
func (b *Builder) SetArgState(f func() []byte) { b.rec.ArgState = f }

// SetCPU sets the function that returns how long a span ran on CPU, given the reference
// to the span's arguments. Like the function of SetArgs, it is called from any goroutine,
// also after decoding has ended.
func (b *Builder) SetCPU(f func(ref uint64) (ps int64, known bool)) { b.rec.CPU = f }

// Function interns a function. Its kind, file and symbol are those of the first call with
// the same name and module. A mangled name is demangled.
func (b *Builder) Function(f Function) FuncID {
	k := f.FuncName()
	hash := b.funcs.hash(k)
	id, ok := b.funcs.find(k, hash)
	if ok {
		if f.Symbol != "" {
			b.share(id, f.Symbol)
		}
		return id
	}
	if g, mangled := b.symbol(f); mangled {
		// From here on the mangled name finds the same function.
		id = b.Function(g)
		b.funcs.aliases[k] = id
		return id
	}
	id = FuncID(b.rec.Functions.Len())
	b.rec.Functions.Append(f)
	b.held.symbols += int64(len(f.Name) + len(f.Module) + len(f.File) + len(f.Symbol))
	b.funcs.add(hash, id)
	return id
}

// FunctionFrame returns the frame that stands for a whole function, for formats that
// record no lines or addresses.
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

// Call interns the call of frame from parent; parent is NoCall for an outermost call.
func (b *Builder) Call(parent CallID, frame FrameID) CallID {
	known, others := b.calls.Get(uint32(parent), frame)
	if known != 0 {
		return CallID(known)
	}
	b.check()
	c := &b.rec.Calls
	id := CallID(b.calls.Add(uint32(parent), frame, others))
	c.parent.Append(parent)
	c.depth.Append(c.depth.At(int(parent)) + 1)
	return id
}

// Stack interns a stack whose frames are given from the outermost to the leaf
// and returns the leaf's call.
func (b *Builder) Stack(frames []FrameID) CallID {
	id, _ := b.Below(NoCall, frames)
	return id
}

// Below interns the calls of frames, from the outermost to the leaf, below a call. It
// returns the leaf's call and the number of new calls; these are the last ones and have
// consecutive ids.
func (b *Builder) Below(call CallID, frames []FrameID) (leaf CallID, fresh int) {
	for i, f := range frames {
		n := b.rec.Calls.parent.Len()
		call = b.Call(call, f)
		if int(call) == n { // the call is new: nothing is below it
			b.chain(call, frames[i+1:])
			fresh = len(frames) - i
			return call + CallID(fresh-1), fresh
		}
	}
	return call, 0
}

// chain adds a chain of new calls, each the first child of the one before.
func (b *Builder) chain(call CallID, frames []FrameID) {
	c := &b.rec.Calls
	if len(frames) == 0 {
		return
	}
	depth := c.depth.At(int(call))
	b.calls.Chain(uint32(call), frames)
	for left := len(frames); left > 0; {
		// The columns have equal lengths, so their chunks end together.
		parents := c.parent.More(left)
		depths := c.depth.More(len(parents))
		for i := range parents {
			parents[i] = call
			call++
			depth++
			depths[i] = depth
		}
		left -= len(parents)
	}
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

// ProcessInfo returns process i, for the caller to change.
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

// AddFlow adds an arrow with at least two steps.
func (b *Builder) AddFlow(f Flow) { b.rec.Flows = append(b.rec.Flows, f) }

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
	b.summed = nil
	if int(call) >= b.sums.Len() {
		b.growSums(call)
	}
	b.sums.Ref(int(call)).add(dur)
}

// countSpans is countSpan for several spans.
func (b *Builder) countSpans(spans []lanes.Span) {
	b.summed = nil
	for i := range spans {
		s := &spans[i]
		if int(s.Call) >= b.sums.Len() {
			b.growSums(s.Call)
		}
		b.sums.Ref(int(s.Call)).add(s.End - s.Start)
	}
}

// growSums extends sums just far enough for a call: snapshots copy all sums, and many
// calls beyond it may have no spans.
func (b *Builder) growSums(call CallID) {
	for more := int(call) + 1 - b.sums.Len(); more > 0; {
		more -= len(b.sums.More(more))
	}
}

// uncount subtracts the spans of a lane from span i on from the totals by call.
func (b *Builder) uncount(l *lanes.Lane, i int) {
	b.summed = nil
	for ; i < l.Len(); i++ {
		b.sums.Ref(int(l.Call(i))).take(l.End(i) - l.Start(i))
	}
}
