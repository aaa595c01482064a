// Package unordered sorts spans that arrive in any order.
//
// Files are mostly almost sorted. So spans are sorted in runs as each fills up, and the
// runs are merged.
package unordered

import "cmp"

// Span is a whole span, of 24 bytes.
type Span struct {
	Start, End int64
	Frame      uint32 // whose bits are the caller's
	Args       uint32 // whatever the caller finds its arguments by
}

// Order compares by start, the longest first.
func (x *Span) Order(y *Span) int {
	if c := cmp.Compare(x.Start, y.Start); c != 0 {
		return c
	}
	return cmp.Compare(y.End, x.End)
}

// Before reports whether x comes first.
func (x *Span) Before(y *Span) bool {
	return x.Start < y.Start || x.Start == y.Start && x.End > y.End
}

// RunSpans is how many spans a run has when it is full.
const RunSpans = 1 << 13

// Runs are spans as they came.
type Runs struct {
	runs []run
	n    int // spans in runs
}

// run is some neighbouring spans, in order when sorted is set.
type run struct {
	spans  []Span
	sorted bool
}

// Len is how many spans there are.
func (s *Runs) Len() int { return s.n }

// Add adds a span.
func (s *Runs) Add(x Span) {
	k := len(s.runs) - 1
	if k < 0 || len(s.runs[k].spans) >= RunSpans {
		s.runs = append(s.runs, run{})
		k++
	}
	r := &s.runs[k]
	if len(r.spans) == cap(r.spans) && len(r.spans) >= RunSpans/8 {
		r.spans = append(make([]Span, 0, RunSpans), r.spans...) // and no more than that
	}
	r.spans = append(r.spans, x)
	r.sorted = false
	s.n++
	if len(r.spans) == RunSpans {
		r.sort()
	}
}

// Precede puts spans in front of all there are: slices that are each in order.
func (s *Runs) Precede(sorted [][]Span) {
	old := make([]run, 0, len(sorted)+len(s.runs))
	for _, spans := range sorted {
		old = append(old, run{spans, true})
		s.n += len(spans)
	}
	s.runs = append(old, s.runs...)
}

// All visits the spans, in any order.
func (s *Runs) All(visit func(*Span)) {
	for i := range s.runs {
		for k := range s.runs[i].spans {
			visit(&s.runs[i].spans[k])
		}
	}
}

// First is the first of the spans in order, nil when there are none.
func (s *Runs) First() (first *Span) {
	for k := range s.runs {
		r := &s.runs[k]
		r.sort()
		if len(r.spans) > 0 && (first == nil || r.spans[0].Before(first)) {
			first = &r.spans[0]
		}
	}
	return first
}

func (r *run) sort() {
	if !r.sorted {
		sortSpans(r.spans)
		r.sorted = true
	}
}
