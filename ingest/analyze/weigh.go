// Package analyze answers questions asked of a recording: where the cost of a
// selection went, by call, by function, by thread.
//
// Everything starts from [Weigh], which turns any kind of recording into a
// self weight for each call; trees and tables are sums over those.
package analyze

import (
	"context"
	"runtime"
	"sort"
	"sync"

	"ashlar/ingest/recording"
)

// Query selects what is weighed.
type Query struct {
	// Event and Metric index Recording.Events and its Metrics.
	Event, Metric int
	// Ranged limits the answer to From..To (picoseconds).
	Ranged   bool
	From, To int64
	// Tracks limits the answer to some tracks, by index; nil means all.
	Tracks []int
}

// Basis says which records an answer comes from.
type Basis string

// What answers come from.
const (
	Spans   Basis = "spans"
	Samples Basis = "samples"
	Stacks  Basis = "stacks"
	Windows Basis = "windows"
)

// Weights are the answer to a Query by call.
type Weights struct {
	// Self is the weight of each call without its children's, in the metric's
	// units; Count is how many spans, samples or stack records end in it. Both
	// are indexed by CallID and may be shorter than the recording's calls.
	Self, Count []int64
	// Sum is the sum of Self; Records the sum of Count.
	Sum, Records int64
	Basis        Basis
	// Ranged tells whether the query's range was honoured: a recording with
	// neither spans, samples nor windows of the metric can only answer for the
	// whole. From and To are then what was really answered for: windows cannot
	// be cut, so their edges may lie outside the range.
	Ranged   bool
	From, To int64
	// WindowCount is how many windows were used.
	WindowCount int
}

// Weigh computes the self weight of every call for a query. It uses several
// goroutines on large recordings and returns early with ctx's error.
func Weigh(ctx context.Context, rec *recording.Recording, q Query) (*Weights, error) {
	if q.Event < 0 || q.Event >= len(rec.Events) {
		return &Weights{Basis: Stacks}, nil
	}
	basis := basisOf(rec, q)
	if basis == Spans {
		return weighSpans(ctx, rec, q)
	}
	w := &Weights{Self: make([]int64, rec.Calls.Len()), Count: make([]int64, rec.Calls.Len()), Basis: basis}
	switch basis {
	case Samples:
		w.samples(rec, q)
	case Windows:
		w.windows(rec, q)
	default:
		w.stacks(rec, q)
	}
	return w, ctx.Err()
}

// basisOf chooses the records that answer a query: a range needs records that
// have a time.
func basisOf(rec *recording.Recording, q Query) Basis {
	ev := &rec.Events[q.Event]
	switch {
	case ev.Basis == recording.FromSpans:
		return Spans
	case ev.Basis == recording.FromSamples:
		return Samples
	case q.Ranged && ev.Metrics[q.Metric].PerSample != recording.SampleNone && hasSamples(rec, q.Event):
		return Samples
	case q.Ranged && hasWindows(rec, q):
		return Windows
	}
	return Stacks
}

func (w *Weights) add(call recording.CallID, v int64) {
	w.Count[call]++
	w.Records++
	if v != recording.Missing {
		w.Self[call] += v
		w.Sum += v
	}
}

// chosen returns a test for the query's tracks.
func (q *Query) chosen() func(track int) bool {
	if q.Tracks == nil {
		return func(int) bool { return true }
	}
	set := make(map[int]bool, len(q.Tracks))
	for _, t := range q.Tracks {
		set[t] = true
	}
	return func(t int) bool { return set[t] }
}

func (w *Weights) stacks(rec *recording.Recording, q Query) {
	s := rec.Stacks[q.Event]
	if s == nil {
		return
	}
	chosen := q.chosen()
	for i := range s.Len() {
		if chosen(s.Track(i)) {
			w.add(s.Call(i), s.Value(i, q.Metric))
		}
	}
}

func hasSamples(rec *recording.Recording, event int) bool {
	for _, t := range rec.Tracks {
		if s := t.SamplesOf(event); s != nil && s.Len() > 0 {
			return true
		}
	}
	return false
}

func (w *Weights) samples(rec *recording.Recording, q Query) {
	w.Ranged, w.From, w.To = q.Ranged, q.From, q.To
	m := &rec.Events[q.Event].Metrics[q.Metric]
	chosen := q.chosen()
	for ti, t := range rec.Tracks {
		s := t.SamplesOf(q.Event)
		if s == nil || !chosen(ti) {
			continue
		}
		from, to := q.samples(rec, s)
		for i := from; i < to; i++ {
			w.add(s.Call(i), s.Value(i, m, q.Metric))
		}
	}
}

