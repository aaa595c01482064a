// Package ftrace reads the text output of the Linux kernel's ftrace and of systrace and
// atrace, including systrace's HTML pages: one line per event, with thread, CPU and time.
// See https://docs.kernel.org/trace/ftrace.html.
//
// The scheduler's events (sched_switch and wakeups) give the thread on each CPU and the
// states of threads. Programs write slices, operations and counters to trace_marker
// ("B|1234|name"). Other events are instants.
package ftrace

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/sched"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

// Format is the text format of ftrace.
var Format = codec.Format{
	Name:       "ftrace",
	Title:      "ftrace text",
	Holds:      "ftrace and systrace, as text or HTML: threads by CPU, thread states, slices, counters",
	Extensions: []string{".ftrace", ".systrace", ".html"},
	Sniff:      Sniff,
	Decode:     Decode,
}

// line matches an event: thread name and id, optional process, processor, optional flags,
// time, event name and details. Real-time kernels have seven flags, others four or five.
var line = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(.*)-(\d+)\s+(?:\(\s*(\d+|-+)\)\s+)?\[(\d+)\]\s+(?:([^\s:\d][^\s:]{3,7}?)\s*)?(\d+\.\d+):\s+([\w.:-]+):(?:\s+(.*))?$`)
})

// heading reports whether a line is a header of systrace or trace-cmd.
func heading(l []byte) bool {
	return bytes.HasPrefix(l, []byte("cpus=")) || bytes.HasPrefix(l, []byte("version = "))
}

// written matches the header line with the number of events in the buffer and the number
// that were written to it.
var written = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^# entries-in-buffer/entries-written: (\d+)/(\d+)\b`)
})

var page = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)^\s*<!doctype html.*(trace-viewer|systrace|# tracer:)`)
})

// sniffLen is the number of bytes that Sniff looks at. Its patterns would take seconds on a
// very long line, and the head may have megabytes.
const sniffLen = 64 << 10

// Sniff looks for the header, an event in the first lines, or an HTML page of systrace.
func Sniff(head []byte, _ bool) (decode.Confidence, error) {
	head = head[:min(len(head), sniffLen)]
	if bytes.HasPrefix(head, []byte("# tracer: ")) {
		return decode.Certain, nil
	}
	if page().Match(head) {
		return decode.Likely, nil
	}
	for rest := head; len(rest) > 0; {
		var l []byte
		l, rest, _ = bytes.Cut(rest, []byte{'\n'})
		l = bytes.TrimSpace(l)
		switch {
		case len(l) == 0 || l[0] == '#' || heading(l) || lost().Match(l):
		case matches(l[:min(len(l), 4096)]): // no event is longer before its details
			return decode.Likely, nil
		default:
			return decode.No, nil
		}
	}
	return decode.No, nil
}

type decoder struct {
	b     *recording.Builder
	s     *sched.Builder
	texts *decode.Texts
	n     int
	// page means that the file is an HTML page; inside, that the current line is between
	// the markers of its events.
	page, inside bool

	origin   *decode.Picos
	last     int64
	threads  map[int64]*recording.TrackBuilder
	asyncs   map[string][]operation // open operations; an end closes the last one with its id
	begun    uint32
	counters map[string]int
	spans    bool
	tally    *recording.Tally

	losses map[string]*loss // by processor
	losing []string         // processors that lost events, in the order of the file
}

// An operation is an asynchronous operation that has begun but not ended.
type operation struct {
	at          int64
	pid         int64
	track, name string
	group       uint32
}

// Decode reads all lines into b.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	d := &decoder{b: b, s: sched.New(b), texts: new(decode.Texts), threads: map[int64]*recording.TrackBuilder{}, asyncs: map[string][]operation{}, counters: map[string]int{}, losses: map[string]*loss{}, tally: b.Tally("event")}
	b.SetArgs(d.texts.Text)
	head, _, err := in.Head(sniffLen)
	if err != nil {
		return err
	}
	d.anchor(head[:min(len(head), sniffLen)])
	if err := decode.Lines(ctx, in, b, d.read); err != nil {
		return err
	}
	if d.tally.Kept == 0 {
		return errors.New("the file has no ftrace events")
	}
	d.warnLost()
	d.s.End(d.last)
	open := slices.Concat(slices.Collect(maps.Values(d.asyncs))...)
	order.By(open, func(a, b operation) int { return cmp.Compare(a.group, b.group) })
	for i, o := range open {
		if i%4096 == 0 {
			if b.Progress(); ctx.Err() != nil {
				return ctx.Err()
			}
		}
		d.operation(o, d.last, true)
	}
	return nil
}

func (d *decoder) place() string { return fmt.Sprintf("line %d", d.n) }

