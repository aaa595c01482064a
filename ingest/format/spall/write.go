package spall

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"unicode/utf8"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/format/encode/sums"
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
)

// spallWriter writes the spans of a recording as a spall trace of version 3.
//
// A tick is a nanosecond if all times are whole nanoseconds on the recording's own clock,
// else a picosecond. Asynchronous operations, and spans that overlap others of their
// thread without nesting, are on threads of their own, because spans on a spall thread
// must nest. Instants are left out: the format has a number for them, but no layout that
// its own reader knows.
type spallWriter struct {
	*encode.Job
	nano   bool
	clock  encode.ClockText
	latest int64
	buffer []byte
	first  uint64 // time of the buffer's first event
	pid    uint32
	tid    uint32
	pids   map[int64]uint32
	tids   map[spallThread]bool
	firsts map[[2]int64]int // PID and TID to the first track of a thread with them
	made   uint32
	names  []string

	cutNames, cutArgs, lostMarks, foreign, apart int64
}

type spallThread struct{ pid, tid uint32 }

// Sizes of version 3: see package ashlar/ingest/format/spall.
const (
	spallMagic   = 0x0BADF00D
	spallLongest = 255 // maximum bytes of a name or an argument
	spallBuffer  = 1 << 20
	spallBegin   = 3
	spallEnd     = 4
	spallProcess = 8
	spallNamed   = 9
)

func write(j *encode.Job) error {
	rec := j.Rec
	if rec.Counts.Spans == 0 {
		return encode.ErrNothing
	}
	s := &spallWriter{Job: j, pids: map[int64]uint32{}, tids: map[spallThread]bool{}, names: make([]string, rec.Functions.Len()), made: math.MaxInt32}
	j.Total = 2 * rec.Counts.Spans
	if err := s.setClock(); err != nil {
		return err
	}
	s.latest = s.writtenLatest()
	unit := 1.0
	if !s.nano {
		unit = 0.001
	}
	b := binary.LittleEndian.AppendUint64(nil, spallMagic)
	b = binary.LittleEndian.AppendUint64(b, 3)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(unit))
	b = binary.LittleEndian.AppendUint64(b, 0)
	if _, err := s.W.Write(b); err != nil {
		return err
	}
	s.takeThreads()
	named := map[int]bool{}
	for i, t := range rec.Tracks {
		for n, col := range encode.Columns(rec, t) {
			if err := s.column(t, i, n, col, named); err != nil {
				return err
			}
		}
	}
	s.losses()
	return nil
}

// setClock chooses the unit: nanoseconds if all times are whole nanoseconds.
func (s *spallWriter) setClock() error {
	ns, ok := encode.NewClockText(&s.Rec.Clock, 1000)
	var room lanes.Room
	s.nano = ok && ns.Rest == 0 && ns.Units >= 0
	for _, t := range s.Rec.Tracks {
		for i := range t.Lanes {
			l := &t.Lanes[i]
			for k := 0; k < l.Len() && s.nano; {
				starts, ends, _ := l.Columns(k, l.Len(), &room)
				for n := range starts {
					if starts[n]%1000 != 0 || ends[n]%1000 != 0 {
						s.nano = false
						break
					}
				}
				k += len(starts)
				if err := s.Tick(int64(len(starts))); err != nil {
					return err
				}
			}
		}
	}
	if s.nano {
		s.clock = ns
		if first, _ := ns.At(s.Rec.Start); first >= 0 {
			return nil
		}
	}
	// One tick is a picosecond; times are absolute if they fit in 64 bits.
	ps, ok := encode.NewClockText(&s.Rec.Clock, 1)
	s.nano, s.clock = false, ps
	first, _ := ps.At(s.Rec.Start)
	last, _ := ps.At(s.Rec.End)
	if !ok || first < 0 || last < first || last > math.MaxInt64/4 {
		s.clock = encode.ClockText{Per: 1, Units: -s.Rec.Start}
		s.Lose(1, "clock origins", "times are relative to the start of the recording, because absolute picoseconds exceed 64 bits")
	}
	return nil
}

