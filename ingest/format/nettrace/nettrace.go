// Package nettrace reads .NET traces (.nettrace), versions 4 to 6 of the format, which
// dotnet-trace, dotnet-monitor and the runtime's EventPipe write: events with threads,
// times and stacks of addresses, and other events that name the addresses. See
// NetTraceFormat.md, NetTraceFormat_v5.md and UniversalProviders.md of
// github.com/microsoft/perfview.
//
// The runtime's sample profiler samples all threads that run managed code at a fixed
// interval, on CPU or waiting: its samples measure wall time. Method names come last in
// the file, so samples are kept until the end.
package nettrace

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is the .NET trace format.
var Format = codec.Format{
	Name:       "nettrace",
	Title:      ".NET trace",
	Plural:     ".NET traces",
	Holds:      "thread samples with stacks, method names, events with their fields",
	Extensions: []string{".nettrace"},
	Sniff:      sniff,
	Decode:     read,
}

const (
	magic = "Nettrace"
	// serialized follows the magic number in versions before 6.
	serialized = "\x14\x00\x00\x00!FastSerialization.1"
)

func sniff(head []byte, _ bool) (decode.Confidence, error) {
	if bytes.HasPrefix(head, []byte(magic)) {
		return decode.Certain, nil
	}
	return decode.No, nil
}

type decoder struct {
	b       *recording.Builder
	r       *bufio.Reader
	at      int64 // bytes read so far
	from    int64 // position of the content of the current block
	room    bytes.Buffer
	failed  error // a read error other than the end of the input
	texts   *decode.Texts
	records *recording.Tally
	six     bool // the file has version 6 of the format

	zero, perSec uint64 // time of picosecond 0 in ticks; ticks per second
	pointer      int    // size of an address in bytes
	pid          uint64
	kinds        map[uint32]*kind
	threads      map[uint64]thread // threads of version 6, by index
	tracks       map[track]*recording.TrackBuilder
	sequences    map[uint64]uint32 // last sequence number, by the thread that wrote it

	stackOf map[uint32]int32 // stacks that can be referred to: index in stacks
	places  map[string]int32
	stacks  []string
	samples []sample
	events  map[string]int // events with samples
	symbols map[uint64]*symbols
	mapped  map[uint64]mapping
}

func read(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	d := &decoder{b: b, r: bufio.NewReaderSize(&decode.Reader{In: in}, 64<<10), texts: new(decode.Texts), records: b.Tally("event"), perSec: 1e9, pointer: 8,
		kinds: map[uint32]*kind{}, threads: map[uint64]thread{}, tracks: map[track]*recording.TrackBuilder{}, sequences: map[uint64]uint32{},
		stackOf: map[uint32]int32{}, places: map[string]int32{}, events: map[string]int{}, symbols: map[uint64]*symbols{}, mapped: map[uint64]mapping{}}
	in.OnSilence(b.Progress)
	b.SetArgs(d.texts.Text)
	b.Source().Tool = ".NET"
	if err := d.all(ctx); err != nil {
		return err
	}
	d.end()
	if d.failed == nil && !b.Shows() {
		return errors.New("the trace has no events")
	}
	return d.failed
}

// bytes returns the next n bytes, valid until the next call; false if there are fewer.
func (d *decoder) bytes(n int64) ([]byte, bool) {
	d.room.Reset()
	got, err := io.CopyN(&d.room, d.r, n) // allocates only as bytes arrive
	d.at += got
	if err != nil && !errors.Is(err, io.EOF) {
		d.failed = err
	}
	return d.room.Bytes(), got == n
}

// all reads the header, and then the objects or blocks of the file's version.
func (d *decoder) all(ctx context.Context) error {
	d.bytes(int64(len(magic)))
	if next, _ := d.r.Peek(len(serialized)); string(next) == serialized {
		d.bytes(int64(len(serialized)))
		return d.objects(ctx)
	}
	head, ok := d.bytes(12)
	if !ok {
		return errors.New("the trace is truncated in its header")
	}
	c := &cursor{b: head}
	reserved, version, minor := c.u32(), c.u32(), c.u32()
	if reserved != 0 || version != 6 {
		return unknown(version)
	}
	d.six = true
	d.b.Source().Version = fmt.Sprintf("%d.%d", version, minor)
	return d.blocks(ctx)
}

func unknown(version uint32) error {
	return fmt.Errorf("version %d of the format is not supported; versions 4, 5 and 6 are", version)
}

// Tags of versions 4 and 5.
const (
	tagNull  = 1
	tagBegin = 5
	tagEnd   = 6
)

