// Package heaptrack reads the heap recordings of heaptrack, versions 1 to 3 of its file
// format: lines of text with hexadecimal numbers. They define strings, code locations,
// stacks and kinds of allocations, numbered in order, and then list allocations and frees.
// See heaptrack's accumulatedtracedata.cpp.
package heaptrack

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/program"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
)

// Format is heaptrack's format.
var Format = codec.Format{
	Name:       "heaptrack",
	Title:      "heaptrack recording",
	Plural:     "heaptrack recordings",
	Holds:      "stacks with bytes allocated, in use at the peak and never freed; heap size over time",
	Extensions: []string{".heaptrack"},
	Sniff:      sniff,
	Decode:     read,
}

var begin = regexp.MustCompile(`\Av [0-9a-f]{5,6}( [0-9a-f]{1,2})?\r?\n`)

// sniff looks for the versions of heaptrack and of its format.
func sniff(head []byte, _ bool) (decode.Confidence, error) {
	if begin.Match(head) {
		return decode.Certain, nil
	}
	return decode.No, nil
}

// The metrics of the one event, in order.
const (
	allocSpace = iota
	allocObjects
	temporary // freed before any other allocation or free
	peakSpace
	peakObjects
	inuseSpace
	inuseObjects
	metrics
)

func event() recording.Event {
	return recording.Event{Kind: "allocation", Basis: recording.FromStacks, Primary: peakSpace, Metrics: []recording.Metric{
		allocSpace:   {Name: "alloc_space", Unit: "bytes"},
		allocObjects: {Name: "alloc_objects", Unit: "count"},
		temporary:    {Name: "temporary_objects", Unit: "count"},
		peakSpace:    {Name: "peak_space", Unit: "bytes", Kind: recording.Level},
		peakObjects:  {Name: "peak_objects", Unit: "count", Kind: recording.Level},
		inuseSpace:   {Name: "inuse_space", Unit: "bytes", Kind: recording.Level},
		inuseObjects: {Name: "inuse_objects", Unit: "count", Kind: recording.Level},
	}}
}

// A stack is a call stack and the values of the allocations in it.
type stack struct {
	call   recording.CallID
	peak   uint64 // number of the peak that its peak values belong to
	values [metrics]int64
}

// info is a kind of allocation: a size and a stack.
type info struct {
	size  int64
	stack uint32
}

const none = -1

type decoder struct {
	b       *recording.Builder
	tally   *recording.Tally
	line    int64
	version uint64
	page    int64

	strings []string
	ips     [][]recording.FrameID // outermost first
	stacks  []stack               // the first is a placeholder
	infos   []info

	live, most int64 // bytes in use, now and at the peak
	peaks      uint64
	last       int64 // kind of the last allocation; none if something was freed after it
	now        int64 // picoseconds
	heap, rss  int   // numbers of the counters
	changed    bool  // something was allocated or freed
}

// errRaw is the error for raw output that heaptrack could not interpret.
var errRaw = errors.New("this is heaptrack's raw output, without function names; convert it with `heaptrack_interpret < FILE > run.heaptrack`")

// read reads all lines.
func read(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	d := &decoder{b: b, tally: b.Tally("line"), stacks: make([]stack, 1), last: none, heap: none, rss: none}
	b.Source().Tool = "heaptrack"
	err := decode.Lines(ctx, in, b, func(line []byte) error {
		d.line++
		if len(line) == 0 || line[0] == '#' {
			return nil
		}
		d.tally.Read++
		d.tally.Kept++
		ok, err := d.take(line)
		if !ok && err == nil {
			place := fmt.Sprintf("line %d", d.line)
			d.tally.Kept--
			d.tally.Leave(place)
			b.Warn("bad-line", place, "Line %d is invalid or refers to a missing line and was left out", d.line)
		}
		return err
	})
	if d.version > 0 {
		d.end()
	}
	if err == nil && !d.changed {
		err = errors.New("the recording has no allocations")
	}
	return err
}

