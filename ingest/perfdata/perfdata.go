// Package perfdata reads what `perf record` writes: perf.data files, also
// compressed ones (-z), and what it writes to a pipe. The layout of files is in
// tools/perf/Documentation/perf.data-file-format.txt of the kernel's sources, that
// of records in include/uapi/linux/perf_event.h.
//
// What the scheduler's events say becomes states of threads and what processors ran.
//
// Each sample has its event, its period, its thread, its processor and its stack,
// as `perf script` prints them. Functions come from the symbol tables of the
// binaries, where they lie on this machine and are those that ran, as their build
// ids say, and with them files, lines and inlined functions where those were compiled
// with them (-g); others are called by where they begin, or lie, in their binary.
//
// What lies in no binary is "[unknown]", as `perf script` prints it. Perf follows frame pointers also where programs were compiled
// without them: what it finds then is no address of code, and another number each time.
// Callers where no code is known to lie therefore have one frame, without an address, and
// several in a row are one. Innermost frames keep their address: that is where a program
// was.
package perfdata

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"ashlar/ingest/codec"
	"ashlar/ingest/decode"
	"ashlar/ingest/plain"
	"ashlar/ingest/program"
	"ashlar/ingest/recording"
	"ashlar/ingest/sched"
	"ashlar/ingest/source"
)

// Format is perf.data.
var Format = codec.Format{
	Name:       "perf-data",
	Title:      "perf.data",
	Plural:     "perf.data files",
	Holds:      "what `perf record` writes, also to a pipe or compressed: samples with periods and stacks, named by the symbols of binaries and of the kernel, with lines and inlined functions",
	Extensions: []string{".data", ".perf.data"},
	Sniff:      Sniff,
	Decode:     Decode,
}

const magic = "PERFILE2"

// Sniff looks for the magic number.
func Sniff(head []byte, _ bool) (decode.Confidence, error) {
	const way = "convert it where it was recorded with `perf script -i FILE > run.perf`"
	begins := func(s string) bool { return bytes.HasPrefix(head, []byte(s)) }
	switch {
	case begins(magic):
		return decode.Certain, nil
	case begins("2ELIFREP"):
		return decode.Certain, errors.New("this is a perf.data file of a machine that stores numbers the other way around; " + way)
	case begins("PERFFILE"), begins("ELIFFREP"):
		return decode.Certain, errors.New("this is a perf.data file of a perf before 2012; " + way)
	}
	return decode.No, nil
}

// Sizes of the layout.
const (
	pipeHeader  = 16
	fileHeader  = 104
	leastAttr   = 64
	recordHead  = 8
	maxMeta     = 256 << 20 // of what stands before and behind the records
	maxFeatures = 256
)

var le = binary.LittleEndian

type decoder struct {
	b    *recording.Builder
	ctx  context.Context
	path string
	in   *bufio.Reader
	at   int64 // where in the content in is
	n    int   // records

	attrs []*attr
	byID  map[uint64]*attr

	queue   []item
	seq     int
	newest  uint64 // time of what is queued
	round   uint64 // newest when the round before ended
	rounds  bool
	flushed uint64 // time of what left the queue last

	zero   uint64 // the time of picosecond 0
	zeroed bool

	processes map[int32]*process
	kernel    *maps
	ids       map[string][]byte // build ids of binaries, by name
	numbers   map[string]uint32 // of binaries, by name
	binaries  map[string]*program.Program
	frames    map[frameKey]frames
	recent    [1 << recentBits]recentFrames
	versions  uint64 // of maps
	threads   map[int32]*thread
	missing   int64
	changed   int64
	kernelSymbolsPart

	samples, records *recording.Tally
	lost             int64
	cut              bool // what stands behind the records
	unwound          bool // it was said that stacks are not unwound
	stack            []recording.FrameID
	stray            uint32 // that of the last frame of stack
	addresses        int64  // in stacks
	strays           int64  // of them callers at which no code is known to lie

	last    int64 // picoseconds of the last sample
	states  *sched.Builder
	formats map[string]map[string]field // of the scheduler's tracepoints, by name
}

