package synth

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// spaa writes SPAA: the dictionaries; a stack record for each sampled combination of
// thread, event and call path; the samples in time order; and, after the samples of each
// time window, its heaviest stacks. Stack ids are hashes of the frames, so records of
// other threads and events share them.
//
// The stacks come before the samples, and are sums over them, so the program runs twice,
// with the same results.
type spaa struct {
	*output
	prog   *program
	sum    *Summary
	frames frameTable
	ids    []string    // stack ids by call, made when first wanted
	totals []spaaTotal // by event, thread and call
	seen   []bool      // by call
	path   []uint32
	each   bool     // each sample has its own stack record
	walks  *program // if each of these stacks has a path of its own: the program with these paths

	// The running window: its start, the weights by call, and the calls that have a
	// weight.
	windowStart int64
	window      []int64
	touched     []uint32
}

type spaaTotal struct{ samples, period int64 }

// A spaaEvent is an event that is sampled: the first is counted in periods, the other in
// samples.
type spaaEvent struct {
	name, kind, sampling string
	primary, unit        string // the metric, and the unit of the period
}

var spaaEvents = [2]spaaEvent{
	{"cycles", "hardware", `{"mode":"period","primary_metric":"period","sample_period":250000}`, "period", "events"},
	{"cpu-clock", "software", `{"mode":"frequency","primary_metric":"samples","frequency_hz":10000}`, "samples", "ns"},
}

const (
	clockPeriod      = samplerPeriod // period of each cpu-clock sample
	spaaWindows      = 24
	spaaWindowStacks = 1000 // maximum per window

	// The approximate sizes of the records in bytes; each frame of a stack and each stack
	// of a window adds its own.
	spaaHeaderBytes      = 700
	spaaSampleBytes      = 139
	spaaStackBytes       = 333
	spaaStackFrameBytes  = 5
	spaaWindowStackBytes = 79

	spaaManyFrames = 200_000
)

func writeSPAA(out *output, o Options) (*Summary, error) {
	if o.Shape == sortedKeys {
		out.w = keySorter{out.w}
	}
	paths := defaultPaths
	if o.Shape == manyFrames {
		paths = int(min(spaaManyFrames, max(o.Records, 1000)))
	}
	p := newProgram(o.Seed, o.Threads, paths)
	n := len(p.calls)
	s := &spaa{
		output: out, prog: p, sum: newSummary(p), frames: newFrameTable(p), each: o.Shape == stackEach || o.Shape == manyPaths,
		ids: make([]string, n), seen: make([]bool, n), window: make([]int64, n),
		totals: make([]spaaTotal, len(spaaEvents)*o.Threads*n),
	}
	if o.Shape == manyFrames {
		s.frames.apart()
	}
	if o.Shape == manyPaths {
		s.walks = p.wandering(maxDepth, 0, 0)
	}
	dictionaries := s.dictionaries()
	s.tally(o, int64(len(dictionaries)))
	s.header()
	out.buf = append(out.buf, dictionaries...)
	s.settle()
	s.stacks()
	s.samples(o.chance())
	s.sum.count(p, s.seen)
	return s.sum, nil
}

// tally runs the program to count the samples and add up the stacks.
func (s *spaa) tally(o Options, dictionaries int64) {
	left := o.Bytes - dictionaries - spaaHeaderBytes
	left -= min(left/4, spaaWindows*spaaWindowStacks*spaaWindowStackBytes)
	sampler := newSampler(s.prog, o.chance())
	for s.sum.Samples == 0 || s.sum.Samples < o.Records && left > 0 {
		sm := sampler.next()
		event, period := eventOf(sm)
		total := s.total(event, sm.index, sm.call)
		if total.samples == 0 || s.each {
			depth := s.prog.calls[sm.call].depth + 1
			if s.walks != nil {
				depth = maxDepth
			}
			left -= spaaStackBytes + int64(depth)*spaaStackFrameBytes
			s.sum.Stacks++
		}
		left -= spaaSampleBytes
		total.samples++
		total.period += period
		s.sum.Samples++
		s.sum.Threads[sm.index].Samples++
		s.sum.at(sm.at)
	}
}

func (s *spaa) total(event, thread int, call uint32) *spaaTotal {
	return &s.totals[(event*len(s.prog.threads)+thread)*len(s.prog.calls)+int(call)]
}

// eventOf returns the event of a sample and its weight. One sample in eight belongs to
// the clock event.
func eventOf(sm sample) (event int, period int64) {
	if sm.random>>24&7 == 0 {
		return 1, clockPeriod
	}
	return 0, sm.weight
}

