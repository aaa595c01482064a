package perfetto

// turnOf is the place of an event in a list, and when its turn is.
type turnOf struct {
	at int64
	i  int32
}

// order puts events in order by time; those of one time stay as they came. What a
// sequence writes is mostly in order: such stretches are merged, two neighbours at a
// time.
type order struct {
	turns, merged []turnOf
	starts        []int32 // where events begin that are in order up to the next start
}

// add adds the time of the next event.
func (o *order) add(at int64) {
	n := len(o.turns)
	if n == 0 || o.turns[n-1].at > at {
		o.starts = append(o.starts, int32(n))
	}
	o.turns = append(o.turns, turnOf{at, int32(n)})
}

// sorted lists what was added by time; the list holds until more is added, which begins
// a list anew.
func (o *order) sorted() []turnOf {
	from, to := o.turns, o.merged
	if cap(to) < len(from) {
		to = make([]turnOf, cap(from))
	}
	to = to[:len(from)]
	starts := append(o.starts, int32(len(from)))
	for len(starts) > 2 {
		n := 0
		for i := 0; i+1 < len(starts); i += 2 {
			a, b, end := starts[i], starts[i+1], starts[min(i+2, len(starts)-1)]
			merge(to[a:end], from[a:b], from[b:end])
			starts[n] = a
			n++
		}
		starts[n] = int32(len(from))
		starts = starts[:n+1]
		from, to = to, from
	}
	o.turns, o.merged, o.starts = from[:0], to, starts[:0]
	return from
}

// merge puts two lists that are in order into one; of those of one time what is in the
// first comes first.
func merge(to, a, b []turnOf) {
	if len(b) == 0 || len(a) == 0 || a[len(a)-1].at <= b[0].at {
		copy(to[copy(to, a):], b)
		return
	}
	i, j := 0, 0
	for k := range to {
		switch {
		case j == len(b) || i < len(a) && a[i].at <= b[j].at:
			to[k] = a[i]
			i++
		default:
			to[k] = b[j]
			j++
		}
	}
}

// inOrder are the events of some blocks by time.
func (o *order) inOrder(blocks [][]event) []event {
	n := 0
	for _, b := range blocks {
		for i := range b {
			o.add(b[i].at)
		}
		n += len(b)
	}
	whole, from := make([]event, 0, n), blocks[0]
	if len(blocks) > 1 {
		from = make([]event, 0, n)
		for _, b := range blocks {
			from = append(from, b...)
		}
	}
	for _, t := range o.sorted() {
		whole = append(whole, from[t.i])
	}
	return whole
}