// Decode reads all samples into b. Of a file that is cut or damaged it reads what
// stands before.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	in.OnSilence(b.Progress)
	d := &decoder{b: b, ctx: ctx, path: in.Path, byID: map[uint64]*attr{}, processes: map[int32]*process{}, kernel: new(maps),
		ids: map[string][]byte{}, numbers: map[string]uint32{}, binaries: map[string]*program.Program{}, frames: map[frameKey]frames{}, threads: map[int32]*thread{},
		states: sched.New(b), formats: map[string]map[string]field{}, samples: b.Tally("sample"), records: b.Tally("other record")}
	d.in = bufio.NewReaderSize(&decode.Reader{In: in}, 1<<20)
	head, err := d.take(pipeHeader)
	if err != nil {
		return d.failure(err, "the file is cut in its header")
	}
	size := le.Uint64(head[8:])
	switch {
	case size == pipeHeader:
		err = d.recordsOf(d.in, -1)
	case size >= fileHeader && size < maxMeta:
		err = d.file(in, size)
	default:
		return fmt.Errorf("the header says that it has %s, which no perf.data has", plain.Plural(size, "byte"))
	}
	if err != nil {
		return err
	}
	d.flush(^uint64(0))
	d.states.End(d.last)
	d.tell()
	if d.samples.Read == 0 {
		return errors.New("there is no sample in the recording")
	}
	return nil
}

func place(off int64) string { return fmt.Sprintf("byte %d", off) }

// failure is an error of reading; where the content ended it says what was cut.
func (d *decoder) failure(err error, cut string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New(cut)
	}
	return err
}

// take reads n bytes.
func (d *decoder) take(n int) ([]byte, error) {
	b := make([]byte, n)
	k, err := io.ReadFull(d.in, b)
	d.at += int64(k)
	return b, err
}

// section is where something stands in a file.
type section struct{ at, size uint64 }

func sectionAt(b []byte) section { return section{le.Uint64(b), le.Uint64(b[8:])} }

// of is a section's bytes of content that begins at base, nil where it is not all
// there.
func (s section) of(content []byte, base int64) []byte {
	from := s.at - uint64(base)
	if s.at < uint64(base) || from > uint64(len(content)) || s.size > uint64(len(content))-from {
		return nil
	}
	return content[from : from+s.size]
}

// file reads a file: a header, the events, the records, and what else is known.
func (d *decoder) file(in *source.Input, size uint64) error {
	rest, err := d.take(int(size) - pipeHeader)
	if err != nil {
		return d.failure(err, "the file is cut in its header")
	}
	attrSize := le.Uint64(rest)
	attrs, data := sectionAt(rest[8:]), sectionAt(rest[24:])
	flags := rest[56:88]
	if data.at < size || data.at > maxMeta {
		return fmt.Errorf("the header says that the records begin at byte %d, where they cannot be", data.at)
	}
	before, err := d.take(int(data.at - size))
	if err != nil {
		return d.failure(err, "the file is cut before its records")
	}
	table := attrs.of(before, int64(size))
	if attrSize < leastAttr+16 || len(table) == 0 {
		return errors.New("the file does not say which events it has")
	}
	for ; uint64(len(table)) >= attrSize; table = table[attrSize:] {
		ids := sectionAt(table[attrSize-16:]).of(before, int64(size))
		d.addAttr(table[:attrSize-16], ids)
	}
	whole := in.Mapped()
	if whole != nil && data.size > 0 { // what is behind the records helps to read them
		d.features(whole, 0, data, flags)
	}
	length := int64(min(data.size, 1<<62))
	if data.size == 0 {
		d.b.Warn("unfinished", "", "perf did not finish this file: it does not say how long it is, and is read to its end")
		length = -1
	}
	if err := d.recordsOf(d.in, length); err != nil {
		return err
	}
	if whole == nil && length >= 0 {
		base := d.at
		behind, err := io.ReadAll(io.LimitReader(d.in, maxMeta))
		if err != nil {
			return err
		}
		d.features(behind, base, data, flags)
	}
	return nil
}

