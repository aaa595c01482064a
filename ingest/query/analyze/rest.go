package analyze

import (
	"context"

	"ashlar/ingest/model/recording"
)

// weighRest weighs the time outside a range: the time before it and the time after it. A
// span that covers the whole range counts once.
func weighRest(ctx context.Context, rec *recording.Recording, q Query) (*Weights, error) {
	n := rec.Calls.Len()
	sum := &Weights{Self: make([]int64, n), Count: make([]int64, n), Basis: q.Basis(rec), Ranged: true, From: rec.Start, To: rec.End}
	if q.First {
		sum.First = never(n)
	}
	for _, part := range q.Scope.Parts(rec) {
		pq := q
		pq.Scope = part
		w, err := Weigh(ctx, rec, pq)
		if err != nil {
			return nil, err
		}
		sum.Ranged = sum.Ranged && w.Ranged
		sum.join(w)
		sum.Left.Add(&w.Left)
		sum.WithoutCPU += w.WithoutCPU
		sum.WindowCount += w.WindowCount
		sum.Pairs += w.Pairs
		recording.Add(&sum.Joined, w.Joined)
	}
	if sum.Basis == Spans {
		sum.once(rec, &q)
	}
	return sum, nil
}

// once corrects the counts of calls for spans that cover the range of a query, and so are
// in the time before and after it.
func (w *Weights) once(rec *recording.Recording, q *Query) {
	inside := *q
	if inside.Scope.Outside = false; q.Scope.From <= rec.Start || q.Scope.To >= rec.End {
		return
	}
	for _, s := range inside.lanes(rec) {
		if s.Lane.Start(s.First) >= q.Scope.From || s.Lane.End(s.First) <= q.Scope.To {
			continue
		}
		c := s.Lane.Call(s.First)
		w.Count[c]--
		w.Records--
		if q.Metric == recording.SpanCount {
			w.Self[c]--
			w.Sum--
		}
	}
}
