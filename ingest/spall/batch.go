package spall

import (
	"ashlar/ingest/recording"
)

// Kinds of event in a batch.
const (
	evBegin     = iota // id is a call; must be 0
	evEnd              // id unused
	evBeginArgs        // evBegin with one extra: the reference to the arguments
	evSpan             // id is a name; one extra: the end
	evInstant          // id is a name
	kindBits    = 3
)

// event is what became of one record.
type event struct {
	at   int64  // picoseconds
	id   uint32 // by kind
	what uint32 // thread<<kindBits | kind
}

// batchLen is how many events travel at a time: few enough to stay in a cache
// between the goroutines.
const batchLen = 8192

// batch is a run of events with all that is new in them.
type batch struct {
	events  []event
	extra   []uint64
	names   []string // of the ids that follow those known
	calls   []call   // likewise
	threads []thread
	renames []rename
	notes   []note
	kinds   []recordKind // those counted for the first time
	tallies [recordKinds]tally
}

// thread names a new thread: its number is the count of those before it.
type thread struct{ pid, tid uint32 }

// call is a new call: its number is the count of those before it, and of the
// root, which is 0. The parser finds calls, since the builder has more to do.
type call struct{ parent, name uint32 }

// rename is a name that the file gives a thread or a process.
type rename struct {
	thread  uint32
	process bool
	name    string
}

// note is a warning, n times, with its sentence when it is the first one.
type note struct {
	code        problem
	n           int64
	place, text string
}

func (b *batch) reset() {
	*b = batch{events: b.events[:0], extra: b.extra[:0], names: b.names[:0], calls: b.calls[:0], threads: b.threads[:0], renames: b.renames[:0], notes: b.notes[:0], kinds: b.kinds[:0]}
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
	// function makes a function of a name, where that takes more than the name.
	function func(name string) recording.Function
	close    func() // when reading has ended; may be nil
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
	extra := bt.extra
	for i := range bt.events {
		e := &bt.events[i]
		t := s.tracks[e.what>>kindBits]
		switch e.what & (1<<kindBits - 1) {
		case evBegin:
			t.BeginCall(e.at, s.calls[e.id], 0)
		case evEnd:
			t.End(e.at)
		case evBeginArgs:
			t.BeginCall(e.at, s.calls[e.id], extra[0])
			extra = extra[1:]
		case evSpan:
			t.Span(e.at, int64(extra[0]), s.frames[e.id], 0, false)
			extra = extra[1:]
		case evInstant:
			t.Instant(e.at, s.names[e.id], 0)
		}
	}
}

// account adds a batch's warnings and counts.
func (s *sink) account(bt *batch) {
	for _, n := range bt.notes {
		code := problemCodes[n.code]
		if !s.noted[n.code] {
			s.noted[n.code] = true
			s.b.Warn(code, n.place, "%s", n.text)
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
