package spall

import (
	"context"
	"io"
	"math"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/decimal"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/pairmap"
	"ashlar/ingest/model/recording"
)

// parser parses bytes into batches. It runs on one goroutine.
type parser struct {
	ctx   context.Context
	in    *source.Input
	clock clock
	names nameTable
	args  argStore
	calls *pairmap.Children[uint32] // by parent and name
	near  []callSlot

	threads map[uint64]*threadState
	// recent caches threads, to avoid most map lookups; it is indexed by a hash of the
	// key.
	recent [64]*threadState
	// made counts threads, fresh are those not yet in a batch.
	made  uint32
	fresh []thread
	// begun are the threads with spans that began in the current batch and may
	// still be open.
	begun []*threadState

	cur  *batch
	out  chan<- *batch
	free <-chan *batch

	seen    [problems]bool
	inBatch [problems]int
	// by kind: whether one was counted yet
	anyRead, anyRepaired, anyLeftOut [recordKinds]bool

	skip skipper
}

// threadState is the state of a thread: enough to find unmatched ends and times that run
// backwards while the file offset is known.
type threadState struct {
	key  uint64
	what uint32     // the thread's number<<kindBits
	open []openCall // outermost first
	last int64
	// emitted is the number of spans in open that are already in earlier batches; begun
	// reports whether the thread is in parser.begun.
	emitted int
	begun   bool
}

// innermost returns the innermost open call, 0 (the root) if there is none. A nil thread,
// which is not known yet, has none.
func (t *threadState) innermost() uint32 {
	if t == nil || len(t.open) == 0 {
		return 0
	}
	return t.open[len(t.open)-1].call
}

// callSlot caches the call of a name below a parent.
type callSlot struct {
	key  uint64 // the parent and 1 + the name; 0 in an empty slot
	call uint32
}

// Sizes of near, for few calls and for many. Most calls were used recently.
const (
	nearFew  = 1 << 10
	nearMany = 1 << 15
)

// child returns the number of the call of name below parent.
func (p *parser) child(parent, name uint32) uint32 {
	key := uint64(parent)<<32 | uint64(name+1)
	s := &p.near[key*mul1>>49&uint64(len(p.near)-1)]
	if s.key != key {
		*s = callSlot{key, p.call(parent, name)}
	}
	return s.call
}

// begin opens a span of a thread. args is 0 for no arguments.
func (p *parser) begin(t *threadState, at int64, call uint32, args uint64) {
	if t.last == math.MinInt64 {
		p.cur.first = append(p.cur.first, at)
	}
	t.last = at
	t.open = append(t.open, openCall{at, args, call})
	if !t.begun {
		t.begun = true
		p.begun = append(p.begun, t)
	}
	p.cur.tallies[recBegin].read++
}

// end ends a thread's innermost span at the given time, which is invalid if ok is false.
func (p *parser) end(t *threadState, at int64, ok bool, off int64) {
	if !ok || at < t.last {
		at = p.late(t, recEnd, at, ok, off)
	}
	t.last = at
	p.cur.tallies[recEnd].read++
	n := len(t.open) - 1
	switch {
	case n < 0:
		p.note(unmatchedEnd, off, "a record ends a span, but none is open on its thread")
		p.leftOut(recEnd, off)
		// The sink gets the unmatched end too, because the recording extends to its time.
		p.cur.events = append(p.cur.events, event{at: at, what: t.what | evEnd})
		return
	case n < t.emitted:
		t.emitted = n
		p.cur.events = append(p.cur.events, event{at: at, what: t.what | evEnd})
	default:
		// There is always room for one more: see full. The event is filled in place
		// because copying data just written stalls the CPU.
		k := len(p.cur.events)
		p.cur.events = p.cur.events[:k+1]
		e, o := &p.cur.events[k], &t.open[n]
		e.at, e.end, e.id, e.what, e.depth = o.start, at, o.call, t.what, uint32(n)
		if o.args != 0 {
			e.what |= evNestedArgs
			p.cur.extra = append(p.cur.extra, o.args)
		}
	}
	t.open = t.open[:n]
}

