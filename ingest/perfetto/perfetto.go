// Package perfetto reads Perfetto's traces (.pftrace, .perfetto-trace): protobuf
// messages, a packet each, of several sequences that name things by number. See
// protos/perfetto/trace in https://github.com/google/perfetto.
//
// It reads track events (slices, instants, counters, flows) with all that they
// refer to, also the older kind that Chrome writes; which thread ran on which
// processor (ftrace's sched events); samples with stacks; and heap profiles, of
// which the last one of a process counts. Packets of other kinds are counted and
// left out.
package perfetto

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/codec"
	"ashlar/ingest/decode"
	"ashlar/ingest/recording"
	"ashlar/ingest/sched"
	"ashlar/ingest/source"
)

// Format is Perfetto's traces.
var Format = codec.Format{
	Name:       "perfetto",
	Title:      "Perfetto trace",
	Plural:     "Perfetto traces",
	Holds:      "track events, counters, flows, which thread ran on which processor, samples, heap profiles",
	Extensions: []string{".pftrace", ".perfetto-trace"},
	Sniff:      Sniff,
	Decode:     Decode,
}

// Sniff looks for packets (Trace.packet is field 1, repeated), of which one has a
// field that only packets have: the sequence (10), the time (8), or data of a kind
// with a number beyond those of pprof's and OpenTelemetry's messages.
func Sniff(head []byte, _ bool) (decode.Confidence, error) {
	packets, certain := 0, false
	for rest := head; len(rest) > 0; packets++ {
		num, typ, n := protowire.ConsumeTag(rest)
		if n < 0 || num != 1 || typ != protowire.BytesType {
			return decode.No, nil
		}
		packet, m := protowire.ConsumeBytes(rest[n:])
		if m < 0 {
			break // cut
		}
		for rest = rest[n+m:]; len(packet) > 0; {
			num, typ, n := protowire.ConsumeTag(packet)
			if n < 0 {
				return decode.No, nil
			}
			m := protowire.ConsumeFieldValue(num, typ, packet[n:])
			if m < 0 {
				return decode.No, nil
			}
			certain = certain || num >= 8
			packet = packet[n+m:]
		}
	}
	if packets > 0 && certain {
		return decode.Certain, nil
	}
	return decode.No, nil
}

const (
	// maxPacket is how long a packet may be, packed or not; Perfetto's own are
	// below a few megabytes.
	maxPacket = 64 << 20
	maxPacked = 512 << 20 // of those that are packed in one
)

// value is one of a field: a number, or bytes.
type value struct {
	n uint64
	b []byte
}

func (v value) text() string { return string(v.b) }

// each walks over a message's fields, as far as they are whole.
func each(b []byte) iter.Seq2[protowire.Number, value] {
	return func(yield func(protowire.Number, value) bool) {
		for len(b) > 0 {
			num, v, n := field(b)
			if n < 0 {
				return
			}
			b = b[n:]
			if !yield(num, v) {
				return
			}
		}
	}
}

// field reads one, which takes n bytes; n is negative where none stands whole. Nearly
// all have a number below 16, and a value or a length below 128: a byte each.
func field(b []byte) (num protowire.Number, v value, n int) {
	if len(b) > 1 && b[1] < 0x80 && b[0] >= 1<<3 && b[0] < 0x80 {
		switch x := int(b[1]); protowire.Type(b[0] & 7) {
		case protowire.VarintType:
			return protowire.Number(b[0] >> 3), value{n: uint64(x)}, 2
		case protowire.BytesType:
			if x <= len(b)-2 {
				return protowire.Number(b[0] >> 3), value{b: b[2:][:x:x]}, 2 + x
			}
		}
	}
	return anyField(b)
}

// anyField is field for what is longer or of other types.
func anyField(b []byte) (num protowire.Number, v value, n int) {
	num, typ, n := protowire.ConsumeTag(b)
	if n < 0 {
		return num, v, n
	}
	m := 0
	switch rest := b[n:]; typ {
	case protowire.VarintType:
		v.n, m = protowire.ConsumeVarint(rest)
	case protowire.Fixed64Type:
		v.n, m = protowire.ConsumeFixed64(rest)
	case protowire.Fixed32Type:
		var x uint32
		x, m = protowire.ConsumeFixed32(rest)
		v.n = uint64(x)
	case protowire.BytesType:
		v.b, m = protowire.ConsumeBytes(rest)
	default:
		m = protowire.ConsumeFieldValue(num, typ, rest)
	}
	if m < 0 {
		return num, v, m
	}
	return num, v, n + m
}

