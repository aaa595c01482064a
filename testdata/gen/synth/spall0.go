package synth

import (
	"encoding/binary"
	"math"
)

// spall0 writes version 0: flat records, times in ns as doubles. For one function in
// four, calls without children are Complete records, written when they end.
type spall0 struct {
	*output
	prog *program
	sum  *Summary
}

const (
	spall0BeginBytes    = 18 // plus the name
	spall0EndBytes      = 17
	spall0CompleteBytes = 26 // plus the name
)

func writeSpall0(out *output, o Options) (*Summary, error) {
	p := newProgram(o.Seed, o.Threads, defaultPaths)
	sum := newSummary(p)
	out.buf = appendSpallHeader(out.buf, 0, 1e-3)
	writeTrace(p, sum, &spall0{out, p, sum}, o, 0, spallHeaderBytes)
	return sum, nil
}

func (s *spall0) complete(call uint32) bool {
	c := &s.prog.calls[call]
	return c.nkid == 0 && c.fn%4 == 0
}

func (s *spall0) size(call uint32) (records, bytes int) {
	name := len(shorten(s.prog.name(call)))
	if s.complete(call) {
		return 1, spall0CompleteBytes + name
	}
	return 2, spall0BeginBytes + name + spall0EndBytes
}

func (s *spall0) startBuffer(*thread) {}
func (s *spall0) endBuffer(*thread)   {}

// record appends the common beginning of all records; at is the time of the begin or the
// end.
func (s *spall0) record(kind byte, t *thread, at int64) {
	var h [17]byte
	h[0] = kind
	binary.LittleEndian.PutUint32(h[1:], uint32(t.pid))
	binary.LittleEndian.PutUint32(h[5:], uint32(t.tid))
	binary.LittleEndian.PutUint64(h[9:], math.Float64bits(float64(at)))
	s.buf = append(s.buf, h[:]...)
	s.sum.Records++
}

func (s *spall0) named(call uint32) {
	name := shorten(s.prog.name(call))
	s.buf = append(s.buf, uint8(len(name)))
	s.buf = append(s.buf, name...)
}

func (s *spall0) begin(t *thread, call uint32) {
	if s.complete(call) {
		return
	}
	s.record(spallBegin, t, t.clock)
	s.named(call)
	s.settle()
}

func (s *spall0) end(t *thread, c openCall) {
	if s.complete(c.call) {
		s.record(spallComplete, t, c.start)
		s.buf = binary.LittleEndian.AppendUint64(s.buf, math.Float64bits(float64(t.clock-c.start)))
		s.named(c.call)
	} else {
		s.record(spallEnd, t, t.clock)
	}
	s.settle()
}