// take processes a line. ok reports whether it is valid.
func (d *decoder) take(line []byte) (ok bool, err error) {
	kind := line[0]
	if len(line) < 2 && kind != 'A' || len(line) > 1 && line[1] != ' ' {
		return false, nil
	}
	rest := line[min(2, len(line)):]
	if d.version == 0 && kind != 'v' {
		return false, errors.New("the recording does not start with its version")
	}
	switch kind {
	case '+':
		i, _, ok := number(rest)
		return ok && d.allocate(i), nil
	case '-':
		i, _, ok := number(rest)
		return ok && d.free(i), nil
	case 'a':
		return d.info(rest), nil
	case 't':
		return d.stack(rest), nil
	case 'i':
		return d.ip(rest), nil
	case 's':
		return d.text(rest), nil
	case 'c':
		return d.time(rest), nil
	case 'R':
		pages, _, ok := number(rest)
		return ok && d.resident(pages), nil
	case 'v':
		return d.versions(rest)
	case 'X':
		d.b.Source().Command = string(rest)
	case 'I':
		size, _, ok := number(rest)
		d.page = int64(min(size, 1<<30))
		return ok, nil
	case 'A':
		d.b.Remark("attached", "", "heaptrack was attached to the running program; earlier allocations are unknown")
	case 'S':
		d.b.Remark("suppressed", "", "The recording is marked to hide leaks; they are shown anyway")
	case 'x', 'm':
		return false, errRaw
	default:
		return false, nil
	}
	return true, nil
}

// versions reads the versions of heaptrack and its format.
func (d *decoder) versions(rest []byte) (bool, error) {
	of, rest, ok := number(rest)
	if !ok {
		return false, nil
	}
	if d.version, _, ok = number(rest); !ok && of == 0x10200 { // the format had no version yet
		d.version = 1
	}
	d.b.Source().Version = fmt.Sprint(d.version)
	d.b.Source().Tool = fmt.Sprintf("heaptrack %d.%d.%d", of>>16, of>>8&0xff, of&0xff)
	if d.version < 1 || d.version > 3 {
		v := d.version
		d.version = 0
		return false, fmt.Errorf("version %d of heaptrack's format is not supported (1 to 3 are); convert the recording with `heaptrack_print -f FILE -F run.folded`", v)
	}
	return true, nil
}

// number reads a hexadecimal number up to the next space.
func number(b []byte) (v uint64, rest []byte, ok bool) {
	i := 0
	for ; i < len(b) && b[i] != ' '; i++ {
		c := b[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		default:
			return 0, nil, false
		}
		if v>>60 != 0 {
			return 0, nil, false
		}
		v = v<<4 | uint64(c)
	}
	return v, b[min(i+1, len(b)):], i > 0
}

// text adds a string; in version 3 its length comes first.
func (d *decoder) text(rest []byte) bool {
	if d.version >= 3 {
		n, text, ok := number(rest)
		if !ok {
			d.strings = append(d.strings, "") // so that later strings keep their numbers
			return false
		}
		rest = text[:min(n, uint64(len(text)))]
	}
	d.strings = append(d.strings, string(rest))
	return true
}

// string returns a string by number; 0 is none.
func (d *decoder) string(n uint64) string {
	if n == 0 || n > uint64(len(d.strings)) {
		return ""
	}
	return d.strings[n-1]
}

// ip adds a code location: its address and binary; if known, its function, file and line;
// then the functions it was inlined into.
func (d *decoder) ip(rest []byte) bool {
	addr, rest, ok := number(rest)
	module, rest, also := number(rest)
	if !ok || !also {
		d.ips = append(d.ips, nil)
		return false
	}
	var frames []recording.FrameID
	for len(rest) > 0 || len(frames) == 0 {
		var v [3]uint64
		for i := range v {
			if v[i], rest, ok = number(rest); !ok {
				break
			}
		}
		if !ok && len(frames) > 0 {
			break
		}
		frames = append(frames, d.frame(addr, module, v, len(rest) > 0)) // the first one may lack the file
	}
	slices.Reverse(frames)
	d.ips = append(d.ips, frames)
	return true
}