// numbers are those of a repeated field, which may be packed.
func (v value) numbers(to []uint64) []uint64 {
	if v.b == nil {
		return append(to, v.n)
	}
	for b := v.b; len(b) > 0; {
		x, n := protowire.ConsumeVarint(b)
		if n < 0 {
			break
		}
		to, b = append(to, x), b[n:]
	}
	return to
}

type decoder struct {
	b     *recording.Builder
	ctx   context.Context
	texts *decode.Texts
	n     int

	seqs    map[uint64]*sequence
	seq     *sequence // of the last packet
	clocks  clocks
	zlib    io.ReadCloser
	zstd    *zstd.Decoder
	tracks  map[uint64]*track
	threads map[[2]int64]*track // of sequences and overrides that name no track
	keys    map[recording.TrackKey]*track
	before  map[int64]int64 // of processors, the thread of the packed events
	states  *sched.Builder
	asyncs  map[string]*track
	groups  uint32

	queue   queue
	said    trackEvent        // the event that is read
	words   map[string]string // names, each once
	slab    []turn
	columns [13][]uint64 // of events that are packed by their fields
	object  []byte       // the arguments of an event
	zero    int64
	zeroed  bool
	last    int64

	flows      map[uint64]*recording.Flow
	events     map[string]int
	slicesSaid bool // there is an event of spans
	heaps      map[heapKey]*heap
	names      map[[2]string]uint32 // of labels
	labels     []label
	looked     [1 << 10]struct { // see labelOf
		numbered
		label uint32
	}

	packets, slices *recording.Tally
}

// Decode reads all packets into b. Of a trace that is cut it reads what stands
// before.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	d := &decoder{b: b, ctx: ctx, texts: new(decode.Texts), seqs: map[uint64]*sequence{}, clocks: clocks{all: map[clockKey]*clock{}},
		tracks: map[uint64]*track{}, threads: map[[2]int64]*track{}, keys: map[recording.TrackKey]*track{}, before: map[int64]int64{}, states: sched.New(b), asyncs: map[string]*track{},
		flows: map[uint64]*recording.Flow{}, events: map[string]int{}, heaps: map[heapKey]*heap{}, names: map[[2]string]uint32{}, words: map[string]string{},
		packets: b.Tally("packet"), slices: b.Tally("event")}
	in.OnSilence(b.Progress)
	b.SetArgs(d.texts.Text)
	from := &decode.Reader{In: in}
	defer func() {
		if d.zstd != nil {
			d.zstd.Close()
		}
	}()
	if err := d.read(bufio.NewReaderSize(from, 1<<20), 0); err != nil {
		return err
	}
	d.flush(true)
	d.end()
	if !b.Shows() {
		return errors.New("there is nothing in the trace that can be shown: no track event, no sched event, no sample")
	}
	return nil
}

// read reads a trace: packets, each with its length.
func (d *decoder) read(r *bufio.Reader, base int64) error {
	for {
		b, at, err := d.nextPacket(r, &base)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			d.b.Warn("damaged", fmt.Sprintf("byte %d", at), "The trace is cut short at byte %d; what stands before is shown", at)
			return nil
		case errors.Is(err, errPacket):
			d.b.Warn("damaged", fmt.Sprintf("byte %d", at), "The trace is damaged at byte %d, where no packet stands; what stands before is shown", at)
			return nil
		case err != nil:
			return err
		}
		if err := d.packet(b, 0); err != nil {
			return err
		}
	}
}

var errPacket = errors.New("no packet")

