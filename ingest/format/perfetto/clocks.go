package perfetto

import "sort"

// A clockKey identifies a clock. Clocks with an id of 64 or more belong to a sequence;
// for others, seq is 0.
type clockKey struct{ seq, id uint64 }

func clockOf(seq, id uint64) clockKey {
	if id < 64 || id > 127 {
		seq = 0
	}
	return clockKey{seq, id}
}

const (
	// bootTime is the default clock of a trace.
	bootTime = 6
	// monotonic is the clock of V8's times.
	monotonic = 3
)

// A point is a clock's time and the trace clock's time at the same moment, in
// nanoseconds.
type point struct{ at, trace int64 }

// scale is the length of a clock's tick in nanoseconds.
type scale struct {
	by          int64
	incremental bool
}

// A clock is a clock used for packets' times.
type clock struct {
	points []point
	sum    uint64 // running time of an incremental clock
	scale
}

type clocks struct {
	all     map[clockKey]*clock
	usual   *clock // default for packets and sequences that name no clock; nil while unknown
	primary uint64
}

// snapshot reads the times of several clocks at one moment.
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
				is = new(clock)
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

// ahead returns how far the trace's clock is ahead of a clock shared by all sequences,
// according to the latest snapshot; 0 without one.
func (c *clocks) ahead(id uint64) int64 {
	is := c.all[clockKey{id: id}]
	if is == nil || len(is.points) == 0 {
		return 0
	}
	p := is.points[len(is.points)-1]
	return p.trace - p.at
}

// time converts a packet's time to the trace's clock.
func (c *clocks) time(s *sequence, p *packet) int64 {
	id := uint64(p.clock)
	if id == 0 {
		id = s.clock
	}
	is := c.usual
	if id != 0 {
		if is = s.ticks; is == nil || s.ticksID != id {
			is = c.all[clockOf(s.id, id)]
			s.ticks, s.ticksID = is, id
		}
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
