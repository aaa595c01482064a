package perfetto

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/model/recording"
)

// A heapKey identifies a heap of a process.
type heapKey struct {
	pid  int64
	name string
}

// heap is the latest dump of a heap.
type heap struct {
	at    uint64
	rows  []heapRow
	seed  maphash.Seed
	parts map[uint64]bool // hashes of the dump's parts
}

type heapRow struct {
	stack  uint32
	values [6]int64
}

// Metrics of heaps: bytes and objects in use, allocated in total, and at most.
var heapMetrics = []recording.Metric{
	{Name: "inuse_space", Unit: "bytes", Kind: recording.Level}, {Name: "inuse_objects", Unit: "count", Kind: recording.Level},
	{Name: "alloc_space", Unit: "bytes"}, {Name: "alloc_objects", Unit: "count"},
	{Name: "peak_space", Unit: "bytes", Kind: recording.Peak}, {Name: "peak_objects", Unit: "count", Kind: recording.Peak},
}

// heapProfile reads a dump, which may go on in the next packet.
func (r *reader) heapProfile(s *sequence, b []byte) {
	for num, v := range each(b) {
		var iid uint64
		var text []byte
		for n, f := range each(v.b) {
			switch {
			case n == 1 && f.b == nil:
				iid = f.n
			case n == 2:
				text = f.b
			}
		}
		switch num {
		case 1:
			for _, kind := range []protowire.Number{internFunction, internPath} {
				r.call(s, kind, iid, text)
			}
		case 2:
			s.keep(internFrame, iid, v.b)
		case 3:
			s.keep(internCallstack, iid, v.b)
		case 4:
			s.keep(internMapping, iid, v.b)
		}
	}
	for num, v := range each(b) {
		if num == 5 {
			r.dump(s, v.b)
		}
	}
}

func (r *reader) dump(s *sequence, b []byte) {
	k, at := heapKey{name: "malloc"}, uint64(0)
	for num, v := range each(b) {
		switch num {
		case 1:
			k.pid = id(v.n)
		case 9:
			at = v.n
		case 11:
			k.name = v.text()
		}
	}
	h := r.heaps[k]
	switch {
	case h == nil || h.at < at:
		h = &heap{at: at, seed: maphash.MakeSeed(), parts: map[uint64]bool{}} // each dump has the totals since the beginning
		r.heaps[k] = h
	case h.at > at:
		return // a trace that was appended begins with earlier dumps
	}
	part := maphash.Bytes(h.seed, b)
	if h.parts[part] {
		r.note("dump-repeated", "", true, "A heap dump is in the trace twice, with the same time; it is counted once")
		return
	}
	h.parts[part] = true
	for num, v := range each(b) {
		if num != 2 {
			continue
		}
		var n [10]int64
		for num, v := range each(v.b) {
			if int(num) < len(n) {
				n[num] = int64(min(v.n, math.MaxInt64))
			}
		}
		row := heapRow{values: [6]int64{n[2] - n[3], n[5] - n[6], n[2], n[5], n[8], n[9]}}
		row.stack = r.stackOf(s, uint64(n[1]))
		h.rows = append(h.rows, row)
	}
}

// endHeaps passes the last dump of each heap to the maker.
func (r *reader) endHeaps() {
	keys := []heapKey{}
	for k := range r.heaps {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b heapKey) int { return cmp.Or(cmp.Compare(a.pid, b.pid), cmp.Compare(a.name, b.name)) })
	for _, k := range keys {
		rows := r.heaps[k].rows
		r.later(func(m *maker) { m.heap(k, rows) })
	}
}

// heap adds the stacks of a dump.
func (m *maker) heap(k heapKey, rows []heapRow) {
	e, ok := m.heaps[k.name]
	if !ok {
		e = m.b.AddEvent(recording.Event{Name: k.name, Kind: "allocation", Basis: recording.FromStacks, Metrics: slices.Clone(heapMetrics)})
		m.heaps[k.name] = e
	}
	ctx := m.b.Context([]recording.Attr{{Key: "pid", Value: fmt.Sprint(k.pid)}, {Key: "comm", Value: m.b.ProcessInfo(m.b.Process(k.pid)).Name}})
	for _, r := range rows {
		m.b.AddStack(e, m.stacks[r.stack], recording.NoTrack, ctx, r.values[:])
	}
}
