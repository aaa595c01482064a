// Package analyze computes where the cost of a scope went: by call, function, module, file
// or thread.
//
// [Weigh] turns any kind of recording into a self weight for each call; trees and tables
// are sums over those.
package analyze

import (
	"context"
	"strings"

	"ashlar/ingest/input/memory"
	"ashlar/ingest/model/recording"
)

// Query selects what is weighed.
type Query struct {
	// Event and Metric index Recording.Events and its Metrics.
	Event, Metric int
	// Scope is the part of the recording that is meant.
	Scope recording.Scope
	// First asks for Weights.First too.
	First bool
	// Depth, if not 0, leaves out spans that are deeper: what they cover is then
	// the self time of those above. See Shallow.
	Depth int
	// Apart leaves stacks of user space and of the kernel that belong together as
	// the recording has them: else they are one, which counts once. See join.
	Apart bool
	// Where are conditions on labels of records that are no spans; see Where and
	// With. Contexts are those of stack records: a range is not answered from
	// samples where they matter.
	Where []string
}

// Basis says which records an answer comes from.
type Basis string

// What answers come from.
const (
	Spans   Basis = "spans"
	Samples Basis = "samples"
	Stacks  Basis = "stacks"
	Windows Basis = "windows"
	States  Basis = "states"
)

// One is the word for one of what answers come from; see plain.Noun.
func (b Basis) One() string {
	if b == Windows {
		return "row of windows"
	}
	return strings.TrimSuffix(string(b), "s")
}

// Weights are the answer to a Query by call.
type Weights struct {
	// Self is the weight of each call without its children's, in the metric's
	// units; Count is how many spans, samples or stack records end in it. Both
	// are indexed by CallID and may be shorter than the recording's calls.
	Self, Count []int64
	// First is by call when the first span or sample that ends in it came, in
	// picoseconds, math.MaxInt64 if there is none; nil when the query did not
	// ask. Records without a time have their place in the file instead, rows of
	// windows their window's start.
	First []int64
	// Sum is the sum of Self; Records the sum of Count.
	Sum, Records int64
	Basis        Basis
	// Ranged reports whether the query's range was honoured: a recording with
	// neither spans, samples nor windows of the metric can only answer for the
	// whole. From and To are then what was really answered for: windows cannot
	// be cut, so their edges may be outside the range.
	Ranged   bool
	From, To int64
	// Left counts what the scope leaves out.
	Left LeftOut
	// WithoutCPU is how many spans of the scope do not tell their CPU time, or
	// lie in its range only in part: they have none in sums of it.
	WithoutCPU int64
	// Called reports whether the query's calls were honoured, which takes spans, states or
	// samples.
	Called bool
	// WindowCount is how many windows were used.
	WindowCount int
	// Pairs is how many stacks of user space were joined with one of the kernel
	// (see join), and Joined what of both counts once because of that.
	Pairs, Joined int64
}

// answerBytes is about how many bytes of memory an answer takes for each call: its
// weight, what it is in a tree that grows, and a row of a table.
const answerBytes = 420

// Weigh computes the self weight of every call for a query. It uses several
// goroutines on large recordings and returns early with ctx's error.
func Weigh(ctx context.Context, rec *recording.Recording, q Query) (*Weights, error) {
	if q.Event < 0 || q.Event >= len(rec.Events) {
		return &Weights{Basis: Stacks}, nil
	}
	if err := memory.NeedEach(rec.Calls.Len(), answerBytes, "the answer"); err != nil {
		return nil, err
	}
	basis := q.Basis(rec)
	if basis == Spans {
		return weighSpans(ctx, rec, q)
	}
	w := &Weights{Self: make([]int64, rec.Calls.Len()), Count: make([]int64, rec.Calls.Len()), Basis: basis}
	if q.First {
		w.First = never(rec.Calls.Len())
	}
	w.Called = (basis == Samples || basis == States) && q.Scope.Calls != nil
	if basis != Stacks {
		w.Ranged, w.From, w.To = q.Scope.Ranged, q.Scope.From, q.Scope.To
	}
	if err := records(ctx, rec, q, w); err != nil {
		return nil, err
	}
	return w, nil
}

