package spall

import (
	"encoding/binary"

	"ashlar/ingest/input/safetext"
)

// Types of record. Numbers 1, 5 and 6 have no published layout, nor has 7 in
// version 0.
const (
	typeComplete    = 2 // version 0
	typeBegin       = 3
	typeEnd         = 4
	typeInstant     = 5
	typePad         = 7 // versions 1 and 3
	typeNameProcess = 8 // version 3
	typeNameThread  = 9 // version 3
)

// Sizes of the fixed part of records.
const (
	endLen      = 17 // u8 type, u32 pid, u32 tid, f64 time
	begin0Len   = 18 // u8 type, u32 pid, u32 tid, f64 time, u8 name_len
	completeLen = 26 // u8 type, u32 pid, u32 tid, f64 time, f64 duration, u8 name_len
	begin1Len   = 20 // u8 type, u8 category, u32 pid, u32 tid, f64 time, u8 name_len, u8 args_len
	padLen      = 5  // u8 type, u32 size
)

// flat reads versions 0 and 1: records one after another, each with its thread.
type flat struct {
	*parser
	layout flatLayout
	pad    int64 // bytes of padding still to skip
}

func (f *flat) chunk(c []byte, off int64, end bool) int {
	i := 0
	for i < len(c) {
		if f.pad > 0 {
			n := int(min(f.pad, int64(len(c)-i)))
			f.pad -= int64(n)
			i += n
			continue
		}
		if f.skip.on {
			n, found := f.skip.search(c[i:], end, f.layout.validate)
			i += n
			if !found {
				if end {
					f.resume(off + int64(len(c)))
					return len(c)
				}
				return i
			}
			f.resume(off + int64(i))
			continue
		}
		if f.layout.version == 0 {
			i += f.records0(c[i:], off+int64(i), end)
		} else {
			i += f.records1(c[i:], off+int64(i), end)
		}
		if f.pad > 0 || f.skip.on {
			continue
		}
		if i < len(c) && end {
			f.note(cutShort, off+int64(i), "the last record is truncated after %s", safetext.Plural(len(c)-i, "byte"))
			f.count(recUnreadable)
			f.leftOut(recUnreadable, off+int64(i))
			return len(c)
		}
		return i
	}
	if end && f.pad > 0 {
		f.note(cutShort, off+int64(len(c)), "padding is missing at the end: %s", safetext.Plural(f.pad, "byte"))
	}
	return i
}

// records1 reads records of version 1 until one is cut, can't be read, or is
// padding.
func (f *flat) records1(c []byte, off int64, end bool) int {
	p := f.parser
	var t *threadState
	i := 0
	for i < len(c) {
		r := c[i:]
		switch r[0] {
		case typeBegin:
			if len(r) < begin1Len {
				return i
			}
			n := int(r[18])
			size := begin1Len + n + int(r[19])
			if len(r) < size {
				return i
			}
			id, ok := p.names.quick(r[begin1Len:], n)
			if !ok {
				var v verdict
				if id, v = p.learn(r[begin1Len:begin1Len+n], r[size:], end, f.layout.validate); v != believed {
					return p.doubt(v, r[0], i, off)
				}
			}
			if key := binary.LittleEndian.Uint64(r[2:]); t == nil || key != t.key {
				t = p.thread(key)
			}
			at, ok := p.clock.quickFloat(floatAt(r, 10))
			if !ok {
				at, ok = p.clock.float(floatAt(r, 10))
			}
			if !ok || at < t.last {
				at = p.late(t, recBegin, at, ok, off+int64(i))
			}
			ref := uint64(0)
			if args := r[begin1Len+n : size]; len(args) > 0 {
				ref = p.args.ref(args, off+int64(i+begin1Len+n))
			}
			p.begin(t, at, p.child(t.innermost(), id), ref)
			i += size
		case typeEnd:
			if len(r) < endLen {
				return i
			}
			if key := binary.LittleEndian.Uint64(r[1:]); t == nil || key != t.key {
				t = p.thread(key)
			}
			at, ok := p.clock.quickFloat(floatAt(r, 9))
			if !ok {
				at, ok = p.clock.float(floatAt(r, 9))
			}
			p.end(t, at, ok, off+int64(i))
			i += endLen
		case typePad:
			if len(r) < padLen {
				return i
			}
			p.count(recPad)
			f.pad = int64(binary.LittleEndian.Uint32(r[1:]))
			return i + padLen
		default:
			p.stuck(r[0], off+int64(i))
			return i
		}
		if len(p.cur.events) >= batchLen {
			p.full()
		}
	}
	return i
}

