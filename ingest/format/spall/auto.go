package spall

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/model/recording"
)

// autoBufferLen is the size of an automatic buffer's header: u32 size, u32 tid,
// u64 first_ts, u32 max_depth.
const autoBufferLen = 20

// auto3 reads the events of automatic traces. The time, the address and the caller are
// differences from the previous event; at the start of each buffer they are first_ts, 0
// and 0. The first byte gives the kind of event and the width of its numbers:
//
//	00ddaacc  begin: time += dt[1<<dd], address ^= [1<<aa], caller ^= [1<<cc]
//	01dd----  end: time += dt[1<<dd]
//	1001ddna  begin with a name: time += dt[1<<dd], name_len[1<<n], args_len[1<<a], name, args
type auto3 struct {
	*parser
	time, addr, caller uint64
	ids                map[uint64]uint32 // numbers of names, by address
	near               [1 << 10]autoSlot // cache of ids
}

type autoSlot struct {
	addr uint64
	id   uint32 // the number plus 1, 0 in a free slot
}

func (a *auto3) header(c []byte) (int64, uint64) {
	return int64(binary.LittleEndian.Uint32(c)), uint64(binary.LittleEndian.Uint32(c[4:])) << 32
}

func (a *auto3) start(header []byte) {
	a.time, a.addr, a.caller = binary.LittleEndian.Uint64(header[8:]), 0, 0
}

// autoSize returns the size of the event at the start of c: 0 if it is truncated, -1 if
// it is not an event.
func autoSize(c []byte) int {
	b := c[0]
	switch {
	case b>>6 == 0:
		return 1 + 1<<(b>>4&3) + 1<<(b>>2&3) + 1<<(b&3)
	case b>>6 == 1:
		return 1 + 1<<(b>>4&3)
	case b>>4 == 9:
		dt := 1 + 1<<(b>>2&3)
		nl, al := 1<<(b>>1&1), 1<<(b&1)
		if len(c) < dt+nl+al {
			return 0
		}
		return dt + nl + al + int(number(c[dt:], nl)) + int(number(c[dt+nl:], al))
	}
	return -1
}

