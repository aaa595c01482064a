package synth

import "encoding/binary"

// spall3 writes version 3: the events in buffers of one thread each, times in
// whole ns, and the names of processes and threads in each thread's first buffer.
type spall3 struct {
	*output
	prog  *program
	sum   *Summary
	named []bool // by thread
	start int    // position of the buffer's header in buf
}

const (
	spall3BufferBytes = 20
	spall3BeginBytes  = 11 // plus the name and args
	spall3EndBytes    = 9
)

func writeSpall3(out *output, o Options) (*Summary, error) {
	p := tracedProgram(o)
	if o.Shape == automatic {
		return writeSpallAuto(out, o, p)
	}
	sum := newSummary(p)
	out.buf = appendSpallHeader(out.buf, 3, 1)
	writeTrace(p, sum, &spall3{output: out, prog: p, sum: sum, named: make([]bool, o.Threads)}, o,
		int64(2*o.Threads), spallHeaderBytes+int64(o.Threads)*64)
	return sum, nil
}

func (s *spall3) size(call uint32) (records, bytes int) {
	n := spall3BeginBytes + len(shorten(s.prog.name(call))) + spall3EndBytes
	if spallHasArgs(s.prog, call) {
		n += len(spallArgs)
	}
	return 2, n
}

func (s *spall3) startBuffer(t *thread) {
	s.start = len(s.buf)
	var h [spall3BufferBytes]byte // the size is filled in when the buffer ends
	binary.LittleEndian.PutUint32(h[4:], uint32(t.tid))
	binary.LittleEndian.PutUint32(h[8:], uint32(t.pid))
	binary.LittleEndian.PutUint64(h[12:], uint64(t.clock))
	s.buf = append(s.buf, h[:]...)
	if s.named[t.index] {
		return
	}
	s.named[t.index] = true
	s.name(spallProcess, processes[roles[t.role].process].name)
	s.name(spallThread, t.name)
}

func (s *spall3) name(kind byte, name string) {
	s.buf = append(s.buf, kind, uint8(len(name)))
	s.buf = append(s.buf, name...)
	s.sum.Records++
}

// endBuffer alone writes the output, because the header must still be in memory when its
// size is filled in.
func (s *spall3) endBuffer(*thread) {
	binary.LittleEndian.PutUint32(s.buf[s.start:], uint32(len(s.buf)-s.start-spall3BufferBytes))
	s.settle()
}

func (s *spall3) begin(t *thread, call uint32) {
	name := shorten(s.prog.name(call))
	var h [spall3BeginBytes]byte
	h[0] = spallBegin
	binary.LittleEndian.PutUint64(h[1:], uint64(t.clock))
	h[9] = uint8(len(name))
	if spallHasArgs(s.prog, call) {
		h[10] = uint8(len(spallArgs))
	}
	s.buf = append(s.buf, h[:]...)
	s.buf = append(s.buf, name...)
	s.buf = append(s.buf, spallArgs[:h[10]]...)
	s.sum.Records++
}

func (s *spall3) end(t *thread, _ openCall) {
	var h [spall3EndBytes]byte
	h[0] = spallEnd
	binary.LittleEndian.PutUint64(h[1:], uint64(t.clock))
	s.buf = append(s.buf, h[:]...)
	s.sum.Records++
}
