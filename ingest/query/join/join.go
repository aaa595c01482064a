// Package join puts several recordings on one timeline: the ranks of a distributed job, or
// the programs of one request. The joined recording has the records of all of them, so its
// sums are the sums of theirs.
package join

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/extract"
)

// Part is one of the recordings to join.
type Part struct {
	// Name tells the part from the others: see [Names].
	Name string
	Rec  *recording.Recording
}

// Keys of the notes of a joined recording.
const (
	NoteParts  = "recordings"
	NoteClocks = "clocks"
)

// joining is a join in progress.
type joining struct {
	ctx   context.Context
	parts []Part
	b     *recording.Builder
	taken map[int64]bool // process ids that may not be given to another process
	next  int64          // the next process id to give
	sort  int            // position of the next process
	count int            // number of tracks
	text  argTexts
	sums  recording.Counts
	warns []warned
	tally []recording.Tally
}

// Recordings joins complete recordings within the range. It forgets each part's recording
// once it is copied, so that its memory can be reused.
func Recordings(ctx context.Context, parts []Part, in recording.Range) (*recording.Recording, error) {
	j := &joining{ctx: ctx, parts: parts, b: recording.NewBuilder(), taken: map[int64]bool{}, next: recording.TextID}
	j.b.Only(recording.Part{Range: in})
	if err := j.text.layout(parts); err != nil {
		return nil, err
	}
	times := place(ctx, parts)
	j.describe(&times)
	for i := range parts {
		r := parts[i].Rec
		j.text.add(r)
		for k := range r.Processes {
			j.taken[r.Processes[k].PID] = true
		}
		if r.HasTime {
			j.b.Cover(r.Start+times.shift[i], r.End+times.shift[i])
		}
	}
	j.text.give(j.b)
	used := map[int64]bool{}
	for i := range parts {
		c := &copying{joining: j, part: &parts[i], index: i, rec: parts[i].Rec, shift: times.shift[i], used: used}
		if err := c.all(); err != nil {
			return nil, err
		}
		parts[i].Rec = nil
	}
	out := j.b.Finish()
	if !in.IsSet() {
		out.Counts.Windows = j.sums.Windows
	}
	out.Warnings = append(out.Warnings, j.warnings()...)
	out.Ledger = append(out.Ledger, j.tally...)
	return out, context.Cause(ctx)
}

// copying copies one part.
type copying struct {
	*joining
	part   *Part
	index  int
	rec    *recording.Recording
	shift  int64
	used   map[int64]bool // process ids in the joined recording
	calls  *extract.Calls
	tracks []*recording.TrackBuilder // by track of rec
	procs  []int                     // by process of rec
	events []int                     // by event of rec
	label  map[recording.ContextID]recording.ContextID
	spans  []lanes.Span // scratch memory
}

func (c *copying) all() error {
	c.calls = extract.NewCalls(c.rec, c.b)
	c.processes()
	c.threads()
	c.label = map[recording.ContextID]recording.ContextID{}
	for e := range c.rec.Events {
		c.events = append(c.events, c.event(e))
	}
	for _, step := range []func(){c.allSpans, c.allStates, c.samples, c.stacks, c.windows, c.moments} {
		if step(); c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
	}
	c.sums.Windows += c.rec.Counts.Windows
	c.warn()
	return nil
}

// processes adds the part's processes after those of the parts before it. A process keeps
// its number unless another part has it too.
func (c *copying) processes() {
	sorts := make([]int, 0, len(c.rec.Processes))
	for i := range c.rec.Processes {
		sorts = append(sorts, c.rec.Processes[i].Sort)
	}
	slices.Sort(sorts)
	sorts = slices.Compact(sorts)
	for _, p := range c.rec.Processes {
		number := recording.IDText(p.PID)
		if c.used[p.PID] {
			for c.taken[c.next] {
				c.next--
			}
			c.taken[c.next] = true
			if p.PID == 0 {
				number = ""
			}
			p.Name = strings.TrimSpace(p.Name + " " + number)
			p.PID = c.next
		}
		c.used[p.PID] = true
		p.In(c.part.Name)
		at, _ := slices.BinarySearch(sorts, p.Sort)
		p.Sort = c.sort + at
		k := c.b.Process(p.PID)
		*c.b.ProcessInfo(k) = p
		c.procs = append(c.procs, k)
	}
	c.sort += len(sorts)
}

