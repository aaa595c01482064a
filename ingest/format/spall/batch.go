package spall

import (
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
)

// Kinds of event in a batch.
const (
	evNested     = iota // a begin and its end; id is a call; this value must be 0
	evNestedArgs        // like evNested, with an entry in extra: the reference to the arguments
	evEnd               // end of a span that an earlier batch left open; id is unused
	evSpan              // a span that need not nest; id is a name
	evInstant           // id is a name
	kindBits     = 3
)

// event is the result of one record, or of a begin and its end.
type event struct {
	at, end int64  // picoseconds; end is unused for evEnd and evInstant
	id      uint32 // a call or a name, by kind
	what    uint32 // thread<<kindBits | kind
	depth   uint32 // nesting depth of an evNested; the sink replaces it by a lane's number
}

// batchLen is the number of events in a batch: few enough to stay in the cache from one
// goroutine to the next.
const batchLen = 4096

// batch is a run of events with the names, calls and threads that are new in it.
type batch struct {
	events []event
	loose  bool // the batch has an evSpan
	// opened are, by thread, the spans that began in this batch and have not
	// ended in it, outermost first.
	opened []opened
	// first has the times of threads' first begins, because spans are added when they
	// end.
	first   []int64
	extra   []uint64
	names   []string // new names; their ids follow the known ones
	calls   []call   // new calls; their numbers follow the known ones
	threads []thread
	renames []rename
	notes   []note
	kinds   []recordKind // kinds counted for the first time
	tallies [recordKinds]tally
}

// thread is a new thread. Its number is the number of threads before it.
type thread struct{ pid, tid uint32 }

// call is a new call. Numbers count up from the root, which is 0. The parser interns calls
// to relieve the builder, the slower stage.
type call struct{ parent, name uint32 }

// opened is a span whose end has not been read yet.
type opened struct {
	openCall
	thread uint32
}

// openCall is a begin without its end.
type openCall struct {
	start int64
	args  uint64
	call  uint32
}

// rename is a name that the file gives a thread or a process.
type rename struct {
	thread  uint32
	process bool
	name    string
}

// note is a warning that occurred n times, with its text if it is the first of its kind.
type note struct {
	code        problem
	n           int64
	place, text string
}

func (b *batch) reset() {
	*b = batch{events: b.events[:0], opened: b.opened[:0], first: b.first[:0], extra: b.extra[:0], names: b.names[:0], calls: b.calls[:0], threads: b.threads[:0], renames: b.renames[:0], notes: b.notes[:0], kinds: b.kinds[:0]}
}

// sink puts batches into a builder.
type sink struct {
	b       *recording.Builder
	tracks  []*recording.TrackBuilder
	procs   []int
	frames  []recording.FrameID
	names   []string
	calls   []recording.CallID
	tallies [recordKinds]*recording.Tally
	noted   [problems]bool
	sorter  sorter
	loose   bool // a batch with an evSpan was added
	// function, if set, converts a name to a function.
	function func(name string) recording.Function
	close    func() // called after reading; may be nil
}

func newSink(b *recording.Builder) *sink {
	s := &sink{b: b, calls: []recording.CallID{recording.NoCall}}
	s.tallies[recBegin], s.tallies[recEnd] = b.Tally(recordNames[recBegin]), b.Tally(recordNames[recEnd])
	return s
}

func (s *sink) put(bt *batch) {
	for _, name := range bt.names {
		f := recording.Function{Name: name, Kind: recording.KindUser}
		if s.function != nil {
			f = s.function(name)
		}
		s.frames = append(s.frames, s.b.FunctionFrame(s.b.Function(f)))
		s.names = append(s.names, f.Name)
	}
	for _, c := range bt.calls {
		s.calls = append(s.calls, s.b.Call(s.calls[c.parent], s.frames[c.name]))
	}
	for _, t := range bt.threads {
		s.tracks = append(s.tracks, s.b.Track(recording.TrackKey{PID: int64(t.pid), TID: int64(t.tid)}))
		s.procs = append(s.procs, s.b.Process(int64(t.pid)))
	}
	for _, r := range bt.renames {
		if r.process {
			s.b.ProcessInfo(s.procs[r.thread]).Name = r.name
		} else {
			s.tracks[r.thread].SetName(r.name)
		}
	}
	s.account(bt)
	for _, at := range bt.first {
		s.b.Cover(at, at)
	}
	if s.loose = s.loose || bt.loose; s.loose {
		s.inOrder(bt)
	} else {
		s.byLane(bt)
	}
	for i := range bt.opened {
		o := &bt.opened[i]
		s.tracks[o.thread].Open(o.start, s.calls[o.call], o.args)
	}
}

// inOrder adds events in file order, because the placement of spans that need not nest
// depends on which came first.
func (s *sink) inOrder(bt *batch) {
	extra := bt.extra
	for i := range bt.events {
		e := &bt.events[i]
		t := s.tracks[e.what>>kindBits]
		switch e.what & (1<<kindBits - 1) {
		case evNested:
			t.Nested(int(e.depth), []lanes.Span{{Start: e.at, End: e.end, Call: s.calls[e.id]}})
		case evNestedArgs:
			t.Nested(int(e.depth), []lanes.Span{{Start: e.at, End: e.end, Call: s.calls[e.id], Args: extra[0]}})
			extra = extra[1:]
		case evSpan:
			t.Span(e.at, e.end, s.frames[e.id], 0, false)
		default:
			s.moment(t, e)
		}
	}
}

// moment adds an event with a single time: an instant or an end.
func (s *sink) moment(t *recording.TrackBuilder, e *event) {
	if e.what&(1<<kindBits-1) == evEnd {
		t.End(e.at)
	} else {
		t.Instant(e.at, s.names[e.id], 0)
	}
}

// account adds a batch's warnings and counts.
func (s *sink) account(bt *batch) {
	for _, n := range bt.notes {
		code := problemCodes[n.code]
		if !s.noted[n.code] {
			s.noted[n.code] = true
			say := s.b.Warn
			if n.code == unmatchedEnd {
				say = s.b.Usual
			}
			say(code, n.place, "%s", n.text)
			n.n--
		}
		s.b.WarnMore(code, n.n)
	}
	for _, k := range bt.kinds {
		s.tallies[k] = s.b.Tally(recordNames[k])
	}
	for k := range bt.tallies {
		d := &bt.tallies[k]
		if d.read == 0 {
			continue
		}
		t := s.tallies[k]
		t.Read += d.read
		t.LeftOut += d.leftOut
		t.Kept += d.read - d.leftOut
		t.Repaired += d.repaired
		if t.FirstLeftOut == "" {
			t.FirstLeftOut = d.firstLeftOut
		}
		if t.FirstRepaired == "" {
			t.FirstRepaired = d.firstRepaired
		}
	}
}
