// Package gotrace reads Go's execution traces, of Go 1.11 and later, also those of
// the flight recorder: what runtime/trace, `go test -trace` and
// net/http/pprof's /debug/pprof/trace write. It reads them with the Go team's own
// reader, golang.org/x/exp/trace.
//
// Each goroutine is a track, called after the function that it began with, with
// what it was in: running, runnable, in a system call, or blocked, with the reason,
// in the calls where it was so. A goroutine that runs is known where it began to and
// where it stopped: the time is that of the calls that stand on both stacks. Who made
// it ready to run, or began it, is its waker. Its regions, and what the collector
// made it do, are spans below. Each processor is a track of the goroutines that it
// ran. Tasks, the collector's phases, and when the world stood still have tracks of
// their own.
package gotrace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"golang.org/x/exp/trace"

	"ashlar/ingest/codec"
	"ashlar/ingest/decode"
	"ashlar/ingest/recording"
	"ashlar/ingest/source"
)

// Format is Go's execution traces.
var Format = codec.Format{
	Name:       "gotrace",
	Title:      "Go execution trace",
	Plural:     "Go execution traces",
	Holds:      "states of goroutines with reasons and stacks, processors, regions, tasks, logs, garbage collection, CPU samples, memory",
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

// The processes that tracks are grouped by; a trace is of one process and does not
// say which.
const (
	goroutines = recording.TextID - iota
	processors
	runtime
)

// decoder turns the events into a recording.
type decoder struct {
	b     *recording.Builder
	zero  trace.Time // the time of picosecond 0
	began bool
	sync  int64 // picoseconds of the last synchronization
	now   int64

	gs    map[trace.GoID]*goroutine
	procs map[trace.ProcID]*proc
	calls map[trace.Stack]recording.CallID // of this generation

	ranges   map[rangeKey]opened
	tasks    map[trace.TaskID]opened
	named    trace.Task // of the event, where it begins or ends one
	counters map[string]int
	counts   [3]count // of goroutines: all, runnable, running
	sampled  int      // 1 + the event of CPU samples

	frames map[stateOf]recording.FrameID
	last   [8]lastFrame                             // by state
	common map[[2]recording.CallID]recording.CallID // of stacks; see recording.Builder.CommonCall

	records *recording.Tally
}

// count is how many goroutines there are, and what their counter was told last.
type count struct {
	n, told, at int64
	any         bool
	counter     int // 1 + its number
}

// opened has what began and did not end so far.
type opened struct {
	at   int64
	name string
	args uint64
}

// Decode reads all events into b. Of a trace that is cut or damaged it reads what
// stands before.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) (err error) {
	d := &decoder{b: b, gs: map[trace.GoID]*goroutine{}, procs: map[trace.ProcID]*proc{}, calls: map[trace.Stack]recording.CallID{},
		ranges: map[rangeKey]opened{}, tasks: map[trace.TaskID]opened{}, counters: map[string]int{},
		frames: map[stateOf]recording.FrameID{}, common: map[[2]recording.CallID]recording.CallID{}, records: b.Tally("event")}
	head, _, err := in.Head(16)
	if err != nil {
		return err
	}
	if m := magic.FindSubmatch(head); m != nil {
		b.Source().Version = "1." + string(m[1])
	}
	d.begin()
	b.Squeeze()
	from := &decode.Reader{In: in}
	read, err := newReader(from)
	if err != nil {
		return fmt.Errorf("the trace cannot be read: %s", sentence(err))
	}
	if err = d.each(ctx, in, read); !errors.Is(err, io.EOF) {
		if _, lost := errors.AsType[*source.Error](err); lost || ctx.Err() != nil {
			return err
		}
		if !b.Shows() {
			return fmt.Errorf("there is no event in the trace: it is cut or damaged before byte %d (%s)", from.Bytes, sentence(err))
		}
		b.Warn("damaged", fmt.Sprintf("byte %d", from.Bytes), "The trace is cut or damaged before byte %d (%s); what stands before is shown", from.Bytes, sentence(err))
	}
	if !b.Shows() {
		return errors.New("there is no event in the trace")
	}
	d.end()
	return nil
}

// newReader is trace.NewReader, which reads all of a trace before Go 1.22 at once.
func newReader(from io.Reader) (r *trace.Reader, err error) {
	defer caught(&err)
	return trace.NewReader(from)
}

func next(r *trace.Reader) (ev trace.Event, err error) {
	defer caught(&err)
	return r.ReadEvent()
}

// caught turns a panic about damaged bytes into an error; faults of a file that
// became shorter and those of this program go on.
func caught(err *error) {
	switch p := recover().(type) {
	case nil:
	case interface {
		error
		Addr() uintptr // a fault
	}:
		panic(p)
	default:
		*err = fmt.Errorf("%v", p)
	}
}

