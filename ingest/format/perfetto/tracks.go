package perfetto

import (
	"cmp"
	"strings"
)

// track is a track with events.
type track struct {
	uuid, parent uint64
	name         string
	thread       bool
	process      bool
	pid, tid     int64
	group        uint32
	counter      *counter // nil unless this is a counter track
	ending       []uint64 // flows that end at the next slice that begins
	row
}

// counter is the description of a counter track.
type counter struct {
	unit        string
	factor      float64
	incremental bool
	// A counter with incremental values has a separate sum for each sequence; of is the
	// sequence whose sum is in summing.
	of *sequence
	summing
	others map[*sequence]summing
}

type summing struct {
	generation uint32
	sum        float64
}

func (r *reader) track(uuid uint64) *track {
	t := r.tracks[uuid]
	if t == nil {
		r.groups++
		t = &track{uuid: uuid, group: r.groups}
		r.tracks[uuid] = t
	}
	return t
}

// Units of counters.
var units = []string{"", "ns", "count", "bytes"}

// descriptor reads the description of a track.
func (r *reader) descriptor(b []byte) *track {
	var uuid uint64
	var thread [2]int64
	for num, v := range each(b) {
		switch num {
		case 1:
			uuid = v.n
		case 4:
			thread[0], thread[1], _ = readThread(v.b)
		}
	}
	if t := r.threads[thread]; t != nil && thread[1] != 0 && t.uuid == 0 && uuid != 0 && r.tracks[uuid] == nil {
		t.uuid = uuid // its earlier events named no track
		r.tracks[uuid] = t
	}
	t := r.track(uuid)
	for num, v := range each(b) {
		switch num {
		case 2, 10, 13:
			t.name = v.text()
		case 3:
			t.process = true
			t.pid = r.processDescriptor(v.b)
		case 4:
			pid, tid, name := readThread(v.b)
			t.thread, t.pid, t.tid = true, pid, tid
			if name != "" {
				t.name = name
			}
			if k := [2]int64{pid, tid}; r.given[k] == nil || r.given[k].group < t.group {
				r.given[k] = t
			}
			r.later(func(m *maker) { m.owns(pid, tid, name) })
		case 5:
			t.parent = v.n
		case 8:
			t.readCounter(v.b)
		}
	}
	return t
}

func (t *track) readCounter(b []byte) {
	c := t.counter
	if c == nil {
		c = new(counter)
		t.counter = c
	}
	c.factor = 1
	for num, v := range each(b) {
		switch num {
		case 1:
			if t.name == "" {
				t.name = map[uint64]string{1: "thread time", 2: "instructions"}[v.n]
			}
			if v.n == 1 {
				c.unit = "ns"
			}
		case 3:
			if v.n < uint64(len(units)) {
				c.unit = cmp.Or(units[v.n], c.unit)
			}
		case 4:
			c.factor = float64(int64(v.n))
		case 5:
			c.incremental = v.n != 0
		case 6:
			c.unit = v.text()
		}
	}
}

func id(n uint64) int64 { return int64(int32(n)) }

// processDescriptor names a process and returns its id.
func (r *reader) processDescriptor(b []byte) int64 {
	var pid int64
	name, labels, line := "", []string{}, ""
	for num, v := range each(b) {
		switch num {
		case 1:
			pid = id(v.n)
		case 2:
			line = cmp.Or(line, v.text())
		case 6:
			name = v.text()
		case 8:
			labels = append(labels, v.text())
		}
	}
	r.later(func(m *maker) {
		p := m.b.ProcessInfo(m.b.Process(pid))
		if name = cmp.Or(name, line); name != "" && p.Name == "" {
			p.Name = name
		}
		if len(labels) > 0 {
			p.Labels = strings.Join(labels, ", ")
		}
	})
	return pid
}

func readThread(b []byte) (pid, tid int64, name string) {
	for num, v := range each(b) {
		switch num {
		case 1:
			pid = id(v.n)
		case 2:
			tid = int64(v.n)
		case 5:
			name = v.text()
		}
	}
	return pid, tid, name
}

// tree reads the lists of processes and threads.
func (r *reader) tree(b []byte) {
	for num, v := range each(b) {
		var ids [4]int64
		name := ""
		for n, f := range each(v.b) {
			switch {
			case n <= 3 && f.b == nil:
				ids[n] = id(f.n)
			case n == 2 && num == 2, n == 3 && num == 1:
				name = cmp.Or(name, f.text())
			}
		}
		switch num {
		case 1:
			r.later(func(m *maker) {
				if p := m.b.ProcessInfo(m.b.Process(ids[1])); p.Name == "" {
					p.Name = name
				}
				m.states.Owner[ids[1]] = ids[1]
			})
		case 2:
			r.later(func(m *maker) { m.owns(ids[3], ids[1], name) })
		}
	}
}

// sequenceThread sets the thread of a sequence's legacy events.
func (r *reader) sequenceThread(s *sequence, b []byte) {
	for num, v := range each(b) {
		switch num {
		case 6:
			s.time = int64(v.n)
		}
	}
	pid, tid, name := readThread(b)
	s.pid, s.tid, s.hasThread = pid, tid, true
	t := r.threadTrack(pid, tid)
	t.name = cmp.Or(t.name, name)
}

// threadTrack returns the track for events that name only a thread: the latest track
// described for the thread's id, else a new one.
func (r *reader) threadTrack(pid, tid int64) *track {
	k := [2]int64{pid, tid}
	t := r.threads[k]
	if t != nil {
		return t
	}
	if t = r.given[k]; t == nil || !t.thread || t.pid != pid || t.tid != tid {
		r.groups++
		t = &track{thread: true, pid: pid, tid: tid, group: r.groups}
	}
	r.threads[k] = t
	return t
}

// above returns the process of a track and, if there is one, its thread.
func (r *reader) above(t *track) (pid int64, thread *track) {
	for range 64 {
		switch {
		case t.thread:
			return t.pid, t
		case t.process, t.uuid == 0 && t.pid != 0:
			return t.pid, nil
		}
		up := r.tracks[t.parent]
		if up == nil || up == t || t.parent == 0 {
			return 0, nil
		}
		t = up
	}
	return 0, nil
}
