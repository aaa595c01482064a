package perfetto

// ftrace reads the kernel's events of one processor.
func (r *reader) ftrace(b []byte) {
	var n int64
	for num, v := range each(b) {
		if num == 1 {
			n = id(v.n)
		}
	}
	for num, v := range each(b) {
		switch num {
		case 2:
			r.ftraceEvent(n, v.b)
		case 4:
			r.compact(n, v.b)
		}
	}
}

func (r *reader) ftraceEvent(n int64, b []byte) {
	var at, tid int64
	for num, v := range each(b) {
		switch num {
		case 1:
			at = int64(v.n)
		case 2:
			tid = id(v.n)
		}
	}
	for num, v := range each(b) {
		switch num {
		case 4:
			x := wide{at: at, kind: switched, pid: int32(n), prev: -1, tid: -1, value: tid}
			for num, v := range each(v.b) {
				switch num {
				case 1:
					// the name of the previous thread, which is known already
				case 2:
					x.prev = int32(v.n)
				case 4:
					x.state = uint8(v.n)
				case 5:
					x.what = r.comm(v.b)
				case 6:
					x.tid = id(v.n)
				}
			}
			r.putWide(x)
		case 3:
			for num, v := range each(v.b) {
				if num == 2 {
					r.mark(at, tid, v.b)
				}
			}
		case 17, 20, 114:
			x := wide{at: at, kind: waking, pid: int32(n), prev: -1, tid: -1, value: tid}
			for num, v := range each(v.b) {
				switch num {
				case 1:
					x.what = r.comm(v.b)
				case 2:
					x.tid = id(v.n)
				}
			}
			r.putWide(x)
		}
	}
}

// compact reads events in compact form, one column per field.
func (r *reader) compact(n int64, b []byte) {
	cols := &r.columns
	for i := range cols {
		cols[i] = cols[i][:0]
	}
	r.named = r.named[:0]
	for num, v := range each(b) {
		switch {
		case num == 5:
			r.named = append(r.named, r.comm(v.b))
		case num < 13:
			cols[num] = v.numbers(cols[num])
		}
	}
	comm := func(i int, col []uint64) uint32 {
		if i < len(col) && col[i] < uint64(len(r.named)) {
			return r.named[col[i]]
		}
		return noComm
	}
	before, ok := r.before[n]
	if !ok {
		before = -1
	}
	at := int64(0)
	for i, delta := range cols[1] {
		at += int64(delta)
		x := wide{at: at, kind: switched, pid: int32(n), prev: int32(before), tid: -1, what: comm(i, cols[6])}
		if i < len(cols[2]) {
			x.state = uint8(cols[2][i])
		}
		if i < len(cols[3]) {
			x.tid = id(cols[3][i])
		}
		before = x.tid
		r.putWide(x)
	}
	r.before[n], at = before, 0
	for i, delta := range cols[7] {
		at += int64(delta)
		x := wide{at: at, kind: waking, pid: int32(n), prev: -1, tid: -1, what: comm(i, cols[11])}
		if i < len(cols[8]) {
			x.tid = id(cols[8][i])
		}
		r.putWide(x)
	}
}

// noComm is the number for an unknown thread name.
const noComm = 0

// comm returns the number of a thread's name.
func (r *reader) comm(b []byte) uint32 {
	n, ok := r.comms[string(b)]
	if !ok {
		if len(r.comms) >= mostTexts {
			clear(r.comms)
		}
		r.lastComm++
		n = r.lastComm
		name := string(b)
		r.comms[name] = n
		r.next.comms = append(r.next.comms, name)
	}
	return n
}