// threads adds the part's tracks, each as a track of its own.
func (c *copying) threads() {
	for i, t := range c.rec.Tracks {
		pid := c.b.ProcessInfo(c.procs[t.Process]).PID
		k := recording.TrackKey{Kind: t.Kind, PID: pid, TID: t.TID}
		b := c.b.Track(k)
		if b.Index() < c.count { // several tracks may lack a number, like async lanes
			k.Name = fmt.Sprint(i)
			b = c.b.Track(k)
		}
		b.SetName(t.Name)
		b.SetSort(t.Sort)
		c.tracks = append(c.tracks, b)
		c.count++
	}
}

// event returns the joined event for an event of the part.
func (c *copying) event(e int) int {
	ev := c.rec.Events[e].Plain()
	ev.Metrics = slices.Clone(ev.Metrics)
	for m := range ev.Metrics {
		ev.Metrics[m].Total = 0
	}
	for i := range c.b.Events() {
		known := c.b.Event(i)
		if slices.Contains(c.events, i) || !alike(known, &ev) {
			continue
		}
		if known.Period != ev.Period {
			known.Period = 0
		}
		if known.Frequency != ev.Frequency {
			known.Frequency = 0
		}
		if known.Note != ev.Note {
			known.Note = ""
		}
		return i
	}
	return c.b.AddEvent(ev)
}

// alike reports whether two events of different recordings are the same. A recording has at
// most one event of spans and one of states.
func alike(a, b *recording.Event) bool {
	if a.Basis != b.Basis || a.Basis == recording.FromSpans || a.Basis == recording.FromStates {
		return a.Basis == b.Basis
	}
	return a.Name == b.Name && a.Kind == b.Kind && a.Mode == b.Mode && a.PeriodType == b.PeriodType && a.PeriodUnit == b.PeriodUnit &&
		slices.EqualFunc(a.Metrics, b.Metrics, func(x, y recording.Metric) bool {
			x.Total, y.Total = 0, 0
			return x == y
		})
}

// spansAtOnce is the number of spans copied together.
const spansAtOnce = 1 << 12

// allSpans copies the lanes as they are.
func (c *copying) allSpans() {
	var room lanes.Room
	for i, t := range c.rec.Tracks {
		for depth := range t.Lanes {
			l := &t.Lanes[depth]
			late := l.UnfinishedCount() > 0
			for at := 0; at < l.Len(); {
				starts, ends, calls := l.Columns(at, min(spansAtOnce, l.Len()-at), &room)
				c.spans = c.spans[:0]
				for k, call := range calls {
					s := lanes.Span{Start: starts[k] + c.shift, End: ends[k] + c.shift, Args: c.text.ref(c.index, l.Args(at+k)), Call: c.calls.Of(call)}
					if late && l.Unfinished(at+k) {
						c.tracks[i].Nested(depth, c.spans)
						c.spans = c.spans[:0]
						c.tracks[i].NestedUnfinished(depth, s)
						continue
					}
					c.spans = append(c.spans, s)
				}
				c.tracks[i].Nested(depth, c.spans)
				if at += len(calls); c.ctx.Err() != nil {
					return
				}
			}
		}
	}
}

func (c *copying) allStates() {
	for i, t := range c.rec.Tracks {
		l := &t.States
		for k := range l.Len() {
			waker := recording.NoWaker
			if w := c.rec.Waker(t, k); w.Track != recording.NoTrack {
				waker = c.b.Waker(c.tracks[w.Track].Index(), c.calls.Of(w.Call))
			}
			c.tracks[i].StateBy(l.Start(k)+c.shift, l.End(k)+c.shift, c.calls.Of(l.Call(k)), waker)
		}
		if c.ctx.Err() != nil {
			return
		}
	}
}

func (c *copying) samples() {
	for i, t := range c.rec.Tracks {
		for _, s := range t.Samples {
			metrics := c.rec.Events[s.Event].Metrics
			values := make([]int64, len(metrics))
			for k := range s.Len() {
				for m := range metrics {
					values[m] = s.Value(k, &metrics[m], m)
				}
				c.tracks[i].Sample(c.events[s.Event], s.Time(k)+c.shift, c.calls.Of(s.Call(k)), s.CPU(k), values)
			}
		}
		if c.ctx.Err() != nil {
			return
		}
	}
}

