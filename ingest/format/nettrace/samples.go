package nettrace

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"sort"
	"strings"

	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

// sample is a sample whose stack has no names yet.
type sample struct {
	at, value  int64
	track      *recording.TrackBuilder
	pid        uint64
	stack      int32 // -1 for none
	event, cpu int32
	outside    bool // the thread was outside .NET code
}

// outsideName is the leaf frame of a thread that ran code other than .NET's, or waited
// there: the profiler does not know which.
const outsideName = "[native code or waiting]"

func (d *decoder) add(r *row, t thread, event string, metric recording.Metric, value int64, outside bool) {
	n, ok := d.events[event]
	if !ok {
		n = d.b.AddEvent(recording.Event{Name: event, Kind: "sample", Basis: recording.FromSamples, Metrics: []recording.Metric{metric}})
		d.events[event] = n
	}
	stack := int32(-1)
	if r.stack != 0 {
		if stack, ok = d.stackOf[r.stack]; !ok {
			stack = -1
			d.b.Warn("stack-unknown", "", "Some samples refer to missing stacks; they count toward totals, but without a stack")
		}
	}
	d.samples = append(d.samples, sample{d.time(r.time), value, d.track(t), t.pid, stack, int32(n), int32(r.cpu), outside})
}

const (
	// external is the type of samples outside .NET code; 0 means failure, 2 other
	// samples.
	external = 1
	// noCPU means that the processor is unknown.
	noCPU = 1<<32 - 1
)

// threadSample reads a sample of the runtime's profiler.
func threadSample(d *decoder, _ *kind, r *row, t thread, c *cursor) {
	is := c.u32()
	if c.bad {
		return
	}
	r.cpu = noCPU // the file has the CPU of the profiler, not of the thread
	d.add(r, t, "thread samples", recording.Metric{Name: "count", Unit: "count", PerSample: recording.SampleOne}, 0, is == external)
}

// countedSample reads a sample of Universal.Events. Its value is its weight or, for a
// context switch, how long the thread had not run.
func countedSample(d *decoder, k *kind, r *row, t thread, c *cursor) {
	value := c.uvarint()
	if c.bad {
		return
	}
	metric := recording.Metric{Name: "count", Unit: "count", PerSample: recording.SampleColumn}
	if k.name == "cswitch" {
		metric.Name, metric.Unit = "time", "ns"
		if hi, lo := bits.Mul64(value, 1e9); hi < d.perSec {
			value, _ = bits.Div64(hi, lo, d.perSec)
		}
	}
	d.add(r, t, k.name, metric, int64(min(value, 1<<62)), false)
}

// symbols are the functions of a process and the files mapped into it, by address.
type symbols struct {
	functions, files []symbol
	modules          map[uint64]string // modules of the runtime
}

// symbol is a function or a mapped file; name is the name of the function.
type symbol struct {
	from, to   uint64
	name, file string
	module     uint64 // id of a runtime module, instead of a file
	offset     uint64 // offset of from in the file
}

func (d *decoder) process(pid uint64) *symbols {
	s := d.symbols[pid]
	if s == nil {
		s = &symbols{modules: map[uint64]string{}}
		d.symbols[pid] = s
	}
	return s
}

// A taker processes events of a kind.
type taker func(d *decoder, k *kind, r *row, t thread, c *cursor)

// runtimeEvents are the runtime's events that define names, and related events that are
// ignored: see "Runtime events" in .NET's documentation and, for the rundown at the end
// of a trace, "CLR ETW events".
var runtimeEvents = map[uint32]taker{141: ignore, 142: ignore, 143: method, 144: method, 152: moduleFile, 153: moduleFile, 190: ignore}

var rundownEvents = map[uint32]taker{143: method, 144: method, 153: moduleFile, 154: moduleFile}

var universalEvents = map[string]taker{"ProcessCreate": processName, "ProcessExit": nil, "ProcessMapping": mapped, "ProcessMappingMetadata": ignore, "ProcessSymbol": mappedSymbol}

func ignore(*decoder, *kind, *row, thread, *cursor) {}

// method reads the address range of a method's code.
func method(d *decoder, _ *kind, _ *row, t thread, c *cursor) {
	c.u64() // the method's id
	s := symbol{module: c.u64(), from: c.u64()}
	s.to = s.from + uint64(c.u32())
	c.take(8) // token, flags
	class, name, signature := c.wide(), c.wide(), c.wide()
	s.name = strings.TrimPrefix(class+"."+name, ".")
	if i := strings.IndexByte(signature, '('); i >= 0 {
		s.name += signature[i:]
	}
	if !c.bad && s.to > s.from {
		p := d.process(t.pid)
		p.functions = append(p.functions, s)
	}
}

