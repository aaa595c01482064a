package spall

import (
	"encoding/binary"
	"math"
)

// trace is a file that a test writes.
type trace struct {
	b   []byte
	buf int // position of the open buffer's header
}

func (w *trace) u8(v ...byte)      { w.b = append(w.b, v...) }
func (w *trace) u32(v ...uint32)   { w.b = each(w.b, v, binary.LittleEndian.AppendUint32) }
func (w *trace) u64(v ...uint64)   { w.b = each(w.b, v, binary.LittleEndian.AppendUint64) }
func (w *trace) f64(v float64)     { w.u64(math.Float64bits(v)) }
func (w *trace) text(s string)     { w.b = append(w.b, s...) }
func manual(version uint64) *trace { return manualUnit(version, 1) }
func (w *trace) add(o *trace)      { w.b = append(w.b, o.b...) }
func each[T any](b []byte, v []T, f func([]byte, T) []byte) []byte {
	for _, x := range v {
		b = f(b, x)
	}
	return b
}

func manualUnit(version uint64, unit float64) *trace {
	w := new(trace)
	w.u64(magicManual, version)
	w.f64(unit)
	w.u64(0)
	return w
}

func automatic(unit float64, base uint64, path string) *trace {
	w := new(trace)
	w.u64(magicAuto, 3)
	w.f64(unit)
	w.u64(base)
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(len(path)))
	w.text(path)
	return w
}

func (w *trace) begin0(pid, tid uint32, t float64, name string) {
	w.u8(3)
	w.u32(pid, tid)
	w.f64(t)
	w.u8(byte(len(name)))
	w.text(name)
}

func (w *trace) complete0(pid, tid uint32, t, d float64, name string) {
	w.u8(2)
	w.u32(pid, tid)
	w.f64(t)
	w.f64(d)
	w.u8(byte(len(name)))
	w.text(name)
}

func (w *trace) begin1(pid, tid uint32, t float64, name, args string) {
	w.u8(3, 9)
	w.u32(pid, tid)
	w.f64(t)
	w.u8(byte(len(name)), byte(len(args)))
	w.text(name + args)
}

func (w *trace) end(pid, tid uint32, t float64) {
	w.u8(4)
	w.u32(pid, tid)
	w.f64(t)
}

func (w *trace) pad(n int) {
	w.u8(7)
	w.u32(uint32(n))
	for range n {
		w.u8(0xEE)
	}
}

// open begins a buffer of version 3; close writes its size.
func (w *trace) open(pid, tid uint32) {
	w.buf = len(w.b)
	w.u32(0, tid, pid)
	w.u64(0xDEADBEEF) // writers store anything here
}

func (w *trace) close() {
	binary.LittleEndian.PutUint32(w.b[w.buf:], uint32(len(w.b)-w.buf-20))
}

func (w *trace) begin3(t uint64, name, args string) {
	w.u8(3)
	w.u64(t)
	w.u8(byte(len(name)), byte(len(args)))
	w.text(name + args)
}

func (w *trace) end3(t uint64) {
	w.u8(4)
	w.u64(t)
}

func (w *trace) name3(what byte, name string) {
	w.u8(what, byte(len(name)))
	w.text(name)
}

func (w *trace) instant3(t uint64, name string) {
	w.u8(5)
	w.u64(t)
	w.u8(byte(len(name)))
	w.text(name)
}

func (w *trace) openAuto(tid uint32, first uint64) {
	w.buf = len(w.b)
	w.u32(0, tid)
	w.u64(first)
	w.u32(0)
}
