package nettrace

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"time"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/model/recording"
)

// thread is the thread of an event.
type thread struct {
	pid, tid uint64
	name     string
}

type track struct{ pid, tid uint64 }

// trace reads the metadata of the whole trace.
func (d *decoder) trace(c *cursor) {
	var date [8]int
	for i := range date {
		date[i] = int(c.u16())
	}
	d.zero = c.u64()
	if perSec := c.u64(); perSec != 0 && !c.bad {
		d.perSec = perSec
	} else {
		d.b.Warn("no-frequency", decode.Byte(d.from), "The trace has no tick length; a nanosecond is assumed")
	}
	if d.pointer = int(c.u32()); d.pointer != 4 {
		d.pointer = 8
	}
	if d.six {
		for n := c.u32(); n > 0 && !c.done(); n-- {
			key, value := c.text(), c.text()
			if key == "ProcessId" {
				d.pid, _ = strconv.ParseUint(value, 10, 63)
			}
		}
	} else {
		d.pid = uint64(c.u32())
	}
	if c.bad {
		return
	}
	// The fields are those of a SYSTEMTIME, in UTC: year, month, day of the week, day, …
	began := time.Date(date[0], time.Month(date[1]), date[3], date[4], date[5], date[6], date[7]*1e6, time.UTC)
	if began.Year() >= 1970 && began.Year() < 2200 {
		d.b.Source().Note(recording.NoteTime, recording.NoteUnix(began.UnixNano()))
	}
	if d.perSec == 1e9 && d.zero <= math.MaxInt64 {
		*d.b.Clock() = recording.Clock{Unit: "ns", PerUnit: 1000, Origin: recording.Decimal{Mantissa: int64(d.zero)}}
	}
}

// time converts ticks to picoseconds since the trace began.
func (d *decoder) time(ticks uint64) int64 {
	since, before := ticks-d.zero, ticks < d.zero
	if before {
		since = d.zero - ticks
	}
	const most = math.MaxInt64 / 4
	at := int64(most)
	if hi, lo := bits.Mul64(since, 1e12); hi < d.perSec {
		if q, _ := bits.Div64(hi, lo, d.perSec); q < most {
			at = int64(q)
		}
	}
	if at == most {
		d.b.Warn("time-too-far", decode.Byte(d.from), "An event in the block at byte %d is too far from the start of the trace and was moved", d.from)
	}
	if before {
		return -at
	}
	return at
}

// row is the header of an event. In compressed blocks each header repeats the previous one
// except for the fields that its flags name.
type row struct {
	kind, sequence       uint32
	writer, thread, time uint64
	cpu, stack, size     uint32
}

// Flags of rows.
const (
	rowKind     = 1
	rowSequence = 2
	rowThread   = 4
	rowStack    = 8
	rowActivity = 16 // a list of labels in version 6
	rowRelated  = 32
	rowSize     = 128
)

func (r *row) unpack(c *cursor, six bool) {
	flags := c.u8()
	if flags&rowKind != 0 {
		r.kind = uint32(c.uvarint())
	}
	if flags&rowSequence != 0 {
		r.sequence += uint32(c.uvarint())
		r.writer = c.uvarint()
		r.cpu = uint32(c.uvarint())
	}
	if r.kind != 0 || six {
		r.sequence++
	}
	if flags&rowThread != 0 {
		r.thread = c.uvarint()
	}
	if flags&rowStack != 0 {
		r.stack = uint32(c.uvarint())
	}
	r.time += c.uvarint()
	switch {
	case six && flags&rowActivity != 0:
		c.uvarint()
	case !six:
		c.take(uint64(flags & rowActivity)) // the flag's value happens to be the size, 16 bytes
		c.take(uint64(flags & rowRelated / 2))
	}
	if flags&rowSize != 0 {
		r.size = uint32(c.uvarint())
	}
}

func (r *row) read(c *cursor, six bool) {
	c.u32()
	r.kind = c.u32() &^ (1 << 31)
	r.sequence, r.thread, r.writer, r.cpu, r.stack, r.time = c.u32(), c.u64(), c.u64(), c.u32(), c.u32(), c.u64()
	if six {
		c.u32()
	} else {
		c.take(32)
	}
	r.size = c.u32()
}

// rows reads the events of a block or, in versions 4 and 5, descriptions of events, which
// have the same form.
func (d *decoder) rows(c *cursor, descriptions bool) {
	whole := len(c.b)
	size := int(c.u16())
	compressed := c.u16()&1 != 0
	c.take(uint64(max(0, size-4)))
	var r row
	for !c.done() {
		place := decode.Byte(d.from + int64(whole-len(c.b)))
		if compressed {
			r.unpack(c, d.six)
		} else {
			r.read(c, d.six)
		}
		payload := c.take(uint64(r.size))
		if !compressed && !d.six {
			c.take(min(uint64(len(c.b)), uint64(len(c.b)-whole)&3))
		}
		if descriptions {
			d.describe(&cursor{b: payload, bad: c.bad})
			continue
		}
		d.records.Read++
		if !c.bad && d.event(&r, &cursor{b: payload}, place) {
			d.records.Kept++
		} else {
			d.records.Leave(place)
		}
	}
}

// missed counts the events that were not written, using each thread's sequence numbers.
func (d *decoder) missed(r *row) {
	last := d.sequences[r.writer]
	if n := r.sequence - last - 1; n > 0 && n < 1<<31 {
		d.b.Warn("dropped", "", "Events are missing because buffers were full while recording")
		d.b.WarnMore("dropped", int64(n)-1)
	}
	d.sequences[r.writer] = r.sequence
}