// moduleFile reads the file name of a module.
func moduleFile(d *decoder, _ *kind, _ *row, t thread, c *cursor) {
	id := c.u64()
	c.take(16)
	il := c.wide()
	if file := cmp.Or(il, c.wide()); !c.bad && file != "" {
		d.process(t.pid).modules[id] = base(file)
	}
}

// base returns the last element of a Unix or Windows path, "" for none.
func base(file string) string { return file[strings.LastIndexAny(file, `/\`)+1:] }

// short reads a string of the universal providers.
func (c *cursor) short() string { return string(c.take(uint64(c.u16()))) }

func processName(d *decoder, _ *kind, _ *row, t thread, c *cursor) {
	c.uvarint()
	if name := c.short(); !c.bad {
		d.b.ProcessInfo(d.b.Process(id(t.pid))).Name = name
	}
}

// mapping is a file mapped into a process.
type mapping struct {
	pid  uint64
	file string
}

func mapped(d *decoder, _ *kind, _ *row, _ thread, c *cursor) {
	number, pid := c.uvarint(), c.uvarint()
	s := symbol{from: c.uvarint(), to: c.uvarint(), offset: c.uvarint(), file: c.short()}
	if c.bad {
		return
	}
	d.mapped[number] = mapping{pid, s.file}
	if s.to > s.from && s.file != "" {
		p := d.process(pid)
		p.files = append(p.files, s)
	}
}

func mappedSymbol(d *decoder, _ *kind, _ *row, _ thread, c *cursor) {
	c.uvarint()
	m := d.mapped[c.uvarint()]
	s := symbol{from: c.uvarint(), to: c.uvarint(), name: c.short(), file: m.file}
	if !c.bad && s.to > s.from {
		p := d.process(m.pid)
		p.functions = append(p.functions, s)
	}
}

// find returns the symbol at an address. If several begin at the same address because
// code was compiled again, it returns the last one.
func find(all []symbol, at uint64) *symbol {
	if i := sort.Search(len(all), func(i int) bool { return all[i].from > at }); i > 0 && at < all[i-1].to {
		return &all[i-1]
	}
	return nil
}

// end adds the samples with their stacks: all names are known now.
func (d *decoder) end() {
	for _, p := range d.symbols {
		for _, all := range [][]symbol{p.functions, p.files} {
			order.By(all, func(a, b symbol) int { return cmp.Compare(a.from, b.from) })
		}
	}
	calls := map[stackKey]recording.CallID{}
	for i := range d.samples {
		s := &d.samples[i]
		k := stackKey{s.pid, s.stack, s.outside}
		call, ok := calls[k]
		if !ok {
			if s.stack >= 0 {
				call = d.b.Stack(d.frames(s.pid, d.stacks[s.stack]))
			}
			if s.outside {
				call = d.b.Call(call, d.b.FunctionFrame(d.b.Function(recording.Function{Name: outsideName, Kind: recording.KindUser})))
			}
			calls[k] = call
		}
		s.track.Sample(int(s.event), s.at, call, int(s.cpu), []int64{s.value})
		if i%4096 == 0 {
			d.b.Progress()
		}
	}
	d.samples = nil
}

// stackKey is a stack of a process.
type stackKey struct {
	pid     uint64
	stack   int32
	outside bool
}

// frames returns the frames of a stack, outermost first.
func (d *decoder) frames(pid uint64, raw string) []recording.FrameID {
	n := len(raw) / d.pointer
	out := make([]recording.FrameID, n)
	for i := range n {
		var room [8]byte
		copy(room[:], raw[i*d.pointer:(i+1)*d.pointer])
		at := binary.LittleEndian.Uint64(room[:])
		if i > 0 && at > 0 {
			at-- // a return address may be past the end of its function
		}
		out[n-1-i] = d.frame(pid, at)
	}
	return out
}

func (d *decoder) frame(pid, at uint64) recording.FrameID {
	f := recording.Function{Kind: recording.KindUser}
	p := d.process(pid)
	if s := find(p.functions, at); s != nil {
		f.Name, f.Module = s.name, cmp.Or(s.file, p.modules[s.module])
	} else if s := find(p.files, at); s != nil {
		f.Name, f.Module, f.Unresolved = funcname.OfAddress(s.file, at, at-s.from+s.offset), s.file, true
	} else {
		f.Name, f.Unresolved = funcname.OfAddress("", at, 0), true
	}
	return d.b.FunctionFrame(d.b.Function(f))
}