// Basis chooses the records that answer a query: a range needs records that have
// a time.
func (q Query) Basis(rec *recording.Recording) Basis {
	ev := &rec.Events[q.Event]
	switch {
	case ev.Basis == recording.FromSpans:
		return Spans
	case ev.Basis == recording.FromSamples:
		return Samples
	case ev.Basis == recording.FromStates:
		return States
	case (q.Scope.Ranged || q.Scope.Calls != nil) && ev.Metrics[q.Metric].PerSample != recording.SampleNone && q.OfSamples() && hasSamples(rec, q.Event):
		return Samples
	case q.Scope.Ranged && hasWindows(rec, q):
		return Windows
	}
	return Stacks
}

func (w *Weights) add(r *Record) {
	w.Count[r.Call]++
	w.Records++
	if r.joined {
		w.Pairs++
		if r.Value != recording.Missing {
			recording.Add(&w.Joined, r.Value)
		}
	}
	if r.Value != recording.Missing {
		recording.Add(&w.Self[r.Call], r.Value)
		recording.Add(&w.Sum, r.Value)
	}
	if w.First != nil {
		w.First[r.Call] = min(w.First[r.Call], r.At)
	}
}

// join adds what another goroutine has added up, of records without windows and pairs.
func (w *Weights) join(other *Weights) {
	w.Records += other.Records
	recording.Add(&w.Sum, other.Sum)
	for c, n := range other.Count {
		if n != 0 {
			w.Count[c] += n
			recording.Add(&w.Self[c], other.Self[c])
		}
	}
	for c, at := range other.First {
		w.First[c] = min(w.First[c], at)
	}
}

// window notes that a window is used.
func (w *Weights) window(win *recording.Window) {
	w.WindowCount++
	w.From, w.To = min(w.From, win.Start), max(w.To, win.End)
}

func hasSamples(rec *recording.Recording, event int) bool {
	for _, t := range rec.Tracks {
		if s := t.SamplesOf(event); s != nil && s.Len() > 0 {
			return true
		}
	}
	return false
}

func hasWindows(rec *recording.Recording, q Query) bool {
	for _, ws := range rec.Windows {
		if ws.Event != q.Event {
			continue
		}
		for i := range ws.Rows.Len() {
			if ws.Rows.Value(i, q.Metric) != recording.Missing {
				return true
			}
		}
	}
	return false
}

// Negative adds up the weights that are below zero, call by call.
func (w *Weights) Negative() (sum int64) {
	for _, v := range w.Self {
		recording.Add(&sum, min(v, 0))
	}
	return sum
}

// weighSpans adds up the time that spans cover within the range, by call, and
// takes from each call what its children cover.
func weighSpans(ctx context.Context, rec *recording.Recording, q Query) (*Weights, error) {
	w := &Weights{Basis: Spans, Ranged: q.Scope.Ranged, From: q.Scope.From, To: q.Scope.To, Called: q.Scope.Calls != nil, Left: q.async(rec)}
	var time []int64
	if q.Scope.IsWhole() && q.Scope.Beside == nil && q.Depth == 0 {
		time = rec.SpanTime
		w.Count = rec.SpanCount
	} else {
		var err error
		if time, w.Count, err = scanSpans(ctx, rec, q); err != nil {
			return nil, err
		}
	}
	if q.First {
		var err error
		if w.First, err = firstSpans(ctx, rec, q); err != nil {
			return nil, err
		}
	}
	switch {
	case q.Metric == recording.SpanCount:
		w.Self = w.Count
	case q.OfProcessors(rec):
		if err := weighCPU(ctx, rec, &q, w); err != nil {
			return nil, err
		}
		w.Self = w.Self[:min(len(w.Self), len(w.Count))]
	default:
		w.Self = append([]int64(nil), time...)
		q.outermost(rec, func(_ int, c recording.CallID, covered int64) {
			if p := rec.Calls.Parent(c); p != recording.NoCall {
				recording.Add(&w.Self[p], covered) // which is taken from it below
			}
		})
		for c := len(w.Self) - 1; c > 0; c-- {
			if t := time[c]; t != 0 {
				if p := rec.Calls.Parent(recording.CallID(c)); p != recording.NoCall {
					w.Self[p] = max(0, w.Self[p]-t) // less only where sums are cut
				}
			}
		}
	}
	for c, v := range w.Self {
		recording.Add(&w.Sum, v)
		w.Records += w.Count[c]
	}
	return w, nil
}
