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
	// squeezed says that lanes of spans take less room; see Squeeze.
	squeezed bool
	funcs    map[FuncName]FuncID
	frames   map[Frame]FrameID
	mappings map[Mapping]uint16
	shared   map[sharedSymbol]bool
	// whole maps a function to the frame that stands for all of it (traces).
	whole []FrameID
	paths [2][]CallID // of CommonCall
	calls pairmap.Table
	// first is each call's first child: most calls have just one,
	// and only the others are in the table.
	first  column.Vec[firstCall]
	ctxs   map[uint64]ContextID // by their hash, or the next one that was free
	seed   maphash.Seed
	attrs  []Attr // room for those of more contexts
	tracks trackTable
	order  []*TrackBuilder // nil for those that are over
	over   []*Track        // these: see TrackBuilder.Over
	alive  sets.Bits       // the others
	spare  []*TrackBuilder // of those that are over, to be used again
	room   []Track         // for more
	procs  map[int64]int
	warn   map[string]int
	tally  map[string]*Tally
	tallys []*Tally

	sums       []callSum   // of the spans in lanes, by call
	summed     *[2][]int64 // them as the last snapshot has them, nil when something changed since
	timed      bool
	start, end int64
	window     windowKey     // the last one that was counted
	part       *parting      // what is kept; nil for everything
	states     sets.Groups   // room of AddStates
	inState    [states]int64 // of all tracks
	spanned    bool          // a track that is over has spans

	// OnPublish receives each snapshot; see Progress. Without it none are made
	// before the last.
	OnPublish func(*Recording)
	// OnProgress, if set, is called whenever Progress is.
	OnProgress func()
	next       time.Time // of the next snapshot
	turn       int       // the track that is laid out first in it
	empty      time.Time // of the first one, if there is nothing in it

	left    map[[2]int][]int64 // see halfLeft
	held    held
	unlaid  int64 // spans that there was no time to lay out
	slack   int64 // see Slack
	torn    torn
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

// NewBuilder returns an empty builder.
func NewBuilder() *Builder {
	b := &Builder{
		shelf:  new(column.Shelf),
		funcs:  map[FuncName]FuncID{},
		frames: map[Frame]FrameID{},
		ctxs:   map[uint64]ContextID{},
		seed:   maphash.MakeSeed(),
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

// Shelf is where the columns are.
func (b *Builder) Shelf() *column.Shelf { return b.shelf }

// Squeeze has spans that are added from now on take less room, for formats that are slow
// to read anyway.
func (b *Builder) Squeeze() { b.squeezed = true }

// Slack says how much later, in picoseconds, a span may end than the one around it
// because of how times were rounded when the file was written. Such spans are made to
// end together; by default none are. It is called before spans are added.
func (b *Builder) Slack(most int64) { b.slack = min(most, math.MaxUint32) }

// Source, Clock and Events may be written until the end.
func (b *Builder) Source() *Source { return &b.rec.Source }

// Clock lets the decoder describe the file's clock.
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

// SetCPU says how long spans ran on CPU, by the reference to their
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
	if int(call) >= len(b.sums) {
		b.growSums(call)
	}
	b.sums[call].add(dur)
}

// countSpans is countSpan for several.
func (b *Builder) countSpans(spans []lanes.Span) {
	b.summed = nil
	for i := range spans {
		s := &spans[i]
		if int(s.Call) >= len(b.sums) {
			b.growSums(s.Call)
		}
		b.sums[s.Call].add(s.End - s.Start)
	}
}

// growSums has room for a call's total, and for those of the calls before it: snapshots copy
// as many, and calls without spans may be many more.
func (b *Builder) growSums(call CallID) {
	b.sums = append(b.sums, make([]callSum, int(call)+1-len(b.sums))...)
}

// uncount takes the spans of a lane from number i on back from the totals by call.
func (b *Builder) uncount(l *lanes.Lane, i int) {
	b.summed = nil
	for ; i < l.Len(); i++ {
		b.sums[l.Call(i)].take(l.End(i) - l.Start(i))
	}
}
