// Package gotrace reads Go execution traces of Go 1.11 and later, including those of the
// flight recorder, as written by runtime/trace, `go test -trace` and net/http/pprof's
// /debug/pprof/trace. Package wire reads those of Go 1.22 and later; the Go team's reader,
// golang.org/x/exp/trace, reads older ones.
//
// Each goroutine is a track, named after the function it started with. Its states are
// running, runnable, in a system call, and blocked with a reason, each with its stack. A
// running goroutine's stack is known only where it starts and stops running: the calls on
// both stacks get the time between. The goroutine that readied or started another is its
// waker. Regions and GC assists are spans below. Each processor is a track of the
// goroutines it ran. Tasks, GC phases and stop-the-world pauses have tracks of their own.
package gotrace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/gotrace/wire"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/pairmap"
	"ashlar/ingest/model/recording"
)

// Format is the format of Go execution traces.
var Format = codec.Format{
	Name:       "gotrace",
	Title:      "Go execution trace",
	Plural:     "Go execution traces",
	Holds:      "goroutine states with reasons and stacks, processors, regions, tasks, logs, garbage collection, CPU samples, memory",
	Extensions: []string{".trace", ".out"},
	Sniff:      Sniff,
	Decode:     Decode,
}

var magic = regexp.MustCompile(`^go 1\.(\d+) trace\x00`)

// Sniff looks at the header.
func Sniff(head []byte, _ bool) (decode.Confidence, error) {
	if magic.Match(head) {
		return decode.Certain, nil
	}
	return decode.No, nil
}

// Processes that group the tracks. A trace is of one process, without its id.
const (
	goroutines = recording.TextID - iota
	processors
	runtime
)

// decoder turns the events into a recording.
type decoder struct {
	b     *recording.Builder
	zero  int64 // the time of picosecond 0, in ns
	began bool
	sync  int64 // time of the last synchronization, in picoseconds
	now   int64

	gs    map[int64]*goroutine
	procs map[int64]*proc
	// firstProcs caches the processors with the lowest ids.
	firstProcs [256]*proc
	gen        *wire.Generation
	calls      []recording.CallID // 1 + call, by stack of the generation; 0 if not requested yet

	ranges   map[rangeKey]opened
	tasks    map[uint64]opened
	counters map[string]int
	metrics  [wire.HeapGoal + 1]int // 1 + number of the counter
	counts   [3]count               // numbers of goroutines: all, runnable, running
	sampled  int                    // 1 + number of the CPU samples event

	frames  [recording.Collecting + 1]recording.FrameID // 1 + frame of a state without a reason
	reasons []recording.FrameID                         // 1 + frame of a blocked goroutine, by text of the generation; 0 if none yet
	sweep   recording.CallID                            // call of sweeping processors

	common  pairmap.Table // 1 + calls, by pairs of stacks; see recording.Builder.CommonCall
	commons int

	states []recording.TrackState // collected until there are many
	ended  []*goroutine           // goroutines whose last states are in states

	records *recording.Tally
}

// A count is a number of goroutines. told is the last value added to the counter, at time
// at.
type count struct {
	n, told, at int64
	any         bool
	counter     int // 1 + number of the counter
}

// opened is a range or task that has begun but not ended.
type opened struct {
	at   int64
	name string
	args uint64
	of   *goroutine // the goroutine of a range, or nil
}

// Decode reads all events into b. If the trace is cut or damaged, it reads the part
// before the damage.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) (err error) {
	d := &decoder{b: b, gs: map[int64]*goroutine{}, procs: map[int64]*proc{},
		ranges: map[rangeKey]opened{}, tasks: map[uint64]opened{}, counters: map[string]int{},
		records: b.Tally("event")}
	head, _, err := in.Head(16)
	if err != nil {
		return err
	}
	if m := magic.FindSubmatch(head); m != nil {
		b.Source().Version = "1." + string(m[1])
	}
	d.begin()
	b.Squeeze()
	if version := wire.VersionOf(head); version != 0 {
		err = d.each(ctx, in, wire.NewReader(in, version))
	} else {
		err = d.old(in)
	}
	d.flush()
	if !errors.Is(err, io.EOF) {
		if _, lost := errors.AsType[*source.Error](err); lost || ctx.Err() != nil {
			return err
		}
		if err = d.damaged(err); err != nil {
			return err
		}
	}
	if !b.Shows() {
		return errors.New("the trace has no events")
	}
	d.end()
	return nil
}

