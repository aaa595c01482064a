package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"ashlar/ingest/recording"
)

// TestEachSpanSelf holds the self times of single spans against the sums by
// call that the recording keeps.
func TestEachSpanSelf(t *testing.T) {
	for seed := range uint64(30) {
		rec := random(seed, poolA)
		self, spans := map[recording.CallID]int64{}, 0
		for _, tr := range rec.Tracks {
			if err := eachSpan(bg, rec, tr, true, func(s *span) {
				self[s.call] += s.self
				spans++
				if s.self < 0 || s.self > s.end-s.start {
					t.Fatalf("a span of %d has %d for itself", s.end-s.start, s.self)
				}
			}); err != nil {
				t.Fatal(err)
			}
		}
		want := map[recording.CallID]int64{}
		for c, v := range rec.SpanTime {
			want[recording.CallID(c)] += v
			if p := rec.Calls.Parent(recording.CallID(c)); c > 0 && p != 0 {
				want[p] -= v
			}
		}
		for c, v := range want {
			if self[c] != v {
				t.Errorf("call %d has %d for itself, want %d", c, self[c], v)
			}
		}
		if int64(spans) != rec.Counts.Spans {
			t.Errorf("%d spans were visited, of %d", spans, rec.Counts.Spans)
		}
	}
}

// traced makes a trace of a loop that calls parse and render. The durations
// vary; slow makes parse slower by a factor.
func traced(seed uint64, n int, slow float64, calls int) *recording.Recording {
	p := newProgram(seed)
	p.b.AddEvent(recording.SpanEvent())
	tr := p.b.Track(recording.TrackKey{PID: 1, TID: 1})
	at := int64(0)
	length := func(mean float64) int64 { return int64(mean * math.Exp(.3*p.r.NormFloat64())) }
	for range n {
		tr.Begin(at, p.frame("frame@app"), 0)
		for range calls {
			tr.Begin(at, p.frame("parse@app"), 0)
			at += length(1e6 * slow)
			tr.End(at)
		}
		tr.Begin(at, p.frame("render@app"), 0)
		at += length(3e6)
		tr.End(at)
		at += length(2e5)
		tr.End(at)
	}
	return p.b.Finish()
}

func row(t *testing.T, table *Table, name string) *Row {
	t.Helper()
	for i := range table.Rows {
		if table.Rows[i].Name == name {
			return &table.Rows[i]
		}
	}
	t.Fatalf("there is no row %s", name)
	return nil
}

func TestSlowerSpans(t *testing.T) {
	c := mustCompare(t, traced(1, 400, 1, 1), traced(2, 400, 1.2, 1), Options{})
	table := mustTable(t, c, ByFunction)
	if c.Method() != FromDurations || table.Rows[0].Name != "parse" {
		t.Fatalf("by %s, the first row is %s", c.Method(), table.Rows[0].Name)
	}
	parse := table.Rows[0].Self
	if parse.Level() < .999 || parse.A != 400 || parse.B != 400 {
		t.Errorf("parse is %+v", parse)
	}
	if ratio := 1 + parse.Spans.By/parse.Spans.MedianA; ratio < 1.1 || ratio > 1.3 {
		t.Errorf("a typical parse is %g times as long, want 1.2", ratio)
	}
	if d := float64(table.Rows[0].DeltaSelf()); parse.Low > d || parse.High < d || parse.Low < 0 {
		t.Errorf("the difference of %g is in %g…%g", d, parse.Low, parse.High)
	}
	if l := row(t, table, "render").Self.Level(); l > .95 {
		t.Errorf("render is the same but %g sure", l)
	}
	if l := row(t, table, "frame").Self.Level(); l > .95 {
		t.Errorf("frame itself is the same but %g sure", l)
	}
}

// TestMoreSpans: the same spans, but twice as many.
func TestMoreSpans(t *testing.T) {
	a, b := traced(1, 300, 1, 1), traced(2, 300, 1, 2)
	table := mustTable(t, mustCompare(t, a, b, Options{}), ByFunction)
	if l := row(t, table, "parse").Self.Level(); l < .999 {
		t.Errorf("twice as many calls of parse are %g sure", l)
	}
	if l := row(t, table, "render").Self.Level(); l > .95 {
		t.Errorf("render is %g sure", l)
	}
	// Twice as long a recording of the same is no difference by duration.
	table = mustTable(t, mustCompare(t, a, traced(3, 600, 1, 1), Options{Normalize: Duration}), ByFunction)
	for _, r := range table.Rows {
		if c := r.Confidence(); c.Level() > .95 {
			t.Errorf("by duration, %s is %g sure", r.Name, c.Level())
		}
	}
}