// records0 reads records of version 0 until one is cut or can't be read.
func (f *flat) records0(c []byte, off int64, end bool) int {
	p := f.parser
	i := 0
	for i < len(c) {
		r := c[i:]
		switch r[0] {
		case typeBegin:
			if len(r) < begin0Len || len(r) < begin0Len+int(r[17]) {
				return i
			}
			size := begin0Len + int(r[17])
			id, ok := p.names.quick(r[begin0Len:], size-begin0Len)
			if !ok {
				var v verdict
				if id, v = p.learn(r[begin0Len:size], r[size:], end, f.layout.validate); v != believed {
					return p.doubt(v, r[0], i, off)
				}
			}
			t := p.thread(binary.LittleEndian.Uint64(r[1:]))
			at, ok := p.clock.quickFloat(floatAt(r, 9))
			if !ok {
				at, ok = p.clock.float(floatAt(r, 9))
			}
			if !ok || at < t.last {
				at = p.late(t, recBegin, at, ok, off+int64(i))
			}
			p.begin(t, at, p.child(t.innermost(), id), 0)
			i += size
		case typeEnd:
			if len(r) < endLen {
				return i
			}
			at, ok := p.clock.quickFloat(floatAt(r, 9))
			if !ok {
				at, ok = p.clock.float(floatAt(r, 9))
			}
			p.end(p.thread(binary.LittleEndian.Uint64(r[1:])), at, ok, off+int64(i))
			i += endLen
		case typeComplete:
			if len(r) < completeLen || len(r) < completeLen+int(r[25]) {
				return i
			}
			size := completeLen + int(r[25])
			id, ok := p.names.quick(r[completeLen:], size-completeLen)
			if !ok {
				var v verdict
				if id, v = p.learn(r[completeLen:size], r[size:], end, f.layout.validate); v != believed {
					return p.doubt(v, r[0], i, off)
				}
			}
			p.complete(r[:size], id, off+int64(i))
			i += size
		default:
			p.stuck(r[0], off+int64(i))
			return i
		}
		if len(p.cur.events) >= batchLen {
			p.full()
		}
	}
	return i
}

// complete adds a record with both ends of a span. Such records may come in any order.
func (p *parser) complete(r []byte, id uint32, off int64) {
	t := p.thread(binary.LittleEndian.Uint64(r[1:]))
	p.count(recComplete)
	time, dur := floatAt(r, 9), floatAt(r, 17)
	start, ok := p.clock.float(time)
	if !ok {
		start = p.late(t, recComplete, start, false, off)
		if d, ok := p.clock.span(dur); ok {
			p.completed(t, id, start, start+max(0, d))
		} else {
			p.completed(t, id, start, start)
		}
		return
	}
	// Adding in the file's floats first keeps the ends of spans that end together equal
	// in picoseconds too.
	end, ok := p.clock.span(time - p.clock.base + dur)
	switch {
	case !ok:
		p.note(badTime, off, "the duration is not a number or too long; it counts as 0")
		p.repaired(recComplete, off)
		end = start
	case end < start:
		p.note(negativeDuration, off, "a span has a duration of %v; it counts as 0", dur)
		p.repaired(recComplete, off)
		end = start
	}
	p.completed(t, id, start, end)
}

func (p *parser) completed(t *threadState, id uint32, start, end int64) {
	p.cur.events = append(p.cur.events, event{at: start, end: end, id: id, what: t.what | evSpan})
	p.cur.loose = true
}