func (d *decoder) read(l []byte) error {
	d.n++
	if d.n == 1 && bytes.HasPrefix(bytes.ToLower(l), []byte("<!doctype html")) {
		d.page = true
	}
	if d.page {
		switch {
		case bytes.Contains(l, []byte(`class="trace-data"`)):
			d.inside = true
			return nil
		case bytes.Contains(l, []byte("</script>")):
			d.inside = false
		}
		if !d.inside {
			return nil
		}
	}
	if len(l) > 0 && l[0] == '#' {
		d.header(l)
		return nil
	}
	if len(l) == 0 || heading(l) || d.lost(l) || d.stackLine(l) {
		return nil
	}
	m, unit := match(l)
	if m == nil {
		if !d.page { // a page also has lists of processes
			d.tally.Read++
			d.tally.Leave(d.place())
			d.b.Warn("not-an-event", d.place(), "Line %d is not an event and was left out", d.n)
		}
		return nil
	}
	d.tally.Read++
	at, ok := d.time(m[6], unit)
	if !ok {
		d.tally.Leave(d.place())
		d.b.Warn("time-far", d.place(), "The time on line %d is more than 26 days from the others; the line was left out", d.n)
		return nil
	}
	d.tally.Kept++
	d.event(m, at)
	return nil
}

// header notes how many events the ring buffer has overwritten.
func (d *decoder) header(l []byte) {
	if m := written().FindSubmatch(l); m != nil && number(m[1]) < number(m[2]) {
		d.b.Remark("overwritten", d.place(), "The ring buffer kept %s of %s; earlier events were overwritten, so the start of the recording is missing", string(m[1]), safetext.Plural(number(m[2]), "event"))
	}
}

// anchor sets the origin of times from the first events if the very first is far from most.
func (d *decoder) anchor(head []byte) {
	type stamp struct {
		n     decode.Number
		power int
	}
	var all []stamp
	var times []decode.Picos
	for len(head) > 0 && len(times) < 256 {
		l, rest, whole := bytes.Cut(head, []byte{'\n'})
		head = rest
		if !whole || len(l) > 4096 {
			continue
		}
		if m, power := match(bytes.TrimRight(l, "\r")); m != nil {
			if n, ok, fits := decode.ParseNumber(m[6]); ok && fits {
				all, times = append(all, stamp{n, power}), append(times, n.Picos(power))
			}
		}
	}
	if i := decode.Anchor(times); i > 0 {
		d.origin = &times[i]
		d.clock(all[i].power, recording.Decimal{Mantissa: all[i].n.Mantissa, Scale: all[i].n.Scale})
	}
}

// time converts a time in units of 10^power picoseconds to a time of the recording, which
// begins at the first time.
func (d *decoder) time(b []byte, power int) (int64, bool) {
	n, ok, fits := decode.ParseNumber(b)
	if !ok || !fits {
		return 0, false
	}
	if d.origin == nil {
		p := n.Picos(power)
		d.origin = &p
		d.clock(power, recording.Decimal{Mantissa: n.Mantissa, Scale: n.Scale})
	}
	at, ok := n.Picos(power).Since(*d.origin)
	if ok {
		d.last = max(d.last, at)
	}
	return at, ok
}

func number(b []byte) int64 {
	n, _ := strconv.ParseInt(string(b), 10, 64)
	return n
}

// Details of sched_switch, of its older form, and of wakeup events.
var (
	switched = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`prev_pid=(\d+) .*?prev_state=(\S+) ==> next_comm=(.*) next_pid=(\d+)`)
	})
	older = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^.*:(\d+) \[\d+\] (\S+) ==> (.*):(\d+) \[\d+\]`) })
	woken = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:comm=(.*) )?pid=(\d+)`) })
)

// letters are the state letters, in the order of the bits of sched.StateOf.
const letters = "SDTtXZPI"

func stateOf(s []byte) sched.State {
	if i := strings.IndexByte(letters, s[0]); i >= 0 {
		return sched.StateOf(1 << i)
	}
	return sched.StateOf(0)
}