// row is a stack record in terms of the joined recording.
func (c *copying) row(s *recording.Stacks, i int, values []int64) (call recording.CallID, track int, of recording.ContextID) {
	for m := range values {
		values[m] = s.Value(i, m)
	}
	if track = s.Track(i); track != recording.NoTrack {
		track = c.tracks[track].Index()
	}
	return c.calls.Of(s.Call(i)), track, c.context(s.Context(i))
}

// stacks copies the stack records.
func (c *copying) stacks() {
	for e, s := range c.rec.Stacks {
		if s == nil {
			continue
		}
		values := make([]int64, len(c.rec.Events[e].Metrics))
		rows := make([]int, 0, s.Len())
		for i := range s.Len() {
			call, track, of := c.row(s, i, values)
			rows = append(rows, c.b.AddStack(c.events[e], call, track, of, values))
		}
		for _, h := range s.Halves() {
			c.b.Join(c.events[e], rows[h.User], rows[h.Kernel])
		}
	}
}

// context labels a context with the recording that it came from.
func (c *copying) context(id recording.ContextID) recording.ContextID {
	to, ok := c.label[id]
	if !ok {
		attrs := slices.Clone(c.rec.Contexts.At(int(id)))
		if attrs.Get(recording.LabelRecording) == "" {
			attrs = append(attrs, recording.Attr{Key: recording.LabelRecording, Value: c.part.Name})
		}
		to = c.b.Context(attrs)
		c.label[id] = to
	}
	return to
}

func (c *copying) windows() {
	for _, w := range c.rec.Windows {
		e := c.events[w.Event]
		values := make([]int64, len(c.rec.Events[w.Event].Metrics))
		for i := range w.Windows {
			x := &w.Windows[i]
			c.b.AddWindow(e, x.ID, x.Start+c.shift, x.End+c.shift)
			for r := x.First; r < x.Last; r++ {
				call, track, of := c.row(&w.Rows, r, values)
				c.b.AddWindowStack(e, call, track, of, values)
			}
		}
	}
}

// moments copies instants, counters and flows.
func (c *copying) moments() {
	for i, t := range c.rec.Tracks {
		for _, m := range t.Instants {
			c.tracks[i].Instant(m.Time+c.shift, m.Name, c.text.ref(c.index, m.Args))
		}
	}
	for _, x := range c.rec.Counters {
		k := c.b.AddCounter(c.procs[x.Process], x.Name, x.Series, x.Unit)
		for i := range x.Len() {
			c.b.CounterPoint(k, x.Time(i)+c.shift, x.Value(i))
		}
	}
	for _, f := range c.rec.Flows {
		steps := slices.Clone(f.Steps)
		for i := range steps {
			steps[i] = recording.FlowStep{Track: c.tracks[steps[i].Track].Index(), Time: steps[i].Time + c.shift}
		}
		c.b.AddFlow(recording.Flow{Name: f.Name, Steps: steps})
	}
}

// warned is a warning of some parts.
type warned struct {
	recording.Warning
	parts int
}

// warn adds the part's warnings and ledger to the others'.
func (c *copying) warn() {
	for _, w := range c.rec.Warnings {
		i := slices.IndexFunc(c.warns, func(o warned) bool { return o.Code == w.Code && o.Minor == w.Minor && o.Error == w.Error })
		if i < 0 {
			w.Text = c.part.Name + ": " + w.Text
			c.warns = append(c.warns, warned{w, 1})
			continue
		}
		c.warns[i].Count += w.Count
		c.warns[i].parts++
	}
	for _, t := range c.rec.Ledger {
		i := slices.IndexFunc(c.tally, func(o recording.Tally) bool { return o.Kind == t.Kind })
		if i < 0 {
			c.tally = append(c.tally, t)
			continue
		}
		o := &c.tally[i]
		o.Read, o.Kept, o.Repaired, o.LeftOut = o.Read+t.Read, o.Kept+t.Kept, o.Repaired+t.Repaired, o.LeftOut+t.LeftOut
		o.FirstRepaired, o.FirstLeftOut = cmp.Or(o.FirstRepaired, t.FirstRepaired), cmp.Or(o.FirstLeftOut, t.FirstLeftOut)
	}
}

func (j *joining) warnings() (out []recording.Warning) {
	for _, w := range j.warns {
		if w.parts > 1 {
			w.Text += " (also in " + safetext.Plural(w.parts-1, "other recording") + ")"
		}
		out = append(out, w.Warning)
	}
	return out
}
