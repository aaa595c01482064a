package main

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"ashlar/spaa"
)

const (
	pid    = 4242
	epoch  = 8241500 * int64(ms) // when the recording starts, on the machine's clock
	window = 100 * ms

	cpuClock = "cpu-clock"
	malloc   = "malloc"
)

// write writes the recording as a SPAA file.
func write(path string, m *machine) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	z, err := zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	w := spaa.NewWriter(z)
	err = records(m, w.Write)
	return errors.Join(err, w.Close(), z.Close(), f.Close())
}

// records passes all records of the file to put, in order.
func records(m *machine, put func(spaa.Record) error) error {
	b := newBook(m)
	all := []spaa.Record{header()}
	for i, d := range dsos {
		all = append(all, &spaa.DSO{ID: int64(i + 1), Name: d.name, BuildID: d.buildID, IsKernel: spaa.Some(d.kernel)})
	}
	for _, f := range b.frames.list {
		all = append(all, f)
	}
	for _, t := range m.threads {
		all = append(all, &spaa.Thread{PID: pid, TID: t.tid, Comm: t.name})
	}
	for _, s := range b.stacks {
		all = append(all, s.record())
	}
	for i := range m.samples {
		s := &m.samples[i]
		all = append(all, &spaa.Sample{
			Timestamp: seconds(s.at), PID: spaa.Some(int64(pid)), TID: spaa.Some(s.thread.tid), CPU: spaa.Some(int64(s.cpu)),
			Event: cpuClock, Period: spaa.IntNumber(period), StackID: b.stack(cpuClock, s.thread, s.stack).id(),
		})
	}
	for _, w := range b.windows() {
		all = append(all, w)
	}
	for _, r := range all {
		if err := put(r); err != nil {
			return err
		}
	}
	return nil
}

func header() *spaa.Header {
	return &spaa.Header{
		Format: "spaa", Version: "1.0", SourceTool: "perf", FrameOrder: spaa.LeafToRoot, StackIDMode: spaa.Local,
		Events: []spaa.Event{
			{Name: cpuClock, Kind: "software", Sampling: spaa.Sampling{Mode: "frequency", PrimaryMetric: "period", FrequencyHz: spaa.IntNumber(hertz)}},
			{Name: malloc, Kind: "allocation", Sampling: spaa.Sampling{Mode: "event", PrimaryMetric: "alloc_bytes"},
				AllocationTracking: &spaa.AllocationTracking{TracksFrees: spaa.Some(false), HasTimestamps: spaa.Some(true)}},
		},
		TimeRange: &spaa.TimeRange{Start: seconds(0), End: seconds(length), Unit: "seconds"},
		Source:    &spaa.Source{Tool: "perf", Command: fmt.Sprintf("perf record -F %d -g -p %d", hertz, pid), ToolVersion: "6.1.0"},
	}
}

// seconds converts a time to seconds on the machine's clock.
func seconds(at int64) spaa.Number { return spaa.DecimalNumber((epoch+at)/us, 6) }

// book collects frames and stacks.
type book struct {
	m      *machine
	frames frames
	byKey  map[string]*stack
	stacks []*stack
}

// stack is a stack of one event on one thread, with its weights in each window: periods
// and samples for cpu-clock, bytes and counts for malloc.
type stack struct {
	event    string
	thread   *thread
	number   int64
	frames   []int64 // leaf first
	total    [2]int64
	inWindow [length / window][2]int64
}

func newBook(m *machine) *book {
	slices.SortStableFunc(m.samples, func(a, b sample) int { return cmp.Compare(a.at, b.at) })
	slices.SortStableFunc(m.allocs, func(a, b alloc) int { return cmp.Compare(a.at, b.at) })
	b := &book{m: m, byKey: map[string]*stack{}}
	for i := range m.samples {
		s := &m.samples[i]
		b.stack(cpuClock, s.thread, s.stack).add(s.at, period, 1)
	}
	for i := range m.allocs {
		if a := &m.allocs[i]; a.at < length {
			b.stack(malloc, a.thread, a.stack+" entry").add(a.at, a.bytes, a.count)
		}
	}
	slices.SortStableFunc(b.stacks, func(x, y *stack) int {
		return cmp.Or(cmp.Compare(x.event, y.event), cmp.Compare(x.thread.tid, y.thread.tid), cmp.Compare(y.total[0], x.total[0]))
	})
	for i, s := range b.stacks {
		s.number = int64(i + 1)
	}
	return b
}

func (b *book) stack(event string, t *thread, calls string) *stack {
	key := fmt.Sprint(event, "|", t.tid, "|", calls)
	s := b.byKey[key]
	if s == nil {
		s = &stack{event: event, thread: t, frames: b.frames.of(calls)}
		b.byKey[key] = s
		b.stacks = append(b.stacks, s)
	}
	return s
}

func (s *stack) add(at, value, count int64) {
	w := &s.inWindow[at/window]
	w[0] += value
	w[1] += count
	s.total[0] += value
	s.total[1] += count
}

func (s *stack) id() spaa.ID { return spaa.StringID(fmt.Sprintf("0x%x", s.number)) }

