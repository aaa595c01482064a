package compare

import (
	"context"
	"math"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// SamplesBehind returns, by call, the number of samples behind a query's weights w. The
// confidence of a difference is computed from it. It returns nil if the number is
// unknown, and for times of spans, which are not sampled.
//
// It takes the number from the first source that exists: the metric, if it counts samples;
// another metric of the event that does; the single samples behind the weights; the object
// counts and sampling rate of a heap profile; the sampling period; the metric contentions.
// If a metric counts events one by one, such as calls, each event is one sample.
//
// For weights of a range, samples of the whole recording are not behind them: a file may
// have windows of one metric only.
func SamplesBehind(ctx context.Context, rec *recording.Recording, q analyze.Query, w *analyze.Weights) (*analyze.Weights, error) {
	s, err := samplesBehind(ctx, rec, q, w)
	if s != nil && w.Ranged && !s.Ranged {
		return nil, err
	}
	return s, err
}

func samplesBehind(ctx context.Context, rec *recording.Recording, q analyze.Query, w *analyze.Weights) (*analyze.Weights, error) {
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
	// A metric that only stack records have is summed over the whole recording, so its
	// samples are counted there too.
	whole := q
	if w.Basis == analyze.Stacks {
		whole.Scope.Ranged, whole.Scope.Calls = false, nil
	}
	for k := range ev.Metrics {
		if k != q.Metric && countsSamples(&ev.Metrics[k]) {
			sq := whole
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
			sq := whole
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

// counted makes weights from numbers of samples. A weight other than 0 has at least one
// sample.
func counted(w *analyze.Weights, n func(c int) float64) *analyze.Weights {
	s := &analyze.Weights{Self: make([]int64, len(w.Self)), Count: w.Count, Basis: w.Basis, Records: w.Records, Ranged: w.Ranged}
	for c, v := range w.Self {
		if v != 0 {
			s.Self[c] = max(1, int64(math.Round(math.Abs(n(c)))))
			recording.Add(&s.Sum, s.Self[c])
		}
	}
	return s
}

// heapPair returns the metrics for objects and bytes that belong to a metric of a sampled
// heap profile.
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

// heapSamples estimates the number of samples from a heap profile whose values recorders
// have scaled up. An object of s bytes is sampled with probability 1-exp(-s/period), one
// byte in period on average, and recorders divide by that probability (scaleHeapSample in
// Go's runtime/pprof). Objects far larger than period are sampled almost surely, but that
// is not used: how often a program allocates them is random too.
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
