package spans_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/spans"
	"ashlar/testdata/rounds"
)

// plainSpan is a span as added by the test.
type plainSpan struct {
	track      int
	start, end int64
	name       string
	open       bool
}

// traceOf makes a recording of random nested spans on some tracks, the last of which has
// complete spans that overlap, and a list of all spans.
func traceOf(seed uint64, tracks, steps int) (*recording.Recording, []plainSpan) {
	r := rand.New(rand.NewPCG(seed, 77))
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	frame := func(name string) recording.FrameID {
		return b.FunctionFrame(b.Function(recording.Function{Name: name, Module: "app"}))
	}
	var all []plainSpan
	for k := range tracks {
		t := b.Track(recording.TrackKey{PID: 1, TID: int64(k + 1)})
		var open []int
		at := r.Int64N(1000)
		for range steps {
			switch {
			case k == tracks-1 && tracks > 1:
				d := int64(1e3 / (r.Float64() + 1e-4))
				name := fmt.Sprint("f", r.IntN(3))
				t.Span(at, at+d, frame(name), 0, false)
				all = append(all, plainSpan{k, at, at + d, name, false})
			case len(open) > 0 && r.IntN(2) == 0:
				i := open[len(open)-1]
				open = open[:len(open)-1]
				t.End(at)
				all[i].end, all[i].open = at, false
			default:
				name := fmt.Sprint("f", r.IntN(3))
				t.Begin(at, frame(name), 0)
				open = append(open, len(all))
				all = append(all, plainSpan{k, at, -1, name, true})
			}
			if r.IntN(4) > 0 {
				at += r.Int64N(5000)
			}
		}
	}
	rec := b.Finish()
	for i := range all {
		if all[i].open {
			all[i].end = rec.End
		}
	}
	for k, t := range rec.Tracks {
		for i := range t.Lanes {
			for l, j := &t.Lanes[i], 0; j < l.Len(); j++ {
				if rec.FuncName(l.Call(j)) == recording.Overlapping { // tested in package recording
					all = append(all, plainSpan{k, l.Start(j), l.End(j), recording.Overlapping, false})
				}
			}
		}
	}
	return rec, all
}

func TestDurationsAreThoseOfANaiveCount(t *testing.T) {
	for seed, c := range []struct{ tracks, steps int }{{1, 3}, {1, 1}, {2, 40}, {4, 1000}, {3, rounds.Size(70_000, 7_000)}} {
		rec, all := traceOf(uint64(seed), c.tracks, c.steps)
		third := rec.Duration() / 3
		for _, in := range []recording.Scope{
			{},
			recording.Between(rec.Start+third, rec.Start+2*third),
			{Tracks: []int{0}},
		} {
			for f := range rec.Functions.Len() {
				id := recording.FuncID(f)
				got, err := spans.DurationsOf(context.Background(), rec, in, []recording.FuncID{id})
				if err != nil {
					t.Fatal(err)
				}
				checkDurations(t, got, within(rec, all, in, rec.Functions.At(f).Name))
				if t.Failed() {
					t.Fatalf("seed %d, %+v", seed, in)
				}
			}
		}
	}
}

// within returns the spans of a function that touch a scope.
func within(rec *recording.Recording, all []plainSpan, in recording.Scope, name string) []plainSpan {
	from, to := rec.Start, rec.End
	if in.Ranged {
		from, to = in.From, in.To
	}
	var out []plainSpan
	for _, s := range all {
		touches := s.start < to && s.end > from || s.start == s.end && s.start >= from && s.start <= to
		if s.name == name && touches && (in.Tracks == nil || slices.Contains(in.Tracks, s.track)) {
			out = append(out, s)
		}
	}
	return out
}