func (s *spallWriter) time(t int64) uint64 {
	units, _ := s.clock.At(t)
	return uint64(units)
}

// writtenLatest returns the latest time that is written. Readers end unfinished spans
// there.
func (s *spallWriter) writtenLatest() int64 {
	latest := s.Rec.Start
	for _, t := range s.Rec.Tracks {
		for i := range t.Lanes {
			latest = max(latest, encode.LaneLatest(&t.Lanes[i]))
		}
	}
	return latest
}

// takeThreads reserves the ids that threads of the recording have.
func (s *spallWriter) takeThreads() {
	s.firsts = map[[2]int64]int{}
	for i, t := range s.Rec.Tracks {
		if ids := [2]int64{t.PID, t.TID}; t.Kind == recording.ThreadTrack {
			if _, ok := s.firsts[ids]; !ok {
				s.firsts[ids] = i
			}
		}
		if fits32(t.PID) && fits32(t.TID) {
			s.tids[spallThread{uint32(t.PID), uint32(t.TID)}] = true
		}
		if fits32(t.PID) {
			s.pids[t.PID] = uint32(t.PID)
		}
	}
	for i := range s.Rec.Processes {
		if pid := s.Rec.Processes[i].PID; !fits32(pid) {
			for taken := true; taken; {
				s.made++
				_, taken = s.pids[int64(s.made)]
			}
			s.pids[pid] = s.made
		}
	}
}

func fits32(id int64) bool { return id >= 0 && id <= math.MaxUint32 }

// column writes column n of track i.
func (s *spallWriter) column(t *recording.Track, i, n int, col *encode.Column, named map[int]bool) error {
	s.pid = s.pids[t.PID]
	name := t.Name
	switch {
	case n == 0 && t.Kind == recording.ThreadTrack && fits32(t.TID) && !s.shared(i):
		s.tid = uint32(t.TID)
		if !fits32(t.PID) {
			s.foreign++
		}
	default:
		for taken := true; taken; {
			s.made++
			taken = s.tids[spallThread{s.pid, s.made}]
		}
		s.tid = s.made
		if name == "" {
			name = t.Title()
		}
		if n > 0 || t.Kind == recording.AsyncTrack {
			s.apart += col.Spans()
		} else {
			s.foreign++
		}
	}
	s.tids[spallThread{s.pid, s.tid}] = true
	s.first = s.time(col.Lanes[0].Start(0))
	if !named[t.Process] {
		named[t.Process] = true
		s.name(spallProcess, s.Rec.Processes[t.Process].Name)
	}
	s.name(spallNamed, name)
	var open []bool // for each open span: it and all spans around it are unfinished
	err := col.Walk(func(sp *encode.Span) error {
		open = append(open[:sp.Depth], sp.Unfinished && sp.End == s.latest && (sp.Depth == 0 || open[sp.Depth-1]))
		return s.begin(sp)
	}, func(sp *encode.Span) error {
		// Only the last spans of a thread may stay open.
		if sp.Unfinished && open[sp.Depth] && col.Done() {
			return nil
		}
		if sp.Unfinished {
			s.lostMarks++
		}
		return s.end(sp)
	})
	if err != nil {
		return err
	}
	return s.flush()
}

// shared reports whether an earlier track has the same ids.
func (s *spallWriter) shared(i int) bool {
	t := s.Rec.Tracks[i]
	first, ok := s.firsts[[2]int64{t.PID, t.TID}]
	return ok && first < i
}

// room makes room for n bytes in the buffer, because an event must not extend beyond its
// buffer.
func (s *spallWriter) room(n int, at uint64) error {
	if len(s.buffer)+n > spallBuffer {
		if err := s.flush(); err != nil {
			return err
		}
	}
	if len(s.buffer) == 0 {
		s.first = at
	}
	return nil
}

