package perfdata

import (
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
)

// fields reads the fields of a sample one after the other.
type fields struct {
	b    []byte
	fail bool
}

func (f *fields) u64() uint64 {
	if len(f.b) < 8 {
		f.fail = true
		return 0
	}
	v := le.Uint64(f.b)
	f.b = f.b[8:]
	return v
}

func (f *fields) pair() (a, b uint32) {
	v := f.u64()
	return uint32(v), uint32(v >> 32)
}

// sample adds a sample; it returns false if data is missing.
func (d *decoder) sample(it *item) bool {
	if it.a == nil {
		return false
	}
	a, f := it.a, &fields{b: it.body}
	t := a.sampleType
	has := func(bit uint64) bool { return t&bit != 0 }
	var ip, period uint64 = 0, 1
	var pid, tid int32
	cpu := -1
	if has(hasIdentifier) {
		f.u64()
	}
	if has(hasIP) {
		ip = f.u64()
	}
	if has(hasTID) {
		p, t := f.pair()
		pid, tid = int32(p), int32(t)
	}
	for _, bit := range []uint64{hasTime, hasAddr, hasID, hasStreamID} {
		if has(bit) {
			f.u64()
		}
	}
	if has(hasCPU) {
		c, _ := f.pair()
		cpu = int(min(c, 1<<15-1))
	}
	if has(hasPeriod) {
		period = f.u64()
	} else if !a.freq {
		period = a.every
	}
	if has(hasRead) {
		f.read(a.readBits)
	}
	d.stack, d.stray = d.stack[:0], 0
	mode := uint64(it.misc & misccpu)
	if has(hasCallchain) {
		d.chain(f, pid, mode)
	}
	var raw []byte
	if has(hasRaw) {
		raw = f.raw()
	}
	if f.fail {
		return false
	}
	if has(hasUserStack) && !d.unwound {
		d.unwound = true
		d.b.Remark("not-unwound", "", "Stack copies (perf record --call-graph dwarf) are not unwound: user stacks have only their leaf function; `perf script -i FILE | ashlar -` shows whole stacks")
	}
	if len(d.stack) == 0 && has(hasIP) {
		d.push(ip, &d.process(pid).maps, mode == miscKernel, false)
	}
	d.add(it, pid, tid, cpu, period, raw)
	return true
}

// add adds a sample whose frames are in d.stack, leaf first; raw is a tracepoint's data.
func (d *decoder) add(it *item, pid, tid int32, cpu int, period uint64, raw []byte) {
	s := d.stack
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
	call, event := d.b.Stack(s), d.eventOf(it.a)
	var track *recording.TrackBuilder
	if it.a.sampleType&hasTID != 0 {
		t := d.thread(tid)
		if t.track == nil {
			t.track = d.b.Track(recording.TrackKey{PID: int64(pid), TID: int64(tid)})
			if t.comm != "" {
				t.track.SetName(t.comm)
			}
		}
		track = t.track
	}
	values := []int64{1, int64(min(period, 1<<62))}
	if it.a.sampleType&hasTime == 0 || it.a.sampleType&hasTID == 0 {
		n := recording.NoTrack
		if track != nil {
			n = track.Index()
		}
		if e := d.b.Event(event); e.Basis != recording.FromStacks {
			e.Basis = recording.FromStacks
		}
		d.b.AddStack(event, call, n, 0, values)
		return
	}
	if !d.zeroed {
		d.zeroed, d.zero = true, it.time
		*d.b.Clock() = recording.Clock{Unit: "seconds", PerUnit: 1e12, Origin: recording.Decimal{Mantissa: int64(min(it.time, 1<<63-1)), Scale: 9}}
	}
	const most = 1 << 62 / 1000
	ns := min(max(int64(it.time-d.zero), -most), most)
	d.last = max(d.last, ns*1000)
	d.schedule(it.a, raw, ns*1000, pid, tid, cpu, call)
	track.Sample(event, ns*1000, call, cpu, values)
}

// raw reads a tracepoint's data, which follows its length.
func (f *fields) raw() []byte {
	if len(f.b) < 4 || uint64(le.Uint32(f.b)) > uint64(len(f.b)-4) {
		f.fail = true
		return nil
	}
	n := 4 + int(le.Uint32(f.b))
	raw := f.b[4:n]
	f.b = f.b[n:]
	return raw
}

// read skips the values of counters (PERF_SAMPLE_READ) in a sample.
func (f *fields) read(bits uint64) {
	each := 1
	for _, bit := range []uint64{readID, readLost} {
		if bits&bit != 0 {
			each++
		}
	}
	times := 0
	for _, bit := range []uint64{readEnabled, readRunning} {
		if bits&bit != 0 {
			times++
		}
	}
	n := uint64(each + times)
	if bits&readGroup != 0 {
		count := f.u64()
		if count > uint64(len(f.b)/8) {
			f.fail = true
			return
		}
		n = count*uint64(each) + uint64(times)
	}
	if n > uint64(len(f.b)/8) {
		f.fail = true
		return
	}
	f.b = f.b[8*n:]
}

// Values in a stack that are not addresses but give the context of the addresses after
// them.
const (
	contextMost       = 1<<64 - 4095
	contextHypervisor = 1<<64 - 32
	contextKernel     = 1<<64 - 128
	contextUser       = 1<<64 - 512
)

// chain reads a stack, leaf first.
func (d *decoder) chain(f *fields, pid int32, mode uint64) {
	n := f.u64()
	if n > uint64(len(f.b)/8) {
		f.fail = true
		return
	}
	kernel, own := mode == miscKernel, &d.process(pid).maps
	called := false // the address is a return address
	for range n {
		ip := f.u64()
		if ip >= contextMost {
			kernel, called = ip == contextKernel || ip == contextHypervisor, false
			continue
		}
		d.push(ip, own, kernel, called)
		called = true
	}
}

// warnMissing warns about missing data.
func (d *decoder) warnMissing() {
	if d.cut {
		d.b.Mended("features-cut", "", "The data after the records is truncated; event names or build ids may be missing")
	}
	if d.lost > 0 {
		d.b.Warn("lost", "", "The kernel lost %s that perf did not read in time; totals do not include them", safetext.Plural(d.lost, "record"))
	}
	if d.strays > 0 && d.strays >= d.addresses/20 {
		d.b.Remark("strays", "", "%d of %d addresses in stacks are outside known code and shown as [unknown], several in a row as one: programs compiled without frame pointers lose callers. Compile with -fno-omit-frame-pointer, or use `perf record --call-graph dwarf` and `perf script -i FILE | ashlar -`", d.strays, d.addresses)
	}
	for _, p := range d.binaries {
		if p != nil && p.LeftOut {
			d.b.Remark("lines-left-out", "", "A binary has too much debug information; some inlined functions and lines are left out")
			break
		}
	}
	if d.changed > 0 {
		d.b.Remark("binary-changed", "", "Some binaries (%d) on this machine differ from the recorded ones; their addresses have no names", d.changed)
	}
	if d.missing > d.changed {
		d.b.Remark("binary-missing", "", "Some binaries (%d) are not on this machine or have no symbols; their addresses have no names. `perf script -i FILE | ashlar -` on the recording machine shows them", d.missing-d.changed)
	}
}
