package perfdata

import (
	"bufio"
	"errors"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// item is a record that waits for earlier ones, because the file has the processors'
// buffers one after another.
type item struct {
	time uint64
	seq  int
	a    *attr
	record
}

// mostQueued is the maximum number of waiting records if the file does not mark when all
// earlier ones are complete.
const mostQueued = 1 << 20

// record processes a record of the file.
func (r *reader) record(rec record) error {
	if r.n++; r.n%4096 == 0 {
		if err := r.ctx.Err(); err != nil {
			return err
		}
	}
	b := rec.body
	switch rec.kind {
	case recordAttr:
		r.attrRecord(b)
	case recordUpdate:
		r.sendAction(func(d *decoder) { d.update(b) })
	case recordFeature:
		if len(b) >= 8 {
			r.sendAction(func(d *decoder) { d.feature(int(min(le.Uint64(b), maxFeatures)), b[8:]) })
		}
	case recordBuildID:
		r.sendAction(func(d *decoder) { d.buildID(rec.misc, b) })
	case recordRound:
		r.rounds = true
		r.flush(r.round)
		r.round = r.newest
	default:
		if rec.kind >= firstOfPerf {
			r.others++
			return nil
		}
		r.enqueue(rec)
	}
	return nil
}

// attrRecord reads an event's description in pipe output: the attr with its size, then
// the ids.
func (r *reader) attrRecord(b []byte) {
	if len(b) < 8 {
		return
	}
	if n := int(le.Uint32(b[4:])); n >= leastFields && n <= len(b) {
		r.addAttr(b[:n], b[n:])
	}
}

// enqueue keeps a record until all earlier ones have arrived.
func (r *reader) enqueue(rec record) {
	it := item{record: rec, seq: r.seq}
	r.seq++
	if rec.kind == recordSample {
		it.a, it.time = r.sampleHead(rec.body)
	} else {
		it.time = r.trailer(rec)
	}
	r.newest = max(r.newest, it.time)
	r.queue = append(r.queue, it)
	if len(r.queue) >= mostQueued {
		if !r.rounds {
			slices.SortFunc(r.queue, later)
			r.flush(r.queue[len(r.queue)/2].time)
			return
		}
		r.flush(r.newest) // the round is too long to wait for its end
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

// flush moves the records up to a time to ready, in order.
func (r *reader) flush(until uint64) {
	slices.SortFunc(r.queue, later)
	n := 0
	for n < len(r.queue) && r.queue[n].time <= until {
		n++
	}
	r.ready = append(r.ready, r.queue[:n]...)
	r.queue = slices.Delete(r.queue, 0, n)
	if len(r.ready) >= batchLen {
		r.send()
	}
}

// sampleHead returns the event and time of a sample.
func (r *reader) sampleHead(b []byte) (*attr, uint64) {
	if len(r.attrs) == 0 {
		return nil, 0
	}
	a := r.attrs[0]
	if len(r.attrs) > 1 {
		// If there are several events, all have their id at the same position.
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
			if a = r.byID[le.Uint64(b[at:])]; a == nil {
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

// trailer returns the time at the end of a record that is not a sample.
func (r *reader) trailer(rec record) uint64 {
	if len(r.attrs) == 0 || !r.attrs[0].idsAll {
		return 0
	}
	t := r.attrs[0].sampleType
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

// compressed reads compressed records, from the record first on; other records among them
// are processed as they come.
func (r *reader) compressed(first record, end int64, all bool) error {
	p := &packed{r: r, end: end, all: all}
	p.add(first)
	z, err := zstd.NewReader(p, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return err
	}
	defer z.Close()
	from := bufio.NewReaderSize(z, 1<<17)
	for {
		rec, _, err := r.readRecord(from)
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
			return &badRecord{"compressed records cannot be decompressed"}
		}
		if rec.kind == recordRound {
			continue // the record refers to data that is still compressed
		}
		if err := r.record(rec); err != nil {
			return err
		}
	}
}

// packed is the stream of compressed bytes.
type packed struct {
	r     *reader
	rest  []byte
	end   int64
	all   bool // the stream ends only at the end of the file
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
		if !p.all && p.r.at >= p.end {
			p.ended = true
			return 0, io.EOF
		}
		rec, err := p.r.next()
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
			if p.err = p.r.record(rec); p.err != nil {
				return 0, io.EOF
			}
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
