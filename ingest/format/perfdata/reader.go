package perfdata

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
)

// reader reads the records of a file, sorts them by time and sends them to the decoder in
// batches. It runs concurrently with the decoder.
type reader struct {
	ctx    context.Context
	in     *bufio.Reader
	out    chan<- batch
	at     int64 // position of in in the content
	n      int   // number of records
	others int64 // number of records of perf itself without useful content
	events

	room   []byte // buffer for the bodies of the next records
	queue  []item
	seq    int
	newest uint64 // latest time of the queued records
	round  uint64 // newest at the end of the previous round
	rounds bool
	ready  []item // sorted, for the next batch
}

// batch is a unit of work for the decoder: records, followed by changes that are not
// records.
type batch struct {
	items []item
	act   func(*decoder)
}

// take processes a batch.
func (d *decoder) take(x batch) error {
	for i := range x.items {
		if i%4096 == 4095 {
			d.b.Progress()
			if d.b.Stopped() {
				return nil
			}
		}
		it := &x.items[i]
		if it.time < d.flushed {
			d.b.Remark("order", "", "Some records are out of order in the file; they still count")
		}
		d.flushed = max(d.flushed, it.time)
		d.take1(it)
	}
	if x.act != nil {
		x.act(d)
	}
	return nil
}

// batchLen is the minimum number of records in a batch, except at the end.
const batchLen = 2048

// send sends the records in ready.
func (r *reader) send() { r.sendAction(nil) }

// sendAction sends the records in ready, followed by an action of the decoder.
func (r *reader) sendAction(act func(*decoder)) {
	if len(r.ready) == 0 && act == nil {
		return
	}
	select {
	case r.out <- batch{r.ready, act}:
	case <-r.ctx.Done():
	}
	r.ready = nil
}

// all reads everything.
func (r *reader) all(in *source.Input) error {
	head, err := r.take(pipeHeader)
	if err != nil {
		return failure(err, "the file is truncated in its header")
	}
	size := le.Uint64(head[8:])
	switch {
	case size == pipeHeader:
		err = r.recordsOf(-1)
	case size >= fileHeader && size < maxMeta:
		err = r.file(in, size)
	default:
		return fmt.Errorf("the header has an invalid size, %s", safetext.Plural(size, "byte"))
	}
	if err != nil {
		return err
	}
	r.flush(^uint64(0))
	r.sendAction(func(d *decoder) {
		d.records.Read += r.others
		d.records.Kept += r.others
	})
	return r.ctx.Err()
}

// failure returns a read error; at the end of the content, an error with the text cut.
func failure(err error, cut string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New(cut)
	}
	return err
}

// take reads n bytes.
func (r *reader) take(n int) ([]byte, error) {
	b := make([]byte, n)
	k, err := io.ReadFull(r.in, b)
	r.at += int64(k)
	return b, err
}

// section is the position of something in a file.
type section struct{ at, size uint64 }

func sectionAt(b []byte) section { return section{le.Uint64(b), le.Uint64(b[8:])} }

// of returns the bytes of a section, nil if incomplete; content begins at position base.
func (s section) of(content []byte, base int64) []byte {
	from := s.at - uint64(base)
	if s.at < uint64(base) || from > uint64(len(content)) || s.size > uint64(len(content))-from {
		return nil
	}
	return content[from : from+s.size]
}

// file reads a file: the header, the events, the records and the features.
func (r *reader) file(in *source.Input, size uint64) error {
	rest, err := r.take(int(size) - pipeHeader)
	if err != nil {
		return failure(err, "the file is truncated in its header")
	}
	attrSize := le.Uint64(rest)
	attrs, data := sectionAt(rest[8:]), sectionAt(rest[24:])
	flags := rest[56:88]
	if data.at < size || data.at > maxMeta {
		return fmt.Errorf("the header has an invalid position of the records, byte %d", data.at)
	}
	before, err := r.take(int(data.at - size))
	if err != nil {
		return failure(err, "the file is truncated before its records")
	}
	table := attrs.of(before, int64(size))
	if attrSize < leastAttr+16 || len(table) == 0 {
		return errors.New("the file does not list its events")
	}
	for ; uint64(len(table)) >= attrSize; table = table[attrSize:] {
		ids := sectionAt(table[attrSize-16:]).of(before, int64(size))
		r.addAttr(table[:attrSize-16], ids)
	}
	whole := in.Mapped()
	if whole != nil && data.size > 0 { // features after the records help to read them
		r.features(whole, 0, data, flags)
	}
	length := int64(min(data.size, 1<<62))
	if data.size == 0 {
		r.sendAction(func(d *decoder) {
			d.b.Warn("unfinished", "", "perf did not finish this file; it is read to its end")
		})
		length = -1
	}
	if err := r.recordsOf(length); err != nil {
		return err
	}
	if whole == nil && length >= 0 {
		base := r.at
		behind, err := io.ReadAll(io.LimitReader(r.in, maxMeta))
		if err != nil {
			return err
		}
		r.features(behind, base, data, flags)
	}
	return nil
}