// sentence returns the first line of an error of the library.
func sentence(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

// damaged warns that the trace cannot be read past a position.
func (d *decoder) damaged(err error) error {
	at := int64(0)
	if told, ok := errors.AsType[*wire.Error](err); ok {
		at = told.At
	} else if told, ok := errors.AsType[*oldError](err); ok {
		at = told.at
	} else {
		return err
	}
	if !d.b.Shows() {
		return fmt.Errorf("the trace has no events: it is truncated or damaged before byte %d (%s)", at, sentence(err))
	}
	d.b.Warn("damaged", fmt.Sprintf("byte %d", at), "The trace is truncated or damaged before byte %d (%s); everything before is shown", at, sentence(err))
	return nil
}

// begin names the processes and sets how references to arguments become text.
func (d *decoder) begin() {
	for i, name := range []string{"goroutines", "processors", "runtime"} {
		p := d.b.ProcessInfo(d.b.Process(goroutines - int64(i)))
		p.Name, p.Sort = name, i
		switch name {
		case "goroutines":
			p.Member, p.Grouped = "goroutine", true
		case "processors": // first, because they are few and show what ran when
			p.Member, p.Sort = recording.ProcessorWord, -1
		}
	}
	d.b.AddEvent(recording.StateEvent())
	d.b.AddEvent(recording.SpanEvent())
	d.b.SetArgs(func(ref uint64) string {
		n := ref & (1<<argBits - 1)
		switch ref >> argBits {
		case argTask:
			return fmt.Sprintf(`{"task":%d}`, n)
		}
		return ""
	})
}

// Layout of a reference to arguments: the low argBits bits are a number, the rest is its
// kind.
const (
	argBits = 60
	argTask = iota
)

func arg(kind uint64, n int64) uint64 {
	if n < 0 || n >= 1<<argBits {
		return 0
	}
	return kind<<argBits | uint64(n)
}

// time returns the time of an event in picoseconds.
func (d *decoder) time(ns int64) int64 {
	if !d.began {
		d.began, d.zero = true, ns
		*d.b.Clock() = recording.Clock{Unit: "ns", PerUnit: 1000, Origin: recording.Decimal{Mantissa: ns}}
	}
	const most = 1 << 62 / 1000
	return min(max(ns-d.zero, -most), most) * 1000
}

func (d *decoder) event(ev *wire.Event) {
	at := d.time(ev.Time)
	d.now = max(d.now, at)
	switch ev.Kind {
	case wire.Sync:
		d.synced(ev.Gen, at)
	case wire.Transition:
		d.transition(ev, at)
	case wire.Metric:
		d.metric(ev, at)
	case wire.Sample:
		d.sample(ev, at)
	case wire.RangeBegin, wire.RangeActive, wire.RangeEnd:
		d.rangeEvent(ev, at)
	case wire.RegionBegin, wire.RegionEnd:
		d.region(ev, at)
	case wire.TaskBegin, wire.TaskEnd:
		d.task(ev, at)
	case wire.Log:
		name := d.gen.Text(ev.More)
		if category := d.gen.Text(ev.Text); category != "" {
			name = category + ": " + name
		}
		if g := d.goroutine(ev.G); g != nil {
			g.track.Instant(at, name, arg(argTask, int64(ev.Value)))
		}
	case wire.Label:
		if g := d.goroutine(ev.G); g != nil {
			g.track.Instant(at, "label: "+d.gen.Text(ev.Text), 0)
		}
	case wire.Experimental:
		d.records.Kept--
		d.records.Leave("")
		d.b.Remark("experimental", "", "Events of the runtime's AllocFree experiment are left out")
	}
}

// events processes consecutive events.
func (d *decoder) events(all []wire.Event) {
	if len(all) == 0 {
		return
	}
	d.records.Read += int64(len(all))
	d.records.Kept += int64(len(all))
	d.b.Cover(d.time(all[0].Time), d.time(all[len(all)-1].Time))
	for i := range all {
		d.event(&all[i])
	}
}

// synced switches to the next generation, nil at the end.
func (d *decoder) synced(g *wire.Generation, at int64) {
	d.sync = at
	if g == nil {
		return
	}
	d.gen = g
	clear(d.calls)
	clear(d.reasons)
	if g.Wall != 0 && len(d.b.Source().NotesOf(recording.NoteTime)) == 0 {
		d.b.Source().Note(recording.NoteTime, recording.NoteUnix(g.Wall-(g.Snapshot-d.zero)))
	}
}

// call returns the call of a stack.
func (d *decoder) call(stack int32) recording.CallID {
	if stack == 0 {
		return recording.NoCall
	}
	if int(stack) < len(d.calls) && d.calls[stack] != 0 {
		return d.calls[stack] - 1
	}
	if n := d.gen.Stacks(); n > len(d.calls) {
		d.calls = append(d.calls, make([]recording.CallID, n-len(d.calls))...)
	}
	var frames []recording.FrameID
	d.gen.EachFrame(stack, func(f *wire.Frame) { // leaf first
		fn := recording.Function{Name: d.gen.Text(f.Func), File: d.gen.Text(f.File), Kind: recording.KindUser}
		if fn.Name == "" {
			fn.Name, fn.Unresolved = funcname.OfAddress("", f.PC, 0), true
		}
		frames = append(frames, d.b.Frame(recording.Frame{Func: d.b.Function(fn), Addr: f.PC, Line: int32(min(f.Line, 1<<31-1)), Kind: fn.Kind}))
	})
	slices.Reverse(frames)
	c := d.b.Stack(frames)
	d.calls[stack] = c + 1
	return c
}

func (d *decoder) sample(ev *wire.Event, at int64) {
	track := d.runtimeTrack("no goroutine")
	if g := d.goroutine(ev.G); g != nil {
		track = g.track
	}
	if d.sampled == 0 {
		d.sampled = 1 + d.b.AddEvent(recording.Event{Name: "CPU samples", Kind: "sample", Basis: recording.FromSamples,
			Metrics: []recording.Metric{{Name: "count", Unit: "count", PerSample: recording.SampleOne}}})
	}
	track.Sample(d.sampled-1, at, d.call(ev.Stack), int(ev.P), nil)
}

// metricNames are the runtime's names of metrics, with their units.
var metricNames = map[uint8][2]string{
	wire.MaxProcs: {"/sched/gomaxprocs", "threads"},
	wire.HeapLive: {"/memory/classes/heap/objects", "bytes"},
	wire.HeapGoal: {"/gc/heap/goal", "bytes"},
}

// metric adds a point to a counter.
func (d *decoder) metric(ev *wire.Event, at int64) {
	c := &d.metrics[ev.What]
	if *c == 0 {
		name := metricNames[ev.What]
		*c = 1 + d.counter(runtime, name[0], "", name[1])
	}
	d.b.CounterPoint(*c-1, at, float64(ev.Value))
}

func (d *decoder) counter(process int64, name, series, unit string) int {
	key := name + "\x00" + series
	c, ok := d.counters[key]
	if !ok {
		c = d.b.AddCounter(d.b.Process(process), name, series, unit)
		d.counters[key] = c
	}
	return c
}

// runtimeTrack returns a track of the runtime.
func (d *decoder) runtimeTrack(name string) *recording.TrackBuilder {
	return d.b.Track(recording.TrackKey{Kind: recording.AsyncTrack, PID: runtime, Name: name})
}

func (d *decoder) frame(name string) recording.FrameID {
	return d.b.FunctionFrame(d.b.Function(recording.Function{Name: name}))
}