// emitOpen puts the spans that began in the current batch and are still open into
// it.
func (p *parser) emitOpen() {
	for _, t := range p.begun {
		for _, o := range t.open[min(t.emitted, len(t.open)):] {
			p.cur.opened = append(p.cur.opened, opened{o, t.what >> kindBits})
		}
		t.emitted, t.begun = len(t.open), false
	}
	p.begun = p.begun[:0]
}

// learn returns the number of a name that quick did not find. For a new name, the verdict
// is whether the bytes with the name are a record. after is the text after the record.
func (p *parser) learn(name, after []byte, end bool, validate func([]byte, bool) bool) (uint32, verdict) {
	hash := hashName(name)
	id, known := p.names.find(name, hash)
	if !known {
		if v := believe(name, after, end, validate); v != believed {
			return 0, v
		}
		id = p.names.add(name, hash)
	}
	p.names.keep(name, id)
	return id, believed
}

// call returns the number of the call of name below parent, adding the call if it is new.
func (p *parser) call(parent, name uint32) uint32 {
	c, others := p.calls.Get(parent, name)
	if c == 0 {
		if p.calls.Len() > len(p.near)/2 && len(p.near) < nearMany {
			p.near = make([]callSlot, nearMany)
		}
		c = p.calls.Add(parent, name, others)
		p.cur.calls = append(p.cur.calls, call{parent, name})
	}
	return c
}

// reader reads one version of the format.
type reader interface {
	// chunk reads what it can of c, which is at offset off in the content, and returns
	// the number of bytes it used. If end is set, nothing follows c and it must use all
	// of it.
	chunk(c []byte, off int64, end bool) int
}

// batchesAhead is the maximum number of batches that wait for the sink. Each has 128 KB
// or more.
const batchesAhead = 24

// run reads the whole input.
func run(ctx context.Context, in *source.Input, b *recording.Builder, opt decode.Options, h header, head []byte) error {
	b.AddEvent(recording.SpanEvent())
	b.Source().Version = h.name()
	depth := decode.Depth(in, batchesAhead)
	free := make(chan *batch, depth+2) // plus the one being filled and the one in the sink
	p := &parser{in: in, names: newNameTable(), threads: map[uint64]*threadState{},
		calls: pairmap.NewChildren[uint32](nil), near: make([]callSlot, nearFew), cur: newBatch(), free: free}
	p.args.in = in
	b.SetArgs(p.args.text)
	if in.Mapped() != nil {
		b.SetArgState(func() []byte { return nil })
	}
	s := newSink(b)
	defer func() {
		if s.close != nil {
			s.close()
		}
	}()
	r := p.prepare(h, head, b, s, opt)
	read := func(ctx context.Context, out chan<- *batch) error {
		p.ctx, p.out = ctx, out
		return p.run(h.size, r)
	}
	return decode.Beside(ctx, in, b, depth, read, func(bt *batch) error {
		s.put(bt)
		bt.reset()
		select {
		case free <- bt:
		default:
		}
		return nil
	})
}

func newBatch() *batch { return &batch{events: make([]event, 0, batchLen)} }

// prepare chooses the reader and sets the clock.
func (p *parser) prepare(h header, head []byte, b *recording.Builder, s *sink, opt decode.Options) reader {
	per := 1e6
	if h.version >= 3 {
		per = 1e3
	}
	if !(h.unit > 0 && h.unit*per < 1e18 && h.unit*per > 1e-9) {
		p.note(badUnit, 16, "the header has an invalid tick length, %v; 1 is assumed", h.unit)
		h.unit = 1
	}
	p.clock = newClock(h.unit, per)
	defer func() { p.clock.describe(b.Clock(), per) }()
	first := head[h.size:]
	switch {
	case h.auto:
		p.clock.beginInt(autoTicks(first))
		return p.automatic(h, s, opt)
	case h.version == 3:
		p.clock.beginInt(firstTicks(first))
		r := &buffers{parser: p, headerLen: bufferLen}
		r.events = &manual3{p, r}
		return r
	}
	l := chooseLayout(h.version, first)
	if int(h.version) != l.version {
		p.note(wrongVersion, 8, "the header has version %d, but the records have the layout of version %d", h.version, l.version)
	}
	p.clock.begin(l.firstTimes(first))
	return &flat{parser: p, layout: l}
}