// event reads an event. It reports whether any part of the event is kept.
func (d *decoder) event(r *row, c *cursor, place string) bool {
	k := d.kinds[r.kind]
	if k == nil {
		d.b.Warn("kind-unknown", place, "Events without a description, first at %s, were left out", place)
		return false
	}
	d.missed(r)
	t, ok := d.threads[r.thread]
	if !ok {
		t = thread{pid: d.pid, tid: r.thread}
	}
	if k.takes != nil {
		k.takes(d, k, r, t, c)
		if c.bad {
			d.b.Warn("event-cut", place, "Events are shorter than described, first at %s, and were left out", place)
			return false
		}
		return true
	}
	var args decode.Args
	args.Text("provider", k.provider)
	v := values{whole: c.b, left: mostValues}
	for i := range k.fields {
		json := v.next(c, &k.fields[i].is)
		if c.bad {
			d.b.Remark("event-short", place, "Events cannot be decoded, first at %s; fields are missing", place)
			break
		}
		args.Raw(k.fields[i].name, json)
	}
	d.track(t).Instant(d.time(r.time), k.name, d.texts.Add(args.JSON()))
	return true
}

func (d *decoder) track(t thread) *recording.TrackBuilder {
	k := track{t.pid, t.tid}
	b := d.tracks[k]
	if b == nil {
		b = d.b.Track(recording.TrackKey{PID: id(t.pid), TID: id(t.tid)})
		d.tracks[k] = b
	}
	if t.name != "" && b.Name() == "" {
		b.SetName(t.name)
	}
	return b
}

func id(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// kind is a kind of events.
type kind struct {
	provider, name string
	fields         []field
	// takes processes events of this kind; nil if they are shown as they are.
	takes taker
}

// define adds a kind of events.
func (d *decoder) define(id uint32, provider string, event uint32, name string, fields []field) {
	k := &kind{provider: provider, name: name, fields: fields}
	switch provider {
	case "Microsoft-DotNETCore-SampleProfiler":
		if event == 0 {
			k.takes = threadSample
		}
	case "Universal.Events":
		k.takes = countedSample
	case "Universal.System":
		k.takes = universalEvents[name]
	case "Microsoft-Windows-DotNETRuntime":
		k.takes, k.name = runtimeEvents[event], cmp.Or(name, runtimeNames[event])
	case "Microsoft-Windows-DotNETRuntimeRundown":
		if k.takes = rundownEvents[event]; k.takes == nil {
			k.takes = ignore
		}
	}
	if k.name == "" {
		k.name = fmt.Sprintf("%s event %d", provider, event)
	}
	d.kinds[id] = k
}

// runtimeNames are the names of runtime events, which descriptions in versions 4 and 5
// lack: see "Runtime events" of .NET's documentation.
var runtimeNames = map[uint32]string{
	1: "GCStart", 2: "GCEnd", 3: "GCRestartEEEnd", 4: "GCHeapStats", 5: "GCCreateSegment", 6: "GCFreeSegment", 7: "GCRestartEEBegin", 8: "GCSuspendEEEnd", 9: "GCSuspendEEBegin",
	10: "GCAllocationTick", 11: "GCCreateConcurrentThread", 12: "GCTerminateConcurrentThread", 13: "GCFinalizersEnd", 14: "GCFinalizersBegin", 35: "GCTriggered",
	50: "ThreadPoolWorkerThreadStart", 51: "ThreadPoolWorkerThreadStop", 54: "ThreadPoolWorkerThreadAdjustmentSample", 55: "ThreadPoolWorkerThreadAdjustment", 56: "ThreadPoolWorkerThreadAdjustmentStats", 57: "ThreadPoolWorkerThreadWait",
	80: "ExceptionThrown", 81: "ContentionStart", 91: "ContentionStop", 145: "MethodJittingStarted", 187: "RuntimeInformation",
	202: "GCMarkWithType", 204: "GCPerHeapHistory", 205: "GCGlobalHeapHistory", 250: "ExceptionCatchStart", 251: "ExceptionCatchStop", 252: "ExceptionFinallyStart", 253: "ExceptionFinallyStop",
}

// describe reads the description of a kind of events, in versions 4 and 5.
func (d *decoder) describe(c *cursor) {
	id, provider, event, name := c.u32(), c.wide(), c.u32(), c.wide()
	c.take(16) // keywords, version, level
	fields := c.fields(c.u32(), c.oldField, 0)
	for !c.done() { // version 5
		size := uint64(c.u32())
		tag := c.u8()
		t := &cursor{b: c.take(size)}
		if tag == 2 {
			fields = t.fields(t.u32(), t.sizedField, 0)
		}
	}
	if c.bad {
		d.b.Warn("description-short", decode.Byte(d.from), "An event description in the block at byte %d is truncated; its fields are left out", d.from)
		fields = nil
	}
	d.define(id, provider, event, name, fields)
}

// metadata reads the descriptions of kinds of events in version 6.
func (d *decoder) metadata(c *cursor) {
	c.take(uint64(c.u16()))
	for !c.done() {
		r := &cursor{b: c.take(uint64(c.u16()))}
		id, provider, event, name := uint32(r.uvarint()), r.text(), uint32(r.uvarint()), r.text()
		fields := r.fields(uint32(r.u16()), r.newField, 0)
		if c.bad = c.bad || r.bad; !c.bad {
			d.define(id, provider, event, name, fields)
		}
	}
}
