package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

// nothing returns a program of many functions, for pairs without any difference.
func nothing(functions int) []hot {
	out := make([]hot, functions)
	for i := range out {
		// One to hundreds of samples, as in real profiles.
		out[i] = hot{[]string{"main@app", fmt.Sprintf("m%d@app", i%7), fmt.Sprintf("f%d@app", i)}, math.Exp(float64(i%13) / 2)}
	}
	return out
}

// alarms compares 200 pairs without a difference. It returns the number of tables with a
// row of at least 95 % confidence, and the share of rows with p < 0.05.
func alarms(t *testing.T, o Options, sides func(seed uint64) (a, b []Input)) (tables int, rows float64) {
	t.Helper()
	n, under := 0, 0
	for seed := range uint64(200) {
		a, b := sides(seed)
		c, err := Compare(bg, a, b, o)
		if err != nil {
			t.Fatal(err)
		}
		alarm := false
		for _, r := range mustTable(t, c, ByFunction).Rows {
			if r.Self == nil {
				continue
			}
			n++
			if r.Self.P < .05 {
				under++
			}
			alarm = alarm || r.Self.Level() >= .95
		}
		if alarm {
			tables++
		}
	}
	return tables, float64(under) / float64(n)
}

// TestFalseAlarms compares pairs that differ only by chance. At a confidence of 95 %, at
// most 5 % of the tables may have an alarm: 10 of 200.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("twelve hundred tables are many for a short run")
	}
	const stated = 10
	check := func(name string, tables int, rows float64) {
		t.Helper()
		t.Logf("%s: %d of 200 tables with an alarm, %.2f %% of the rows under p 0.05", name, tables, rows*100)
		if tables > stated || rows > .05 {
			t.Errorf("%s: %d of 200 tables have an alarm, %.2f %% of the rows p under 0.05", name, tables, rows*100)
		}
	}
	hots := nothing(60)
	names := []string{"main"}
	pair := func(seed uint64) (a, b []Input) {
		return []Input{{Rec: sampled(2*seed, hots, names, false)}}, []Input{{Rec: sampled(2*seed+1, hots, names, false)}}
	}
	for _, n := range []Normalize{Raw, Total, Samples} {
		tables, rows := alarms(t, Options{Normalize: n}, pair)
		check("samples, "+string(n), tables, rows)
	}
	tables, rows := alarms(t, Options{Metric: "period"}, func(seed uint64) (a, b []Input) {
		return []Input{{Rec: periods(2*seed, hots)}}, []Input{{Rec: periods(2*seed+1, hots)}}
	})
	check("periods that vary", tables, rows)
	tables, rows = alarms(t, Options{}, func(seed uint64) (a, b []Input) {
		for i := range uint64(3) {
			a = append(a, Input{Rec: jittered(6*seed+i, hots)})
			b = append(b, Input{Rec: jittered(6*seed+3+i, hots)})
		}
		return a, b
	})
	check("three runs a side", tables, rows)
	tables, rows = alarms(t, Options{}, func(seed uint64) (a, b []Input) {
		return []Input{{Rec: steps(2 * seed)}}, []Input{{Rec: steps(2*seed + 1)}}
	})
	check("spans", tables, rows)
}

// periods records samples with varying periods, as perf does with a fixed frequency.
func periods(seed uint64, hots []hot) *recording.Recording {
	p := newProgram(seed)
	p.b.AddEvent(recording.Event{Name: "cycles", Basis: recording.FromSamples, Metrics: []recording.Metric{
		{Name: "samples", Unit: "count", PerSample: recording.SampleOne},
		{Name: "period", Unit: "events", PerSample: recording.SampleColumn},
	}})
	tr := p.b.Track(recording.TrackKey{PID: 1, TID: 1})
	at := int64(0)
	for _, h := range hots {
		call := p.stack(h.stack...)
		for range poisson(p.r, h.mean/4) {
			at += 1000
			tr.Sample(0, at, call, -1, []int64{1, int64(1e6 * math.Exp(.4*p.r.NormFloat64()))})
		}
	}
	return p.b.Finish()
}

// jittered records a program whose functions vary by 10 % from run to run, which numbers of
// samples alone do not show.
func jittered(seed uint64, hots []hot) *recording.Recording {
	r := rand.New(rand.NewPCG(seed, 99))
	now := append([]hot(nil), hots...)
	for i := range now {
		now[i].mean *= math.Exp(.1 * r.NormFloat64())
	}
	return sampled(seed, now, []string{"main"}, false)
}

// steps makes a trace of functions with varying spans, some with many equal durations and
// some with a long tail.
func steps(seed uint64) *recording.Recording {
	p := newProgram(seed)
	p.b.AddEvent(recording.SpanEvent())
	tr := p.b.Track(recording.TrackKey{PID: 1, TID: 1})
	at := int64(0)
	for i := range 20 {
		f := p.frame(fmt.Sprintf("f%d@app", i))
		for range 2 + i*2 {
			d := int64(1000 * (1 + p.r.IntN(5)))
			if i%2 == 0 {
				d = int64(1e5 * math.Exp(p.r.NormFloat64()))
			}
			tr.Begin(at, f, 0)
			at += d
			tr.End(at)
		}
	}
	return p.b.Finish()
}

// TestRealChangesShow checks the opposite: functions that differ by more than runs of one
// program do are found.
func TestRealChangesShow(t *testing.T) {
	hots := nothing(60)
	changed := append([]hot(nil), hots...)
	for _, i := range []int{12, 25, 38} { // 403 samples each
		changed[i].mean *= 2
	}
	found := 0
	for seed := range uint64(20) {
		c := mustCompare(t, sampled(seed, hots, []string{"main"}, false), sampled(seed+500, changed, []string{"main"}, false), Options{})
		for _, r := range mustTable(t, c, ByFunction).Rows {
			if (r.Name == "f12" || r.Name == "f25" || r.Name == "f38") && r.Self.Level() >= .95 {
				found++
			}
		}
	}
	if found < 57 {
		t.Errorf("%d of 60 changes of twice as much are found", found)
	}
}

// TestDetectable checks that a change of the size Detectable is found about four times in
// five.
func TestDetectable(t *testing.T) {
	rounds.Unraced(t)
	base := append([]hot{{[]string{"f@app"}, 1000}}, steady()...)
	c := mustCompare(t, sampled(1, base, []string{"main"}, true), sampled(2, base, []string{"main"}, true), Options{})
	least := row(t, mustTable(t, c, ByFunction), "f").Self.Detectable / 1e6
	more := append([]hot{{base[0].stack, 1000 + least}}, base[1:]...)
	shown := 0
	const pairs = 300
	for seed := range uint64(pairs) {
		c := mustCompare(t, sampled(seed, base, []string{"main"}, false), sampled(seed+9000, more, []string{"main"}, false), Options{})
		if row(t, mustTable(t, c, ByFunction), "f").Self.P < .05 {
			shown++
		}
	}
	if part := float64(shown) / pairs; part < .7 || part > .9 {
		t.Errorf("a change of %g is shown in %.0f %% of the pairs", least, part*100)
	}
}
