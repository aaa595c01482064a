package perfetto

// queue has events until those before them are there.
type queue struct {
	events []event
	starts []int32  // where events begin that are in order up to the next start
	turns  []turnOf // see sorted
	merged []turnOf
	left   []event
}

// turnOf is the place of an event in the queue, and when its turn is.
type turnOf struct {
	at int64
	i  int32
}

func (q *queue) add(e event) {
	if n := len(q.events); n == 0 || q.events[n-1].at > e.at {
		q.starts = append(q.starts, int32(n))
	}
	q.events = append(q.events, e)
}

// sorted lists the events by time; those of one time are as they came. What a sequence
// writes is mostly in order: such stretches are merged, two neighbours at a time.
func (q *queue) sorted() []turnOf {
	from, to := q.turns[:0], q.merged
	for i := range q.events {
		from = append(from, turnOf{q.events[i].at, int32(i)})
	}
	if cap(to) < len(from) {
		to = make([]turnOf, cap(from))
	}
	to = to[:len(from)]
	starts := append(q.starts, int32(len(from)))
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
	q.turns, q.merged, q.starts = from, to, q.starts[:0]
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

// drop takes the first events of what sorted lists out; those that are left are in
// order from then on.
func (q *queue) drop(n int) {
	q.left = q.left[:0]
	for _, t := range q.turns[n:] {
		q.left = append(q.left, q.events[t.i])
	}
	clear(q.events[copy(q.events, q.left):])
	clear(q.left)
	q.events = q.events[:len(q.left)]
	if q.starts = q.starts[:0]; len(q.events) > 0 {
		q.starts = append(q.starts, 0)
	}
}