func (s *stack) weights(v [2]int64) []spaa.Weight {
	if s.event == malloc {
		return []spaa.Weight{
			{Metric: "alloc_bytes", Value: spaa.IntNumber(v[0]), Unit: "bytes"},
			{Metric: "alloc_count", Value: spaa.IntNumber(v[1]), Unit: "count"},
		}
	}
	return []spaa.Weight{
		{Metric: "samples", Value: spaa.IntNumber(v[1])},
		{Metric: "period", Value: spaa.IntNumber(v[0]), Unit: "ns"},
	}
}

func (s *stack) record() *spaa.Stack {
	return &spaa.Stack{
		ID: s.id(), Frames: s.frames, StackType: "unified",
		Context: &spaa.Context{Event: s.event, PID: spaa.Some(int64(pid)), TID: spaa.Some(s.thread.tid), Comm: s.thread.name},
		Weights: s.weights(s.total), Exclusive: &spaa.Exclusive{Frame: s.frames[0], Weights: s.weights(s.total)},
	}
}

func (b *book) windows() []*spaa.Window {
	var all []*spaa.Window
	for i := range length / window {
		w := &spaa.Window{ID: spaa.StringID(fmt.Sprintf("w%d", i+1)), Start: seconds(int64(i) * window), End: seconds(int64(i+1) * window), Unit: "seconds"}
		for _, s := range b.stacks {
			if v := s.inWindow[i]; v[1] != 0 {
				w.ByStack = append(w.ByStack, spaa.StackWeights{StackID: s.id(), Weights: s.weights(v)})
			}
		}
		all = append(all, w)
	}
	return all
}

// frames numbers the places within functions as a profiler that sees addresses does: one
// frame for each call site.
type frames struct {
	list  []*spaa.Frame
	byKey map[string]int64
	funcs map[string]*function
	sizes [4]int64 // bytes used in each dso
}

type function struct {
	name   string
	dso    int
	offset int64 // in its dso
	line   int64
	sites  int64 // number of call sites seen
	known  map[string]int64
}

// of returns the frames of a stack, leaf first. calls ends in " entry" if the leaf is at
// its first instruction.
func (fs *frames) of(calls string) []int64 {
	calls, entry := strings.CutSuffix(calls, " entry")
	names := strings.Split(calls, ";")
	var ids []int64
	for i := len(names); i > 0; {
		// names[p] was really called; the functions after it, up to i, were inlined into
		// it.
		p := i - 1
		for inlined[names[p]] && p > 0 {
			p--
		}
		place := ""
		if i < len(names) {
			place = names[i]
		} else if entry {
			place = "entry"
		}
		f := fs.function(names[p])
		off, line := f.place(strings.Join(names[p+1:i], ";")+">"+place, place)
		for k := i - 1; k > p; k-- {
			ids = append(ids, fs.frame(names[k], f, off, int64(k-p), fs.function(names[k]).line+2))
		}
		ids = append(ids, fs.frame(names[p], f, off, 0, line))
		i = p
	}
	return ids
}

func (fs *frames) function(name string) *function {
	if f := fs.funcs[name]; f != nil {
		return f
	}
	if fs.funcs == nil {
		fs.funcs, fs.byKey = map[string]*function{}, map[string]int64{}
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	d := dsoOf(name)
	f := &function{name: name, dso: d, offset: fs.sizes[d], line: 20 + int64(h.Sum32()%900), known: map[string]int64{}}
	fs.sizes[d] += 0x400 + int64(h.Sum32()>>8%0x1c)*0x40
	fs.funcs[name] = f
	return f
}

// place returns a position in a function, as an offset and a line.
func (f *function) place(key, what string) (offset, line int64) {
	if what == "entry" {
		return 0, f.line
	}
	k, ok := f.known[key]
	if !ok {
		f.sites++
		k = f.sites
		f.known[key] = k
	}
	return k*0x2b - 0xe, f.line + k*3 - 1
}

// frame returns the frame of the function name at an offset in at. at is that function itself
// or the function into which it was inlined.
func (fs *frames) frame(name string, at *function, offset, depth, line int64) int64 {
	key := fmt.Sprint(name, "|", at.name, "|", offset, "|", depth)
	id, ok := fs.byKey[key]
	if ok {
		return id
	}
	id = int64(len(fs.list) + 1)
	fs.byKey[key] = id
	d := &dsos[at.dso]
	f := &spaa.Frame{
		ID: id, Func: name, FuncResolved: spaa.Some(true), DSO: int64(at.dso + 1),
		IP: fmt.Sprintf("0x%x", uint64(d.base+at.offset+offset)), SymOff: fmt.Sprintf("0x%x", offset),
		Inlined: spaa.Some(depth > 0), Kind: "user",
	}
	if depth > 0 {
		f.InlineDepth = spaa.Some(depth)
	}
	if d.kernel {
		f.Kind = "kernel"
	}
	if src := sourceOf(name); src != "" {
		f.SrcLine, f.SrcLineResolved = fmt.Sprintf("%s:%d", src, line), spaa.Some(true)
	} else {
		f.SrcLineResolved = spaa.Some(false)
	}
	fs.list = append(fs.list, f)
	return id
}
