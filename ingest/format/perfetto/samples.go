package perfetto

import (
	"cmp"
	"math"
	"path"
	"strings"

	"ashlar/ingest/format/program"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
)

// frame is a frame of a stack as the maker will add it; Frame.Func is not set.
type frame struct {
	fn recording.Function
	recording.Frame
}

// sampleKind is the event of samples and the metric of their weight, "" for none.
type sampleKind struct {
	event, weight, unit string
	decimals            int
}

// sampleEvent returns the number of an event for samples, and adds it if it is new.
func (r *reader) sampleEvent(k sampleKind) int32 {
	e, ok := r.events[k]
	if !ok {
		ev := recording.Event{Name: k.event, Kind: "sample", Basis: recording.FromSamples}
		if k.weight != "" {
			ev.Metrics = append(ev.Metrics, recording.Metric{Name: k.weight, Unit: k.unit, Decimals: k.decimals, PerSample: recording.SampleColumn})
		}
		ev.Metrics = append(ev.Metrics, recording.Metric{Name: "samples", Unit: "count", PerSample: recording.SampleOne})
		e = int32(len(r.events))
		r.events[k] = e
		r.later(func(m *maker) { m.events = append(m.events, m.b.AddEvent(ev)) })
	}
	return e
}

// noStack is the stack number of samples without a stack.
const noStack = 0

// stack adds a stack and returns its number.
func (r *reader) stack(frames []uint32) uint32 {
	r.stacks++
	r.next.stacks = append(r.next.stacks, frames)
	return r.stacks
}

// frame returns the number of a frame, and adds the frame if it is new.
func (r *reader) frame(is frame) uint32 {
	n, ok := r.frames[is]
	if !ok {
		n = uint32(len(r.frames))
		r.frames[is] = n
		r.next.frames = append(r.next.frames, is)
	}
	return n
}

// stackOf returns the number of a sequence's interned stack, outermost frame first.
func (r *reader) stackOf(s *sequence, iid uint64) uint32 {
	if n, ok := s.calls[iid]; ok {
		return n
	}
	b := s.more[internCallstack][iid]
	if b == nil {
		return noStack
	}
	var ids []uint64
	for num, v := range each(b) {
		if num == 2 {
			ids = v.numbers(ids)
		}
	}
	frames := make([]uint32, 0, len(ids))
	for _, n := range ids {
		frames = append(frames, r.frameOf(s, n))
	}
	n := r.stack(frames)
	if s.calls == nil {
		s.calls = map[uint64]uint32{}
	}
	s.calls[iid] = n
	return n
}

// frameOf returns the number of a sequence's interned frame.
func (r *reader) frameOf(s *sequence, iid uint64) uint32 {
	if n, ok := s.frames[iid]; ok {
		return n
	}
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
			fr.Line = number32(v.n)
		}
	}
	resolved := fn.Name != ""
	if !resolved {
		fn.Name, fn.Unresolved = funcname.OfAddress(fn.Module, fr.Addr, fr.Addr), true
	}
	if program.IsKernel(fn.Module) {
		fn.Kind = recording.KindKernel
	}
	fr.Kind = fn.Kind
	n := r.frame(frame{fn, fr})
	if resolved { // otherwise later data may name it
		if s.frames == nil {
			s.frames = map[uint64]uint32{}
		}
		s.frames[iid] = n
	}
	return n
}

// module returns the name of a mapped binary.
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

// perfSample reads a sample of a thread taken by the kernel's counters.
func (r *reader) perfSample(s *sequence, at int64, body []byte) {
	x := wide{kind: sampled, cpu: -1}
	for num, v := range each(body) {
		switch num {
		case 1:
			x.cpu = int16(min(v.n, math.MaxInt16))
		case 2:
			x.pid = int32(v.n)
		case 3:
			x.tid = id(v.n)
		case 4:
			x.what = r.stackOf(s, v.n)
		case 17, 18: // lost, or left out by the recorder
			r.note("samples-skipped", "", true, "The recorder skipped or lost samples; totals do not include them")
			if num == 18 {
				return
			}
		}
	}
	x.prev, x.at = r.sampleEvent(sampleKind{event: "perf samples"}), at
	r.putWide(x)
}

