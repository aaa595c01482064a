package repeat

import (
	"math"
	"slices"

	"ashlar/ingest/query/spans"
)

// Rhythm describes when the slow calls of a loop occur. Onset is the start of the first, in
// picoseconds, if they begin late by more than chance; otherwise it is below zero. Every is
// the median time between their starts if they are regular, and Apart the number of calls
// from one to the next if that is the same for most; both are zero otherwise.
type Rhythm struct {
	Onset, Every int64
	Apart        int
}

// Trend divides the calls into parts, in order, and returns the trend of their medians.
func (l *Loop) Trend(parts int) spans.Trend {
	var all []spans.Moment
	for k := range parts {
		from, to := len(l.Spans)*k/parts, len(l.Spans)*(k+1)/parts
		if from < to {
			all = append(all, spans.Moment{From: l.Start(from), To: l.End(to - 1), Count: int64(to - from), Median: l.Median(from, to)})
		}
	}
	return spans.TrendOf(all)
}

// Median returns the median duration of the calls from..to-1, the lower of two.
func (l *Loop) Median(from, to int) int64 {
	of := make([]int64, 0, to-from)
	for i := from; i < to; i++ {
		of = append(of, l.Duration(i))
	}
	slices.Sort(of)
	return of[(len(of)-1)/2]
}

// Lasting reports whether nearly all calls from the first slow one on are slow: the calls
// got slower, rather than some of them being slow.
func (l *Loop) Lasting(s *Slow) bool {
	return 10*len(s.Calls) >= 8*(len(l.Spans)-s.Calls[0])
}

const (
	lateChance = 1e-4 // chance that the calls begin as late by accident
	regular    = .8   // part of the distances that must be near the median
	near       = .15  // how near
)

// Rhythm returns when the slow calls occur.
func (l *Loop) Rhythm(s *Slow) Rhythm {
	r := Rhythm{Onset: -1}
	m, n := len(s.Calls), len(l.Spans)
	// All m slow calls are among the last n-first calls: for calls that are slow
	// independently of each other the chance is ((n-first)/n)^m.
	first := s.Calls[0]
	if math.Pow(float64(n-first)/float64(n), float64(m)) < lateChance {
		r.Onset = l.Start(first)
	}
	if m < 6 {
		return r
	}
	times, numbers := make([]int64, m-1), make([]int64, m-1)
	for i := range times {
		times[i] = l.Start(s.Calls[i+1]) - l.Start(s.Calls[i])
		numbers[i] = int64(s.Calls[i+1] - s.Calls[i])
	}
	middle, same := even(numbers)
	if middle <= 2 {
		return r // neighbours are as regular as all calls
	}
	if same {
		r.Apart = int(middle)
	}
	if middle, ok := even(times); ok {
		r.Every = middle
	}
	return r
}

// even returns the median of some distances, and whether most are near it.
func even(of []int64) (middle int64, ok bool) {
	sorted := slices.Sorted(slices.Values(of))
	middle = sorted[(len(sorted)-1)/2]
	n := 0
	for _, d := range sorted {
		if math.Abs(float64(d-middle)) <= near*float64(middle) {
			n++
		}
	}
	return middle, float64(n) >= regular*float64(len(sorted))
}
