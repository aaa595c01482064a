package perfetto

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/source"
)

// reader takes packets apart.
type reader struct {
	ctx    context.Context
	in     *source.Input
	args   *argStore
	blocks *blocks
	pipe   chan<- *window
	next   *window // that is filled
	n      int     // packets, for a look at the context now and then
	zlib   io.ReadCloser
	zstd   *zstd.Decoder
	room   []byte // of what is unpacked
	within bool   // packets that are packed in another

	p      packet // the one that is read
	seqs   map[uint64]*sequence
	lately [64]*sequence // by the last bits of their numbers
	clocks clocks

	tracks  map[uint64]*track
	threads map[[2]int64]*track // of sequences and overrides that name no track
	given   map[[2]int64]*track // the latest that descriptors gave, by process and thread
	asyncs  map[operation]*track
	groups  uint32

	rows    []*track // those with events that wait
	wide    []wide
	waiting int // events
	order   order

	said     trackEvent // the event that is read
	texts    map[string]string
	labels   labelTable
	comms    map[string]uint32 // numbers of names of threads that were switched to
	lastComm uint32
	named    []uint32            // names in what is packed
	before   map[int64]int64     // of processors, the thread of the packed events
	columns  [13][]uint64        // of events that are packed by their fields
	events   map[[2]string]int32 // of samples
	frames   map[frame]uint32
	stacks   uint32
	inlined  map[string]uint32 // stacks that are written out
	heaps    map[heapKey]*heap
}

func newReader(ctx context.Context, in *source.Input, args *argStore, room *blocks, pipe chan<- *window) *reader {
	return &reader{ctx: ctx, in: in, args: args, blocks: room, pipe: pipe, next: new(window),
		seqs: map[uint64]*sequence{}, clocks: clocks{all: map[clockKey]*clock{}},
		tracks: map[uint64]*track{}, threads: map[[2]int64]*track{}, given: map[[2]int64]*track{}, asyncs: map[operation]*track{},
		texts: map[string]string{}, labels: newLabelTable(), comms: map[string]uint32{}, before: map[int64]int64{},
		events: map[[2]string]int32{}, frames: map[frame]uint32{}, inlined: map[string]uint32{}, heaps: map[heapKey]*heap{}}
}

// mostTexts is how many texts are known again, so that each is there once. Names may be
// different ones without end.
const mostTexts = 1 << 16

// text is a text, mostly kept once.
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

// later has the maker do something before the events that are handed on next.
func (r *reader) later(act func(*maker)) { r.next.acts = append(r.next.acts, act) }

// note tells of something wrong; minor as in [recording.Warning].
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
	packetZstd        = 133
	packetStackSample = 135

	flagCleared = 1
	flagNeeds   = 2
)

// packet is one of the trace.
type packet struct {
	seq, time, clock   uint64
	timed, dropped     bool
	flags              uint64
	interned, defaults []byte
	kind               protowire.Number
	body               []byte
	at                 int64 // where in the file the length of the body stands, -1 for nowhere
}

// packet reads one, which stands at a place of the file, or at -1 in none.
func (r *reader) packet(b []byte, at int64) error {
	if r.n++; r.n%1024 == 0 && r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	p := &r.p
	*p = packet{at: -1}
	for i := 0; i < len(b); {
		// Numbers of a byte or two are read here: a call would take as long.
		tag, j := uint64(b[i]), i+1
		if tag >= 0x80 {
			if tag, j = longVarint(b, i); j < 0 {
				break
			}
		}
		num, typ := tag>>3, tag&7
		if typ&^2 != 0 || num == 0 || num > mostNumber {
			other, v, n := anyField(b[i:])
			if n < 0 {
				break
			}
			if err := r.field(p, other, v); err != nil {
				return err
			}
			i += n
			continue
		}
		from, v := int64(j), uint64(0)
		if j < len(b) && b[j] < 0x80 {
			v, j = uint64(b[j]), j+1
		} else if j+1 < len(b) && b[j+1] < 0x80 {
			v, j = uint64(b[j]&0x7f)|uint64(b[j+1])<<7, j+2
		} else if v, j = longVarint(b, j); j < 0 {
			break
		}
		if i = j; typ == 0 {
			switch num {
			case packetTime:
				p.time, p.timed = v, true
			case packetSequence:
				p.seq = v
			case packetFlags:
				p.flags |= v
			case 3, 79: // who wrote it
			default:
				if err := r.field(p, protowire.Number(num), value{n: v}); err != nil {
					return err
				}
			}
			continue
		}
		if v > uint64(len(b)-j) {
			break
		}
		i += int(v)
		if num == packetEvent {
			if p.kind, p.body = packetEvent, b[j:i:i]; at >= 0 {
				p.at = at + from
			}
		} else if err := r.field(p, protowire.Number(num), value{b: b[j:i:i]}); err != nil {
			return err
		}
	}
	return r.take(p)
}

