package synth

import (
	"encoding/binary"
	"math"
)

// Types of spall records, in all versions.
const (
	spallComplete = 2 // version 0 alone
	spallBegin    = 3
	spallEnd      = 4
	spallProcess  = 8
	spallThread   = 9
)

// appendSpallHeader appends the header of a manual recording: the unit is in µs
// per tick in versions 0 and 1, in ns per tick in version 3.
func appendSpallHeader(b []byte, version uint64, unit float64) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, 0x0BADF00D)
	b = le.AppendUint64(b, version)
	b = le.AppendUint64(b, math.Float64bits(unit))
	return le.AppendUint64(b, 0)
}

const spallHeaderBytes = 32

// spallArgs are the arguments of a call that has any.
const spallArgs = "req=0x00c0ffee"

// spallHasArgs reports whether a call is recorded with arguments: every 32nd function is.
func spallHasArgs(p *program, call uint32) bool { return p.calls[call].fn%32 == 0 }

// shorten cuts a name to 255 bytes, the maximum length in a one-byte count.
func shorten(name string) string { return name[:min(len(name), 255)] }

// writeTrace runs the program with a tracer. The options' limits apply after subtracting
// records and bytes, which the tracer needs for other things.
func writeTrace(p *program, sum *Summary, tr tracer, o Options, records, bytes int64) {
	run := &trace{prog: p, out: tr, sum: sum, records: o.Records - records, bytes: o.Bytes - bytes, small: o.Shape == smallBuffers}
	run.run(p.newThreads(o.chance(), 0))
}
