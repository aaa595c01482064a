// Package stacktext provides the parts that readers of indented stack listings share:
// lines, frames, summed rows, samples and trees.
package stacktext

import (
	"bytes"
	"context"
	"fmt"
	"math"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
)

// Sheet collects the stacks of one text.
type Sheet struct {
	B     *recording.Builder
	Line  int64 // number of the current line
	Stack *recording.Tally

	lines    *recording.Tally
	frames   map[Frame]recording.FrameID
	events   map[string]int
	counts   []*counts // by event; nil if the event has samples
	ids      []recording.FrameID
	timed    bool // origin is known
	origin   int64
	held     []point // points held until the origin is known
	pending  int
	sums     []*row // sums of samples, in order of first appearance
	sumsByID map[rowKey]*row
}

// NewSheet returns a sheet that fills b.
func NewSheet(b *recording.Builder) *Sheet {
	return &Sheet{
		B: b, Stack: b.Tally("stack"), frames: map[Frame]recording.FrameID{},
		events: map[string]int{}, sumsByID: map[rowKey]*row{},
	}
}

// Read calls do with each line, without its line end.
func (s *Sheet) Read(ctx context.Context, in *source.Input, do func(line []byte)) error {
	in.OnSilence(func() bool {
		if s.B.OnPublish != nil {
			s.flush()
		}
		return s.B.Progress()
	})
	next := func(rest int) ([]byte, error) {
		chunk, _, err := in.Next(rest)
		return chunk, err
	}
	return decode.WholeLines(ctx, next, s.B, func() {
		s.Line++
		s.leaveOut(s.otherLines(), s.Line, "line-too-long", "is longer than %d MB and was left out", decode.MaxLine>>20)
	}, func(line []byte, _ bool) {
		s.Line++
		do(bytes.TrimRight(line, "\r"))
	})
}

// otherLines returns the tally of lines outside of stacks, which exists only if there is
// such a line.
func (s *Sheet) otherLines() *recording.Tally {
	if s.lines == nil {
		s.lines = s.B.Tally("other line")
	}
	return s.lines
}

// Place returns the text for a line number in warnings.
func Place(line int64) string { return fmt.Sprintf("line %d", line) }

// LeaveLine warns of a line that is not a part of any stack.
func (s *Sheet) LeaveLine(line int64, code, what string, args ...any) {
	s.leaveOut(s.otherLines(), line, code, what, args...)
}

// SkipLine counts a line that holds nothing to show.
func (s *Sheet) SkipLine(line int64) {
	s.otherLines().Read++
	s.otherLines().Leave(Place(line))
}

// LeaveStack warns of a stack that cannot be shown.
func (s *Sheet) LeaveStack(line int64, code, what string, args ...any) {
	s.leaveOut(s.Stack, line, code, what, args...)
}

func (s *Sheet) leaveOut(t *recording.Tally, line int64, code, what string, args ...any) {
	t.Read++
	t.Leave(Place(line))
	s.B.Warn(code, Place(line), "Line %d "+what, append([]any{line}, args...)...)
}

// Frame interns a frame.
func (s *Sheet) Frame(f Frame) recording.FrameID {
	if id, ok := s.frames[f]; ok {
		return id
	}
	fn := recording.Function{Name: f.Name, Module: f.Module, File: f.File, Kind: f.Kind}
	switch {
	case f.Name == "" && f.Addr != 0:
		fn.Name, fn.Unresolved = funcname.OfAddress(f.Module, f.Addr, f.Offset), true
	case f.Name == "":
		fn.Name, fn.Unresolved = funcname.Unknown, true
	case f.Name == "[unknown]" || f.Name == "???":
		fn.Unresolved = true
	}
	id := s.B.Frame(recording.Frame{
		Func: s.B.Function(fn), Addr: f.Addr, Offset: f.Offset, File: f.File, Line: f.Line, Column: f.Column, Kind: f.Kind,
	})
	s.frames[f] = id
	return id
}

// Call interns a stack, leaf first.
func (s *Sheet) Call(stack []Frame) recording.CallID {
	s.ids = s.ids[:0]
	for i := len(stack) - 1; i >= 0; i-- {
		s.ids = append(s.ids, s.Frame(stack[i]))
	}
	return s.B.Stack(s.ids)
}

// Event returns the index of the event with this name and these metrics, adding it if it
// is new. Rows with the same name but other metrics belong to another event.
func (s *Sheet) Event(e recording.Event) int {
	key := e.Name
	for _, m := range e.Metrics {
		key += "\x00" + m.Name + "\x00" + m.Unit
	}
	i, ok := s.events[key]
	if !ok {
		e.Basis = recording.FromStacks
		i = s.B.AddEvent(e)
		s.events[key] = i
		s.counts = append(s.counts, nil)
	}
	return i
}

// Who describes where a stack was taken: the thread as far as it is known, and labels.
type Who struct {
	PID, TID       int64
	HasPID, HasTID bool
	Comm           string
	Attrs          []recording.Attr // other labels
}

// Set stores a key and value of a text; it knows the names that tools use for pid, tid
// and comm.
func (w *Who) Set(key, value string) {
	n, isNumber := Number([]byte(value))
	switch {
	case key == "pid" && isNumber:
		w.PID, w.HasPID = n, true
	case key == "tid" && isNumber:
		w.TID, w.HasTID = n, true
	case key == "execname" || key == "comm" || key == "EXEC":
		w.Comm = value
	default:
		w.Attrs = append(w.Attrs, recording.Attr{Key: key, Value: value})
	}
}