func (s *spaa) line(format string, args ...any) {
	s.buf = fmt.Appendf(s.buf, format+"\n", args...)
	s.sum.Records++
	s.settle()
}

func (s *spaa) header() {
	s.buf = append(s.buf, `{"type":"header","format":"spaa","version":"1.0","source_tool":"perf","frame_order":"leaf_to_root","events":[`...)
	for i, e := range spaaEvents {
		if i > 0 {
			s.buf = append(s.buf, ',')
		}
		s.buf = fmt.Appendf(s.buf, `{"name":%q,"kind":%q,"sampling":%s}`, e.name, e.kind, e.sampling)
	}
	s.line(`],"time_range":{"start":%s,"end":%s,"unit":"seconds"},"source":{"tool":"perf","command":"made up by testdata/gen","tool_version":"0"},"stack_id_mode":"content_addressable"}`,
		appendSeconds(nil, s.sum.Start), appendSeconds(nil, s.sum.End))
}

// dictionaries returns the dso, frame and thread records.
func (s *spaa) dictionaries() []byte {
	var b []byte
	for i, m := range modules {
		b = fmt.Appendf(b, `{"type":"dso","id":%d,"name":%q,"build_id":"%040x","is_kernel":%t}`+"\n", i+1, m.name, m.base*0x9E3779B1, m.kernel)
	}
	for i, f := range s.frames.list {
		fn := &s.prog.funcs[f.fn]
		kind := "user"
		if modules[fn.module].kernel {
			kind = "kernel"
		}
		b = fmt.Appendf(b, `{"type":"frame","id":%d,"func":%q,"func_resolved":true,"dso":%d,"ip":"%#x","symoff":"%#x","srcline":%q,"srcline_resolved":true,"inlined":%t,"inline_depth":%d,"kind":%q}`+"\n",
			i+1, fn.name, fn.module+1, f.ip, f.ip&0xff, s.prog.srcline(fn, f.site), f.inlined > 0, f.inlined, kind)
	}
	for _, t := range s.prog.threads {
		b = fmt.Appendf(b, `{"type":"thread","pid":%d,"tid":%d,"comm":%q}`+"\n", t.pid, t.tid, t.name)
	}
	s.sum.Records += int64(len(modules) + len(s.frames.list) + len(s.prog.threads))
	return b
}

// stacks writes a record for each total that is not zero.
func (s *spaa) stacks() {
	for e, event := range spaaEvents {
		var all spaaTotal
		for t := range s.prog.threads {
			for call := range s.prog.calls {
				total := s.total(e, t, uint32(call))
				if total.samples == 0 {
					continue
				}
				if !s.each {
					s.path = s.prog.path(s.path[:0], uint32(call))
					s.stack(&event, t, s.id(uint32(call)), *total)
				}
				all.samples += total.samples
				all.period += total.period
			}
		}
		s.sum.Weights = append(s.sum.Weights,
			Weight{Event: event.name, Metric: "samples", Primary: event.primary == "samples", Total: all.samples},
			Weight{Event: event.name, Metric: "period", Unit: event.unit, Primary: event.primary == "period", Total: all.period})
	}
}

// stack writes a record of the stack in s.path.
func (s *spaa) stack(event *spaaEvent, thread int, id string, total spaaTotal) {
	b := append(s.buf, `{"type":"stack","id":`...)
	b = append(b, id...)
	b = append(b, `,"frames":[`...)
	for i, c := range s.path {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(s.frames.of[c])+1, 10)
		s.seen[c] = true
	}
	info := &s.prog.threads[thread]
	b = fmt.Appendf(b, `],"stack_type":"unified","context":{"event":%q,"pid":%d,"tid":%d,"comm":%q},"weights":`, event.name, info.pid, info.tid, info.name)
	weights := fmt.Appendf(nil, `[{"metric":"samples","value":%d},{"metric":"period","value":%d,"unit":%q}]`, total.samples, total.period, event.unit)
	b = append(b, weights...)
	b = fmt.Appendf(b, `,"exclusive":{"frame":%d,"weights":%s}}`+"\n", s.frames.of[s.path[0]]+1, weights)
	s.buf = b
	s.sum.Records++
	s.sum.MaxDepth = max(s.sum.MaxDepth, len(s.path))
	s.settle()
}