// features reads what else a file says, for each bit of flags one section.
func (d *decoder) features(content []byte, base int64, data section, flags []byte) {
	n := 0
	for bit := range maxFeatures {
		if flags[bit/8]>>(bit%8)&1 == 0 {
			continue
		}
		entry := section{data.at + data.size + uint64(n)*16, 16}.of(content, base)
		n++
		if entry == nil {
			d.cut = true
			return
		}
		if b := sectionAt(entry).of(content, base); b != nil {
			d.feature(bit, b)
		}
	}
}

// recordsOf reads records from r, length bytes of them or, where that is negative,
// all.
func (d *decoder) recordsOf(r *bufio.Reader, length int64) error {
	end := d.at + length
	for length < 0 || d.at < end {
		rec, err := d.next()
		if err != nil {
			if errors.Is(err, io.EOF) && length < 0 {
				return nil
			}
			return d.damaged(err)
		}
		if rec.kind == recordCompressed || rec.kind == recordCompressed2 {
			err = d.compressed(rec, end, length < 0)
			if err != nil {
				return d.damaged(err)
			}
			return nil
		}
		if err := d.record(rec); err != nil {
			return err
		}
	}
	return nil
}

// damaged says where the records end early; errors of reading go on.
func (d *decoder) damaged(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		d.b.Warn("damaged", place(d.at), "The file is cut short at byte %d; what stands before is shown", d.at)
		return nil
	}
	if _, bad := errors.AsType[*badRecord](err); bad {
		d.b.Warn("damaged", place(d.at), "The file is damaged before byte %d: %v; what stands before is shown", d.at, err)
		return nil
	}
	return err
}

// badRecord is the error of a record that cannot be one.
type badRecord struct{ text string }

func (e *badRecord) Error() string { return e.text }

// record is one with its body.
type record struct {
	kind uint32
	misc uint16
	body []byte
}

// next reads a record of the file.
func (d *decoder) next() (record, error) {
	rec, size, err := readRecord(d.in)
	d.at += int64(size)
	if err == nil && rec.kind == recordAuxtrace && len(rec.body) >= 8 || err == nil && rec.kind == recordTracing && len(rec.body) >= 4 {
		// They are followed by data that is no record.
		n := int64(le.Uint32(rec.body))
		if rec.kind == recordAuxtrace {
			n = int64(min(le.Uint64(rec.body), 1<<62))
		}
		if rec.kind == recordTracing {
			n = (n + 7) &^ 7
		}
		var k int64
		if rec.kind == recordTracing && n < maxMeta {
			var all bytes.Buffer
			k, err = io.CopyN(&all, d.in, n)
			d.tracing(all.Bytes())
		} else {
			k, err = io.CopyN(io.Discard, d.in, n)
		}
		d.at += k
	}
	return rec, err
}

// readRecord reads a record; size is how much was read of it.
func readRecord(r *bufio.Reader) (rec record, size int, err error) {
	head, err := r.Peek(recordHead)
	if err != nil {
		if len(head) > 0 && err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return rec, 0, err
	}
	rec.kind, rec.misc = le.Uint32(head), le.Uint16(head[4:])
	n := int(le.Uint16(head[6:]))
	if n < recordHead {
		return rec, 0, &badRecord{fmt.Sprintf("a record says that it has %s", plain.Plural(n, "byte"))}
	}
	all := make([]byte, n)
	size, err = io.ReadFull(r, all)
	rec.body = all[min(recordHead, len(all)):]
	return rec, size, err
}