func checkDurations(t *testing.T, got *spans.Durations, want []plainSpan) {
	t.Helper()
	n := len(want)
	if got.Count != int64(n) {
		t.Fatalf("%d spans, want %d", got.Count, n)
	}
	if n == 0 {
		if got.Mean() != nil || got.Slowest != nil || got.Linear != nil {
			t.Errorf("nothing has statistics: %+v", got)
		}
		return
	}
	var ds []int64
	var open int64
	sum := new(big.Int)
	for _, s := range want {
		ds = append(ds, s.end-s.start)
		sum.Add(sum, big.NewInt(s.end-s.start))
		if s.open {
			open++
		}
	}
	slices.Sort(ds)
	at := func(percent float64) int64 { // by definition, exact for these n
		i := 0
		for float64(i+1)*1000 < percent*10*float64(n) {
			i++
		}
		return ds[i]
	}
	for name, pair := range map[string][2]int64{
		"min": {got.Min, ds[0]}, "max": {got.Max, ds[n-1]}, "median": {got.Median, at(50)}, "p90": {got.P90, at(90)},
		"p99": {got.P99, at(99)}, "p99.9": {got.P999, at(99.9)}, "unfinished": {got.Unfinished, open},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s of %d is %d, want %d", name, n, pair[0], pair[1])
		}
	}
	if mean := new(big.Rat).SetFrac(sum, big.NewInt(int64(n))); got.Mean().Cmp(mean) != 0 {
		t.Errorf("mean %v, want %v", got.Mean(), mean)
	}
	checkSlowest(t, got, want, ds)
	checkMoments(t, got, want)
	for _, bins := range [][]spans.Bin{got.Linear, got.Logarithmic} {
		var sum int64
		for _, b := range bins {
			sum += b.Count
		}
		if sum != int64(n) {
			t.Errorf("%d in the bins, want %d", sum, n)
		}
	}
}

func checkSlowest(t *testing.T, got *spans.Durations, want []plainSpan, sorted []int64) {
	t.Helper()
	if len(got.Slowest) != min(10, len(want)) {
		t.Fatalf("%d slowest of %d", len(got.Slowest), len(want))
	}
	seen := map[spans.SlowSpan]bool{}
	for i, s := range got.Slowest {
		if s.Duration != sorted[len(sorted)-1-i] || seen[s] {
			t.Errorf("slowest %d took %d (twice %v), want %d", i, s.Duration, seen[s], sorted[len(sorted)-1-i])
		}
		seen[s] = true
		if !slices.ContainsFunc(want, func(w plainSpan) bool {
			return w.track == s.Track && w.start == s.Start && w.end-w.start == s.Duration && w.open == s.Unfinished
		}) {
			t.Errorf("there is no such span: %+v", s)
		}
	}
}

// checkMoments compares the moments with the spans that begin in each. Spans that begin
// before the range count in the first moment.
func checkMoments(t *testing.T, got *spans.Durations, want []plainSpan) {
	t.Helper()
	last := len(got.OverTime) - 1
	for i, m := range got.OverTime {
		var ds []int64
		for _, s := range want {
			if (s.start >= m.From || i == 0) && (s.start < m.To || i == last) {
				ds = append(ds, s.end-s.start)
			}
		}
		if int64(len(ds)) != m.Count {
			t.Fatalf("moment %d has %d spans, want %d", i, m.Count, len(ds))
		}
		if slices.Sort(ds); len(ds) > 0 && ds[(len(ds)-1)/2] != m.Median {
			t.Errorf("moment %d has the median %d, want %d", i, m.Median, ds[(len(ds)-1)/2])
		}
	}
}

