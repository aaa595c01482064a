package compare

import (
	"math"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// TestHeapSamples recovers the numbers of sampled objects from the scaled values that Go's
// runtime writes.
func TestHeapSamples(t *testing.T) {
	const period = 512 << 10
	p := newProgram(1)
	p.b.AddEvent(recording.Event{Kind: "allocation", Period: period, Primary: 1, Metrics: []recording.Metric{
		{Name: "alloc_objects", Unit: "count"}, {Name: "alloc_space", Unit: "bytes"},
	}})
	seen := map[string]int64{"small@a": 40, "medium@a": 7, "large@a": 3}
	for name, size := range map[string]float64{"small@a": 48, "medium@a": 300_000, "large@a": 50 << 20} {
		// runtime/pprof: scale = 1/(1-exp(-size/rate)); both are multiplied.
		n := float64(seen[name]) / (1 - math.Exp(-size/period))
		p.b.AddStack(0, p.stack(name), recording.NoTrack, 0, []int64{int64(n), int64(n * size)})
	}
	rec := p.b.Finish()
	for metric := range 2 {
		q := analyze.Query{Metric: metric}
		w, _ := analyze.Weigh(bg, rec, q)
		behind, err := SamplesBehind(bg, rec, q, w)
		if err != nil || behind == nil {
			t.Fatal(behind, err)
		}
		for c := 1; c < rec.Calls.Len(); c++ {
			name := rec.FuncName(recording.CallID(c)) + "@a"
			if behind.Self[c] != seen[name] {
				t.Errorf("%s was seen %d times, not %d", name, seen[name], behind.Self[c])
			}
		}
	}
}

func TestSamplesBehind(t *testing.T) {
	metric := func(name, unit string) recording.Metric { return recording.Metric{Name: name, Unit: unit} }
	for _, c := range []struct {
		what   string
		event  recording.Event
		metric int
		values []int64
		want   int64 // -1 if unknown
	}{
		{"the metric itself", recording.Event{Metrics: []recording.Metric{metric("samples", "count")}}, 0, []int64{9}, 9},
		{"its neighbour", recording.Event{Metrics: []recording.Metric{metric("samples", "count"), metric("cpu", "ns")}}, 1, []int64{9, 90e6}, 9},
		{"its period", recording.Event{Period: 10e6, Metrics: []recording.Metric{metric("cpu", "ns")}}, 0, []int64{90e6}, 9},
		{"nothing", recording.Event{Metrics: []recording.Metric{metric("cpu", "ns")}}, 0, []int64{90e6}, -1},
		{"contentions", recording.Event{Metrics: []recording.Metric{metric("contentions", "count"), metric("delay", "ns")}}, 1, []int64{4, 90e6}, 4},
		{"counted one by one", recording.Event{Metrics: []recording.Metric{metric("calls", "count")}}, 0, []int64{12}, 12},
	} {
		p := newProgram(1)
		p.b.AddEvent(c.event)
		p.b.AddStack(0, p.stack("f@a"), recording.NoTrack, 0, c.values)
		rec := p.b.Finish()
		q := analyze.Query{Metric: c.metric}
		w, _ := analyze.Weigh(bg, rec, q)
		got := int64(-1)
		if behind, err := SamplesBehind(bg, rec, q, w); err != nil {
			t.Error(err)
		} else if behind != nil {
			got = behind.Sum
		}
		if got != c.want {
			t.Errorf("%s: %d samples, want %d", c.what, got, c.want)
		}
	}
}

// TestSamplesBehindTheWhole checks that, if a range cannot be answered and the whole
// recording is summed up instead, all its samples count.
func TestSamplesBehindTheWhole(t *testing.T) {
	p := newProgram(1)
	p.b.AddEvent(recording.Event{Name: "cycles", Primary: 1, Metrics: []recording.Metric{
		{Name: "samples", Unit: "count", PerSample: recording.SampleOne}, {Name: "period"},
	}})
	p.b.AddStack(0, p.stack("f@a"), recording.NoTrack, 0, []int64{1, 100})
	p.b.AddStack(0, p.stack("g@a"), recording.NoTrack, 0, []int64{1, 50})
	p.b.Track(recording.TrackKey{PID: 1, TID: 1}).Sample(0, 5, p.stack("f@a"), -1, nil)
	rec := p.b.Finish()
	q := analyze.Query{Metric: 1, Scope: recording.Scope{Ranged: true, From: 0, To: 10}}
	w, err := analyze.Weigh(bg, rec, q)
	if err != nil || w.Basis != analyze.Stacks || w.Sum != 150 {
		t.Fatalf("%+v %v", w, err)
	}
	if behind, err := SamplesBehind(bg, rec, q, w); err != nil || behind == nil || behind.Sum != 2 {
		t.Errorf("%+v samples %v, want 2", behind, err)
	}
}

// TestPeriodsAreJudgedBySamples checks that two samples are not certain even if their
// period is huge, and that sides sampled at different rates can be compared.
func TestPeriodsAreJudgedBySamples(t *testing.T) {
	build := func(period int64, f, g int64) *recording.Recording {
		p := newProgram(1)
		p.b.AddEvent(recording.Event{Name: "cycles", Period: period, Primary: 1, Metrics: []recording.Metric{
			{Name: "samples", Unit: "count"}, {Name: "period", Unit: "events"},
		}})
		p.b.AddStack(0, p.stack("f@a"), recording.NoTrack, 0, []int64{f, f * period})
		p.b.AddStack(0, p.stack("g@a"), recording.NoTrack, 0, []int64{g, g * period})
		return p.b.Finish()
	}
	table := mustTable(t, mustCompare(t, build(1e9, 0, 50), build(1e9, 2, 50), Options{}), ByFunction)
	if r := row(t, table, "f"); r.BSelf != 2e9 || r.Self.P < .4 {
		t.Errorf("two samples against none have p %g", r.Self.P)
	}
	// Ten times as many samples with a tenth of the period make no difference.
	table = mustTable(t, mustCompare(t, build(1e6, 400, 100), build(1e5, 4000, 2000), Options{}), ByFunction)
	if r := row(t, table, "f"); r.Status != Same || r.Self.P < .9 {
		t.Errorf("the same at ten times the rate has p %g", r.Self.P)
	}
	if r := row(t, table, "g"); r.Self.Level() < .95 || r.Self.Low > 1e8 || r.Self.High < 1e8 || r.Self.Low < 0 {
		t.Errorf("twice as much at ten times the rate is %g sure, %g…%g", r.Self.Level(), r.Self.Low, r.Self.High)
	}
}
