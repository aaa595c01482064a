package recording

import (
	"cmp"
	"slices"
	"sort"

	"ashlar/ingest/model/column"
	"ashlar/ingest/model/lanes"
)

// Samples are the single samples of one event on one track, sorted by time. Times are in
// picoseconds, values in the metric's units. Columns are parallel.
type Samples struct {
	// Event is the index in Recording.Events.
	Event int
	times column.Vec[int64]
	calls column.Vec[CallID]
	// cpu is nil if no sample has a processor; values has a column for each metric whose
	// PerSample is SampleColumn, and nil for the others.
	cpu    *column.Vec[int32]
	values []*column.Vec[int64]
	// sums are the sums of the columns of values; used by the builder only.
	sums []int64
	// period is the usual distance between the event's samples on a thread (see
	// [Builder.space]).
	period int64
	// depth is the depth of the deepest stack.
	depth int
}

func newSamples(s *column.Shelf, event int) *Samples {
	c := &Samples{Event: event}
	c.times, c.calls = column.On[int64](s), column.On[CallID](s)
	return c
}

// Len returns the number of samples.
func (s *Samples) Len() int { return s.times.Len() }

// Depth returns the number of frames of the deepest stack.
func (s *Samples) Depth() int { return s.depth }

// Time returns the time of sample i.
func (s *Samples) Time(i int) int64 { return s.times.At(i) }

// Call returns the innermost call of sample i's stack, NoCall if it has none.
func (s *Samples) Call(i int) CallID { return s.calls.At(i) }

// CPU returns the processor that sample i was taken on, -1 if not recorded.
func (s *Samples) CPU(i int) int {
	if s.cpu == nil || i >= s.cpu.Len() {
		return -1
	}
	return int(s.cpu.At(i))
}

// Value returns sample i's value of a metric of its event: 1 if every sample counts one,
// Missing if samples do not carry the metric.
func (s *Samples) Value(i int, m *Metric, metric int) int64 {
	switch m.PerSample {
	case SampleOne:
		return 1
	case SampleColumn:
		if metric < len(s.values) && s.values[metric] != nil && i < s.values[metric].Len() {
			return s.values[metric].At(i)
		}
	}
	return Missing
}

// End returns the time up to which sample i is drawn: the start of the next sample, or
// one period later if there is none or it is more than a few periods away. It shows where
// samples fall, not how long anything ran.
func (s *Samples) End(i int) int64 {
	at := s.times.At(i)
	if i+1 < s.Len() {
		if next := s.times.At(i + 1); next-at <= farPeriods*s.period {
			return next
		}
	}
	return at + s.period
}

// Search returns the first sample at or after t.
func (s *Samples) Search(t int64) int {
	return sort.Search(s.Len(), func(i int) bool { return s.times.At(i) >= t })
}

// Walk reports, in order of time, the samples for a picture of from..to with pixels res
// picoseconds wide. It reports every sample that is drawn at least a pixel wide. Of
// narrower samples it reports the first in each pixel, with N the number of samples in
// the pixel. It stops when visit returns false.
func (s *Samples) Walk(from, to, res int64, visit func(*lanes.Bar) bool) {
	n := s.Len()
	i := max(0, s.Search(from)-1)
	last := 1 // number of samples in the last pixel with several; the next has about as many
	for i < n {
		bar := lanes.Bar{Start: s.Time(i), End: s.End(i), Call: s.Call(i), Index: i, N: 1}
		if bar.Start >= to {
			return
		}
		next := i + 1
		if bar.End-bar.Start < res && next < n {
			next = s.skip(next, bar.Start+res, last)
			bar.N = next - i
			last = bar.N
			bar.End = s.End(next - 1) // so that neighbours without a gap touch
		}
		bar.Busy = float32(bar.End - bar.Start)
		if bar.End >= from && !visit(&bar) {
			return
		}
		i = next
	}
}

// skip returns the first sample from i on that is at or after t. It searches outwards
// from its likely position, i + likely, because each step may miss the cache.
func (s *Samples) skip(i int, t int64, likely int) int {
	lo, hi := i, s.Len() // bounds of the answer, both inclusive
	step := max(1, likely/8)
	at := min(i+likely, hi)
	if at == hi || s.times.At(at) >= t {
		for hi = at; hi > lo; hi = at {
			if at = max(lo, hi-step); s.times.At(at) < t {
				lo = at + 1
				break
			}
			step *= 2
		}
	} else {
		for lo = at + 1; lo < hi; lo = at + 1 {
			if at = min(hi, lo+step); at == hi || s.times.At(at) >= t {
				hi = at
				break
			}
			step *= 2
		}
	}
	return lo + sort.Search(hi-lo, func(k int) bool { return s.times.At(lo+k) >= t })
}

// snapshot copies the columns for readers.
func (s *Samples) snapshot() *Samples {
	c := *s
	if s.cpu != nil {
		v := *s.cpu
		c.cpu = &v
	}
	c.values = make([]*column.Vec[int64], len(s.values))
	for i, v := range s.values {
		if v != nil {
			w := *v
			c.values[i] = &w
		}
	}
	return &c
}

// sortByTime sorts the samples by time, stably. The first n samples are in order already,
// and all others are at time late or later: so samples before late stay in place, and
// only the rest is sorted and merged in. Snapshots keep their order.
func (s *Samples) sortByTime(n int, late int64) {
	from := sort.Search(n, func(i int) bool { return s.times.At(i) > late })
	fresh := make([]sampleTime, s.Len()-n)
	for i := range fresh {
		fresh[i] = sampleTime{s.times.At(n + i), n + i}
	}
	slices.SortFunc(fresh, func(a, b sampleTime) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		return a.index - b.index
	})
	order := make([]int, 0, s.Len()-from)
	next := from
	for _, f := range fresh {
		for ; next < n && s.times.At(next) <= f.at; next++ {
			order = append(order, next)
		}
		order = append(order, f.index)
	}
	for ; next < n; next++ {
		order = append(order, next)
	}
	s.times.Reorder(from, order, 0)
	s.calls.Reorder(from, order, NoCall)
	if s.cpu != nil {
		s.cpu.Reorder(from, order, -1)
	}
	for _, col := range s.values {
		if col != nil {
			col.Reorder(from, order, Missing)
		}
	}
}

// sampleTime is the time and index of a sample.
type sampleTime struct {
	at    int64
	index int
}
