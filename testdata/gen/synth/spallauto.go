package synth

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// spallAuto writes version 3 of the automatic format: code that the compiler inserts into
// each function records the function's address and its caller's, as differences from the
// previous ones, and the time elapsed. There are no names, arguments or processes.
type spallAuto struct {
	*output
	prog               *program
	sum                *Summary
	start              int // position of the buffer's header in buf
	time, addr, caller uint64
}

const (
	spallAutoHeaderBytes = 34
	spallAutoCallBytes   = 17 // approximate, including the end
)

func writeSpallAuto(out *output, o Options, p *program) (*Summary, error) {
	for i := range p.threads {
		p.threads[i].pid = 0
	}
	sum := newSummary(p)
	le := binary.LittleEndian
	b := le.AppendUint64(out.buf, 0xABADF00D)
	b = le.AppendUint64(b, 3)
	b = le.AppendUint64(b, math.Float64bits(1))
	b = le.AppendUint64(b, modules[0].base)
	out.buf = le.AppendUint16(b, 0) // the program has no name
	writeTrace(p, sum, &spallAuto{output: out, prog: p, sum: sum}, o, 0, spallAutoHeaderBytes)
	return sum, nil
}

func (s *spallAuto) size(uint32) (records, bytes int) { return 2, spallAutoCallBytes }

func (s *spallAuto) startBuffer(t *thread) {
	s.start = len(s.buf)
	var h [20]byte // size is filled in when the buffer ends; maximum depth is unset
	binary.LittleEndian.PutUint32(h[4:], uint32(t.tid))
	binary.LittleEndian.PutUint64(h[8:], uint64(t.clock))
	s.buf = append(s.buf, h[:]...)
	s.time, s.addr, s.caller = uint64(t.clock), 0, 0
}

func (s *spallAuto) endBuffer(*thread) {
	binary.LittleEndian.PutUint32(s.buf[s.start:], uint32(len(s.buf)-s.start-20))
	s.settle()
}

// since returns the time elapsed since the previous event.
func (s *spallAuto) since(t *thread) (dt uint64) {
	dt = uint64(t.clock) - s.time
	s.time = uint64(t.clock)
	return dt
}

func (s *spallAuto) address(call int32) uint64 {
	if call < 0 {
		return 0
	}
	fn := s.prog.calls[call].fn
	return modules[s.prog.funcs[fn].module].base + uint64(fn)<<8
}

func (s *spallAuto) begin(t *thread, call uint32) {
	addr, caller := s.address(int32(call)), s.address(s.prog.calls[call].parent)
	dt, da, dc := s.since(t), addr^s.addr, caller^s.caller
	s.addr, s.caller = addr, caller
	w, x, y := width(dt), width(da), width(dc)
	s.buf = append(s.buf, w<<4|x<<2|y)
	s.buf = appendWide(appendWide(appendWide(s.buf, dt, w), da, x), dc, y)
	s.sum.Records++
}

func (s *spallAuto) end(t *thread, _ openCall) {
	dt := s.since(t)
	w := width(dt)
	s.buf = appendWide(append(s.buf, 1<<6|w<<4), dt, w)
	s.sum.Records++
}

// width returns the binary logarithm of the number of bytes of v, rounded up.
func width(v uint64) byte {
	n := (bits.Len64(v) + 7) / 8
	return byte(bits.Len(uint(max(n, 1) - 1)))
}

// appendWide appends the low 1<<width bytes of a number.
func appendWide(b []byte, v uint64, width byte) []byte {
	var all [8]byte
	binary.LittleEndian.PutUint64(all[:], v)
	return append(b, all[:1<<width]...)
}