// objects reads the objects of versions 4 and 5: each begins with its type, itself an
// object, and contains a block of bytes.
func (d *decoder) objects(ctx context.Context) error {
	for {
		from := d.at
		damaged := func(cut bool) error {
			d.damaged(from, cut)
			return nil
		}
		b, ok := d.bytes(1)
		switch {
		case !ok:
			return damaged(true)
		case b[0] == tagNull:
			return nil
		case b[0] != tagBegin:
			return damaged(false)
		}
		if b, ok = d.bytes(14); !ok {
			return damaged(true)
		}
		version, length := binary.LittleEndian.Uint32(b[2:]), binary.LittleEndian.Uint32(b[10:])
		if b[0] != tagBegin || b[1] != tagNull || length > 256 {
			return damaged(false)
		}
		if b, ok = d.bytes(int64(length) + 1); !ok {
			return damaged(true)
		}
		name := string(b[:length])
		size := int64(traceBytes)
		if name == "Trace" {
			if version < 4 || version > 5 {
				return unknown(version)
			}
			d.b.Source().Version = fmt.Sprint(version)
		} else {
			if b, ok = d.bytes(4); !ok {
				return damaged(true)
			}
			if size = int64(binary.LittleEndian.Uint32(b)); size > math.MaxInt32 {
				return damaged(false)
			}
			d.bytes(-d.at & 3)
		}
		if ok, err := d.block(ctx, name, from, size); !ok {
			return err
		}
		if b, ok = d.bytes(1); !ok || b[0] != tagEnd {
			from = d.at - int64(len(b))
			return damaged(!ok)
		}
	}
}

// kindNames are the kinds of blocks of version 6, with their names in earlier versions.
var kindNames = [...]string{1: "Trace", 2: "EventBlock", 3: "MetadataBlock", 4: "SPBlock", 5: "StackBlock", 6: "ThreadBlock", 7: "RemoveThreadBlock", 8: "LabelListBlock"}

// blocks reads the blocks of version 6, each of which begins with its size and kind.
func (d *decoder) blocks(ctx context.Context) error {
	for {
		from := d.at
		b, ok := d.bytes(4)
		if !ok {
			d.damaged(from, true)
			return nil
		}
		head, name := binary.LittleEndian.Uint32(b), ""
		switch kind := head >> 24; {
		case kind == 0:
			return nil
		case int(kind) < len(kindNames):
			name = kindNames[kind]
		}
		if ok, err := d.block(ctx, name, from, int64(head&0xffffff)); !ok {
			return err
		}
	}
}

func (d *decoder) damaged(at int64, cut bool) {
	if d.failed == nil {
		decode.WarnDamage(d.b, at, cut)
	}
}

// traceBytes is the size of the Trace object of versions 4 and 5.
const traceBytes = 48

// block processes a block of size bytes; from is the position of the object around it,
// for messages. It returns false if reading must stop.
func (d *decoder) block(ctx context.Context, name string, from, size int64) (bool, error) {
	d.b.Progress()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	d.from = d.at
	b, ok := d.bytes(size)
	if !ok {
		d.damaged(from, true)
		return false, nil
	}
	c := &cursor{b: b}
	switch name {
	case "Trace":
		d.trace(c)
	case "EventBlock":
		d.rows(c, false)
	case "MetadataBlock":
		if d.six {
			d.metadata(c)
		} else {
			d.rows(c, true)
		}
	case "StackBlock":
		d.stackBlock(c)
	case "SPBlock":
		d.sequencePoint(c)
	case "ThreadBlock":
		d.threadBlock(c)
	case "RemoveThreadBlock":
		for !c.done() {
			delete(d.threads, c.uvarint())
			c.uvarint()
		}
	case "LabelListBlock": // labels are not shown
	default:
		d.b.Remark("block-unknown", decode.Byte(from), "Blocks of an unknown kind (first at byte %d) were left out", from)
	}
	if c.bad {
		d.b.Warn("block-short", decode.Byte(from), "The block at byte %d is truncated; its first part is shown", from)
	}
	return true, nil
}

// stackBlock reads stacks: arrays of addresses, leaf first.
func (d *decoder) stackBlock(c *cursor) {
	id := c.u32()
	for n := c.u32(); n > 0 && !c.done(); n-- {
		raw := c.take(uint64(c.u32()))
		if c.bad {
			return
		}
		place, ok := d.places[string(raw)]
		if !ok {
			place = int32(len(d.stacks))
			d.stacks = append(d.stacks, string(raw))
			d.places[d.stacks[place]] = place
		}
		d.stackOf[id] = place
		id++
	}
}

// sequencePoint drops the state that later events cannot refer to.
func (d *decoder) sequencePoint(c *cursor) {
	clear(d.stackOf)
	if !d.six {
		return
	}
	c.u64()
	flags := c.u32()
	if flags&1 != 0 {
		clear(d.threads)
		clear(d.sequences)
	}
	if flags&2 != 0 {
		clear(d.kinds)
	}
}

// threadBlock reads the threads that thread indices refer to.
func (d *decoder) threadBlock(c *cursor) {
	for !c.done() {
		row := &cursor{b: c.take(uint64(c.u16()))}
		index := row.uvarint()
		t := thread{pid: d.pid, tid: index}
		for !row.done() {
			switch row.u8() {
			case 1:
				t.name = row.text()
			case 2:
				t.pid = row.uvarint()
			case 3:
				t.tid = row.uvarint()
			case 4:
				row.text()
				row.text()
			default: // from a later version; skip the rest of the row
				row.b = nil
			}
		}
		if c.bad = c.bad || row.bad; c.bad {
			return
		}
		d.threads[index] = t
		delete(d.sequences, index)
	}
}
