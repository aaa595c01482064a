package wire

// Events of processors.

// procStart waits for the preceding events of the processor, and for the loss of the
// processor that the thread had in a system call.
func (r *order) procStart(ev *raw, t *thread) (bool, error) {
	p := r.procs[ev.args[0]]
	if p == nil || p.status != procIdle || !p.seq.follows(r.tables.id, ev.args[1]) || t.p != nil {
		return false, nil
	}
	if t.id == none {
		return false, lacks(ev)
	}
	p.status, p.seq.seq = procRunning, ev.args[1]
	r.add(Processor, ev.time, t)
	t.p = p
	return true, nil
}

func (r *order) procStop(ev *raw, t *thread) error {
	if err := onProc(ev, t); err != nil {
		return err
	}
	if t.p.status != procRunning && t.p.status != procSyscall {
		return wrong(ev.at, "processor %d stops without having run", t.p.id)
	}
	t.p.status = procIdle
	r.add(Processor, ev.time, t)
	t.p = nil
	return nil
}

// procSteal handles a thread that takes a processor from another thread, or from itself,
// in a system call.
func (r *order) procSteal(ev *raw, t *thread) (bool, error) {
	p := r.procs[ev.args[0]]
	if p == nil || p.status != procSyscall && p.status != procAbandoned || !p.seq.follows(r.tables.id, ev.args[1]) {
		return false, nil
	}
	if t.id == none {
		return false, lacks(ev)
	}
	abandoned := p.status == procAbandoned
	p.status, p.seq.seq = procIdle, ev.args[1]
	if abandoned {
		r.add(Processor, ev.time, t)
		return true, nil
	}
	from := t
	if ev.args[2] != t.id {
		from = r.threads[ev.args[2]]
	}
	if from == nil || !from.seen || from.p != p {
		return false, wrong(ev.at, "processor %d is taken from thread %d, which did not have it", p.id, ev.args[2])
	}
	r.add(Processor, ev.time, t)
	from.p = nil
	return true, nil
}

// procStatus reads the state of a processor at the start of a generation.
func (r *order) procStatus(ev *raw, t *thread) error {
	id, status := ev.args[0], uint8(ev.args[1])
	if status > procAbandoned || id == none {
		return wrong(ev.at, "processor %d has an unknown state, %d", int64(id), status)
	}
	p := r.procs[id]
	of := *t
	switch {
	case p == nil:
		p = &proc{id: id, status: status}
		r.procs[id] = p
	case status == procAbandoned && p.status == procSyscall:
		// The processor is about to be taken from its thread.
		holder := r.holder(p)
		if holder == nil {
			return wrong(ev.at, "no thread has the abandoned processor %d", id)
		}
		of = *holder
	case status != p.status:
		return wrong(ev.at, "the state of processor %d differs from that in the last generation", id)
	}
	p.seq = counter{gen: r.tables.id}
	r.add(Processor, ev.time, &of)
	if status == procRunning || status == procSyscall {
		t.p = p
	}
	return nil
}

// holder returns the thread that a processor runs on, or nil. If the trace has several, it is
// the one with the smallest id.
func (r *order) holder(p *proc) (of *thread) {
	first := uint64(0)
	for id, t := range r.threads {
		if t.seen && t.p == p && (of == nil || id < first) {
			first, of = id, t
		}
	}
	return of
}