// samples runs the program again and writes every sample and, as each window ends, the
// window.
func (s *spaa) samples(seed uint64) {
	length := (s.sum.End-s.sum.Start)/spaaWindows + 1
	s.windowStart = s.sum.Start
	sampler := newSampler(s.prog, seed)
	for i := range s.sum.Samples {
		sm := sampler.next()
		for sm.at >= s.windowStart+length {
			s.endWindow(length)
		}
		event, period := eventOf(sm)
		if s.each {
			// Windows refer to the last id that was made for a path.
			s.ids[sm.call] = fmt.Sprintf(`"0x%016x"`, uint64(i+1)*0x9E3779B97F4A7C15)
			if s.walks != nil {
				s.path = s.walks.path(s.path[:0], uint32(i))
			} else {
				s.path = s.prog.path(s.path[:0], sm.call)
			}
			s.stack(&spaaEvents[event], sm.index, s.ids[sm.call], spaaTotal{1, period})
		}
		s.sample(&sm, spaaEvents[event].name, period)
		if event == 0 {
			if s.window[sm.call] == 0 {
				s.touched = append(s.touched, sm.call)
			}
			s.window[sm.call] += period
		}
	}
	s.endWindow(length)
}

func (s *spaa) sample(sm *sample, event string, period int64) {
	b := append(s.buf, `{"type":"sample","timestamp":`...)
	b = appendSeconds(b, sm.at)
	b = append(b, `,"pid":`...)
	b = strconv.AppendInt(b, int64(sm.pid), 10)
	b = append(b, `,"tid":`...)
	b = strconv.AppendInt(b, int64(sm.tid), 10)
	b = append(b, `,"cpu":`...)
	b = strconv.AppendInt(b, (int64(sm.tid)*7+sm.at>>28)&15, 10)
	b = append(b, `,"event":"`...)
	b = append(b, event...)
	b = append(b, `","period":`...)
	b = strconv.AppendInt(b, period, 10)
	b = append(b, `,"stack_id":`...)
	b = append(b, s.id(sm.call)...)
	s.buf = append(b, "}\n"...)
	s.sum.Records++
	s.settle()
}

// endWindow writes the running window and begins the next.
func (s *spaa) endWindow(length int64) {
	slices.SortFunc(s.touched, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(s.window[b], s.window[a]), cmp.Compare(a, b))
	})
	s.sum.Windows++
	s.buf = fmt.Appendf(s.buf, `{"type":"window","id":"w%d","start":%s,"end":%s,"unit":"seconds","by_stack":[`,
		s.sum.Windows, appendSeconds(nil, s.windowStart), appendSeconds(nil, s.windowStart+length))
	for i, call := range s.touched[:min(len(s.touched), spaaWindowStacks)] {
		if i > 0 {
			s.buf = append(s.buf, ',')
		}
		s.buf = fmt.Appendf(s.buf, `{"stack_id":%s,"weights":[{"metric":"period","value":%d}]}`, s.id(call), s.window[call])
		s.sum.WindowWeight += s.window[call]
	}
	s.line(`]}`)
	for _, call := range s.touched {
		s.window[call] = 0
	}
	s.touched = s.touched[:0]
	s.windowStart += length
}

// id returns the stack id of a call path, as JSON.
func (s *spaa) id(call uint32) string {
	if s.ids[call] == "" {
		hash := uint64(0xcbf29ce484222325) // FNV-1a over the frames, from leaf to root
		for at := int32(call); at >= 0; at = s.prog.calls[at].parent {
			hash = (hash ^ uint64(s.frames.of[at])) * 0x100000001b3
		}
		s.ids[call] = fmt.Sprintf(`"0x%016x"`, hash)
	}
	return s.ids[call]
}

// appendSeconds appends ns as seconds with nine decimals.
func appendSeconds(b []byte, ns int64) []byte {
	b = strconv.AppendInt(b, ns/1e9, 10)
	b = append(b, '.')
	for unit := int64(1e8); unit > 0; unit /= 10 {
		b = append(b, byte('0'+ns/unit%10))
	}
	return b
}

// A keySorter sorts the keys of the JSON objects written to it; each write must consist
// of whole lines.
type keySorter struct{ io.Writer }

func (w keySorter) Write(b []byte) (int, error) {
	var out bytes.Buffer
	from, to := json.NewDecoder(bytes.NewReader(b)), json.NewEncoder(&out)
	from.UseNumber()
	to.SetEscapeHTML(false)
	for from.More() {
		var record map[string]any
		if err := from.Decode(&record); err != nil {
			return 0, err
		}
		if err := to.Encode(record); err != nil {
			return 0, err
		}
	}
	return w.Writer.Write(out.Bytes())
}
