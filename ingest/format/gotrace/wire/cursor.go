package wire

// raw is an event as in the file, not resolved with the tables.
type raw struct {
	typ  uint8
	time int64 // ns
	at   int64 // position in the file
	args [4]uint64
}

// cursor reads the batches of a thread.
type cursor struct {
	id      uint64
	m       *thread
	batches []batch // batches not finished yet
	off     int     // position in the first batch
	last    int64   // time of the previous event; 0 for none
	ev      raw     // the current event
}

// next advances to the next event; it returns false if there is none.
func (c *cursor) next(perTick float64) (bool, error) {
	for len(c.batches) > 0 && c.off == len(c.batches[0].data) {
		c.batches, c.off, c.last = c.batches[1:], 0, 0
	}
	if len(c.batches) == 0 {
		return false, nil
	}
	b := &c.batches[0]
	if c.last == 0 {
		c.last = int64(float64(b.time) * perTick)
	}
	data, off := b.data, c.off
	ev := &c.ev
	ev.typ, ev.at = data[off], b.at+int64(off)
	n := argc[ev.typ]
	if n == untimed {
		return false, wrong(ev.at, "%d is not an event type", ev.typ)
	}
	off++
	var ticks uint64
	if off < len(data) && data[off] < 0x80 {
		ticks = uint64(data[off])
		off++
	} else if ticks, off = long(data, off); off < 0 {
		return false, wrong(ev.at, "an event is truncated")
	}
	for i := range n {
		if off < len(data) && data[off] < 0x80 {
			ev.args[i&3] = uint64(data[off])
			off++
		} else if ev.args[i&3], off = long(data, off); off < 0 {
			return false, wrong(ev.at, "an event is truncated")
		}
	}
	c.last += int64(float64(ticks) * perTick)
	ev.time, c.off = c.last, off
	return true, nil
}

// long reads an integer of several bytes and returns the position after it, negative if
// the integer is cut off or too long.
func long(data []byte, off int) (v uint64, behind int) {
	for shift := uint(0); off < len(data); shift += 7 {
		x := data[off]
		off++
		if shift == 63 && x > 1 {
			break
		}
		if v |= uint64(x&0x7f) << shift; x < 0x80 {
			return v, off
		}
		if shift == 63 {
			break
		}
	}
	return 0, -1
}

// frontier is a heap of the threads by the time of their next event, earliest first. The
// order of events at the same time depends on this implementation of the heap, so do not
// replace it.
type frontier []ahead

type ahead struct {
	time int64
	c    *cursor
}

func (f *frontier) push(c *cursor) {
	*f = append(*f, ahead{c.ev.time, c})
	f.up(len(*f) - 1)
}

// moved restores the heap after cursor i has advanced.
func (f *frontier) moved(i int) {
	x := &(*f)[i]
	x.time = x.c.ev.time
	if f.up(i) == i {
		f.down(i)
	}
}

// remove removes cursor i.
func (f *frontier) remove(i int) {
	h := *f
	for x := h[i]; i > 0; i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], x
	}
	last := len(h) - 1
	h[0], h[last] = h[last], ahead{}
	*f = h[:last]
	f.down(0)
}

func (f frontier) up(i int) int {
	for i > 0 && f[(i-1)/2].time > f[i].time {
		f[(i-1)/2], f[i] = f[i], f[(i-1)/2]
		i = (i - 1) / 2
	}
	return i
}

func (f frontier) down(i int) {
	for {
		k := 2*i + 1
		if k >= len(f) {
			return
		}
		if k+1 < len(f) && f[k+1].time < f[k].time {
			k++
		}
		if f[k].time >= f[i].time {
			return
		}
		f[i], f[k] = f[k], f[i]
		i = k
	}
}