// number reads n bytes, little-endian; n is 1, 2, 4 or 8.
func number(c []byte, n int) uint64 {
	switch n {
	case 1:
		return uint64(c[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(c))
	case 4:
		return uint64(binary.LittleEndian.Uint32(c))
	}
	return binary.LittleEndian.Uint64(c)
}

func (a *auto3) read(c []byte, off int64, _ bool, t *threadState) (int, bool) {
	p := a.parser
	i := 0
	for i < len(c) {
		r := c[i:]
		size := autoSize(r)
		if size < 0 {
			return i, true
		}
		if size == 0 || size > len(r) {
			return i, false
		}
		b := r[0]
		switch b >> 6 {
		case 0:
			d, w, x := 1<<(b>>4&3), 1<<(b>>2&3), 1<<(b&3)
			a.time += number(r[1:], d)
			a.addr ^= number(r[1+d:], w)
			a.caller ^= number(r[1+d+w:], x)
			a.begin(t, a.function(a.addr), 0, off+int64(i))
		case 1:
			a.time += number(r[1:], 1<<(b>>4&3))
			at, ok := p.clock.int(a.time)
			p.end(t, at, ok, off+int64(i))
		default:
			d, nl, al := 1<<(b>>2&3), 1<<(b>>1&1), 1<<(b&1)
			a.time += number(r[1:], d)
			n := int(number(r[1+d:], nl))
			from := 1 + d + nl + al
			ref := uint64(0)
			if args := r[from+n : size]; len(args) > 0 {
				ref = p.args.ref(args, off+int64(i+from+n))
			}
			a.begin(t, p.names.id(r[from:from+n]), ref, off+int64(i))
		}
		i += size
		if len(p.cur.events) >= batchLen {
			p.full()
		}
	}
	return i, false
}

func (a *auto3) begin(t *threadState, id uint32, args uint64, off int64) {
	p := a.parser
	at, ok := p.clock.int(a.time)
	if !ok || at < t.last {
		at = p.late(t, recBegin, at, ok, off)
	}
	p.begin(t, at, p.child(t.innermost(), id), args)
}

// function returns the number of a name that stands for an address. Such names begin with
// a NUL, which is stripped from names in a file.
func (a *auto3) function(addr uint64) uint32 {
	s := &a.near[addr*mul1>>54]
	if s.addr == addr && s.id != 0 {
		return s.id - 1
	}
	id, ok := a.ids[addr]
	if !ok {
		id = a.parser.names.raw("\x00" + strconv.FormatUint(addr, 16))
		a.ids[addr] = id
	}
	*s = autoSlot{addr, id + 1}
	return id
}

// validate accepts anything that can be an event, which is nearly every byte. An event
// may extend beyond c but not beyond its buffer.
func (a *auto3) validate(c []byte, left int64, end bool) bool {
	for n := range sureRecords {
		if len(c) == 0 {
			return true
		}
		size := autoSize(c)
		switch {
		case size < 0 || left >= 0 && int64(size) > left:
			return false
		case size == 0 || size > len(c):
			return left > int64(len(c)) || end && n > 0
		}
		c = c[size:]
		left -= int64(size)
	}
	return true
}

func (a *auto3) begins(c []byte) bool {
	size := autoSize(c)
	return size > 0 && size <= len(c)
}

// autoTicks returns the times of the first events of an automatic trace.
func autoTicks(c []byte) []uint64 {
	var times []uint64
	for len(times) < trial && len(c) >= autoBufferLen {
		size := min(uint64(len(c)-autoBufferLen), uint64(binary.LittleEndian.Uint32(c)))
		events := c[autoBufferLen : autoBufferLen+size]
		first := binary.LittleEndian.Uint64(c[8:])
		c = c[autoBufferLen+size:]
		now := first
		for len(times) < trial && len(events) > 0 {
			n := autoSize(events)
			if n <= 0 || n > len(events) {
				break
			}
			d := events[0] >> 4 & 3
			if events[0]>>6 == 2 {
				d = events[0] >> 2 & 3
			}
			now += number(events[1:], 1<<d)
			times = append(times, now)
			events = events[n:]
		}
	}
	return times
}

// resolver converts addresses to functions.
type resolver struct {
	b       *recording.Builder
	program *loaded
	why     string // the warning when there is no program
}

// function resolves a name made by auto3.function to a function of the program; other
// names stay as they are.
func (r *resolver) function(name string) recording.Function {
	hex, ok := strings.CutPrefix(name, "\x00")
	if !ok {
		return recording.Function{Name: name, Kind: recording.KindUser}
	}
	addr, _ := strconv.ParseUint(hex, 16, 64)
	why := r.why
	if r.program != nil {
		if f, ok := r.program.lookup(addr); ok {
			return f
		}
		why = fmt.Sprintf("no function of %s is at address 0x%x; the address is shown", r.program.module, addr)
	}
	r.b.Usual(problemCodes[unresolved], "", "%s", why)
	return recording.Function{Name: fmt.Sprintf("0x%x", addr), Kind: recording.KindUser, Unresolved: true}
}

// automatic returns the reader of an automatic trace.
func (p *parser) automatic(h header, s *sink, opt decode.Options) reader {
	r := &resolver{b: s.b}
	r.program, r.why = symbols(h, opt.Exe)
	s.function = r.function
	if r.program != nil {
		s.close = r.program.Close
		if why := r.program.Without; why != "" {
			s.b.Remark(problemCodes[noLines], "", "the line table of %s %s; functions have no files", r.program.module, why)
		}
	}
	s.b.Source().Command = h.path
	return &buffers{parser: p, headerLen: autoBufferLen, events: &auto3{parser: p, ids: map[uint64]uint32{}}}
}