// TestSlowerMachine: everything takes twice as long, which normalising by total
// takes out.
func TestSlowerMachine(t *testing.T) {
	a := traced(1, 400, 1, 1)
	p := newProgram(5)
	p.b.AddEvent(recording.SpanEvent())
	tr := p.b.Track(recording.TrackKey{PID: 1, TID: 1})
	at := int64(0)
	for range 400 {
		tr.Begin(at, p.frame("frame@app"), 0)
		tr.Begin(at, p.frame("parse@app"), 0)
		at += int64(2e6 * math.Exp(.3*p.r.NormFloat64()))
		tr.End(at)
		tr.Begin(at, p.frame("render@app"), 0)
		at += int64(6e6 * math.Exp(.3*p.r.NormFloat64()))
		tr.End(at)
		at += int64(4e5 * math.Exp(.3*p.r.NormFloat64()))
		tr.End(at)
	}
	b := p.b.Finish()
	for _, r := range mustTable(t, mustCompare(t, a, b, Options{}), ByFunction).Rows {
		if r.Self.Level() < .99 {
			t.Errorf("%s takes twice as long, but is only %g sure", r.Name, r.Self.Level())
		}
	}
	for _, r := range mustTable(t, mustCompare(t, a, b, Options{Normalize: Total}), ByFunction).Rows {
		if r.Self.Level() > .95 {
			t.Errorf("by total, %s is %g sure", r.Name, r.Self.Level())
		}
	}
}

func TestDrawnIsFairAndTheSame(t *testing.T) {
	a, b := drawn{most: 100, dice: 12345}, drawn{most: 100, dice: 12345}
	for i := range 100_000 {
		a.add(float64(i))
		b.add(float64(i))
	}
	if !slices.Equal(a.kept, b.kept) {
		t.Error("the same spans are drawn differently")
	}
	var mean float64
	for _, v := range a.kept {
		mean += v / 100
	}
	if math.Abs(mean-50_000) > 4*100_000/math.Sqrt(12*100) {
		t.Errorf("the mean of what was drawn is %g", mean)
	}
	if a.n != 100_000 || math.Abs(a.variance()-1e10/12)/1e10 > 1e-4 {
		t.Errorf("there are %d with variance %g", a.n, a.variance())
	}
}

func TestDistribution(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	build := func(n int, mean int64) (*recording.Recording, []float64) {
		p := newProgram(1)
		p.b.AddEvent(recording.SpanEvent())
		tr := p.b.Track(recording.TrackKey{PID: 1, TID: 1})
		var all []float64
		at := int64(0)
		for range n {
			d := mean + r.Int64N(mean)
			tr.Begin(at, p.frame("f@app"), 0)
			tr.End(at + d)
			at += d
			all = append(all, float64(d))
		}
		slices.Sort(all)
		return p.b.Finish(), all
	}
	a, da := build(500, 1000)
	b, db := build(700, 4000)
	c := mustCompare(t, a, b, Options{})
	d, err := c.Distribution(bg, 0, false, 20)
	if err != nil {
		t.Fatal(err)
	}
	if d.A.N != 500 || d.B.N != 700 || d.A.Min != da[0] || d.B.Max != db[699] || d.A.Median != da[249] || d.B.P99 != db[692] {
		t.Errorf("the distribution is %+v and %+v", d.A, d.B)
	}
	for i, side := range []Durations{d.A, d.B} {
		var sum float64
		for k, part := range side.Bins {
			n := 0
			for _, v := range [][]float64{da, db}[i] {
				if v >= d.Edges[k] && (v < d.Edges[k+1] || k == 19) {
					n++
				}
			}
			if math.Abs(part*float64(side.N)-float64(n)) > 1e-6 {
				t.Errorf("bin %d has a part of %g, want %d", k, part, n)
			}
			sum += part
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("the bins add up to %g", sum)
		}
	}
	if d.P > 1e-9 || d.Shift.By < 3000 {
		t.Errorf("the shift is %+v with p %g", d.Shift, d.P)
	}
	s := mustCompare(t, random(1, poolA), random(2, poolA), Options{Event: "cycles", Metric: "period"})
	if _, err := s.Distribution(bg, 0, false, 5); err == nil {
		t.Error("samples have no durations")
	}
}
