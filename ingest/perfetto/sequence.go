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
	texts [internString + 1]*words
	// version changes when something is called anew.
	version int
	more    map[protowire.Number]map[uint64][]byte // messages

	calls map[uint64]recording.CallID // of callstacks
	sums  map[*track]float64          // of counters that say by how much they change

	clock    uint64 // of packets that name none
	ticks    *clock // the one that was asked last
	track    uint64 // of events that name none
	on       *track // the one that was asked for last
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
	clear(s.texts[:])
	s.version++
	s.more = map[protowire.Number]map[uint64][]byte{}
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
			s.call(num, iid, text)
		case internFrame, internCallstack, internMapping:
			s.keep(num, iid, v.b)
		}
	}
}

// call gives a thing of a kind a name.
func (s *sequence) call(kind protowire.Number, iid uint64, text []byte) {
	if s.texts[kind] == nil {
		s.texts[kind] = new(words)
	}
	if s.texts[kind].set(iid, text) {
		s.version++
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

// scale is how many nanoseconds a clock counts at a time.
type scale struct {
	by          int64
	incremental bool
}

// clock is one that packets have times of.
type clock struct {
	key    clockKey
	points []point
	sum    uint64 // of one that counts on from packet to packet
	scale
}

type clocks struct {
	all     map[clockKey]*clock
	usual   *clock // that of packets and sequences that name none, nil while nothing is known of it
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
			is := c.all[k]
			if is == nil {
				is = &clock{key: k}
				c.all[k] = is
				if k == (clockKey{}) {
					c.usual = is
				}
			}
			is.sum, is.scale = x.at, x.s
			if x.id != want {
				is.points = append(is.points, point{int64(x.at) * x.s.by, int64(base.at) * base.s.by})
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
	is := c.usual
	if id != 0 {
		if k := clockOf(s.id, id); s.ticks == nil || s.ticks.key != k {
			s.ticks = c.all[k]
		}
		is = s.ticks
	}
	if is == nil {
		return int64(p.time)
	}
	t := p.time
	if is.incremental {
		t += is.sum
		is.sum = t
	}
	at := int64(t) * is.by
	list := is.points
	if id == 0 || len(list) == 0 {
		return at
	}
	near := list[len(list)-1]
	if near.at > at {
		i := sort.Search(len(list), func(i int) bool { return list[i].at > at }) - 1
		near = list[max(i, 0)]
	}
	return near.trace + at - near.at
}
