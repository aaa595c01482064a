package perfetto

import (
	"context"
	"fmt"
	"math"

	"ashlar/ingest/format/v8"
	"ashlar/ingest/input/source"
)

// reader processes packets in file order.
type reader struct {
	first  firstSample // the first packet with samples
	past   bool        // a later one has been read
	ctx    context.Context
	in     *source.Input
	args   *argStore
	blocks *blocks
	pipe   chan<- *window
	next   *window  // the window being filled
	batch  *batch   // the batch being processed
	flows  []uint64 // remaining flows of the batch, see packet
	ends   []uint64

	seqs   map[uint64]*sequence
	recent [64]*sequence // cache of sequences, by the low bits of their numbers
	clocks clocks

	tracks  map[uint64]*track
	threads map[[2]int64]*track // tracks for sequences and events that name no track
	given   map[[2]int64]*track // tracks from descriptors, the latest for each process and thread
	asyncs  map[operation]*track
	groups  uint32

	rows      []*track // tracks with queued events
	wide      []wide
	passes    []pass
	waiting   int // number of queued events
	order     order[event]
	wideOrder order[wide]
	passOrder order[pass]

	said     trackEvent // the current event
	texts    map[string]string
	labels   labelTable
	comms    map[string]uint32 // numbers of the names of threads switched to
	lastComm uint32
	named    []uint32        // names in compressed packets
	before   map[int64]int64 // by processor: the thread of the previous compact event
	owners   map[int64]int64 // processes of threads, from marks
	columns  [13][]uint64    // columns of compact events, by field
	events   map[sampleKind]int32
	frames   map[frame]uint32
	stacks   uint32
	inlined  map[string]uint32 // stacks written out inline
	heaps    map[heapKey]*heap

	profiles     map[int64]profileEvent // queued events, by number
	profileCount int64
	profiled     map[v8.Key]*track
}

func newReader(ctx context.Context, in *source.Input, args *argStore, room *blocks, pipe chan<- *window) *reader {
	return &reader{ctx: ctx, in: in, args: args, blocks: room, pipe: pipe, next: new(window),
		seqs: map[uint64]*sequence{}, clocks: clocks{all: map[clockKey]*clock{}},
		tracks: map[uint64]*track{}, threads: map[[2]int64]*track{}, given: map[[2]int64]*track{}, asyncs: map[operation]*track{},
		texts: map[string]string{}, labels: newLabelTable(), comms: map[string]uint32{}, before: map[int64]int64{}, owners: map[int64]int64{},
		events: map[sampleKind]int32{}, frames: map[frame]uint32{}, inlined: map[string]uint32{}, heaps: map[heapKey]*heap{},
		profiles: map[int64]profileEvent{}, profiled: map[v8.Key]*track{}}
}

// mostTexts is the maximum number of interned texts, because a trace may have any number
// of different names.
const mostTexts = 1 << 16

// text returns a text as a string, interned if possible.
func (r *reader) text(b []byte) string {
	s, ok := r.texts[string(b)]
	if !ok {
		if len(r.texts) >= mostTexts {
			clear(r.texts)
		}
		s = string(b)
		r.texts[s] = s
	}
	return s
}

// later makes the maker call act before the next events.
func (r *reader) later(act func(*maker)) { r.next.acts = append(r.next.acts, act) }

// note records a problem; minor as in [recording.Warning].
func (r *reader) note(code, place string, minor bool, format string, args ...any) {
	for i := range r.next.notes {
		if n := &r.next.notes[i]; n.code == code {
			n.count++
			return
		}
	}
	r.next.notes = append(r.next.notes, note{code, place, fmt.Sprintf(format, args...), minor, 1})
}

// Fields of a packet.
const (
	packetFtrace      = 1
	packetTree        = 2
	packetUser        = 3
	packetClocks      = 6
	packetTime        = 8
	packetSequence    = 10
	packetEvent       = 11
	packetInterned    = 12
	packetFlags       = 13
	packetHeap        = 37
	packetCleared     = 41
	packetDropped     = 42
	packetProcess     = 43
	packetThread      = 44
	packetCompressed  = 50
	packetStreaming   = 54
	packetClock       = 58
	packetDefaults    = 59
	packetDescriptor  = 60
	packetPerf        = 66
	packetPID         = 79
	packetZstd        = 133
	packetStackSample = 135

	flagCleared = 1
	flagNeeds   = 2
)

// all reads the trace and, at the end, passes the remaining data to the maker.
func (r *reader) all() error {
	err := r.file()
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	r.endHeaps()
	if more := r.flush(true); more != nil {
		return more
	}
	return err
}