// run reads chunk by chunk; header is the number of bytes before the records.
func (p *parser) run(header int, r reader) error {
	rest := 0
	ahead := source.Ahead{In: p.in}
	for {
		c, off, err := p.in.Next(rest)
		if p.ctx.Err() != nil {
			return p.ctx.Err()
		}
		c, short := ahead.Copy(c, off)
		if short != nil {
			err = short
		}
		skip := 0
		if off < int64(header) {
			skip = int(min(int64(header)-off, int64(len(c))))
		}
		used := skip + r.chunk(c[skip:], off+int64(skip), err != nil)
		rest = len(c) - used
		if err == nil {
			// Flush now, so that a view of a growing trace does not wait.
			err = p.flush()
		} else if ferr := p.flush(); ferr != nil {
			err = ferr
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// flush sends the current batch, unless there is nothing in it.
func (p *parser) flush() error {
	p.emitOpen()
	b := p.cur
	b.names = append(b.names, p.names.fresh...)
	b.threads = append(b.threads, p.fresh...)
	p.names.fresh, p.fresh = p.names.fresh[:0], p.fresh[:0]
	empty := len(b.events)+len(b.opened)+len(b.notes)+len(b.names)+len(b.threads)+len(b.renames)+len(b.kinds) == 0
	for k := range b.tallies {
		empty = empty && b.tallies[k].read == 0
	}
	if empty {
		return nil
	}
	if err := p.ctx.Err(); err != nil {
		return err // also if an earlier batch was dropped: nothing may follow a gap
	}
	select {
	case p.out <- b:
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
	p.inBatch = [problems]int{}
	select {
	case p.cur = <-p.free:
	default:
		p.cur = newBatch()
	}
	return nil
}

// full flushes a full batch. If that fails, run notices at the end of the chunk.
func (p *parser) full() {
	if p.flush() != nil {
		p.cur.reset()
		p.inBatch = [problems]int{}
	}
}

// known returns the state of a thread, nil when it is new; key is
// pid | tid<<32.
func (p *parser) known(key uint64) *threadState {
	slot := &p.recent[key*mul1>>58]
	if t := *slot; t != nil && t.key == key {
		return t
	}
	t := p.threads[key]
	if t != nil {
		*slot = t
	}
	return t
}

// thread returns the state of a thread, which may be new.
func (p *parser) thread(key uint64) *threadState {
	t := p.known(key)
	if t == nil {
		t = &threadState{key: key, what: p.made << kindBits, last: math.MinInt64}
		p.made++
		p.threads[key] = t
		p.fresh = append(p.fresh, thread{uint32(key), uint32(key >> 32)})
	}
	return t
}

// late replaces a time that runs backwards or is invalid (ok is false) by the latest time
// of the thread.
func (p *parser) late(t *threadState, k recordKind, at int64, ok bool, off int64) int64 {
	if k != recEnd || len(t.open) > 0 { // else it is left out
		p.repaired(k, off)
	}
	last := t.last
	if last == math.MinInt64 {
		last = 0
	}
	if !ok {
		p.note(badTime, off, "the time is not a number or too far from the others; the latest time before it on its thread is used")
		return last
	}
	p.note(timeBackward, off, "time runs backwards by %s on a thread; the latest time before it is used", decimal.Length(last-at))
	return last
}
