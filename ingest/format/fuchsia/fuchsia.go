// Package fuchsia reads the Fuchsia trace format (.fxt), which Fuchsia and several
// libraries for other systems write: records of 64-bit words from providers that each
// number their strings and threads. See
// https://fuchsia.dev/fuchsia-src/reference/tracing/trace-format.
package fuchsia

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

// Format is the Fuchsia trace format.
var Format = codec.Format{
	Name:       "fuchsia",
	Title:      "Fuchsia trace",
	Plural:     "Fuchsia traces",
	Holds:      "spans, async spans, instants, counters, flows, arguments, threads by CPU",
	Extensions: []string{".fxt"},
	Sniff:      sniff,
	Decode:     read,
}

// magic is the record that a trace begins with.
const magic = "\x10\x00\x04FxT\x16\x00"

func sniff(head []byte, _ bool) (decode.Confidence, error) {
	if len(head) >= len(magic) && string(head[:len(magic)]) == magic {
		return decode.Certain, nil
	}
	return decode.No, nil
}

// Types of records.
const (
	typeMetadata = iota
	typeInit
	typeString
	typeThread
	typeEvent
	typeBlob
	typeUserObject
	typeKernelObject
	typeSched
	typeLog
	typeLarge = 15
)

// field returns the bits from..to of a word, both inclusive, as in the format's
// description.
func field(word uint64, from, to int) uint64 { return word >> from & (1<<(to-from+1) - 1) }

// A provider is a program that wrote records, with its numbered strings and threads.
type provider struct {
	name    string
	perSec  uint64
	strings map[uint64]string
	threads map[uint64]thread
}

type thread struct{ pid, tid uint64 }

type decoder struct {
	b         *recording.Builder
	texts     *decode.Texts
	records   *recording.Tally
	providers map[uint64]*provider
	p         *provider
	at        int64 // offset of the current record in bytes
	zero      uint64
	begun     bool
	last      int64
	spans     bool // the event for spans was added

	ids       map[uint64]int64 // for ids of processes and threads with more than 63 bits
	names     map[uint64]string
	processes map[uint64]string
	owner     map[uint64]uint64
	tracks    map[thread]*track
	asyncs    map[asyncKey]*async
	flows     map[flowKey]*recording.Flow
	counters  map[counterKey]int
	switches  []turn
	order     []*async
}

// A track is the track of a thread.
type track struct {
	of      thread
	builder *recording.TrackBuilder
	open    []opened
	last    int64
}

type opened struct {
	at    int64
	frame recording.FrameID
	args  uint64
}

type asyncKey struct {
	pid  uint64
	name string
	id   uint64
}

// An async is an asynchronous operation.
type async struct {
	builder *recording.TrackBuilder
	group   uint32
	open    []opened
}

type flowKey struct {
	category, name string
	id             uint64
}

type counterKey struct {
	pid          uint64
	name, series string
}

// read reads all records into b. If the trace is truncated, it reads the part before the
// cut.
func read(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	d := &decoder{b: b, texts: new(decode.Texts), records: b.Tally("record"), providers: map[uint64]*provider{}, ids: map[uint64]int64{}, names: map[uint64]string{},
		processes: map[uint64]string{}, owner: map[uint64]uint64{}, tracks: map[thread]*track{}, asyncs: map[asyncKey]*async{}, flows: map[flowKey]*recording.Flow{}, counters: map[counterKey]int{}}
	in.OnSilence(b.Progress)
	b.SetArgs(d.texts.Text)
	d.provider(0)
	err := d.all(ctx, bufio.NewReaderSize(&decode.Reader{In: in}, 64<<10))
	if err != nil && ctx.Err() != nil {
		return err
	}
	d.end()
	if err == nil && !b.Shows() {
		err = errors.New("the trace has no events")
	}
	return err
}