func (d *decoder) event(m [][]byte, at int64) {
	d.b.Cover(at, at)
	tid, text := number(m[2]), m[8]
	if comm := string(m[1]); comm != "<...>" && tid > 0 && d.s.Names[tid] == "" {
		d.s.Names[tid] = comm
	}
	if len(m[3]) > 0 && m[3][0] != '-' {
		d.s.Owner[tid] = number(m[3])
	}
	switch string(m[7]) {
	case "sched_switch":
		x := switched().FindSubmatch(text)
		if x == nil {
			x = older().FindSubmatch(text)
		}
		if x != nil {
			next := number(x[4])
			if next > 0 {
				d.s.Names[next] = string(x[3])
			}
			d.s.Switch(at, number(m[4]), number(x[1]), stateOf(x[2]), recording.NoCall, next)
			d.anySpans()
			return
		}
	case "sched_waking", "sched_wakeup", "sched_wakeup_new":
		if x := woken().FindSubmatch(text); x != nil {
			if len(x[1]) > 0 {
				d.s.Names[number(x[2])] = string(x[1])
			}
			d.s.Wake(at, tid, recording.NoCall, number(x[2]))
			return
		}
	case "tracing_mark_write", "print":
		_, rest, found := bytes.Cut(text, []byte(": ")) // print events begin with the writer's address
		if string(m[7]) != "print" || !found {
			rest = text
		}
		if d.mark(tid, rest, at) {
			return
		}
	}
	args, err := json.Marshal(map[string]string{"text": strings.ToValidUTF8(string(text), "\uFFFD")})
	if err != nil {
		args = nil
	}
	d.thread(tid).Instant(at, string(m[7]), d.texts.Add(args))
}

func (d *decoder) anySpans() {
	if !d.spans {
		d.spans = true
		d.b.AddEvent(recording.SpanEvent())
	}
}

// thread returns the track of a thread.
func (d *decoder) thread(tid int64) *recording.TrackBuilder {
	t := d.threads[tid]
	if t == nil {
		t = d.b.Track(recording.TrackKey{PID: d.s.Owner[tid], TID: tid})
		if name := d.s.Names[tid]; name != "" {
			t.SetName(name)
		}
		d.threads[tid] = t
	}
	return t
}

// mark reads text that a program wrote to trace_marker; it returns false if its form is
// unknown.
func (d *decoder) mark(tid int64, text []byte, at int64) bool {
	m, ok := sched.ParseMark(text)
	if !ok {
		return false
	}
	if d.s.Owner[tid] == 0 && strings.IndexByte("BEI", m.Kind) >= 0 {
		d.s.Owner[tid] = m.PID
	}
	switch m.Kind {
	case 'B':
		d.anySpans()
		if !d.thread(tid).Begin(at, d.frame(m.Name), 0) {
			d.backward()
		}
	case 'E':
		matched, forward := d.thread(tid).End(at)
		switch {
		case !matched:
			d.tally.Kept--
			d.tally.Leave(d.place())
			d.b.Usual("end-unmatched", d.place(), "Line %d ends a slice that started before the trace; the line was left out", d.n)
		case !forward:
			d.backward()
		}
	case 'I':
		d.thread(tid).Instant(at, m.Name, 0)
	case 'N':
		d.track(m.PID, m.Track).Instant(at, m.Name, 0)
	case 'C':
		d.b.CounterPoint(d.counter(m.PID, m.Name), at, m.Value)
	case 'S', 'G':
		k := m.Operation()
		if m.Kind == 'S' && len(d.asyncs[k]) > 0 {
			d.tally.Kept--
			d.tally.Leave(d.place())
			d.b.Remark(sched.BegunAgain, d.place(), sched.BegunAgainText)
			break
		}
		d.begun++
		d.asyncs[k] = append(d.asyncs[k], operation{at, m.PID, m.Track, m.Name, d.begun})
	default:
		k := m.Operation()
		of := d.asyncs[k]
		if len(of) == 0 {
			return false
		}
		last := len(of) - 1
		if d.asyncs[k] = of[:last]; last == 0 {
			delete(d.asyncs, k)
		}
		d.operation(of[last], at, false)
	}
	return true
}

func (d *decoder) backward() {
	d.tally.Mend(d.place())
	d.b.Warn("time-backward", d.place(), "The event on line %d is earlier than the previous one on its thread; it gets the previous time", d.n)
}

func (d *decoder) operation(o operation, at int64, unfinished bool) {
	d.anySpans()
	d.track(o.pid, o.track).SpanOf(o.group, o.at, max(at, o.at), d.frame(o.name), 0, unfinished)
}

// track returns a track of a process, next to the tracks of its threads.
func (d *decoder) track(pid int64, name string) *recording.TrackBuilder {
	return d.b.Track(recording.TrackKey{Kind: recording.AsyncTrack, PID: pid, Name: name})
}

func (d *decoder) frame(name string) recording.FrameID {
	if name == "" {
		name = "[no name]"
	}
	return d.b.FunctionFrame(d.b.Function(recording.Function{Name: name}))
}

func (d *decoder) counter(pid int64, name string) int {
	k := fmt.Sprint(pid, " ", name)
	c, ok := d.counters[k]
	if !ok {
		c = d.b.AddCounter(d.b.Process(pid), name, "", "")
		d.counters[k] = c
	}
	return c
}