// sentence is an error of the library in one line.
func sentence(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

// begin names the processes, and has references to arguments become text.
func (d *decoder) begin() {
	for i, name := range []string{"goroutines", "processors", "runtime"} {
		p := d.b.ProcessInfo(d.b.Process(goroutines - int64(i)))
		p.Name, p.Sort = name, i
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

// What references to arguments hold: what the number is of, and above all the
// number.
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

// time is that of an event in picoseconds.
func (d *decoder) time(t trace.Time) int64 {
	if !d.began {
		d.began, d.zero = true, t
		*d.b.Clock() = recording.Clock{Unit: "ns", PerUnit: 1000, Origin: recording.Decimal{Mantissa: int64(t)}}
	}
	ns := int64(t - d.zero)
	const most = 1 << 62 / 1000
	return min(max(ns, -most), most) * 1000
}

func (d *decoder) event(ev *trace.Event) {
	at := d.time(ev.Time())
	d.now = max(d.now, at)
	d.b.Cover(at, at)
	switch ev.Kind() {
	case trace.EventSync:
		d.sync = at
		clear(d.calls) // they hold the generation's tables
		if c := ev.Sync().ClockSnapshot; c != nil && !c.Wall.IsZero() && len(d.b.Source().NotesOf(recording.NoteTime)) == 0 {
			d.b.Source().Note(recording.NoteTime, recording.NoteUnix(c.Wall.UnixNano()-int64(c.Trace-d.zero)))
		}
	case trace.EventStateTransition:
		st := ev.StateTransition()
		if st.Resource.Kind == trace.ResourceGoroutine {
			d.transition(ev, &st, at)
		}
	case trace.EventMetric:
		d.metric(ev.Metric(), at)
	case trace.EventStackSample:
		d.sample(ev, at)
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		d.rangeEvent(ev, at)
	case trace.EventRegionBegin, trace.EventRegionEnd:
		d.region(ev, at)
	case trace.EventTaskBegin, trace.EventTaskEnd:
		d.task(ev, at)
	case trace.EventLog:
		l := ev.Log()
		name := l.Message
		if l.Category != "" {
			name = l.Category + ": " + l.Message
		}
		if g := d.goroutine(ev.Goroutine()); g != nil {
			g.track.Instant(at, name, arg(argTask, int64(l.Task)))
		}
	case trace.EventLabel:
		l := ev.Label()
		if l.Resource.Kind != trace.ResourceGoroutine {
			break
		}
		if g := d.goroutine(l.Resource.Goroutine()); g != nil {
			g.track.Instant(at, "label: "+l.Label, 0)
		}
	case trace.EventExperimental:
		d.records.Kept--
		d.records.Leave("")
		d.b.Remark("experimental", "", "Events of an experiment of the runtime (%s) are left out", ev.Experimental().Experiment)
	}
}

// call is the call of a stack.
func (d *decoder) call(s trace.Stack) recording.CallID {
	if s == trace.NoStack {
		return recording.NoCall
	}
	if c, ok := d.calls[s]; ok {
		return c
	}
	var frames []recording.FrameID
	for f := range s.Frames() { // from the leaf
		fn := recording.Function{Name: f.Func, File: f.File, Kind: recording.KindUser}
		if fn.Name == "" {
			fn.Name, fn.Unresolved = recording.AddressName("", f.PC, 0), true
		}
		frames = append(frames, d.b.Frame(recording.Frame{Func: d.b.Function(fn), Addr: f.PC, Line: int32(min(f.Line, 1<<31-1)), Kind: fn.Kind}))
	}
	for i, j := 0, len(frames)-1; i < j; i, j = i+1, j-1 {
		frames[i], frames[j] = frames[j], frames[i]
	}
	c := d.b.Stack(frames)
	d.calls[s] = c
	return c
}

func (d *decoder) sample(ev *trace.Event, at int64) {
	g := d.goroutine(ev.Goroutine())
	track := d.runtimeTrack("no goroutine")
	if g != nil {
		track = g.track
	}
	if d.sampled == 0 {
		d.sampled = 1 + d.b.AddEvent(recording.Event{Name: "CPU samples", Kind: "sample", Basis: recording.FromSamples,
			Metrics: []recording.Metric{{Name: "count", Unit: "count", PerSample: recording.SampleOne}}})
	}
	track.Sample(d.sampled-1, at, d.call(ev.Stack()), int(ev.Proc()), nil)
}

// metric adds a point to a counter, whose name and unit the runtime gives as
// "/name:unit".
func (d *decoder) metric(m trace.Metric, at int64) {
	if m.Value.Kind() != trace.ValueUint64 {
		return
	}
	name, unit, _ := strings.Cut(m.Name, ":")
	d.b.CounterPoint(d.counter(runtime, name, "", unit), at, float64(m.Value.Uint64()))
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

// runtimeTrack is one of the runtime.
func (d *decoder) runtimeTrack(name string) *recording.TrackBuilder {
	return d.b.Track(recording.TrackKey{Kind: recording.AsyncTrack, PID: runtime, Name: name})
}

func (d *decoder) frame(name string) recording.FrameID {
	return d.b.FunctionFrame(d.b.Function(recording.Function{Name: name}))
}
