package perfetto

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of InternedData that are kept.
const (
	internCategory   = 1
	internName       = 2
	internAnnotation = 3
	internFunction   = 5
	internFrame      = 6
	internCallstack  = 7
	internPath       = 17
	internSource     = 18
	internMapping    = 19
	internString     = 29
)

// sequence holds the state of one writer, whose packets refer to earlier ones.
type sequence struct {
	id    uint64
	valid bool
	texts [internString + 1]*words
	// generation counts the restarts of the sequence, version the changes of names.
	generation, version uint32
	named               []named                                // labels of numbered events, by number of the name
	more                map[protowire.Number]map[uint64][]byte // other interned messages

	args    *argStore
	terms   *terms // texts for arguments, nil while there are none
	renamed bool   // a number changed its text after arguments used it

	calls  map[uint64]uint32 // by callstack number
	frames map[uint64]uint32

	clock         uint64 // clock of packets that name no clock
	ticks         *clock // the last clock used; its number is ticksID
	ticksID       uint64
	track         uint64 // track of events that name no track
	on            *track // the last track used
	hasTrack      bool
	counters      []uint64
	doubles       []uint64
	counterTracks []*track   // tracks of the counters, once looked up
	doubleTracks  []*track   // tracks of counters with double values
	weight        descriptor // weight of stack samples

	pid, tid  int64 // process and thread of legacy events
	hasThread bool
	own       *track // track of the thread in the sequence's descriptor
	time      int64  // latest time of legacy events in microseconds
}

func (s *sequence) clear() {
	clear(s.texts[:])
	s.generation++
	s.named = nil
	s.terms, s.renamed = nil, false
	s.more, s.calls, s.frames = nil, nil, nil
	s.clock, s.track, s.hasTrack = 0, 0, false
	s.clearCounters()
}

func (s *sequence) clearCounters() {
	s.counters, s.doubles, s.counterTracks, s.doubleTracks = nil, nil, nil, nil
}

// mostInterned is the maximum number of items of a kind that a sequence may intern.
const mostInterned = 1 << 22

func (r *reader) intern(s *sequence, b []byte) {
	for num, v := range each(b) {
		var iid uint64
		var text []byte
		for n, f := range each(v.b) {
			switch {
			case n == 1:
				iid = f.n
			case n == 2 && f.b != nil:
				text = f.b
			}
		}
		switch num {
		case internCategory, internName, internAnnotation, internFunction, internPath, internSource, internString:
			r.call(s, num, iid, text)
		case internFrame, internCallstack, internMapping:
			s.keep(num, iid, v.b)
		}
	}
}

// call sets the text that number iid of the given kind stands for.
func (r *reader) call(s *sequence, kind protowire.Number, iid uint64, text []byte) {
	w := s.texts[kind]
	if w == nil {
		w = new(words)
		s.texts[kind] = w
	}
	before := w.get(iid)
	if before == string(text) {
		return
	}
	is := r.text(text)
	w.set(iid, is)
	if kind == internAnnotation || kind == internString {
		s.setTerm(kind, iid, is, before != "")
	}
	if before != "" {
		s.version++
		s.frames = nil
	}
}

func (s *sequence) keep(num protowire.Number, iid uint64, b []byte) {
	if num == internCallstack {
		delete(s.calls, iid)
	}
	if num == internFrame {
		delete(s.frames, iid)
	}
	if s.more == nil {
		s.more = map[protowire.Number]map[uint64][]byte{}
	}
	if s.more[num] == nil {
		s.more[num] = map[uint64][]byte{}
	}
	if len(s.more[num]) < mostInterned {
		s.more[num][iid] = bytes.Clone(b) // a copy, so as not to keep the packet in memory
	}
}

func (s *sequence) setDefaults(b []byte) {
	for num, v := range each(b) {
		switch num {
		case packetClock:
			s.clock = v.n
		case packetEvent:
			s.clearCounters()
			for num, v := range each(v.b) {
				switch num {
				case eventTrack:
					s.track, s.hasTrack = v.n, true
				case eventCounters:
					s.counters = v.numbers(s.counters)
				case eventDoubles:
					s.doubles = v.numbers(s.doubles)
				}
			}
		case 100: // stack samples
			for num, v := range each(v.b) {
				if num == 2 {
					s.weight = readDescriptor(v.b)
				}
			}
		}
	}
}