func TestSlowestSpanIsWhereItSays(t *testing.T) {
	rec, _ := traceOf(9, 3, 500)
	d, err := spans.DurationsOf(context.Background(), rec, recording.Scope{}, []recording.FuncID{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range d.Slowest {
		l := &rec.Tracks[s.Track].Lanes[s.Lane]
		if l.Start(s.Span) != s.Start || l.End(s.Span) != s.Start+s.Duration || l.Call(s.Span) != s.Call {
			t.Errorf("at track %d, lane %d, span %d there is another span than %+v", s.Track, s.Lane, s.Span, s)
		}
	}
}

// TestStats compares the statistics with the lengths of single spans.
func TestStats(t *testing.T) {
	for seed := range uint64(40) {
		rec, all := traceOf(seed, 1+int(seed%4), 5+int(seed)*8)
		r := rand.New(rand.NewPCG(seed, 4))
		from := rec.Start + r.Int64N(rec.Duration()+1)
		cut := recording.Between(from, from+r.Int64N(rec.End-from+1))
		for _, in := range []recording.Scope{{}, cut, {Tracks: []int{0}}, cut.On([]int{0}), {Tracks: []int{}}} {
			got, err := spans.Stats(context.Background(), rec, in)
			if err != nil {
				t.Fatal(err)
			}
			for id := range rec.Functions.Len() {
				var want spans.Stat
				var sum int64
				for i, s := range within(rec, all, in, rec.Functions.At(id).Name) {
					d := s.end - s.start
					if i == 0 {
						want.Min, want.Max = d, d
					}
					sum += d
					want.Count, want.Min, want.Max = want.Count+1, min(want.Min, d), max(want.Max, d)
				}
				s := got[id]
				if s.Count != want.Count || s.Min != want.Min || s.Max != want.Max || s.Average() != sum/max(1, s.Count) {
					t.Errorf("seed %d, %+v: %s has %+v and the average %d, want %+v and %d of them", seed, in, rec.Functions.At(id).Name, s, s.Average(), want, sum)
				}
			}
		}
	}
	rec, _ := traceOf(1, 2, 50)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := spans.Stats(ctx, rec, recording.Scope{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestPresence compares with samples and runs counted by hand.
func TestPresence(t *testing.T) {
	b := recording.NewBuilder()
	b.AddEvent(recording.Event{Name: "cycles", Basis: recording.FromSamples, Metrics: []recording.Metric{{Name: "samples", PerSample: recording.SampleOne}}})
	frame := func(name string) recording.FrameID {
		return b.FunctionFrame(b.Function(recording.Function{Name: name}))
	}
	in := b.Stack([]recording.FrameID{frame("main"), frame("f"), frame("g")})
	leaf := b.Stack([]recording.FrameID{frame("main"), frame("f")})
	out := b.Stack([]recording.FrameID{frame("main")})
	for k, calls := range [][]recording.CallID{{in, in, leaf, out, leaf, in, in, in, out}, {leaf, leaf, out}} {
		tb := b.Track(recording.TrackKey{TID: int64(k + 1)})
		at := int64(0)
		for i, c := range calls {
			if k == 0 && i == 6 {
				at += 1_000_000 // a gap: the run ends here
			}
			tb.Sample(0, at, c, -1, nil)
			at += 1000
		}
	}
	rec := b.Finish()
	p, err := spans.PresenceOf(context.Background(), rec, analyze.Query{}, analyze.Named("f").Functions(rec))
	if err != nil {
		t.Fatal(err)
	}
	if p.Basis != analyze.Samples || p.Records != 9 || p.Leaf != 4 || p.Of != 12 || p.Total != 9 || p.Self != 4 {
		t.Errorf("%+v", p)
	}
	// Runs of 3, 2, 2 and 2 samples.
	if r := p.Runs; r.Count != 4 || r.Most != 3 || r.Median != 2 || r.P90 != 3 || r.Longest != 2000 || r.Start != 0 || r.Track != 0 {
		t.Errorf("%+v", p.Runs)
	}
	var sum, all int64
	for i := range p.OverTime {
		sum, all = sum+p.OverTime[i].Count, all+p.OfOverTime[i].Count
	}
	if sum != 9 || all != 12 {
		t.Errorf("over time %d of %d samples", sum, all)
	}
}

// BenchmarkDurations summarizes 20 million spans of one function.
func BenchmarkDurations(b *testing.B) {
	rec := manySpans(20_000_000, 8)
	b.ResetTimer()
	for b.Loop() {
		d, err := spans.DurationsOf(context.Background(), rec, recording.Scope{}, []recording.FuncID{0})
		if err != nil || d.Count != 20_000_000 {
			b.Fatal(err, d)
		}
	}
}

func manySpans(n, tracks int) *recording.Recording {
	r := rand.New(rand.NewPCG(1, 2))
	bld := recording.NewBuilder()
	bld.AddEvent(recording.SpanEvent())
	f := bld.FunctionFrame(bld.Function(recording.Function{Name: "f"}))
	for k := range tracks {
		t := bld.Track(recording.TrackKey{TID: int64(k + 1)})
		at := int64(0)
		for range n / tracks {
			t.Begin(at, f, 0)
			at += 1e5 + int64(r.ExpFloat64()*1e6)
			t.End(at)
			at += 2e5
		}
	}
	return bld.Finish()
}

// TestDurationsOfEach compares one pass for several functions with a pass for each.
func TestDurationsOfEach(t *testing.T) {
	rec, _ := traceOf(7, 3, 9000)
	in := recording.Between(rec.Start+rec.Duration()/3, rec.End)
	of := []recording.FuncID{2, 0}
	all, err := spans.DurationsOfEach(t.Context(), rec, in, of)
	if err != nil || len(all) != len(of) {
		t.Fatalf("there are %d results, want %d: %v", len(all), len(of), err)
	}
	for k, f := range of {
		want, err := spans.DurationsOf(t.Context(), rec, in, []recording.FuncID{f})
		if err != nil {
			t.Fatal(err)
		}
		if want.Count == 0 || !reflect.DeepEqual(all[k], want) {
			t.Errorf("function %d: got %+v, want %+v", f, all[k], want)
		}
	}
}