// track returns the track of a thread, adding it if it is new; nil if no thread is named.
func (s *Sheet) track(w *Who) *recording.TrackBuilder {
	if !w.HasPID && !w.HasTID && w.Comm == "" {
		return nil
	}
	k := recording.TrackKey{PID: w.PID, TID: w.TID}
	if !w.HasTID {
		k.Name = w.Comm
	}
	t := s.B.Track(k)
	if w.Comm != "" && t.Name() != w.Comm {
		t.SetName(w.Comm)
	}
	return t
}

func (s *Sheet) context(w *Who) recording.ContextID {
	attrs := append([]recording.Attr(nil), w.Attrs...)
	if w.Comm != "" {
		attrs = append(attrs, recording.Attr{Key: "comm", Value: w.Comm})
	}
	if w.HasPID {
		attrs = append(attrs, recording.Attr{Key: "pid", Value: recording.IDText(w.PID)})
	}
	if w.HasTID {
		attrs = append(attrs, recording.Attr{Key: "tid", Value: recording.IDText(w.TID)})
	}
	return s.B.Context(attrs)
}

type rowKey struct {
	event, track int
	ctx          recording.ContextID
	call         recording.CallID
}

// row holds the sums of one stack on one thread. now has the values in the current
// printing and before those in the previous one, nil if the row was not in it.
type row struct {
	rowKey
	sum, now, before []int64
}

func (s *Sheet) key(event int, w *Who, call recording.CallID) (rowKey, *recording.TrackBuilder) {
	k := rowKey{event: event, call: call, track: recording.NoTrack}
	t := s.track(w)
	if t != nil {
		k.track = t.Index()
	}
	k.ctx = s.context(w)
	return k, t
}

// batch is the number of samples to sum before their rows are added to the recording.
const batch = 1 << 16

// Sample adds one sample of an event whose first metric counts samples. at is its time
// in nanoseconds of the text's clock, nil if none is known.
func (s *Sheet) Sample(event int, w *Who, cpu int, stack []Frame, at *int64) {
	s.Stack.Read++
	s.Stack.Kept++
	k, t := s.key(event, w, s.Call(stack))
	r := s.sumsByID[k]
	if r == nil {
		r = &row{rowKey: k, sum: []int64{0}}
		s.sumsByID[k] = r
		s.sums = append(s.sums, r)
	}
	r.sum[0]++
	if at != nil {
		s.place(event, k.call, t, cpu, *at)
	}
	if s.pending++; s.pending >= batch {
		s.flush()
	}
}

// Point adds a sample to the timeline only, at a time in nanoseconds; its count is added
// elsewhere.
func (s *Sheet) Point(event int, w *Who, call recording.CallID, at int64) {
	s.place(event, call, s.track(w), -1, at)
}

// point is a sample on the timeline, with a time in nanoseconds of the text's clock.
type point struct {
	event, cpu int
	call       recording.CallID
	track      *recording.TrackBuilder // nil if no thread is named
	ns, line   int64
}

// mostHeld is the number of points from which the origin of times is chosen.
const mostHeld = 64

// place puts a sample on the timeline, once the origin of times is known.
func (s *Sheet) place(event int, call recording.CallID, t *recording.TrackBuilder, cpu int, ns int64) {
	p := point{event, cpu, call, t, ns, s.Line}
	if s.timed {
		s.put(&p)
	} else if s.held = append(s.held, p); len(s.held) == mostHeld {
		s.begin()
	}
}

// begin chooses the origin of times and puts the points held on the timeline.
func (s *Sheet) begin() {
	if s.timed || len(s.held) == 0 {
		return
	}
	times := make([]decode.Picos, len(s.held))
	for i := range s.held {
		times[i] = decode.Picos{Mantissa: s.held[i].ns, Scale: -3}
	}
	s.timed, s.origin = true, s.held[decode.Anchor(times)].ns
	*s.B.Clock() = recording.Clock{Unit: "ns", PerUnit: 1000, Origin: recording.Decimal{Mantissa: s.origin}}
	for i := range s.held {
		s.put(&s.held[i])
	}
	s.held = nil
}

// put puts a sample on the timeline.
func (s *Sheet) put(p *point) {
	at := p.ns - s.origin
	if at > math.MaxInt64/2000 || at < -math.MaxInt64/2000 {
		s.B.Warn("time-too-far", Place(p.line), "The sample on line %d is more than fifty days from the others; it is in the flamegraph but not on the timeline", p.line)
		return
	}
	t := p.track
	if t == nil {
		name := "samples"
		if p.cpu >= 0 {
			name = fmt.Sprintf("CPU %d", p.cpu)
		}
		t = s.B.Track(recording.TrackKey{Name: name})
	}
	t.Sample(p.event, at*1000, p.call, p.cpu, []int64{1})
}

// flush adds the sums of samples to the recording.
func (s *Sheet) flush() {
	for _, r := range s.sums {
		s.B.AddStack(r.event, r.call, r.track, r.ctx, r.sum)
	}
	s.sums, s.pending = s.sums[:0], 0
	clear(s.sumsByID)
}
