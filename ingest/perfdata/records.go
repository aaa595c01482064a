package perfdata

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"

	"ashlar/ingest/recording"
)

// Kinds of records: the kernel's, and from 64 on perf's own.
const (
	recordMmap        = 1
	recordLost        = 2
	recordComm        = 3
	recordExit        = 4
	recordFork        = 7
	recordSample      = 9
	recordMmap2       = 10
	recordLostSamples = 13
	recordAttr        = 64
	recordTracing     = 66
	recordBuildID     = 67
	recordRound       = 68
	recordAuxtrace    = 71
	recordUpdate      = 78
	recordFeature     = 80
	recordCompressed  = 81
	recordCompressed2 = 83
	firstOfPerf       = 64
)

// item is a record that waits for those before it: the buffers of the processors
// are written one after the other.
type item struct {
	time uint64
	seq  int
	a    *attr
	record
}

// mostQueued is how many records wait where the file does not say when those
// before them are all there.
const mostQueued = 1 << 20

// record takes one of the file.
func (d *decoder) record(rec record) error {
	if d.n++; d.n%4096 == 0 {
		d.b.Progress()
		if err := d.ctx.Err(); err != nil {
			return err
		}
	}
	b := rec.body
	switch rec.kind {
	case recordAttr:
		d.attrRecord(b)
	case recordUpdate:
		d.update(b)
	case recordFeature:
		if len(b) >= 8 {
			d.feature(int(min(le.Uint64(b), maxFeatures)), b[8:])
		}
	case recordBuildID:
		d.buildID(rec.misc, b)
	case recordRound:
		d.rounds = true
		d.flush(d.round)
		d.round = d.newest
	default:
		if rec.kind >= firstOfPerf {
			d.records.Read++
			d.records.Kept++
			return nil
		}
		d.enqueue(rec)
	}
	return nil
}

// attrRecord is how a pipe tells of an event: its size stands in it, then its ids.
func (d *decoder) attrRecord(b []byte) {
	if len(b) < 8 {
		return
	}
	if n := int(le.Uint32(b[4:])); n >= leastFields && n <= len(b) {
		d.addAttr(b[:n], b[n:])
	}
}

// update reads what a pipe tells of an event later: kind 2 is its name.
func (d *decoder) update(b []byte) {
	if len(b) < 16 || le.Uint64(b) != 2 {
		return
	}
	a := d.byID[le.Uint64(b[8:])]
	name, _, _ := bytes.Cut(b[16:], []byte{0})
	if a != nil && len(name) > 0 {
		a.name = string(name)
		d.named(a)
	}
}

// enqueue keeps a record until those before it have come.
func (d *decoder) enqueue(rec record) {
	it := item{record: rec, seq: d.seq}
	d.seq++
	if rec.kind == recordSample {
		it.a, it.time = d.sampleHead(rec.body)
	} else {
		it.time = d.trailer(rec)
	}
	d.newest = max(d.newest, it.time)
	d.queue = append(d.queue, it)
	if len(d.queue) >= mostQueued {
		if !d.rounds {
			slices.SortFunc(d.queue, later)
			d.flush(d.queue[len(d.queue)/2].time)
			return
		}
		d.flush(d.newest) // a round that is too long to wait for
	}
}

func later(a, b item) int {
	switch {
	case a.time < b.time:
		return -1
	case a.time > b.time:
		return 1
	}
	return a.seq - b.seq
}

// flush takes what is no later than a time, in order.
func (d *decoder) flush(until uint64) {
	slices.SortFunc(d.queue, later)
	n := 0
	for ; n < len(d.queue) && d.queue[n].time <= until; n++ {
		it := &d.queue[n]
		if it.time < d.flushed {
			d.b.Remark("order", "", "Some records are later in the file than others of later times; they count all the same")
		}
		d.flushed = max(d.flushed, it.time)
		d.take1(it)
	}
	d.queue = slices.Delete(d.queue, 0, n)
}

// sampleHead finds the event and the time of a sample.
func (d *decoder) sampleHead(b []byte) (*attr, uint64) {
	if len(d.attrs) == 0 {
		return nil, 0
	}
	a := d.attrs[0]
	if len(d.attrs) > 1 {
		// Events that are told apart have their ids at one place.
		at, ok := 0, a.sampleType&hasIdentifier != 0
		if !ok && a.sampleType&hasID != 0 {
			ok = true
			for _, bit := range []uint64{hasIP, hasTID, hasTime, hasAddr} {
				if a.sampleType&bit != 0 {
					at += 8
				}
			}
		}
		if ok && at+8 <= len(b) {
			if a = d.byID[le.Uint64(b[at:])]; a == nil {
				return nil, 0
			}
		}
	}
	at := 0
	for _, bit := range []uint64{hasIdentifier, hasIP, hasTID} {
		if a.sampleType&bit != 0 {
			at += 8
		}
	}
	if a.sampleType&hasTime == 0 || at+8 > len(b) {
		return a, 0
	}
	return a, le.Uint64(b[at:])
}