// features reads the optional sections of a file, one for each bit set in flags.
func (r *reader) features(content []byte, base int64, data section, flags []byte) {
	n := 0
	for bit := range maxFeatures {
		if flags[bit/8]>>(bit%8)&1 == 0 {
			continue
		}
		entry := section{data.at + data.size + uint64(n)*16, 16}.of(content, base)
		n++
		if entry == nil {
			r.sendAction(func(d *decoder) { d.cut = true })
			return
		}
		at := sectionAt(entry)
		if b := at.of(content, base); b != nil {
			r.sendAction(func(d *decoder) { d.feature(bit, b) })
		} else if at.size > 0 {
			r.sendAction(func(d *decoder) { d.cut = true })
		}
	}
}

// recordsOf reads length bytes of records or, if length is negative, all.
func (r *reader) recordsOf(length int64) error {
	end := r.at + length
	for length < 0 || r.at < end {
		rec, err := r.next()
		if err != nil {
			if errors.Is(err, io.EOF) && length < 0 {
				return nil
			}
			return r.damaged(err)
		}
		if rec.kind == recordCompressed || rec.kind == recordCompressed2 {
			err = r.compressed(rec, end, length < 0)
			if err != nil {
				return r.damaged(err)
			}
			return nil
		}
		if err := r.record(rec); err != nil {
			return err
		}
	}
	return nil
}

// damaged warns that the records end early; it returns other read errors.
func (r *reader) damaged(err error) error {
	at := place(r.at)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		r.sendAction(func(d *decoder) {
			d.b.Warn("damaged", at, "The file is truncated at %s; everything before is shown", at)
		})
		return nil
	}
	if _, bad := errors.AsType[*badRecord](err); bad {
		r.sendAction(func(d *decoder) {
			d.b.Warn("damaged", at, "The file is damaged before %s: %v; everything before is shown", at, err)
		})
		return nil
	}
	return err
}

// badRecord is the error of an invalid record.
type badRecord struct{ text string }

func (e *badRecord) Error() string { return e.text }

// record is a record with its body.
type record struct {
	kind uint32
	misc uint16
	body []byte
}

// next reads a record of the file.
func (r *reader) next() (record, error) {
	rec, size, err := r.readRecord(r.in)
	r.at += int64(size)
	if err == nil && rec.kind == recordAuxtrace && len(rec.body) >= 8 || err == nil && rec.kind == recordTracing && len(rec.body) >= 4 {
		// These records are followed by data that is not a record.
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
			k, err = io.CopyN(&all, r.in, n)
			r.sendAction(func(d *decoder) { d.tracing(all.Bytes()) })
		} else {
			k, err = io.CopyN(io.Discard, r.in, n)
		}
		r.at += k
	}
	return rec, err
}

// readRecord reads a record; size is the number of bytes read. Bodies share one buffer,
// because there are millions of them and most are short.
func (r *reader) readRecord(from *bufio.Reader) (rec record, size int, err error) {
	head, err := from.Peek(recordHead)
	if err != nil {
		if len(head) > 0 && err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return rec, 0, err
	}
	rec.kind, rec.misc = le.Uint32(head), le.Uint16(head[4:])
	n := int(le.Uint16(head[6:]))
	if n < recordHead {
		return rec, 0, &badRecord{fmt.Sprintf("a record has an invalid size, %s", safetext.Plural(n, "byte"))}
	}
	if n > cap(r.room)-len(r.room) {
		r.room = make([]byte, 0, 256<<10)
	}
	r.room = r.room[:len(r.room)+n]
	all := r.room[len(r.room)-n : len(r.room) : len(r.room)]
	size, err = io.ReadFull(from, all)
	rec.body = all[recordHead:]
	return rec, size, err
}