// frame returns the frame for a function (by number), its file and its line.
func (d *decoder) frame(addr, module uint64, of [3]uint64, inlined bool) recording.FrameID {
	f := recording.Function{Name: d.string(of[0]), Module: d.string(module), File: d.string(of[1])}
	f.Kind = program.KindOf(f.Module)
	if f.Name == "" {
		f.Name, f.Unresolved = funcname.OfAddress(f.Module, addr, 0), true
	}
	return d.b.Frame(recording.Frame{Func: d.b.Function(f), Addr: addr, File: f.File, Line: int32(min(of[2], 1<<31-1)), Kind: f.Kind, Inlined: inlined})
}

// stack adds a stack: a code location and the calling stack.
func (d *decoder) stack(rest []byte) bool {
	ip, rest, ok := number(rest)
	above, _, also := number(rest)
	ok = ok && also && above < uint64(len(d.stacks)) && ip > 0 && ip <= uint64(len(d.ips))
	var s stack
	if ok {
		s.call = d.stacks[above].call
		for _, f := range d.ips[ip-1] {
			s.call = d.b.Call(s.call, f)
		}
	}
	d.stacks = append(d.stacks, s)
	return ok
}

// info adds a kind of allocation.
func (d *decoder) info(rest []byte) bool {
	size, rest, ok := number(rest)
	in, _, also := number(rest)
	ok = ok && also && in < uint64(len(d.stacks)) && size < 1<<62
	if !ok {
		size, in = 0, 0
	}
	d.infos = append(d.infos, info{int64(size), uint32(in)})
	return ok
}

// at returns a stack whose values are about to change, and saves its peak values first.
func (d *decoder) at(i info) *stack {
	s := &d.stacks[i.stack]
	s.setPeak(d.peaks)
	return s
}

// setPeak sets the values at the peak to the current ones, which have not changed since
// the peak.
func (s *stack) setPeak(peak uint64) {
	if s.peak != peak {
		s.peak = peak
		s.values[peakSpace], s.values[peakObjects] = s.values[inuseSpace], s.values[inuseObjects]
	}
}

func (d *decoder) allocate(kind uint64) bool {
	if kind >= uint64(len(d.infos)) {
		return false
	}
	i := d.infos[kind]
	s := d.at(i)
	recording.Add(&s.values[allocSpace], i.size)
	recording.Add(&s.values[inuseSpace], i.size)
	s.values[allocObjects]++
	s.values[inuseObjects]++
	d.last, d.changed = int64(kind), true
	if recording.Add(&d.live, i.size); d.live > d.most {
		d.most = d.live
		d.peaks++
	}
	return true
}

func (d *decoder) free(kind uint64) bool {
	if kind >= uint64(len(d.infos)) {
		return false
	}
	i := d.infos[kind]
	s := d.at(i)
	recording.Add(&s.values[inuseSpace], -i.size)
	s.values[inuseObjects]--
	if d.last == int64(kind) { // heaptrack also counts a free of kind 0 right after another free
		s.values[temporary]++
	}
	d.last, d.changed = none, true
	recording.Add(&d.live, -i.size)
	return true
}

// time reads the milliseconds since the start.
func (d *decoder) time(rest []byte) bool {
	ms, _, ok := number(rest)
	if !ok || ms > 1<<32 || int64(ms)*1e9 < d.now {
		return false
	}
	d.now = int64(ms) * 1e9
	if d.heap < 0 {
		*d.b.Clock() = recording.Clock{Unit: "ms", PerUnit: 1e9}
		d.heap = d.b.AddCounter(d.b.Process(0), "heap", "in use", "bytes")
	}
	d.b.CounterPoint(d.heap, d.now, float64(d.live))
	return true
}

// resident reads the number of resident pages of the process.
func (d *decoder) resident(pages uint64) bool {
	if d.page == 0 || pages > 1<<40 {
		return false
	}
	if d.rss < 0 {
		d.rss = d.b.AddCounter(d.b.Process(0), "memory", "resident", "bytes")
	}
	d.b.CounterPoint(d.rss, d.now, float64(int64(pages)*d.page))
	return true
}

// end adds the stacks with allocations.
func (d *decoder) end() {
	if !d.changed {
		return
	}
	e := d.b.AddEvent(event())
	for i := range d.stacks {
		s := &d.stacks[i]
		s.setPeak(d.peaks)
		if s.values != [metrics]int64{} {
			d.b.AddStack(e, s.call, recording.NoTrack, 0, s.values[:])
		}
	}
}
