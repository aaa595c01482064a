package synth

import (
	"encoding/binary"
	"fmt"
	"math"
)

// spall1 writes version 1: flat records, times in ns as doubles.
type spall1 struct {
	*output
	prog  *program
	sum   *Summary
	shape string
}

const (
	spall1BeginBytes = 20 // plus the name and args
	spall1EndBytes   = 17
)

func writeSpall1(out *output, o Options) (*Summary, error) {
	p := tracedProgram(o)
	sum := newSummary(p)
	unit := 1e-3
	if o.Shape == fractions {
		unit = 1
	}
	out.buf = appendSpallHeader(out.buf, 1, unit)
	writeTrace(p, sum, &spall1{out, p, sum, o.Shape}, o, 0, spallHeaderBytes)
	return sum, nil
}

func (s *spall1) size(call uint32) (records, bytes int) {
	n := spall1BeginBytes + len(s.name(call)) + spall1EndBytes
	if spallHasArgs(s.prog, call) {
		n += len(spallArgs)
	}
	return 2, n
}

func (s *spall1) name(call uint32) string {
	name := shorten(s.prog.name(call))
	if s.shape == longNames {
		name = fmt.Sprintf("%-22.22s%08d", name, s.prog.calls[call].fn)
	}
	return name
}

func (s *spall1) time(clock int64) float64 {
	if s.shape == fractions {
		return float64(clock) / 1000
	}
	return float64(clock)
}

func (s *spall1) startBuffer(*thread) {}
func (s *spall1) endBuffer(*thread)   {}

func (s *spall1) begin(t *thread, call uint32) {
	name := s.name(call)
	var h [spall1BeginBytes]byte
	h[0] = spallBegin
	binary.LittleEndian.PutUint32(h[2:], uint32(t.pid))
	binary.LittleEndian.PutUint32(h[6:], uint32(t.tid))
	binary.LittleEndian.PutUint64(h[10:], math.Float64bits(s.time(t.clock)))
	h[18] = uint8(len(name))
	if spallHasArgs(s.prog, call) {
		h[19] = uint8(len(spallArgs))
	}
	s.buf = append(s.buf, h[:]...)
	s.buf = append(s.buf, name...)
	s.buf = append(s.buf, spallArgs[:h[19]]...)
	s.sum.Records++
	s.settle()
}

func (s *spall1) end(t *thread, _ openCall) {
	var h [spall1EndBytes]byte
	h[0] = spallEnd
	binary.LittleEndian.PutUint32(h[1:], uint32(t.pid))
	binary.LittleEndian.PutUint32(h[5:], uint32(t.tid))
	binary.LittleEndian.PutUint64(h[9:], math.Float64bits(s.time(t.clock)))
	s.buf = append(s.buf, h[:]...)
	s.sum.Records++
	s.settle()
}