// samples returns the part of a track's samples that lies in the query's range.
func (q *Query) samples(rec *recording.Recording, s *recording.Samples) (from, to int) {
	if !q.Ranged {
		return 0, s.Len()
	}
	if q.To >= rec.End {
		return s.Search(q.From), s.Len() // the last moment belongs to the last range
	}
	return s.Search(q.From), s.Search(q.To)
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

func (w *Weights) windows(rec *recording.Recording, q Query) {
	w.Ranged, w.From, w.To = true, q.From, q.To
	chosen := q.chosen()
	for _, ws := range rec.Windows {
		if ws.Event != q.Event {
			continue
		}
		for _, i := range cover(ws.Windows, q.From, q.To) {
			win := &ws.Windows[i]
			w.WindowCount++
			w.From, w.To = min(w.From, win.Start), max(w.To, win.End)
			for r := win.First; r < win.Last; r++ {
				if chosen(ws.Rows.Track(r)) {
					w.add(ws.Rows.Call(r), ws.Rows.Value(r, q.Metric))
				}
			}
		}
	}
}

// weighSpans adds up the time that spans cover within the range, by call, and
// takes from each call what its children cover.
func weighSpans(ctx context.Context, rec *recording.Recording, q Query) (*Weights, error) {
	w := &Weights{Basis: Spans, Ranged: q.Ranged, From: q.From, To: q.To}
	var time []int64
	if !q.Ranged && q.Tracks == nil {
		time = rec.SpanTime
		w.Count = rec.SpanCount
	} else {
		var err error
		if time, w.Count, err = scanSpans(ctx, rec, q); err != nil {
			return nil, err
		}
	}
	if q.Metric == recording.SpanCount {
		w.Self = w.Count
	} else {
		w.Self = append([]int64(nil), time...)
		for c := len(w.Self) - 1; c > 0; c-- {
			if t := time[c]; t != 0 {
				if p := rec.Calls.Parent(recording.CallID(c)); p != recording.NoCall {
					w.Self[p] -= t
				}
			}
		}
	}
	for c, v := range w.Self {
		w.Sum += v
		w.Records += w.Count[c]
	}
	return w, nil
}

// scanSpans sums the clipped duration and the number of spans by call, on all
// cores, a lane at a time.
func scanSpans(ctx context.Context, rec *recording.Recording, q Query) (time, count []int64, err error) {
	from, to := rec.Start, rec.End
	if q.Ranged {
		from, to = q.From, q.To
	}
	chosen := q.chosen()
	lanes := make(chan *recording.Lane)
	workers := runtime.GOMAXPROCS(0)
	times, counts := make([][]int64, workers), make([][]int64, workers)
	var wg sync.WaitGroup
	for k := range workers {
		times[k], counts[k] = make([]int64, rec.Calls.Len()), make([]int64, rec.Calls.Len())
		wg.Go(func() {
			for l := range lanes {
				sumLane(ctx, l, from, to, times[k], counts[k])
			}
		})
	}
	for ti, t := range rec.Tracks {
		if !chosen(ti) {
			continue
		}
		for i := range t.Lanes {
			lanes <- &t.Lanes[i]
		}
	}
	close(lanes)
	wg.Wait()
	for k := 1; k < workers; k++ {
		for c := range times[0] {
			times[0][c] += times[k][c]
			counts[0][c] += counts[k][c]
		}
	}
	return times[0], counts[0], ctx.Err()
}

// sumLane adds a lane's spans that touch from..to.
func sumLane(ctx context.Context, l *recording.Lane, from, to int64, time, count []int64) {
	i, last := spansIn(l, from, to)
	for i < last && ctx.Err() == nil {
		starts, ends, calls := l.Columns(i)
		n := min(len(starts), last-i)
		for k := range n {
			c := calls[k]
			time[c] += min(ends[k], to) - max(starts[k], from)
			count[c]++
		}
		i += n
	}
}

// spansIn returns the spans first..last-1 of a lane that touch from..to. A span
// of no length counts where it lies, both edges included.
func spansIn(l *recording.Lane, from, to int64) (first, last int) {
	first = l.Search(from)
	for first > 0 && l.End(first-1) == from && l.Start(first-1) == from {
		first--
	}
	n := l.Len()
	last = first + sort.Search(n-first, func(k int) bool { return l.Start(first+k) >= to })
	for last < n && l.Start(last) == to && l.End(last) == to {
		last++
	}
	return first, last
}
