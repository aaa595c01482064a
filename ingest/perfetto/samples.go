package perfetto

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/program"
	"ashlar/ingest/recording"
)

// sample is one with a stack.
type sample struct {
	event  int
	pid    int64
	tid    int64
	call   recording.CallID
	cpu    int
	values []int64
}

func (d *decoder) addSample(s *sample, at int64) {
	t := d.threadTrack(s.pid, s.tid)
	d.build(t, "").Sample(s.event, at, s.call, s.cpu, s.values)
}

// sampleEvent is an event of samples with a weight, if it has a name.
func (d *decoder) sampleEvent(name, weight, unit string) int {
	key := name + "\x00" + weight
	e, ok := d.events[key]
	if !ok {
		ev := recording.Event{Name: name, Kind: "sample", Basis: recording.FromSamples}
		if weight != "" {
			ev.Metrics = append(ev.Metrics, recording.Metric{Name: weight, Unit: unit, PerSample: recording.SampleColumn})
		}
		ev.Metrics = append(ev.Metrics, recording.Metric{Name: "samples", Unit: "count", PerSample: recording.SampleOne})
		e = d.b.AddEvent(ev)
		d.events[key] = e
	}
	return e
}

// call is the call of a stack that a sequence has numbered, the outermost frame
// first.
func (d *decoder) call(s *sequence, iid uint64) recording.CallID {
	b := s.more[internCallstack][iid]
	if b == nil {
		return recording.NoCall
	}
	if c, ok := s.calls[iid]; ok {
		return c
	}
	var ids []uint64
	for num, v := range each(b) {
		if num == 2 {
			ids = v.numbers(ids)
		}
	}
	frames := make([]recording.FrameID, 0, len(ids))
	for _, n := range ids {
		frames = append(frames, d.stackFrame(s, n))
	}
	c := d.b.Stack(frames)
	s.calls[iid] = c
	return c
}

// stackFrame is a frame that a sequence has numbered.
func (d *decoder) stackFrame(s *sequence, iid uint64) recording.FrameID {
	fn := recording.Function{Kind: recording.KindUser}
	var fr recording.Frame
	for num, v := range each(s.more[internFrame][iid]) {
		switch num {
		case 2:
			fn.Name = s.texts[internFunction].get(v.n)
		case 3:
			fn.Module = s.module(v.n)
		case 4:
			fr.Addr = v.n
		case 5:
			fn.File = s.texts[internSource].get(v.n)
		case 6:
			fr.Line = int32(min(v.n, math.MaxInt32))
		}
	}
	if fn.Name == "" {
		fn.Name, fn.Unresolved = recording.AddressName(fn.Module, fr.Addr, fr.Addr), true
	}
	if program.IsKernel(fn.Module) {
		fn.Kind = recording.KindKernel
	}
	fr.Kind, fr.Func = fn.Kind, d.b.Function(fn)
	return d.b.Frame(fr)
}

// module is the name of a binary that was mapped.
func (s *sequence) module(iid uint64) string {
	var parts []string
	for num, v := range each(s.more[internMapping][iid]) {
		if num == 7 {
			for _, n := range v.numbers(nil) {
				parts = append(parts, s.texts[internPath].get(n))
			}
		}
	}
	if name := path.Base(strings.Join(parts, "/")); len(parts) > 0 && name != "/" {
		return name
	}
	return ""
}

// perfSample takes one of the kernel's counters of a thread.
func (d *decoder) perfSample(s *sequence, p *packet) {
	x := sample{event: -1, cpu: -1}
	for num, v := range each(p.body) {
		switch num {
		case 1:
			x.cpu = int(min(v.n, math.MaxInt16))
		case 2:
			x.pid = id(v.n)
		case 3:
			x.tid = id(v.n)
		case 4:
			x.call = d.call(s, v.n)
		case 17, 18: // lost, or left out by the recorder
			d.b.Remark("samples-skipped", "", "Some samples were skipped or lost by the recorder; they are in no sum")
			if num == 18 {
				return
			}
		}
	}
	x.event = d.sampleEvent("perf samples", "", "")
	d.enqueue(event{at: d.clocks.time(s, p), kind: sampled, more: &x})
}

// streamingSamples takes those of Chrome's sampler of one thread.
func (d *decoder) streamingSamples(s *sequence, p *packet) {
	var stacks, deltas []uint64
	for num, v := range each(p.body) {
		switch num {
		case 1:
			stacks = v.numbers(stacks)
		case 2:
			deltas = v.numbers(deltas)
		}
	}
	at := d.clocks.time(s, p)
	if !p.timed {
		at = s.time * 1000
	}
	for i, n := range stacks {
		if i < len(deltas) {
			at += int64(deltas[i]) * 1000
			s.time += int64(deltas[i])
		}
		x := &sample{event: d.sampleEvent("stack samples", "", ""), pid: s.pid, tid: s.tid, call: d.call(s, n), cpu: -1}
		d.enqueue(event{at: at, kind: sampled, more: x})
	}
}

// descriptor names the thing that a sample weighs.
type descriptor struct {
	name, unit string
	factor     uint64
}