// field takes one of a packet, of those that few have.
func (r *reader) field(p *packet, num protowire.Number, v value) error {
	switch num {
	case packetSequence:
		p.seq = v.n
	case packetTime:
		p.time, p.timed = v.n, true
	case packetClock:
		p.clock = v.n
	case packetFlags:
		p.flags |= v.n
	case packetCleared:
		p.flags |= v.n & flagCleared
	case packetDropped:
		p.dropped = v.n != 0
	case packetInterned:
		p.interned = v.b
	case packetDefaults:
		p.defaults = v.b
	case packetCompressed, packetZstd:
		if r.within || v.b == nil {
			return nil // nobody packs twice
		}
		outer := *p // packets in it are read meanwhile
		unpacked := r.unzlib
		if num == packetZstd {
			unpacked = r.unzstd
		}
		err := r.packed(unpacked(v.b))
		*p = outer
		return err
	default:
		if num < 900 && v.b != nil {
			p.kind, p.body, p.at = num, v.b, -1
		}
	}
	return nil
}

// sequence is one by its number.
func (r *reader) sequence(id uint64) *sequence {
	room := &r.lately[id%uint64(len(r.lately))]
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

// take takes a packet in its sequence.
func (r *reader) take(p *packet) error {
	s := r.sequence(p.seq)
	if p.flags&flagCleared != 0 {
		s.clear()
		s.valid = true
	} else if p.dropped {
		s.valid = false
	}
	if p.defaults != nil {
		s.setDefaults(p.defaults)
	}
	if p.interned != nil {
		r.intern(s, p.interned)
	}
	if p.kind == 0 {
		return nil
	}
	r.next.packets.read++
	if p.flags&flagNeeds != 0 && !s.valid {
		r.next.packets.left++
		r.note("lost", "", false, "Packets were lost when the trace was recorded; those behind them refer to what is not there and were left out, until a sequence begins anew")
		return nil
	}
	if p.kind == packetEvent {
		r.trackEvent(s, p)
	} else {
		r.other(s, p)
	}
	if r.waiting >= mostQueued {
		return r.flush(false)
	}
	return nil
}

// other takes a packet that is no track event.
func (r *reader) other(s *sequence, p *packet) {
	switch p.kind {
	case packetDescriptor:
		if t := r.descriptor(p.body); t.thread {
			s.own = t
		}
	case packetClocks:
		r.clocks.snapshot(p.seq, p.body)
	case packetThread:
		r.sequenceThread(s, p.body)
	case packetProcess:
		r.processDescriptor(p.body)
	case packetTree:
		r.tree(p.body)
	case packetFtrace:
		r.ftrace(p.body)
	case packetPerf:
		r.perfSample(s, p)
	case packetStreaming:
		r.streamingSamples(s, p)
	case packetStackSample:
		r.stackSample(s, p)
	case packetHeap:
		r.heapProfile(s, p.body)
	default:
		r.next.packets.left++
	}
}

// number32 is a number that may be known by 32 bits, the largest of them for larger ones.
func number32(n uint64) int32 { return int32(min(n, math.MaxInt32)) }
