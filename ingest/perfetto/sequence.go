package perfetto

import (
	"bytes"
	"sort"

	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/recording"
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

// sequence has the state of one writer: packets of it refer to earlier ones.
type sequence struct {
	id    uint64
	valid bool
	texts map[protowire.Number]map[uint64]string
	more  map[protowire.Number]map[uint64][]byte // messages

	calls map[uint64]recording.CallID // of callstacks
	sums  map[*track]float64          // of counters that say by how much they change

	clock    uint64 // of packets that name none
	track    uint64 // of events that name none
	hasTrack bool
	counters []uint64
	doubles  []uint64
	weight   descriptor // of stack samples

	pid, tid   int64 // of the older kind of events
	hasThread  bool
	own        *track // of the thread that a descriptor in the sequence told of
	time       int64  // the latest, in microseconds, of those events
	threadTime int64
}

func (s *sequence) clear() {
	s.texts, s.more = map[protowire.Number]map[uint64]string{}, map[protowire.Number]map[uint64][]byte{}
	s.calls, s.sums = map[uint64]recording.CallID{}, map[*track]float64{}
	s.clock, s.track, s.hasTrack, s.counters, s.doubles = 0, 0, false, nil, nil
}

// mostInterned is how many things a sequence may name.
const mostInterned = 1 << 22

func (s *sequence) intern(b []byte) {
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
			if s.texts[num] == nil {
				s.texts[num] = map[uint64]string{}
			}
			if len(s.texts[num]) < mostInterned {
				s.texts[num][iid] = string(text)
			}
		case internFrame, internCallstack, internMapping:
			s.keep(num, iid, v.b)
		}
	}
}

func (s *sequence) keep(num protowire.Number, iid uint64, b []byte) {
	if num == internCallstack {
		delete(s.calls, iid)
	}
	if s.more[num] == nil {
		s.more[num] = map[uint64][]byte{}
	}
	if len(s.more[num]) < mostInterned {
		s.more[num][iid] = bytes.Clone(b) // the packet is not held for it
	}
}

func (s *sequence) setDefaults(b []byte) {
	for num, v := range each(b) {
		switch num {
		case packetClock:
			s.clock = v.n
		case packetEvent:
			s.counters, s.doubles = nil, nil
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
		case 100: // of stack samples
			for num, v := range each(v.b) {
				if num == 2 {
					s.weight = readDescriptor(v.b)
				}
			}
		}
	}
}

// clockKey names a clock: those from 64 on are a sequence's own.
type clockKey struct{ seq, id uint64 }

func clockOf(seq, id uint64) clockKey {
	if id < 64 || id > 127 {
		seq = 0
	}
	return clockKey{seq, id}
}

// bootTime is the clock that a trace's times are of, unless it says otherwise.
const bootTime = 6

// point has what a clock and the trace's own showed at one moment, in nanoseconds.
type point struct{ at, trace int64 }

type scale struct {
	by          int64
	incremental bool
}

type clocks struct {
	points  map[clockKey][]point
	sums    map[clockKey]uint64 // of clocks that count on from packet to packet
	scales  map[clockKey]scale
	primary uint64
}

// snapshot reads what several clocks showed at one moment.
func (c *clocks) snapshot(seq uint64, b []byte) {
	type shown struct {
		id, at uint64
		s      scale
	}
	var all []shown
	primary := uint64(0)
	for num, v := range each(b) {
		switch num {
		case 1:
			x := shown{s: scale{by: 1}}
			for num, v := range each(v.b) {
				switch num {
				case 1:
					x.id = v.n
				case 2:
					x.at = v.n
				case 3:
					x.s.incremental = v.n != 0
				case 4:
					x.s.by = int64(min(max(v.n, 1), 1e9))
				}
			}
			all = append(all, x)
		case 2:
			primary = v.n
		}
	}
	if primary != 0 && c.primary == 0 {
		c.primary = primary
	}
	want := c.primary
	if want == 0 {
		want = bootTime
	}
	for _, base := range all {
		if base.id != want {
			continue
		}
		for _, x := range all {
			k := clockOf(seq, x.id)
			c.sums[k], c.scales[k] = x.at, x.s
			if x.id != want {
				c.points[k] = append(c.points[k], point{int64(x.at) * x.s.by, int64(base.at) * base.s.by})
			}
		}
		return
	}
}

// time is a packet's time on the trace's own clock.
func (c *clocks) time(s *sequence, p *packet) int64 {
	id := p.clock
	if id == 0 {
		id = s.clock
	}
	k := clockOf(s.id, id)
	t := p.time
	sc, ok := c.scales[k]
	if !ok {
		sc.by = 1
	}
	if sc.incremental {
		t += c.sums[k]
		c.sums[k] = t
	}
	at := int64(t) * sc.by
	list := c.points[k]
	if id == 0 || len(list) == 0 {
		return at
	}
	i := sort.Search(len(list), func(i int) bool { return list[i].at > at }) - 1
	near := list[max(i, 0)]
	return near.trace + at - near.at
}
