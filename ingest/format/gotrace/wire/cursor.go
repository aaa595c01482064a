package wire

// raw is an event as it is written, without the tables.
type raw struct {
	typ  uint8
	time int64 // ns
	at   int64 // byte
	args [4]uint64
}

// cursor goes through the batches of a thread.
type cursor struct {
	id      uint64
	m       *thread
	batches []batch // those not done yet
	off     int     // in the first of them
	last    int64   // the time of the event before; 0 for none
	ev      raw     // the event that it is at
}

// next goes to the next event; it reports false if there is none.
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
		return false, wrong(ev.at, "among events there is a byte %d, which is none", ev.typ)
	}
	off++
	var ticks uint64
	if off < len(data) && data[off] < 0x80 {
		ticks = uint64(data[off])
		off++
	} else if ticks, off = long(data, off); off < 0 {
		return false, wrong(ev.at, "an event is cut")
	}
	for i := range n {
		if off < len(data) && data[off] < 0x80 {
			ev.args[i&3] = uint64(data[off])
			off++
		} else if ev.args[i&3], off = long(data, off); off < 0 {
			return false, wrong(ev.at, "an event is cut")
		}
	}
	c.last += int64(float64(ticks) * perTick)
	ev.time, c.off = c.last, off
	return true, nil
}

// long reads a number that may have several bytes; off is behind it, or negative where
// it is cut or longer than can be.
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

// frontier has the threads by the times of their next events: a heap, whose first is
// the earliest. Of events at the same time it depends on the heap which comes first, so
// that this one is not to be replaced by another kind.
type frontier []ahead

type ahead struct {
	time int64
	c    *cursor
}

func (f *frontier) push(c *cursor) {
	*f = append(*f, ahead{c.ev.time, c})
	f.up(len(*f) - 1)
}

// moved puts cursor i in its place after it has gone on.
func (f *frontier) moved(i int) {
	x := &(*f)[i]
	x.time = x.c.ev.time
	if f.up(i) == i {
		f.down(i)
	}
}

// remove takes cursor i away.
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
