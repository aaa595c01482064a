package compare

import (
	"context"
	"math"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// SamplesBehind counts the samples behind a query's weights, by call: what the
// confidence of a difference is made from. It returns nil if the recording
// does not tell, and for times of spans, which are not sampled. w are the
// query's weights.
//
// In this order: the metric counts samples itself; the event has another metric
// that does; the weights were added up from single samples; a heap profile
// whose objects and sampling rate tell; a metric that adds up periods of known
// size. What is counted one by one, like calls of a function, is taken as its
// own number of samples.
func SamplesBehind(ctx context.Context, rec *recording.Recording, q analyze.Query, w *analyze.Weights) (*analyze.Weights, error) {
	if q.Event < 0 || q.Event >= len(rec.Events) {
		return nil, nil
	}
	ev := &rec.Events[q.Event]
	m := &ev.Metrics[q.Metric]
	if ev.Basis == recording.FromSpans {
		if q.Metric == recording.SpanCount {
			return w, nil
		}
		return nil, nil
	}
	if countsSamples(m) {
		return w, nil
	}
	for k := range ev.Metrics {
		if k != q.Metric && countsSamples(&ev.Metrics[k]) {
			sq := q
			sq.Metric = k
			return analyze.Weigh(ctx, rec, sq)
		}
	}
	if w.Basis == analyze.Samples {
		return counted(w, func(c int) float64 { return float64(w.Count[c]) }), nil
	}
	if n, bytes := heapPair(ev, q.Metric); n >= 0 {
		return heapSamples(ctx, rec, q, n, bytes)
	}
	if ev.Period > 1 && (m.Name == "period" || m.Name == "cpu" || m.Name == "wall") && m.Decimals == 0 {
		return counted(w, func(c int) float64 { return float64(w.Self[c]) / float64(ev.Period) }), nil
	}
	for k := range ev.Metrics {
		if ev.Metrics[k].Name == "contentions" {
			sq := q
			sq.Metric = k
			return analyze.Weigh(ctx, rec, sq)
		}
	}
	if m.Unit == "count" && ev.Period <= 1 {
		return w, nil
	}
	return nil, nil
}

func countsSamples(m *recording.Metric) bool {
	return m.PerSample == recording.SampleOne || isSampleName(m.Name) && (m.Unit == "count" || m.Unit == "" || isSampleName(m.Unit))
}

// counted makes weights of numbers of samples. Where something was weighed at
// least one sample was taken.
func counted(w *analyze.Weights, n func(c int) float64) *analyze.Weights {
	s := &analyze.Weights{Self: make([]int64, len(w.Self)), Count: w.Count, Basis: w.Basis, Records: w.Records}
	for c, v := range w.Self {
		if v != 0 {
			s.Self[c] = max(1, int64(math.Round(math.Abs(n(c)))))
			recording.Add(&s.Sum, s.Self[c])
		}
	}
	return s
}

// heapPair finds the metrics of objects and bytes that a metric of a sampled
// heap profile belongs to.
func heapPair(ev *recording.Event, metric int) (objects, bytes int) {
	if ev.Period <= 1 {
		return -1, -1
	}
	for _, p := range [][2]string{{"alloc_objects", "alloc_space"}, {"inuse_objects", "inuse_space"}, {"objects", "space"}} {
		o, b := ev.Metric(p[0]), ev.Metric(p[1])
		if o >= 0 && b >= 0 && (metric == o || metric == b) {
			return o, b
		}
	}
	return -1, -1
}

// heapSamples undoes what recorders do to the samples of a heap. One byte in
// period is hit, so an object of s bytes is seen with probability
// 1-exp(-s/period), and recorders divide by it (scaleHeapSample in Go's
// runtime/pprof). That objects far larger than period are seen for certain is not
// made use of: how often a program makes them is a matter of chance as well.
func heapSamples(ctx context.Context, rec *recording.Recording, q analyze.Query, objects, bytes int) (*analyze.Weights, error) {
	q.Metric = objects
	n, err := analyze.Weigh(ctx, rec, q)
	if err != nil {
		return nil, err
	}
	q.Metric = bytes
	size, err := analyze.Weigh(ctx, rec, q)
	if err != nil {
		return nil, err
	}
	period := float64(rec.Events[q.Event].Period)
	return counted(n, func(c int) float64 {
		each := float64(size.Self[c]) / float64(n.Self[c])
		return float64(n.Self[c]) * -math.Expm1(-each/period)
	}), nil
}
