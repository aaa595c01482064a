// Package unordered sorts spans that arrive in any order.
//
// Files are mostly almost sorted. So spans are sorted in runs as each fills up, and the
// runs are merged.
package unordered

import "cmp"

// Span is a whole span, of 24 bytes.
type Span struct {
	Start, End int64
	Frame      uint32 // the caller may use its bits freely
	Args       uint32 // the caller's reference to arguments
}

// Order compares by start; of equal starts the longest span comes first.
func (x *Span) Order(y *Span) int {
	if c := cmp.Compare(x.Start, y.Start); c != 0 {
		return c
	}
	return cmp.Compare(y.End, x.End)
}

// Before reports whether x comes before y in that order.
func (x *Span) Before(y *Span) bool {
	return x.Start < y.Start || x.Start == y.Start && x.End > y.End
}

// RunSpans is the number of spans in a full run.
const RunSpans = 1 << 13

// Runs holds spans in order of arrival.
type Runs struct {
	runs []run
	n    int // total number of spans
}

// run holds spans that arrived one after another; they are in order if sorted is set.
type run struct {
	spans  []Span
	sorted bool
}

// Len returns the number of spans.
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
		r.spans = append(make([]Span, 0, RunSpans), r.spans...) // exact capacity
	}
	r.spans = append(r.spans, x)
	r.sorted = false
	s.n++
	if len(r.spans) == RunSpans {
		r.sort()
	}
}

// Precede puts slices of spans in front of all others; the spans of each slice must be in
// order.
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

// First returns the first of the spans in order, nil if there are none.
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