// flush writes the buffer.
func (s *spallWriter) flush() error {
	if len(s.buffer) == 0 {
		return nil
	}
	h := binary.LittleEndian.AppendUint32(nil, uint32(len(s.buffer)))
	h = binary.LittleEndian.AppendUint32(h, s.tid)
	h = binary.LittleEndian.AppendUint32(h, s.pid)
	h = binary.LittleEndian.AppendUint64(h, s.first)
	if _, err := s.W.Write(h); err != nil {
		return err
	}
	_, err := s.W.Write(s.buffer)
	s.buffer = s.buffer[:0]
	return err
}

// name writes the name of the buffer's process or thread.
func (s *spallWriter) name(typ byte, name string) {
	if name == "" {
		return
	}
	name = s.short(name, &s.cutNames)
	s.buffer = append(s.buffer, typ, byte(len(name)))
	s.buffer = append(s.buffer, name...)
}

// short truncates a text to the maximum length of the format.
func (s *spallWriter) short(text string, count *int64) string {
	if len(text) <= spallLongest {
		return text
	}
	*count++
	n := spallLongest
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

func (s *spallWriter) begin(sp *encode.Span) error {
	id := s.Rec.Func(sp.Call)
	name := s.names[id]
	if name == "" {
		name = s.short(s.Rec.NameInFile(id), &s.cutNames)
		s.names[id] = name
	}
	args := s.short(s.args(sp.Args), &s.cutArgs)
	at := s.time(sp.Start)
	if err := s.room(11+len(name)+len(args), at); err != nil {
		return err
	}
	s.buffer = append(s.buffer, spallBegin)
	s.buffer = binary.LittleEndian.AppendUint64(s.buffer, at)
	s.buffer = append(s.buffer, byte(len(name)), byte(len(args)))
	s.buffer = append(append(s.buffer, name...), args...)
	s.Records++
	return s.Tick(1)
}

func (s *spallWriter) end(sp *encode.Span) error {
	at := s.time(sp.End)
	if err := s.room(9, at); err != nil {
		return err
	}
	s.buffer = binary.LittleEndian.AppendUint64(append(s.buffer, spallEnd), at)
	s.Records++
	return nil
}

// args returns the text of a span's arguments. If they are JSON with a single string
// member "args", it returns that string.
func (s *spallWriter) args(ref uint64) string {
	if ref == 0 || s.Rec.Args == nil {
		return ""
	}
	text := s.Rec.Args(ref)
	if len(text) < 10 || text[:9] != `{"args":"` {
		return text
	}
	var plain map[string]string
	if json.Unmarshal([]byte(text), &plain) == nil && len(plain) == 1 {
		return plain["args"]
	}
	return text
}

func (s *spallWriter) losses() {
	rec := s.Rec
	const why = "spall has only spans"
	for e := range rec.Events {
		if rec.Events[e].Basis == recording.FromSpans {
			sums.LoseApart(s.Job, e)
		}
	}
	s.LoseMarks(why)
	s.Lose(encode.Samples(rec), "samples", why)
	s.Lose(rec.Counts.Stacks, "stacks", why)
	s.LoseWindows(why)
	s.LoseNotes(why)
	s.Lose(s.cutNames, "names", "texts longer than 255 bytes were truncated")
	s.Lose(s.cutArgs, "arguments", "texts longer than 255 bytes were truncated")
	s.Lose(s.lostMarks, "marks of unfinished spans", "other spans follow, so they need an end")
	s.Lose(s.foreign, "thread ids", "threads without an id, with an id above 32 bits, or with a duplicate id got new ids and keep their names")
	s.Lose(s.apart, "positions of spans on their threads", "spans that overlap without nesting and async spans are written on separate threads")
	s.LoseLabels(why)
	s.LosePlaces("spall has only names")
	s.LoseModules("spall has only names")
	s.LoseSymbols("spall has only names")
}