// nextPacket reads a packet, which stands at a place. It holds until the next one.
func (d *decoder) nextPacket(r *bufio.Reader, base *int64) (b []byte, at int64, err error) {
	at = *base
	head, err := r.Peek(11)
	if len(head) == 0 {
		return nil, at, err
	}
	num, typ, n := protowire.ConsumeTag(head)
	if n < 0 || num != 1 || typ != protowire.BytesType {
		return nil, at, errPacket
	}
	size, m := protowire.ConsumeVarint(head[n:])
	if m < 0 {
		if err == nil {
			err = errPacket
		} else if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, at, err
	}
	if size > maxPacket {
		return nil, at, errPacket
	}
	err = nil // a short packet may be the last
	r.Discard(n + m)
	*base += int64(n + m)
	if size <= uint64(r.Size()) { // it is read where it lies
		b, err = r.Peek(int(size))
		r.Discard(len(b))
		*base, size = *base+int64(len(b)), uint64(len(b)) // where it is cut, err says so
	}
	// What is held grows with what is there, not with what is said.
	for uint64(len(b)) < size && err == nil {
		have := len(b)
		b = append(b, make([]byte, min(size-uint64(have), 1<<20))...)
		n, err = io.ReadFull(r, b[have:])
		*base += int64(n)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return b, at, err
}

// broken is a reader of what cannot be unpacked.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// unzlib and unzstd read packed bytes, with one unpacker for all of them.
func (d *decoder) unzlib(b []byte) io.Reader {
	var err error
	if d.zlib == nil {
		d.zlib, err = zlib.NewReader(bytes.NewReader(b))
	} else {
		err = d.zlib.(zlib.Resetter).Reset(bytes.NewReader(b), nil)
	}
	if err != nil {
		return broken{err}
	}
	return d.zlib
}

func (d *decoder) unzstd(b []byte) io.Reader {
	var err error
	if d.zstd == nil {
		d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
	}
	if err == nil {
		err = d.zstd.Reset(bytes.NewReader(b))
	}
	if err != nil {
		return broken{err}
	}
	return d.zstd
}

// packed reads packets that are packed in one.
func (d *decoder) packed(r io.Reader, depth int) error {
	if depth > 0 {
		return nil // nobody packs twice
	}
	in, base := bufio.NewReader(io.LimitReader(r, maxPacked)), int64(0)
	for {
		b, _, err := d.nextPacket(in, &base)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			d.b.Warn("packed", "", "Packets that are packed in another cannot all be unpacked (%v); those before are shown", err)
			return nil
		}
		if err := d.packet(b, depth+1); err != nil {
			return err
		}
	}
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

// packet reads one.
func (d *decoder) packet(b []byte, depth int) error {
	if d.n++; d.n%1024 == 0 {
		d.b.Progress()
		if err := d.ctx.Err(); err != nil {
			return err
		}
	}
	var p packet
	for num, v := range each(b) {
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
		case packetCompressed:
			if err := d.packed(d.unzlib(v.b), depth); err != nil {
				return err
			}
		case packetZstd:
			if err := d.packed(d.unzstd(v.b), depth); err != nil {
				return err
			}
		default:
			if num < 900 && v.b != nil {
				p.kind, p.body = num, v.b
			}
		}
	}
	return d.take(&p)
}

// packet is one of the trace.
type packet struct {
	seq, time, clock   uint64
	timed, dropped     bool
	flags              uint64
	interned, defaults []byte
	kind               protowire.Number
	body               []byte
}

// sequence is one by its number.
func (d *decoder) sequence(id uint64) *sequence {
	if d.seq != nil && d.seq.id == id {
		return d.seq
	}
	s := d.seqs[id]
	if s == nil {
		s = &sequence{id: id}
		s.clear()
		d.seqs[id] = s
	}
	d.seq = s
	return s
}

// take takes a packet in its sequence.
func (d *decoder) take(p *packet) error {
	s := d.sequence(p.seq)
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
		s.intern(p.interned)
	}
	if p.kind == 0 {
		return nil
	}
	d.packets.Read++
	if p.flags&flagNeeds != 0 && !s.valid {
		d.packets.Leave("")
		d.b.Warn("lost", "", "Packets were lost when the trace was recorded; those behind them refer to what is not there and were left out, until a sequence begins anew")
		return nil
	}
	d.packets.Kept++
	switch p.kind {
	case packetEvent:
		d.trackEvent(s, p)
	case packetDescriptor:
		if t := d.descriptor(p.body); t.thread {
			s.own = t
		}
	case packetClocks:
		d.clocks.snapshot(p.seq, p.body)
	case packetThread:
		d.sequenceThread(s, p.body)
	case packetProcess:
		d.processDescriptor(p.body)
	case packetTree:
		d.tree(p.body)
	case packetFtrace:
		d.ftrace(p.body)
	case packetPerf:
		d.perfSample(s, p)
	case packetStreaming:
		d.streamingSamples(s, p)
	case packetStackSample:
		d.stackSample(s, p)
	case packetHeap:
		d.heapProfile(s, p.body)
	default:
		d.packets.Kept--
		d.packets.Leave("")
	}
	if len(d.queue.events) >= mostQueued {
		d.flush(false)
	}
	return nil
}
