package compare

import (
	"math"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/model/recording"
)

func TestShareAgainstFractions(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for i := range 300 {
		values := make([]int64, 1+r.IntN(60))
		order := make([]int32, len(values))
		for k := range values {
			values[k] = r.Int64N(1 << (10 + i%30))
			if i%3 == 0 && r.IntN(3) == 0 {
				values[k] = -values[k]
			}
			order[k] = int32(k)
		}
		rat := big.NewRat(1+r.Int64N(1<<30), 1+r.Int64N(1<<30))
		if i%5 == 0 { // needs more than 64 bits
			rat.SetFrac(new(big.Int).Lsh(rat.Num(), 40), new(big.Int).Add(new(big.Int).Lsh(rat.Denom(), 40), big.NewInt(1)))
		}
		got, err := newFactor(rat).share(values, order)
		if err != nil {
			t.Fatal(err)
		}
		var sum, scaled int64
		for k, v := range values {
			sum, scaled = sum+v, scaled+got[k]
			exact := new(big.Rat).Mul(rat, new(big.Rat).SetInt64(sum))
			if off, _ := exact.Sub(exact, new(big.Rat).SetInt64(scaled)).Float64(); math.Abs(off) > .5 {
				t.Fatalf("the first %d values are off by %g", k+1, off)
			}
		}
	}
	if _, err := newFactor(big.NewRat(1<<40, 1)).share([]int64{1 << 40}, []int32{0}); err == nil {
		t.Error("a value that does not fit is scaled")
	}
	if _, err := newFactor(big.NewRat(1, 1)).share([]int64{1 << 62, 1 << 62}, []int32{0, 1}); err == nil {
		t.Error("a sum that does not fit is scaled")
	}
}

func withMetric(path string, e recording.Event) *recording.Recording {
	b := recording.NewBuilder()
	b.Source().Path = path
	b.AddEvent(e)
	f := b.FunctionFrame(b.Function(recording.Function{Name: "f"}))
	values := make([]int64, len(e.Metrics))
	for i := range values {
		values[i] = 15
	}
	b.AddStack(0, b.Stack([]recording.FrameID{f}), recording.NoTrack, 0, values)
	return b.Finish()
}

func one(event, metric, unit string, decimals int) recording.Event {
	return recording.Event{Name: event, Metrics: []recording.Metric{{Name: metric, Unit: unit, Decimals: decimals}}}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct {
		a, b   recording.Event
		unit   string
		dec    int
		ta, tb int64 // the value 15 of each side in common units; 0 if nothing matches
	}{
		{one("", "cpu", "ns", 0), one("", "cpu", "us", 0), "ns", 0, 15, 15000},
		{one("", "cpu", "microseconds", 3), one("", "cpu", "ns", 0), "microseconds", 3, 15, 15},
		{one("", "cpu", "us", 1), one("", "cpu", "ms", 2), "us", 1, 15, 1500},
		{one("", "cpu", "min", 1), one("", "cpu", "s", 0), "s", 0, 90, 15},
		{one("x", "space", "bytes", 0), one("y", "alloc", "KiB", 0), "bytes", 0, 15, 15360},
		{one("", "cpu", "ns", 0), one("", "space", "bytes", 0), "", 0, 0, 0},
		{one("", "alloc_objects", "count", 0), one("", "contentions", "count", 0), "", 0, 0, 0},
		{one("cycles:u", "period", "events", 0), one("cycles", "period", "events", 0), "events", 0, 15, 15},
		{one("cycles", "period", "events", 0), one("cpu-clock", "period", "events", 0), "", 0, 0, 0},
		{one("a", "samples", "count", 0), one("b", "samples", "", 0), "count", 0, 15, 15},
	} {
		a, b := withMetric("a.x", c.a), withMetric("b.x", c.b)
		x, y := sides(a, b)
		got, err := Compare(bg, x, y, Options{})
		if c.ta == 0 {
			if err == nil || !strings.Contains(err.Error(), "a.x has "+strings.TrimSpace(c.a.Name+" "+c.a.Metrics[0].Name)) || !strings.Contains(err.Error(), "b.x has") {
				t.Errorf("%+v with %+v: the error is %v", c.a, c.b, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v with %+v: %v", c.a, c.b, err)
			continue
		}
		m := got.Metric.Common
		if m.Unit != c.unit || m.Decimals != c.dec || got.A().Total != c.ta || got.B().Total != c.tb || got.A().RawTotal != c.ta {
			t.Errorf("%+v with %+v: %d and %d in %s of %d decimals, want %d and %d in %s of %d", c.a, c.b,
				got.A().Total, got.B().Total, m.Unit, m.Decimals, c.ta, c.tb, c.unit, c.dec)
		}
	}
}

// TestMetricChoice checks that the metric common to both recordings is chosen, although it
// is primary in neither.
func TestMetricChoice(t *testing.T) {
	a := withMetric("a", recording.Event{Metrics: []recording.Metric{{Name: "x", Unit: "widgets"}, {Name: "cpu", Unit: "ns"}}})
	b := withMetric("b", recording.Event{Metrics: []recording.Metric{{Name: "y", Unit: "bytes"}, {Name: "cpu", Unit: "ms"}}})
	m, err := MatchMetric([]*recording.Recording{a, b}, "", "")
	if err != nil || m.Common.Name != "cpu" || m.Rule != sameEvent {
		t.Errorf("the metric is %+v (%v)", m, err)
	}
	// If only B has a metric of the given name, A's counterpart is chosen.
	b = withMetric("b", recording.Event{Metrics: []recording.Metric{{Name: "wall", Unit: "ms"}}})
	m, err = MatchMetric([]*recording.Recording{a, b}, "", "wall")
	if err != nil || m.Metric[0] != 1 || m.Metric[1] != 0 {
		t.Errorf("the metric is %+v (%v)", m, err)
	}
}

// TestMetricOfUnlikeSamplers compares recordings by two profilers, at 100 and 199 samples
// per second, of a program before and after a change. The times must be matched, not the
// numbers of samples.
func TestMetricOfUnlikeSamplers(t *testing.T) {
	var recs []*recording.Recording
	for _, name := range []string{"before.pb.gz", "after.perf.zst"} {
		rec, _, err := ingest.ReadAll(bg, filepath.Join("..", "..", "..", "testdata", "recorded", name), ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, rec)
	}
	for _, r := range [][2]*recording.Recording{{recs[0], recs[1]}, {recs[1], recs[0]}} {
		c := mustCompare(t, r[0], r[1], Options{})
		if _, base := Measures(&c.Metric.Common); base != 1000 || c.Metric.Rule != sameUnit {
			t.Errorf("%s is compared by %s", c.Metric.Common.Name, c.Metric.Rule)
		}
	}
	c := mustCompare(t, recs[0], recs[1], Options{})
	if ratio := float64(c.B().Total) / float64(c.A().Total); ratio < .3 || ratio > .45 {
		t.Errorf("the optimised program takes %g of the time", ratio)
	}
	if m, err := MatchMetric(recs, "", "samples"); err != nil || m.Common.Name != "samples" {
		t.Errorf("asked for samples, %+v is taken (%v)", m, err)
	}
}