// trailer is the time of a record that is no sample, which stands at its end.
func (d *decoder) trailer(rec record) uint64 {
	if len(d.attrs) == 0 || !d.attrs[0].idsAll {
		return 0
	}
	t := d.attrs[0].sampleType
	back := 0
	for _, bit := range []uint64{hasIdentifier, hasCPU, hasStreamID, hasID, hasTime} {
		if t&bit != 0 {
			back += 8
		}
	}
	if t&hasTime == 0 || back > len(rec.body) {
		return 0
	}
	return le.Uint64(rec.body[len(rec.body)-back:])
}

// Bits of misc.
const (
	misccpu     = 7
	miscKernel  = 1
	miscUser    = 2
	miscData    = 1 << 13 // of a mapping
	miscExec    = 1 << 13 // of a comm
	miscBuildID = 1 << 14 // of a mapping
)

// take1 takes a record in its turn.
func (d *decoder) take1(it *item) {
	b := it.body
	if it.kind == recordSample {
		d.samples.Read++
		if !d.sample(it) {
			d.samples.Leave("")
			d.b.Warn("sample-short", "", "A sample of the file is of no event, or shorter than its event says, and was left out")
			return
		}
		d.samples.Kept++
		return
	}
	d.records.Read++
	d.records.Kept++
	switch {
	case it.kind == recordComm && len(b) >= 8:
		name, _, _ := bytes.Cut(b[8:], []byte{0})
		d.comm(int32(le.Uint32(b)), int32(le.Uint32(b[4:])), string(name), it.misc&miscExec != 0)
	case it.kind == recordFork && len(b) >= 16:
		d.fork(int32(le.Uint32(b)), int32(le.Uint32(b[4:])), int32(le.Uint32(b[8:])), int32(le.Uint32(b[12:])))
	case it.kind == recordMmap && len(b) >= 32:
		name, _, _ := bytes.Cut(b[32:], []byte{0})
		d.mmap(it.misc, int32(le.Uint32(b)), mapping{start: le.Uint64(b[8:]), size: le.Uint64(b[16:]), offset: le.Uint64(b[24:]), name: string(name), data: it.misc&miscData != 0})
	case it.kind == recordMmap2 && len(b) >= 64:
		name, _, _ := bytes.Cut(b[64:], []byte{0})
		m := mapping{start: le.Uint64(b[8:]), size: le.Uint64(b[16:]), offset: le.Uint64(b[24:]), name: string(name), data: it.misc&miscData != 0}
		if it.misc&miscBuildID != 0 {
			m.id = bytes.Clone(b[36 : 36+min(int(b[32]), 20)])
		}
		d.mmap(it.misc, int32(le.Uint32(b)), m)
	case it.kind == recordLost && len(b) >= 16:
		recording.Add(&d.lost, int64(min(le.Uint64(b[8:]), 1<<62)))
	case it.kind == recordLostSamples && len(b) >= 8:
		recording.Add(&d.lost, int64(min(le.Uint64(b), 1<<62)))
	}
}

// compressed reads the records that are packed in others from the first one on;
// what else stands among them is taken as it comes.
func (d *decoder) compressed(first record, end int64, all bool) error {
	p := &packed{d: d, end: end, all: all}
	p.add(first)
	z, err := zstd.NewReader(p, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return err
	}
	defer z.Close()
	r := bufio.NewReaderSize(z, 1<<17)
	for {
		rec, _, err := readRecord(r)
		if err != nil {
			switch {
			case p.err != nil && !errors.Is(p.err, io.EOF):
				return p.err
			case p.ended && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
				return nil // perf does not end the stream
			}
			if _, bad := errors.AsType[*badRecord](err); bad {
				return err
			}
			return &badRecord{"its compressed records cannot be unpacked"}
		}
		if rec.kind == recordRound {
			continue // it is told of what is not unpacked yet
		}
		if err := d.record(rec); err != nil {
			return err
		}
	}
}

// packed is the stream of compressed bytes.
type packed struct {
	d     *decoder
	rest  []byte
	end   int64
	all   bool // there is no end but that of the file
	ended bool
	err   error
}

func (p *packed) add(rec record) {
	p.rest = rec.body
	if rec.kind == recordCompressed2 && len(rec.body) >= 8 {
		n := min(le.Uint64(rec.body), uint64(len(rec.body)-8))
		p.rest = rec.body[8 : 8+n]
	}
}

func (p *packed) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.ended || p.err != nil {
			return 0, io.EOF
		}
		if !p.all && p.d.at >= p.end {
			p.ended = true
			return 0, io.EOF
		}
		rec, err := p.d.next()
		switch {
		case errors.Is(err, io.EOF) && p.all:
			p.ended = true
			return 0, io.EOF
		case err != nil:
			if p.err = err; errors.Is(err, io.EOF) {
				p.err = io.ErrUnexpectedEOF
			}
			return 0, io.EOF
		}
		switch rec.kind {
		case recordCompressed, recordCompressed2:
			p.add(rec)
		case recordRound:
		default:
			if p.err = p.d.record(rec); p.err != nil {
				return 0, io.EOF
			}
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
