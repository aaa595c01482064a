package perfetto

import "ashlar/ingest/format/sched"

// mark processes text that a thread wrote to the kernel's trace_marker. Text in another
// format is a message for people who read the log, and is ignored.
func (r *reader) mark(at, tid int64, text []byte) {
	m, ok := sched.ParseMark(text)
	if !ok {
		return
	}
	r.next.slices.read++
	switch m.Kind {
	case 'C':
		t := r.operation(operation{under: m.PID, scope: "trace_marker counter", category: m.Name}, &track{name: m.Name, pid: m.PID, counter: &counter{factor: 1}})
		r.count(t, at, m.Value)
	case 'B':
		r.put(r.marking(m.PID, tid), event{at: at, label: r.label([]byte(m.Name), nil), kind: begin})
	case 'E':
		r.put(r.marking(m.PID, tid), event{at: at, kind: end})
	case 'I':
		r.moment(r.marking(m.PID, tid), at, m.Name)
	case 'N':
		r.moment(r.operation(operation{under: m.PID, scope: "trace_marker track", category: m.Track}, &track{name: m.Track, pid: m.PID}), at, m.Name)
	default:
		t := r.operation(operation{under: m.PID, scope: "trace_marker", category: m.Operation()}, &track{name: m.Track, pid: m.PID})
		switch m.Kind {
		case 'S':
			r.put(t, event{at: at, label: r.label([]byte(m.Name), nil), kind: beginOnce})
		case 'G':
			r.put(t, event{at: at, label: r.label([]byte(m.Name), nil), kind: begin})
		default:
			r.put(t, event{at: at, kind: end})
		}
	}
}

// moment queues an instant.
func (r *reader) moment(t *track, at int64, name string) {
	label := r.label([]byte(name), nil)
	r.showAs(label, func() string { return name })
	r.put(t, event{at: at, label: label, kind: instant})
}

// marking returns the track of a thread that wrote a mark. Its process is given by this
// mark or an earlier one.
func (r *reader) marking(pid, tid int64) *track {
	if before, known := r.owners[tid]; pid == 0 {
		pid = before
	} else if !known || before != pid {
		r.owners[tid] = pid
		r.later(func(m *maker) { m.owns(pid, tid, "") })
	}
	return r.threadTrack(pid, tid)
}