// all reads all records.
func (d *decoder) all(ctx context.Context, r *bufio.Reader) error {
	var buf [4096 * 8]byte
	for n := 0; ; n++ {
		if n%1024 == 0 {
			d.b.Progress()
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		head, err := r.Peek(8)
		if len(head) < 8 {
			if len(head) > 0 && errors.Is(err, io.EOF) {
				decode.WarnDamage(d.b, d.at, true)
			}
			return eof(err)
		}
		word := binary.LittleEndian.Uint64(head)
		if field(word, 0, 3) == typeLarge {
			d.records.Read++
			d.records.Leave(decode.Byte(d.at))
			d.b.Remark("blob", decode.Byte(d.at), "Raw data of programs (first at byte %d) is not shown", d.at)
			if err := d.skip(r, int64(field(word, 4, 35))*8); err != nil {
				return eof(err)
			}
			continue
		}
		size := int(field(word, 4, 15)) * 8
		if size == 0 {
			decode.WarnDamage(d.b, d.at, false)
			return nil
		}
		d.records.Read++
		got, err := io.ReadFull(r, buf[:size])
		if err != nil {
			d.records.Leave(decode.Byte(d.at))
			decode.WarnDamage(d.b, d.at, true)
			return eof(err)
		}
		if d.record(words(buf[:got])) {
			d.records.Kept++
		} else {
			d.records.Leave(decode.Byte(d.at))
		}
		d.at += int64(size)
	}
}

// skip skips a long record.
func (d *decoder) skip(r *bufio.Reader, size int64) error {
	if size == 0 {
		decode.WarnDamage(d.b, d.at, false)
		return io.EOF
	}
	n, err := io.CopyN(io.Discard, r, size)
	if err != nil {
		decode.WarnDamage(d.b, d.at, true)
	}
	d.at += n
	return err
}

func eof(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// cursor reads the words of a record. If there are too few, bad becomes true.
type cursor struct {
	b   []byte
	bad bool
}

func words(b []byte) *cursor { return &cursor{b: b} }

func (c *cursor) word() uint64 {
	if len(c.b) < 8 {
		c.bad = true
		return 0
	}
	w := binary.LittleEndian.Uint64(c.b)
	c.b = c.b[8:]
	return w
}

// text returns the next n bytes as a string and skips the padding to the next word.
func (c *cursor) text(n uint64) string {
	padded := (n + 7) &^ 7
	if padded > uint64(len(c.b)) {
		c.bad = true
		return ""
	}
	s := string(c.b[:n])
	c.b = c.b[padded:]
	return s
}

// ref returns a string by number, or one stored inline.
func (d *decoder) ref(c *cursor, n uint64) string {
	if n&0x8000 != 0 {
		return c.text(n & 0x7fff)
	}
	return d.p.strings[n]
}

func (d *decoder) provider(id uint64) *provider {
	p := d.providers[id]
	if p == nil {
		p = &provider{perSec: 1e9, strings: map[uint64]string{}, threads: map[uint64]thread{}}
		d.providers[id] = p
	}
	d.p = p
	return p
}

// record reads a record. It reports whether any part of the record is kept.
func (d *decoder) record(c *cursor) bool {
	head := c.word()
	ok := true
	switch field(head, 0, 3) {
	case typeMetadata:
		d.metadata(c, head)
	case typeInit:
		if perSec := c.word(); perSec > 0 {
			d.p.perSec = perSec
		}
	case typeString:
		if n := field(head, 16, 30); n != 0 {
			d.p.strings[n] = c.text(field(head, 32, 46))
		}
	case typeThread:
		if n := field(head, 16, 23); n != 0 {
			d.p.threads[n] = thread{c.word(), c.word()}
		}
	case typeEvent:
		ok = d.event(c, head)
	case typeKernelObject:
		d.object(c, head)
	case typeSched:
		ok = d.scheduled(c, head)
	case typeLog:
		d.log(c, head)
	case typeBlob, typeUserObject:
		d.b.Remark("blob", decode.Byte(d.at), "Raw data of programs (first at byte %d) is not shown", d.at)
		return false
	default:
		d.b.Remark("record-unknown", decode.Byte(d.at), "Records of an unknown type (first at byte %d) were left out", d.at)
		return false
	}
	if c.bad {
		d.b.Warn("record-short", decode.Byte(d.at), "The record at byte %d is shorter than its fields and was left out", d.at)
		return false
	}
	return ok
}

// Types of metadata.
const (
	metadataProvider = 1
	metadataSection  = 2
	metadataEvent    = 3
)

func (d *decoder) metadata(c *cursor, head uint64) {
	id := field(head, 20, 51)
	switch field(head, 16, 19) {
	case metadataProvider:
		name := c.text(field(head, 52, 59))
		d.provider(id).name = name
		d.b.Source().Note("provider", name)
	case metadataSection:
		d.provider(id)
	case metadataEvent:
		name := ""
		if p := d.providers[id]; p != nil {
			name = p.name
		}
		d.b.Warn("dropped", decode.Byte(d.at), "The buffer of %s was full: some of its records are missing", cmp.Or(name, "a provider"))
	}
}

// time converts ticks to picoseconds since the first time.
func (d *decoder) time(ticks uint64) int64 {
	if !d.begun {
		d.begun, d.zero = true, ticks
		if d.p.perSec == 1e9 && ticks <= math.MaxInt64 {
			*d.b.Clock() = recording.Clock{Unit: "ns", PerUnit: 1000, Origin: recording.Decimal{Mantissa: int64(ticks)}}
		}
	}
	since, neg := ticks-d.zero, ticks < d.zero
	if neg {
		since = d.zero - ticks
	}
	const most = math.MaxInt64 / 4
	at := int64(most)
	if hi, lo := bits.Mul64(since, 1e12); hi < d.p.perSec {
		if q, _ := bits.Div64(hi, lo, d.p.perSec); q < most {
			at = int64(q)
		}
	}
	if at == most {
		d.b.Warn("time-too-far", decode.Byte(d.at), "The time at byte %d is too far from the first one and was moved", d.at)
	}
	if neg {
		at = -at
	}
	d.last = max(d.last, at)
	return at
}

// id returns the number of a process or thread. An id that is too large, like that of a
// virtual thread, is replaced by a new number.
func (d *decoder) id(n uint64) int64 {
	if n <= math.MaxInt64 {
		return int64(n)
	}
	id, ok := d.ids[n]
	if !ok {
		id = recording.TextID - 1 - int64(len(d.ids)) // below the ids of processors
		d.ids[n] = id
	}
	return id
}

func (d *decoder) thread(c *cursor, ref uint64) thread {
	if ref == 0 {
		return thread{c.word(), c.word()}
	}
	return d.p.threads[ref]
}

func (d *decoder) track(t thread) *track {
	x := d.tracks[t]
	if x == nil {
		d.owner[t.tid] = t.pid
		x = &track{of: t, builder: d.b.Track(recording.TrackKey{PID: d.id(t.pid), TID: d.id(t.tid)}), last: math.MinInt64}
		d.tracks[t] = x
	}
	return x
}

// object reads the kernel's description of a process or thread.
func (d *decoder) object(c *cursor, head uint64) {
	id := c.word()
	name := d.ref(c, field(head, 24, 39))
	args := d.args(c, field(head, 40, 43))
	switch field(head, 16, 23) {
	case 1:
		d.processes[id] = name
	case 2:
		d.names[id] = name
		for _, a := range args {
			if a.name == "process" {
				d.owner[id] = a.bits
			}
		}
	}
}

func (d *decoder) log(c *cursor, head uint64) {
	at := d.time(c.word())
	t := d.thread(c, field(head, 32, 39))
	text := c.text(field(head, 16, 30))
	if !c.bad {
		var args decode.Args
		args.Text("message", text)
		d.track(t).builder.Instant(at, "log", d.texts.Add(args.JSON()))
	}
}

// end closes what is open, and names processes and threads.
func (d *decoder) end() {
	var open []*track
	for _, t := range d.tracks {
		open = append(open, t)
	}
	order.By(open, func(a, b *track) int { return cmp.Compare(a.builder.Index(), b.builder.Index()) })
	for _, t := range open {
		if name := cmp.Or(d.names[t.of.tid], virtual("thread", t.of.tid)); name != "" {
			t.builder.SetName(name)
		}
		if p := d.b.ProcessInfo(d.b.Process(d.id(t.of.pid))); p.Name == "" {
			p.Name = virtual("process", t.of.pid)
		}
		for _, o := range t.open {
			t.builder.Span(o.at, max(o.at, d.last), o.frame, o.args, true)
		}
	}
	for _, a := range d.order {
		for _, o := range a.open {
			a.builder.SpanOf(a.group, o.at, max(o.at, d.last), o.frame, o.args, true)
		}
	}
	var ids []flowKey
	for k := range d.flows {
		ids = append(ids, k)
	}
	order.By(ids, func(a, b flowKey) int {
		return cmp.Or(cmp.Compare(a.category, b.category), cmp.Compare(a.name, b.name), cmp.Compare(a.id, b.id))
	})
	for _, k := range ids {
		d.addFlow(d.flows[k])
	}
	d.schedule()
	for _, pid := range slices.Sorted(maps.Keys(d.processes)) {
		if name := d.processes[pid]; name != "" && d.has(pid) {
			d.b.ProcessInfo(d.b.Process(d.id(pid))).Name = name
		}
	}
	d.texts.WarnDropped(d.b, "event")
}

// virtual names a process or thread unknown to the kernel; the highest bit of its id is
// set.
func virtual(what string, id uint64) string {
	if id <= math.MaxInt64 {
		return ""
	}
	return "virtual " + what + " " + strconv.FormatUint(id&math.MaxInt64, 10)
}

// has reports whether a process has something to show.
func (d *decoder) has(pid uint64) bool {
	for t := range d.tracks {
		if t.pid == pid {
			return true
		}
	}
	for _, p := range d.owner {
		if p == pid {
			return true
		}
	}
	return false
}