// file processes the packets of the file in order.
func (r *reader) file() error {
	ctx, cancel := context.WithCancel(r.ctx)
	p := startPipeline(ctx, r.in)
	defer p.all.Wait()
	defer cancel()
	for j := range p.order {
		for b := range j.done {
			if err := r.take(b); err != nil {
				return err
			}
			p.put(b)
		}
		if j.err != nil {
			r.in.Stop() // a worker may be waiting for a pipe
			return j.err
		}
	}
	if n := p.note; n != nil {
		r.note(n.code, n.place, false, "%s", n.text)
	}
	return p.err
}

// take processes the packets of a batch.
func (r *reader) take(b *batch) error {
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	r.batch = b
	r.flows, r.ends = b.flows, b.ends
	for i := range b.packets {
		p := &b.packets[i]
		s := r.recent[p.seq%uint32(len(r.recent))]
		if s == nil || s.id != uint64(p.seq) || !r.plain(s, p) {
			r.packet(r.sequence(p.seq), p)
		}
		if r.waiting >= mostQueued {
			if err := r.flush(false); err != nil {
				return err
			}
		}
		if p.flowCount|p.endCount != 0 {
			r.flows, r.ends = r.flows[p.flowCount:], r.ends[p.endCount:]
		}
	}
	if b.failed != nil {
		r.note("packed", "", false, "Some compressed packets cannot be decompressed (%v); earlier packets are shown", b.failed)
	}
	return nil
}

// body returns the body of a packet.
func (b *batch) body(p *packet) []byte {
	size, from := varint(b.data, int(p.at))
	return b.data[from:][:size:size]
}

// text returns the text at a position encoded by textAt.
func (b *batch) text(place uint64) []byte {
	from, size := place>>32, place&(1<<32-1)
	return b.data[from:][:size:size]
}

// sequence returns a sequence by number.
func (r *reader) sequence(number uint32) *sequence {
	id := uint64(number)
	room := &r.recent[id%uint64(len(r.recent))]
	if s := *room; s != nil && s.id == id {
		return s
	}
	s := r.seqs[id]
	if s == nil {
		s = &sequence{id: id, args: r.args}
		s.clear()
		r.seqs[id] = s
	}
	*room = s
	return s
}

// packet processes a packet of its sequence.
func (r *reader) packet(s *sequence, p *packet) {
	if p.is&isCleared != 0 {
		s.clear()
		s.valid = true
	} else if p.is&isDropped != 0 {
		s.valid = false
	}
	if p.state != 0 {
		told := &r.batch.states[p.state-1]
		s.setDefaults(told.defaults)
		r.intern(s, told.interned)
	}
	if p.kind == 0 {
		r.clocks.time(s, p)
		return
	}
	r.next.packets.read++
	if p.is&isNeeding != 0 && !s.valid {
		r.next.packets.left++
		r.note("lost", "", false, "Packets were lost while recording; later packets that depend on them were left out until the sequence restarts")
		return
	}
	if p.kind == packetEvent {
		r.trackEvent(s, p)
	} else {
		r.other(s, p, r.batch.body(p))
	}
}

// other processes a packet that is not a track event. It always reads the time, because
// incremental clocks need every packet.
func (r *reader) other(s *sequence, p *packet, body []byte) {
	at := int64(0)
	if p.kind != packetClocks {
		at = r.clocks.time(s, p)
	}
	switch p.kind {
	case packetDescriptor:
		if t := r.descriptor(body); t.thread {
			s.own = t
		}
	case packetClocks:
		r.clocks.snapshot(s.id, body)
	case packetThread:
		r.sequenceThread(s, body)
	case packetProcess:
		r.processDescriptor(body)
	case packetTree:
		r.tree(body)
	case packetFtrace:
		r.ftrace(body)
	case packetPerf:
		r.noteRepeat(s, p, at, body)
		r.perfSample(s, at, body)
	case packetStreaming:
		r.noteRepeat(s, p, at, body)
		r.streamingSamples(s, p, at, body)
	case packetStackSample:
		r.noteRepeat(s, p, at, body)
		r.stackSample(s, at, body)
	case packetHeap:
		r.heapProfile(s, body)
	default:
		r.next.packets.left++
	}
}

// firstSample identifies a packet with samples.
type firstSample struct {
	sequence uint64
	kind     uint8
	at       int64
	body     string
}

// noteRepeat warns if the first packet with samples comes again after later ones. Then the file
// is probably a concatenation of traces that share packets.
func (r *reader) noteRepeat(s *sequence, p *packet, at int64, body []byte) {
	f := &r.first
	switch {
	case f.body == "":
		*f = firstSample{s.id, uint8(p.kind), at, string(body)}
	case at > f.at:
		r.past = true
	case r.past && at == f.at && f.sequence == s.id && f.kind == uint8(p.kind) && f.body == string(body):
		r.note("repeated", "", false, "The first samples occur again after later ones: the trace seems to hold the same packets twice, and all are counted")
	}
}

// number32 converts a number to 32 bits; larger ones become the maximum.
func number32(n uint64) int32 { return int32(min(n, math.MaxInt32)) }
