package spall

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"sort"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

// naive is a simple second reader of undamaged traces. It reads record by record, without
// chunks, and keeps times as exact fractions.
type naive struct {
	t       *testing.T
	b       []byte
	version uint64
	auto    bool
	unit    *big.Rat // picoseconds per tick
	base    *big.Rat // in ticks
	threads map[[2]uint32]*naiveThread
	order   [][2]uint32
	last    *big.Rat
	names   map[string]bool
}

type naiveThread struct {
	stack     []int
	spans     []naiveSpan
	last      *big.Rat
	unmatched int
	backward  int
	name      string
}

type naiveSpan struct {
	start, end *big.Rat
	path       string
	args       string
	open       bool
}

func (n *naive) take(k int) []byte {
	if k > len(n.b) {
		n.t.Fatalf("the naive reader wants %d bytes of %d", k, len(n.b))
	}
	b := n.b[:k]
	n.b = n.b[k:]
	return b
}

func (n *naive) u8() byte    { return n.take(1)[0] }
func (n *naive) u32() uint32 { return binary.LittleEndian.Uint32(n.take(4)) }
func (n *naive) u64() uint64 { return binary.LittleEndian.Uint64(n.take(8)) }
func (n *naive) f64() *big.Rat {
	return new(big.Rat).SetFloat64(math.Float64frombits(n.u64()))
}
func (n *naive) ticks() *big.Rat { return new(big.Rat).SetInt(new(big.Int).SetUint64(n.u64())) }
func (n *naive) sized(k int) uint64 {
	var b [8]byte
	copy(b[:], n.take(k))
	return binary.LittleEndian.Uint64(b[:])
}

func readNaively(t *testing.T, b []byte) *naive {
	n := &naive{t: t, b: b, threads: map[[2]uint32]*naiveThread{}, names: map[string]bool{}}
	n.auto = n.u64() == magicAuto
	n.version = n.u64()
	n.unit = n.f64()
	per := int64(1e6)
	if n.version == 3 {
		per = 1e3
	}
	n.unit.Mul(n.unit, new(big.Rat).SetInt64(per))
	n.u64()
	if n.auto {
		n.take(int(binary.LittleEndian.Uint16(n.take(2))))
	}
	for len(n.b) > 0 {
		switch {
		case n.auto:
			size, tid, first := n.u32(), n.u32(), n.u64()
			n.u32()
			n.autoEvents(int(size), tid, first)
		case n.version == 3:
			size, tid, pid := n.u32(), n.u32(), n.u32()
			n.u64()
			for after := len(n.b) - int(size); len(n.b) > after; {
				n.event3(pid, tid)
			}
		default:
			n.eventFlat()
		}
	}
	return n
}

func (n *naive) eventFlat() {
	switch kind := n.u8(); kind {
	case 2:
		pid, tid, start, dur := n.u32(), n.u32(), n.f64(), n.f64()
		name := string(n.take(int(n.u8())))
		th := n.thread(pid, tid, start)
		th.spans = append(th.spans, naiveSpan{start: start, end: new(big.Rat).Add(start, dur), path: name})
	case 3:
		if n.version == 1 {
			n.u8()
		}
		pid, tid, at := n.u32(), n.u32(), n.f64()
		nameLen, argsLen := int(n.u8()), 0
		if n.version == 1 {
			argsLen = int(n.u8())
		}
		name := string(n.take(nameLen))
		n.begin(pid, tid, at, name, string(n.take(argsLen)))
	case 4:
		pid, tid := n.u32(), n.u32()
		n.end(pid, tid, n.f64())
	case 7:
		n.take(int(n.u32()))
	default:
		n.t.Fatalf("the naive reader meets a record of type %d", kind)
	}
}

func (n *naive) event3(pid, tid uint32) {
	switch kind := n.u8(); kind {
	case 3:
		at := n.ticks()
		nameLen, argsLen := int(n.u8()), int(n.u8())
		name := string(n.take(nameLen))
		n.begin(pid, tid, at, name, string(n.take(argsLen)))
	case 4:
		n.end(pid, tid, n.ticks())
	case 7:
		n.take(int(n.u32()))
	case 8:
		n.take(int(n.u8()))
	case 9:
		n.thread(pid, tid, nil).name = string(n.take(int(n.u8())))
	default:
		n.t.Fatalf("the naive reader meets an event of type %d", kind)
	}
}

func (n *naive) autoEvents(size int, tid uint32, now uint64) {
	var addr, caller uint64
	for after := len(n.b) - size; len(n.b) > after; {
		switch b := n.u8(); {
		case b < 0x40:
			now += n.sized(1 << (b >> 4))
			addr ^= n.sized(1 << (b >> 2 & 3))
			caller ^= n.sized(1 << (b & 3))
			n.begin(0, tid, new(big.Rat).SetInt64(int64(now)), fmt.Sprintf("0x%x", addr), "")
		case b < 0x80:
			now += n.sized(1 << (b >> 4 & 3))
			n.end(0, tid, new(big.Rat).SetInt64(int64(now)))
		default:
			now += n.sized(1 << (b >> 2 & 3))
			nameLen, argsLen := n.sized(1<<(b>>1&1)), n.sized(1<<(b&1))
			name := string(n.take(int(nameLen)))
			n.begin(0, tid, new(big.Rat).SetInt64(int64(now)), name, string(n.take(int(argsLen))))
		}
	}
}

