package recording

import "sort"

// Lane is one row of spans on a track: sorted by start, never overlapping. Its
// columns are parallel.
type Lane struct {
	starts Vec[int64]
	ends   Vec[int64]
	calls  Vec[CallID]
	args   *Vec[uint64] // nil when no span of the lane has arguments
	// unfinished lists spans that the recording never ended, in order.
	unfinished []int
	levels     []Vec[Node]
}

// Len is the number of spans.
func (l *Lane) Len() int { return l.starts.Len() }

// Start and End are the times of span i in picoseconds.
func (l *Lane) Start(i int) int64 { return l.starts.At(i) }

// End is the time in picoseconds at which span i ended.
func (l *Lane) End(i int) int64 { return l.ends.At(i) }

// Call is the call of span i.
func (l *Lane) Call(i int) CallID { return l.calls.At(i) }

// Args refers to span i's arguments (see [Recording.Args]); 0 for none.
func (l *Lane) Args(i int) uint64 {
	if l.args == nil || i >= l.args.Len() {
		return 0
	}
	return l.args.At(i)
}

// Unfinished reports whether span i began but never ended in the recording.
func (l *Lane) Unfinished(i int) bool {
	k := sort.SearchInts(l.unfinished, i)
	return k < len(l.unfinished) && l.unfinished[k] == i
}

// Columns returns the longest contiguous run of starts, ends and calls from
// span i on, for loops over all spans. The caller must not write to them.
func (l *Lane) Columns(i int) (starts, ends []int64, calls []CallID) {
	starts, ends, calls = l.starts.Chunk(i), l.ends.Chunk(i), l.calls.Chunk(i)
	n := min(len(starts), len(ends), len(calls))
	return starts[:n], ends[:n], calls[:n]
}

// Search returns the first span that ends after t.
func (l *Lane) Search(t int64) int {
	return sort.Search(l.Len(), func(i int) bool { return l.ends.At(i) > t })
}

// append adds a span that starts no earlier than the last one ended.
func (l *Lane) append(start, end int64, call CallID, args uint64) {
	l.starts.Append(start)
	l.ends.Append(end)
	l.calls.Append(call)
	if args != 0 && l.args == nil {
		l.args = new(Vec[uint64])
	}
	if l.args != nil {
		for l.args.Len() < l.starts.Len()-1 {
			l.args.Append(0)
		}
		l.args.Append(args)
	}
	if l.starts.n&(leafSpans-1) == 0 {
		l.levelUp()
	}
}

// snapshot copies the lane for readers.
func (l *Lane) snapshot() Lane {
	s := *l
	if l.args != nil {
		a := *l.args
		s.args = &a
	}
	s.levels = append([]Vec[Node](nil), l.levels...)
	return s
}