// streamingSamples reads samples of a thread from Chrome's sampler.
func (r *reader) streamingSamples(s *sequence, p *packet, at int64, body []byte) {
	var stacks, deltas []uint64
	for num, v := range each(body) {
		switch num {
		case 1:
			stacks = v.numbers(stacks)
		case 2:
			deltas = v.numbers(deltas)
		}
	}
	if p.is&isTimed == 0 {
		at = s.time * 1000
	}
	for i, n := range stacks {
		if i < len(deltas) {
			at += int64(deltas[i]) * 1000
			s.time += int64(deltas[i])
		}
		r.putWide(wide{at: at, kind: sampled, prev: r.sampleEvent(sampleKind{event: "stack samples"}), pid: int32(s.pid), tid: s.tid, what: r.stackOf(s, n), cpu: -1})
	}
}

// eventStack adds the stack of a thread at an event as a sample. Samples with and without
// weight go to separate events, because most events of a trace may have no weight.
func (r *reader) eventStack(s *sequence, e *trackEvent, t *track, at int64) {
	x := wide{kind: sampled, at: at, cpu: -1}
	pid, thread := r.above(t)
	if x.pid = int32(pid); thread != nil {
		x.tid = thread.tid
	}
	if x.what = r.stackOf(s, e.stackID); e.stack != nil {
		x.what = r.inline(e.stack)
	}
	const digits, most = 3, 1e12 // decimals, and maximum weight
	if k := (sampleKind{event: "event stacks"}); e.weighed && e.weight == e.weight {
		k.event, k.weight, k.decimals = "event weights", "weight", digits
		x.state, x.value = 1, int64(math.Round(min(max(e.weight, -most), most)*1e3))
		x.prev = r.sampleEvent(k)
	} else {
		x.prev = r.sampleEvent(k)
	}
	r.putWide(x)
}

// descriptor describes the weight of a sample.
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

// stackSample reads a sample of any recorder, which describes the weight itself.
func (r *reader) stackSample(s *sequence, at int64, body []byte) {
	x := wide{kind: sampled, state: 1, cpu: -1}
	w, weight, weighed := s.weight, uint64(0), false
	for num, v := range each(body) {
		switch num {
		case 1:
			for num, v := range each(v.b) {
				switch num {
				case 2:
					x.pid = int32(v.n)
				case 3:
					x.tid = id(v.n)
				}
			}
		case 3:
			for num, v := range each(v.b) {
				if num == 2 {
					x.cpu = int16(min(v.n, math.MaxInt16))
				}
			}
		case 5:
			x.what = r.inline(v.b)
		case 6:
			x.what = r.stackOf(s, v.n)
		case 9:
			w = readDescriptor(v.b)
		case 11:
			weight, weighed = v.n, true
		case 14:
			r.note("followers", "", true, "Samples have more than one count; only the first is used")
		}
	}
	if !weighed {
		weight = 1
	}
	x.prev = r.sampleEvent(sampleKind{event: cmp.Or(w.name, "stack samples"), weight: cmp.Or(w.name, "weight"), unit: cmp.Or(w.unit, "count")})
	x.value, x.at = int64(min(weight*max(w.factor, 1), math.MaxInt64)), at
	r.putWide(x)
}

// inline returns the number of a stack written out inline, outermost frame first.
func (r *reader) inline(b []byte) uint32 {
	if n, ok := r.inlined[string(b)]; ok {
		return n
	}
	var frames []uint32
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
				fr.Line = number32(v.n)
			}
		}
		if fn.Name == "" {
			fn.Name, fn.Unresolved = funcname.Unknown, true
		}
		frames = append(frames, r.frame(frame{fn, fr}))
	}
	if len(r.inlined) >= mostTexts {
		clear(r.inlined)
	}
	n := r.stack(frames)
	r.inlined[string(b)] = n
	return n
}
