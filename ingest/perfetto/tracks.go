package perfetto

import (
	"cmp"
	"fmt"
	"strings"

	"ashlar/ingest/recording"
)

// track is one that events lie on.
type track struct {
	uuid, parent uint64
	name         string
	thread       bool
	process      bool
	pid, tid     int64
	group        uint32

	isCounter   bool
	unit        string
	factor      float64
	incremental bool
	counter     int // in the recording, plus 1

	builder *recording.TrackBuilder
	open    opens // of a track that is no thread
}

func (d *decoder) track(uuid uint64) *track {
	t := d.tracks[uuid]
	if t == nil {
		d.groups++
		t = &track{uuid: uuid, group: d.groups, factor: 1}
		d.tracks[uuid] = t
	}
	return t
}

// Units of counters.
var units = []string{"", "ns", "count", "bytes"}

// descriptor reads what is said of a track.
func (d *decoder) descriptor(b []byte) *track {
	var uuid uint64
	for num, v := range each(b) {
		if num == 1 {
			uuid = v.n
		}
	}
	t := d.track(uuid)
	for num, v := range each(b) {
		switch num {
		case 2, 10, 13:
			t.name = v.text()
		case 3:
			t.process = true
			t.pid = d.processDescriptor(v.b)
		case 4:
			pid, tid, name := readThread(v.b)
			t.thread, t.pid, t.tid = true, pid, tid
			if d.states.Owner[tid] = pid; name != "" {
				t.name = name
				d.states.Names[tid] = name
			}
		case 5:
			t.parent = v.n
		case 8:
			t.readCounter(v.b)
		}
	}
	return t
}

func (t *track) readCounter(b []byte) {
	t.isCounter, t.factor = true, 1
	for num, v := range each(b) {
		switch num {
		case 1:
			if t.name == "" {
				t.name = map[uint64]string{1: "thread time", 2: "instructions"}[v.n]
			}
			if v.n == 1 {
				t.unit = "ns"
			}
		case 3:
			if v.n < uint64(len(units)) {
				t.unit = cmp.Or(units[v.n], t.unit)
			}
		case 4:
			t.factor = float64(int64(v.n))
		case 5:
			t.incremental = v.n != 0
		case 6:
			t.unit = v.text()
		}
	}
}

func id(n uint64) int64 { return int64(int32(n)) }

// processDescriptor names a process and returns its id.
func (d *decoder) processDescriptor(b []byte) int64 {
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
	p := d.b.ProcessInfo(d.b.Process(pid))
	if name = cmp.Or(name, line); name != "" && p.Name == "" {
		p.Name = name
	}
	if len(labels) > 0 {
		p.Labels = strings.Join(labels, ", ")
	}
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

// tree reads which processes and threads there are.
func (d *decoder) tree(b []byte) {
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
			if p := d.b.ProcessInfo(d.b.Process(ids[1])); p.Name == "" {
				p.Name = name
			}
			d.states.Owner[ids[1]] = ids[1]
		case 2:
			d.states.Owner[ids[1]] = ids[3]
			if name != "" {
				d.states.Names[ids[1]] = name
			}
		}
	}
}

// sequenceThread is the thread that the older kind of events of a sequence is of.
func (d *decoder) sequenceThread(s *sequence, b []byte) {
	for num, v := range each(b) {
		switch num {
		case 6:
			s.time = int64(v.n)
		case 7:
			s.threadTime = int64(v.n)
		}
	}
	pid, tid, name := readThread(b)
	s.pid, s.tid, s.hasThread = pid, tid, true
	t := d.threadTrack(pid, tid)
	t.name = cmp.Or(t.name, name)
}

// threadTrack is the track of a thread that has none of its own.
func (d *decoder) threadTrack(pid, tid int64) *track {
	k := [2]int64{pid, tid}
	if t := d.threads[k]; t != nil {
		return t
	}
	for _, t := range d.tracks { // one that was given, the latest of the id
		if t.thread && t.pid == pid && t.tid == tid && (d.threads[k] == nil || t.group > d.threads[k].group) {
			d.threads[k] = t
		}
	}
	if d.threads[k] == nil {
		d.groups++
		d.threads[k] = &track{thread: true, pid: pid, tid: tid, group: d.groups, factor: 1}
	}
	return d.threads[k]
}

// above is the process and, where there is one, the thread that a track belongs to.
func (d *decoder) above(t *track) (pid int64, thread *track) {
	for range 64 {
		switch {
		case t.thread:
			return t.pid, t
		case t.process:
			return t.pid, nil
		}
		up := d.tracks[t.parent]
		if up == nil || up == t || t.parent == 0 {
			return 0, nil
		}
		t = up
	}
	return 0, nil
}

// build finds or makes the recording's track. Tracks of one name beside each other
// are one, in which what belongs to different ones is kept apart.
func (d *decoder) build(t *track, event string) *recording.TrackBuilder {
	if t.builder != nil {
		return t.builder
	}
	pid, thread := d.above(t)
	k := recording.TrackKey{PID: pid, Name: cmp.Or(t.name, event)}
	var name string
	switch {
	case t.thread:
		k = recording.TrackKey{PID: pid, TID: t.tid}
		name = cmp.Or(t.name, d.states.Names[t.tid])
		if other := d.keys[k]; other != nil && other != t { // an id that was given anew
			k = recording.TrackKey{PID: pid, Name: fmt.Sprintf("%s (%d again, %d)", name, t.tid, t.group)}
			name = k.Name
		}
		d.keys[k] = t
	case t.process:
		k.Kind, k.Name = recording.AsyncTrack, cmp.Or(t.name, d.b.ProcessInfo(d.b.Process(pid)).Name, "process")
		name = k.Name
	default:
		k.Kind = recording.AsyncTrack
		if t.uuid == 0 && t.name == "" {
			k.Name = "global"
		}
		if thread != nil {
			k.Name += fmt.Sprintf(" of %s", cmp.Or(thread.name, fmt.Sprint(thread.tid)))
		}
		name = k.Name
	}
	t.builder = d.b.Track(k)
	if name != "" {
		t.builder.SetName(name)
	}
	return t.builder
}