func (n *naive) thread(pid, tid uint32, at *big.Rat) *naiveThread {
	k := [2]uint32{pid, tid}
	if n.threads[k] == nil {
		n.threads[k] = new(naiveThread)
		n.order = append(n.order, k)
	}
	if at != nil && n.base == nil {
		whole := new(big.Int).Div(at.Num(), at.Denom()) // Euclidean division, which rounds down
		n.base = new(big.Rat).SetInt(whole)
	}
	return n.threads[k]
}

func (n *naive) forward(th *naiveThread, at *big.Rat) *big.Rat {
	if th.last != nil && at.Cmp(th.last) < 0 {
		th.backward++
		return th.last
	}
	th.last = at
	if n.last == nil || at.Cmp(n.last) > 0 {
		n.last = at
	}
	return at
}

func (n *naive) begin(pid, tid uint32, at *big.Rat, name, args string) {
	th := n.thread(pid, tid, at)
	path := name
	if len(th.stack) > 0 {
		path = th.spans[th.stack[len(th.stack)-1]].path + ";" + name
	}
	n.names[name] = true
	th.stack = append(th.stack, len(th.spans))
	th.spans = append(th.spans, naiveSpan{start: n.forward(th, at), path: path, args: args, open: true})
}

func (n *naive) end(pid, tid uint32, at *big.Rat) {
	th := n.thread(pid, tid, at)
	at = n.forward(th, at)
	if len(th.stack) == 0 {
		th.unmatched++
		return
	}
	s := &th.spans[th.stack[len(th.stack)-1]]
	s.end, s.open = at, false
	th.stack = th.stack[:len(th.stack)-1]
}

// ps rounds a time to whole picoseconds since the origin.
func (n *naive) ps(at *big.Rat) int64 {
	x := new(big.Rat).Sub(at, n.base)
	x.Mul(x, n.unit)
	x.Add(x, big.NewRat(1, 2))
	return new(big.Int).Div(x.Num(), x.Denom()).Int64()
}

// lines lists the spans as text, one per line, sorted.
func (n *naive) lines() []string {
	var out []string
	for _, k := range n.order {
		th := n.threads[k]
		for _, s := range th.spans {
			if s.open {
				s.end = n.last
			}
			out = append(out, fmt.Sprintf("%d/%d %d..%d %s {%s} open=%v", k[0], k[1], n.ps(s.start), n.ps(s.end), s.path, s.args, s.open))
		}
	}
	sort.Strings(out)
	return out
}

func (n *naive) unmatched() (c int64) {
	for _, t := range n.threads {
		c += int64(t.unmatched)
	}
	return c
}

func (n *naive) backward() (c int64) {
	for _, t := range n.threads {
		c += int64(t.backward)
	}
	return c
}

// lines lists the spans of a recording in the same form as naive.lines.
func lines(r *recording.Recording) []string {
	var out []string
	for _, t := range r.Tracks {
		for i := range t.Lanes {
			l := &t.Lanes[i]
			for k := range l.Len() {
				args := ""
				if ref := l.Args(k); ref != 0 {
					args = r.Args(ref)
				}
				out = append(out, fmt.Sprintf("%d/%d %d..%d %s {%s} open=%v", t.PID, t.TID, l.Start(k), l.End(k), path(r, l.Call(k)), args, l.Unfinished(k)))
			}
		}
	}
	sort.Strings(out)
	return out
}

func path(r *recording.Recording, c recording.CallID) string {
	var names []string
	for _, id := range r.Calls.Path(nil, c) {
		names = append(names, r.FuncName(id))
	}
	return strings.Join(names, ";")
}

// everything formats the whole content of a recording, to compare two.
func everything(r *recording.Recording) string {
	var s strings.Builder
	fmt.Fprintln(&s, r.Clock, r.Start, r.End, r.Counts, r.SpanTime, r.SpanCount, r.Source.Version)
	for _, w := range r.Warnings {
		fmt.Fprintln(&s, w)
	}
	for _, t := range r.Ledger {
		fmt.Fprintln(&s, t)
	}
	for _, p := range r.Processes {
		fmt.Fprintln(&s, p)
	}
	for i := range r.Functions.Len() {
		fmt.Fprintln(&s, r.Functions.At(i))
	}
	for _, t := range r.Tracks {
		fmt.Fprintln(&s, t.PID, t.TID, t.Name, t.Instants, len(t.Lanes))
		for i := range t.Lanes {
			l := &t.Lanes[i]
			for k := range l.Len() {
				fmt.Fprintln(&s, l.Start(k), l.End(k), l.Call(k), l.Unfinished(k), l.Args(k) != 0)
			}
		}
	}
	for _, l := range lines(r) {
		fmt.Fprintln(&s, l)
	}
	return s.String()
}
