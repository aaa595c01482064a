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
	"ashlar/ingest/model/column"
	"ashlar/ingest/model/recording"
)

// Query selects the records to weigh.
type Query struct {
	// Event and Metric index Recording.Events and its Metrics.
	Event, Metric int
	// Scope is the part of the recording to weigh.
	Scope recording.Scope
	// First requests Weights.First.
	First bool
	// Depth, if not 0, excludes deeper spans: the time they cover then counts as self
	// time of the spans above. See Shallow.
	Depth int
	// Apart keeps related user and kernel stacks separate, as in the recording. Otherwise
	// they are joined and count once. See join.
	Apart bool
	// Where are conditions on labels of records other than spans; see Where and With.
	// Only stack records have contexts, so if conditions need contexts, a range is not
	// answered from samples.
	Where []string
}

// Basis is the kind of records that answer a query.
type Basis string

// Kinds of records that answer queries.
const (
	Spans   Basis = "spans"
	Samples Basis = "samples"
	Stacks  Basis = "stacks"
	Windows Basis = "windows"
	States  Basis = "states"
)

// One returns the singular of the basis; see plain.Noun.
func (b Basis) One() string {
	if b == Windows {
		return "row of windows"
	}
	return strings.TrimSuffix(string(b), "s")
}

// Weights is the answer to a Query by call.
type Weights struct {
	// Self is the weight of each call without its children, in the metric's units; Count
	// is the number of spans, samples or stack records that end in it. Both are indexed
	// by CallID and may be shorter than the recording's calls.
	Self, Count []int64
	// First is, by call, the time in picoseconds of the first span or sample that ends in
	// it, math.MaxInt64 if there is none; nil if not requested. For records without a
	// time it is the index in the file, for rows of windows the start of the window.
	First []int64
	// Sum is the sum of Self; Records the sum of Count.
	Sum, Records int64
	wide         recording.Wide // Sum, exactly
	Basis        Basis
	// Ranged reports whether the query's range was applied: a recording without spans,
	// samples or windows of the metric can only answer for the whole. If it was, From and
	// To are the range actually covered: windows cannot be cut, so their edges may be
	// outside the query's range.
	Ranged   bool
	From, To int64
	// Left counts records that the scope excludes.
	Left LeftOut
	// WithoutCPU is the number of spans of the scope without a CPU time, or only partly
	// in the range: sums of CPU time leave them out.
	WithoutCPU int64
	// Called reports whether the query's calls were applied, which requires spans, states
	// or samples.
	Called bool
	// WindowCount is how many windows were used.
	WindowCount int
	// Pairs is the number of user stacks that were joined with a kernel stack (see join),
	// and Joined the weight that therefore counts once instead of twice.
	Pairs, Joined int64
}

// answerBytes is the approximate memory of an answer per call: its weight, its node in a
// growing tree, and a row of a table.
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
	if q.Scope.Ranged && q.Scope.Outside {
		return weighRest(ctx, rec, q)
	}
	basis := q.Basis(rec)
	if basis == Spans {
		return weighSpans(ctx, rec, q)
	}
	w := &Weights{Self: column.Fresh[int64](rec.Calls.Len()), Count: column.Fresh[int64](rec.Calls.Len()), Basis: basis}
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

// Basis returns the kind of records that answer a query: a range needs records that have
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
		w.wide.Add(r.Value)
		w.Sum = w.wide.Limited()
	}
	if w.First != nil {
		w.First[r.Call] = min(w.First[r.Call], r.At)
	}
}

// join adds another result, without its windows and pairs.
func (w *Weights) join(other *Weights) {
	w.Records += other.Records
	w.wide.Join(other.wide)
	w.Sum = w.wide.Limited()
	for c, n := range other.Count {
		w.Count[c] += n
	}
	for c, v := range other.Self {
		if v != 0 {
			recording.Add(&w.Self[c], v)
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

// weighSpans adds up the time that spans cover within the range, by call, and subtracts
// from each call the time that its children cover.
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
		w.Self = append(column.Fresh[int64](len(time))[:0], time...)
		q.outermost(rec, func(_ int, c recording.CallID, covered int64) {
			if p := rec.Calls.Parent(c); p != recording.NoCall {
				recording.Add(&w.Self[p], covered) // to be subtracted below
			}
		})
		for c := len(w.Self) - 1; c > 0; c-- {
			if t := time[c]; t != 0 {
				if p := rec.Calls.Parent(recording.CallID(c)); p != recording.NoCall {
					w.Self[p] = max(0, w.Self[p]-t) // negative only if a sum overflowed
				}
			}
		}
	}
	for c, v := range w.Self {
		w.wide.Add(v)
		w.Records += w.Count[c]
	}
	w.Sum = w.wide.Limited()
	return w, nil
}
