package synth

import (
	"bytes"
	"compress/zlib"

	"google.golang.org/protobuf/encoding/protowire"
)

// perfetto writes traces in the way of programs with Perfetto's library: a sequence of
// packets for each thread. A sequence names things once, with a number, and then refers
// to them by number. It dates each packet by the time since the previous one. See
// protos/perfetto/trace in https://github.com/google/perfetto.
type perfetto struct {
	*output
	prog    *program
	sum     *Summary
	shape   string
	threads []perfettoThread
	packet  []byte
	event   []byte
	pack    []byte // packets to be compressed together
}

// perfettoPack is the number of bytes of packets that are compressed together.
const perfettoPack = 64 << 10

// perfettoThread holds the names and state that a thread's sequence has written so far.
type perfettoThread struct {
	begun    bool
	last     int64
	names    map[uint32]uint64 // numbers of function names
	packages map[int]bool      // modules already named, as categories
}

const (
	perfettoDelta  = 64      // a clock whose times are relative to the previous packet
	perfettoTracks = 1000    // the first track number of threads
	perfettoUser   = 1000    // user id in each packet
	bootClock      = 6       // BUILTIN_CLOCK_BOOTTIME
	perfettoNeeds  = 2       // SEQ_NEEDS_INCREMENTAL_STATE
	perfettoKey    = "bytes" // name of the annotation on some calls
)

func writePerfetto(out *output, o Options) (*Summary, error) {
	p := newProgram(o.Seed, o.Threads, defaultPaths)
	sum := newSummary(p)
	w := &perfetto{output: out, prog: p, sum: sum, shape: o.Shape, threads: make([]perfettoThread, o.Threads)}
	writeTrace(p, sum, w, o, int64(o.Threads), int64(o.Threads)*100)
	w.compress()
	return sum, nil
}

func number(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func message(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

// size returns the records and bytes of a call. It does not count names that are written
// only once, because they do not matter in a long recording.
func (w *perfetto) size(call uint32) (records, bytes int) {
	n := 44
	if w.annotated(call) {
		n += 12
	}
	switch f := &w.prog.funcs[w.prog.calls[call].fn]; w.shape {
	case writtenNames:
		n += 2 + len(f.name) + len(modules[f.module].name)
	case packedTrace:
		n = n * 3 / 10
	}
	return 2, n
}

// annotated reports whether a call has an argument: the calls that have one in other
// formats, or every call in the shape with many arguments.
func (w *perfetto) annotated(call uint32) bool {
	return w.shape == manyArgs || spallHasArgs(w.prog, call)
}

// put writes a packet of a sequence.
func (w *perfetto) put(t *thread, packet []byte) {
	packet = number(packet, 3, perfettoUser)
	packet = number(packet, 10, uint64(t.index+2))
	packet = number(packet, 79, uint64(t.pid))
	w.packet = packet[:0]
	if w.shape != packedTrace {
		w.buf = message(w.buf, 1, packet)
		w.settle()
		return
	}
	if w.pack = message(w.pack, 1, packet); len(w.pack) >= perfettoPack {
		w.compress()
	}
}

// compress writes the collected packets, compressed.
func (w *perfetto) compress() {
	if len(w.pack) == 0 {
		return
	}
	var z bytes.Buffer
	to, _ := zlib.NewWriterLevel(&z, zlib.BestSpeed)
	to.Write(w.pack)
	to.Close()
	w.buf = message(w.buf, 1, message(nil, 50, z.Bytes()))
	w.pack = w.pack[:0]
	w.settle()
}

func (w *perfetto) startBuffer(t *thread) {
	s := &w.threads[t.index]
	if s.begun {
		return
	}
	*s = perfettoThread{begun: true, last: t.clock, names: map[uint32]uint64{}, packages: map[int]bool{}}
	uuid := uint64(perfettoTracks + t.index)
	var clocks []byte
	clocks = message(clocks, 1, number(number(nil, 1, bootClock), 2, uint64(t.clock)))
	clocks = message(clocks, 1, number(number(number(nil, 1, perfettoDelta), 2, uint64(t.clock)), 3, 1))
	clocks = number(clocks, 2, bootClock)
	defaults := message(number(nil, 58, perfettoDelta), 11, number(nil, 11, uuid))
	packet := message(number(nil, 8, 0), 6, clocks)
	w.put(t, number(message(packet, 59, defaults), 13, 1))
	process := message(number(nil, 1, uint64(t.pid)), 6, []byte(processes[roles[t.role].process].name))
	w.put(t, message(nil, 60, message(number(nil, 1, uint64(t.pid)), 3, process)))
	named := message(number(number(nil, 1, uint64(t.pid)), 2, uint64(t.tid)), 5, []byte(t.name))
	w.put(t, message(nil, 60, message(number(number(nil, 1, uuid), 5, uint64(t.pid)), 4, named)))
	w.sum.Records++
}

func (w *perfetto) endBuffer(*thread) {}

func (w *perfetto) begin(t *thread, call uint32) {
	s, fn := &w.threads[t.index], w.prog.calls[call].fn
	f := &w.prog.funcs[fn]
	var interned []byte
	written := w.shape == writtenNames
	if !s.packages[f.module] && !written {
		s.packages[f.module] = true
		interned = message(interned, 1, message(number(nil, 1, uint64(f.module+1)), 2, []byte(modules[f.module].name)))
	}
	id, ok := s.names[fn]
	if !ok {
		if len(s.names) == 0 {
			interned = message(interned, 3, message(number(nil, 1, 1), 2, []byte(perfettoKey)))
		}
		id = uint64(len(s.names) + 1)
		s.names[fn] = id
		if !written {
			interned = message(interned, 2, message(number(nil, 1, id), 2, []byte(f.name)))
		}
	}
	e := number(w.event[:0], 9, 1)
	if written {
		e = message(message(e, 22, []byte(modules[f.module].name)), 23, []byte(f.name))
	} else {
		e = number(number(e, 3, uint64(f.module+1)), 10, id)
	}
	if w.annotated(call) {
		e = message(e, 4, number(number(nil, 1, 1), 3, uint64(t.clock)&0xffff))
	}
	w.track(t, e, interned)
}

func (w *perfetto) end(t *thread, _ openCall) { w.track(t, number(w.event[:0], 9, 2), nil) }

// track writes the packet of an event, together with the names that occur for the first
// time.
func (w *perfetto) track(t *thread, event, interned []byte) {
	s := &w.threads[t.index]
	w.event = event
	packet := number(w.packet[:0], 8, uint64(t.clock-s.last))
	s.last = t.clock
	packet = message(packet, 11, event)
	if interned != nil {
		packet = message(packet, 12, interned)
	}
	w.sum.Records++
	w.put(t, number(packet, 13, perfettoNeeds))
}