var weightUnits = []string{"count", "ns", "cycles", "instructions", "bytes", "faults", "misses", "references", "misses", "count"}

func readDescriptor(b []byte) descriptor {
	w := descriptor{factor: 1}
	for num, v := range each(b) {
		switch num {
		case 2:
			w.name = v.text()
		case 3:
			if v.n < uint64(len(weightUnits)) {
				w.unit = weightUnits[v.n]
			}
		case 4:
			w.unit = v.text()
		case 5:
			w.factor = max(v.n, 1)
		}
	}
	return w
}

// stackSample takes a sample of any recorder, whose weight it describes itself.
func (d *decoder) stackSample(s *sequence, p *packet) {
	x := sample{cpu: -1}
	w, weight, weighed := s.weight, uint64(0), false
	for num, v := range each(p.body) {
		switch num {
		case 1:
			for num, v := range each(v.b) {
				switch num {
				case 2:
					x.pid = id(v.n)
				case 3:
					x.tid = id(v.n)
				}
			}
		case 3:
			for num, v := range each(v.b) {
				if num == 2 {
					x.cpu = int(min(v.n, math.MaxInt16))
				}
			}
		case 5:
			x.call = d.inline(v.b)
		case 6:
			x.call = d.call(s, v.n)
		case 9:
			w = readDescriptor(v.b)
		case 11:
			weight, weighed = v.n, true
		case 14:
			d.b.Remark("followers", "", "Samples have more counts than one; the others are left out")
		}
	}
	if !weighed {
		weight = 1
	}
	x.event = d.sampleEvent(cmp.Or(w.name, "stack samples"), cmp.Or(w.name, "weight"), cmp.Or(w.unit, "count"))
	x.values = []int64{int64(min(weight*max(w.factor, 1), math.MaxInt64)), 1}
	d.enqueue(event{at: d.clocks.time(s, p), kind: sampled, more: &x})
}

// inline is the call of a stack that is written out, the outermost frame first.
func (d *decoder) inline(b []byte) recording.CallID {
	var frames []recording.FrameID
	for num, v := range each(b) {
		if num != 1 {
			continue
		}
		fn := recording.Function{Kind: recording.KindUnknown}
		var fr recording.Frame
		for num, v := range each(v.b) {
			switch num {
			case 1:
				fn.Name = v.text()
			case 2:
				fn.File = v.text()
			case 3:
				fr.Line = int32(min(v.n, math.MaxInt32))
			}
		}
		if fn.Name == "" {
			fn.Name, fn.Unresolved = recording.UnknownName, true
		}
		fr.Func = d.b.Function(fn)
		frames = append(frames, d.b.Frame(fr))
	}
	return d.b.Stack(frames)
}

// heapKey is a heap of a process.
type heapKey struct {
	pid  int64
	name string
}

// heap is the latest dump of one.
type heap struct {
	at   uint64
	rows []heapRow
}

type heapRow struct {
	call   recording.CallID
	values [6]int64
}

// Metrics of heaps: all that was allocated, what of it is in use, and the most.
var heapMetrics = []recording.Metric{
	{Name: "inuse_space", Unit: "bytes", Kind: recording.Level}, {Name: "inuse_objects", Unit: "count", Kind: recording.Level},
	{Name: "alloc_space", Unit: "bytes"}, {Name: "alloc_objects", Unit: "count"},
	{Name: "peak_space", Unit: "bytes", Kind: recording.Peak}, {Name: "peak_objects", Unit: "count", Kind: recording.Peak},
}

// heapProfile reads a dump, which may go on in the next packet.
func (d *decoder) heapProfile(s *sequence, b []byte) {
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
				s.call(kind, iid, text)
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
			d.dump(s, v.b)
		}
	}
}

func (d *decoder) dump(s *sequence, b []byte) {
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
	h := d.heaps[k]
	if h == nil || h.at < at {
		h = &heap{at: at} // each dump counts from the beginning on
		d.heaps[k] = h
	}
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
		row.call = d.call(s, uint64(n[1]))
		h.rows = append(h.rows, row)
	}
}

// endHeaps adds the stacks of the last dumps.
func (d *decoder) endHeaps() {
	keys := []heapKey{}
	for k := range d.heaps {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b heapKey) int { return cmp.Or(cmp.Compare(a.pid, b.pid), cmp.Compare(a.name, b.name)) })
	for _, k := range keys {
		e, ok := d.events["heap "+k.name]
		if !ok {
			e = d.b.AddEvent(recording.Event{Name: k.name, Kind: "allocation", Basis: recording.FromStacks, Metrics: slices.Clone(heapMetrics)})
			d.events["heap "+k.name] = e
		}
		ctx := d.b.Context([]recording.Attr{{Key: "pid", Value: fmt.Sprint(k.pid)}, {Key: "comm", Value: d.b.ProcessInfo(d.b.Process(k.pid)).Name}})
		for _, r := range d.heaps[k].rows {
			d.b.AddStack(e, r.call, recording.NoTrack, ctx, r.values[:])
		}
	}
}
