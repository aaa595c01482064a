package recording

import (
	"cmp"
	"slices"
	"sort"

	"ashlar/ingest/model/column"
	"ashlar/ingest/model/lanes"
)

// Samples are the single samples of one event on one track, sorted by time.
// Columns are parallel. Picoseconds, and values in the metric's units.
type Samples struct {
	// Event is the index in Recording.Events.
	Event int
	times column.Vec[int64]
	calls column.Vec[CallID]
	// cpu is nil when no sample tells; values has a column for each metric
	// whose PerSample is SampleColumn and nil for the others.
	cpu    *column.Vec[int32]
	values []*column.Vec[int64]
	// sums are those of the columns of values; the builder's.
	sums []int64
	// period is how far apart the event's samples usually are on a thread (see
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

// Len is the number of samples.
func (s *Samples) Len() int { return s.times.Len() }

// Depth is the number of frames of the deepest stack.
func (s *Samples) Depth() int { return s.depth }

// Time is when sample i was taken.
func (s *Samples) Time(i int) int64 { return s.times.At(i) }

// Call is the innermost call of sample i's stack; NoCall when it has none.
func (s *Samples) Call(i int) CallID { return s.calls.At(i) }

// CPU is the processor sample i was taken on, -1 when not recorded.
func (s *Samples) CPU(i int) int {
	if s.cpu == nil || i >= s.cpu.Len() {
		return -1
	}
	return int(s.cpu.At(i))
}

// Value is sample i's value of a metric of its event: 1 if every sample
// counts one, Missing where samples carry no such metric.
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

// End is when sample i stops being drawn: at the next sample, or after a period
// where that is more than a few away or there is none. It says where samples
// fall, not how long anything ran.
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

// Walk reports, in order of time, the samples that a picture of from..to needs
// whose pixels are res picoseconds wide: all of them when they are wider than
// a pixel, else the first one of each pixel, with N the number it stands for.
// It stops when visit returns false.
func (s *Samples) Walk(from, to, res int64, visit func(*lanes.Bar) bool) {
	n := s.Len()
	i := max(0, s.Search(from)-1)
	last := 1 // how many the last pixel with several had: the next has about as many
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

// skip returns the first sample from i on that is at or after t, searching
// outwards from where it likely is, that many after i: each look is at memory that
// may be far away.
func (s *Samples) skip(i int, t int64, likely int) int {
	lo, hi := i, s.Len() // the answer is there, both included
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

// sortByTime puts the samples in order of time, stable, of which the first n are and all
// others are of times from late on: what is before those stays where it is, and only
// the others are sorted and then merged in. Snapshots keep theirs.
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

// sampleTime is when a sample was taken, by its number.
type sampleTime struct {
	at    int64
	index int
}
