package analyze

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

// holds reports whether attributes meet conditions: for each key, all negated conditions
// and, if there are others, at least one of those.
func holds(t *testing.T, conditions []string, attrs map[string]string) bool {
	t.Helper()
	yes, no := map[string]bool{}, map[string]bool{}
	for _, c := range conditions {
		m := regexp.MustCompile(`^(.*?)(!?)([=~])(.*)$`).FindStringSubmatch(c)
		if m == nil {
			t.Fatal(c)
		}
		v := attrs[m[1]]
		is := v == m[4]
		if m[3] == "~" {
			is = regexp.MustCompile(m[4]).MatchString(v)
		}
		switch {
		case m[2] == "!" && is:
			return false
		case m[2] == "":
			yes[m[1]] = yes[m[1]] || is
			no[m[1]] = !yes[m[1]]
		}
	}
	for _, k := range no {
		if k {
			return false
		}
	}
	return true
}

func TestWhereIsWhatRecordsSay(t *testing.T) {
	rounds.Unraced(t)
	some, none := 0, 0
	seeds := uint64(300)
	if testing.Short() {
		seeds = 60
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 3))
		r := newContextRun(rng)
		var conditions []string
		var ts []Transform
		for range 1 + rng.IntN(4) {
			c := []string{"execname=x0", "execname=x1", "execname!=x2", "execname=", "execname~x[12]", "execname!~^x", "probe.provider=syscall", "probe.function~1$",
				"probe=syscall::f0:entry", "probe!=syscall::f0:entry", "tenant=a"}[rng.IntN(11)]
			conditions = append(conditions, c)
			ts = append(ts, Where(c))
		}
		want := map[string]int64{}
		records := int64(0)
		for i, attrs := range r.attrs {
			if holds(t, conditions, attrs) {
				want[r.paths[i]] += r.value[i]
				records++
			}
		}
		q := Query{}.With(r.rec, ts)
		w, err := Weigh(context.Background(), r.rec, q)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for c, v := range w.Self {
			if w.Count[c] > 0 {
				path := ""
				for call := recording.CallID(c); call != recording.NoCall; call = r.rec.Calls.Parent(call) {
					path = ";" + r.rec.FuncName(call) + path
				}
				got[path] = v
			}
		}
		if !reflect.DeepEqual(got, want) || w.Records != records {
			t.Fatalf("%v: got %v from %d records, want %v from %d", conditions, got, w.Records, want, records)
		}
		if records > 0 {
			some++
		} else {
			none++
		}
		rows, err := ByTrack(context.Background(), r.rec, q, ts...)
		if err != nil || records > 0 && (len(rows) != 1 || rows[0].Self != w.Sum) {
			t.Fatalf("%v: by thread %v, %v; want %d", conditions, rows, err, w.Sum)
		}
	}
	if some < int(seeds/6) || none < int(seeds/6) {
		t.Errorf("%d questions had an answer and %d had none", some, none)
	}
}

// TestWhereOfThreads checks conditions on the labels of threads, for spans and samples, and
// on the processor of samples.
func TestWhereOfThreads(t *testing.T) {
	b := recording.NewBuilder()
	spans := b.AddEvent(recording.SpanEvent())
	cpu := b.AddEvent(recording.Event{Name: "cpu", Basis: recording.FromSamples, Metrics: []recording.Metric{{Name: "samples", PerSample: recording.SampleOne}}})
	frame := b.FunctionFrame(b.Function(recording.Function{Name: "f"}))
	for tid := range int64(4) {
		tr := b.Track(recording.TrackKey{PID: 7, TID: tid + 1})
		tr.SetName(fmt.Sprint("pool-", tid%2))
		tr.Span(0, 10*(tid+1), frame, 0, false)
		for k := range int64(6) {
			tr.Sample(cpu, k, b.Call(recording.NoCall, frame), int(k%3), []int64{1})
		}
	}
	rec := b.Finish()
	for _, c := range []struct {
		where         string
		spans, counts int64
	}{
		{"tid=2", 20, 6}, {"tid!=2", 80, 18}, {"comm=pool-0", 40, 12}, {"comm~1$", 60, 12}, {"pid=7", 100, 24}, {"pid=8", 0, 0},
		{"tid=2,tid=3", 50, 12}, {"tid=2,comm=pool-0", 0, 0}, {"tid~[34],comm=pool-0", 30, 6},
	} {
		var ts []Transform
		for _, text := range strings.Split(c.where, ",") {
			ts = append(ts, Where(text))
		}
		for event, want := range map[int]int64{spans: c.spans, cpu: c.counts} {
			q := Query{Event: event}.With(rec, ts)
			w, err := Weigh(context.Background(), rec, q)
			if err != nil || w.Sum != want {
				t.Errorf("%s: event %d has %d, %v; want %d", c.where, event, w.Sum, err, want)
			}
		}
	}
	w, err := Weigh(context.Background(), rec, Query{Event: cpu}.With(rec, []Transform{Where("cpu=1"), Where("tid~[12]")}))
	if err != nil || w.Sum != 4 {
		t.Errorf("two threads have %d samples on one processor, %v; want 4", w.Sum, err)
	}
}

// TestARangeOfLabels checks a range with a condition on a context: samples have no
// contexts, so windows answer it or, without windows, the whole recording.
func TestARangeOfLabels(t *testing.T) {
	for _, windows := range []bool{true, false} {
		b := recording.NewBuilder()
		ev := b.AddEvent(recording.Event{Name: "cpu", Metrics: []recording.Metric{{Name: "samples", PerSample: recording.SampleOne}}})
		call := b.Call(recording.NoCall, b.FunctionFrame(b.Function(recording.Function{Name: "f"})))
		tr := b.Track(recording.TrackKey{PID: 7, TID: 1})
		for k := range int64(100) {
			tr.Sample(ev, k, call, -1, []int64{1})
		}
		a, c := b.Context([]recording.Attr{{Key: "tenant", Value: "a"}}), b.Context([]recording.Attr{{Key: "tenant", Value: "c"}})
		b.AddStack(ev, call, tr.Index(), a, []int64{60})
		b.AddStack(ev, call, tr.Index(), c, []int64{40})
		if windows {
			for k := range int64(10) {
				b.AddWindow(ev, fmt.Sprint(k), 10*k, 10*k+10)
				b.AddWindowStack(ev, call, tr.Index(), a, []int64{6})
				b.AddWindowStack(ev, call, tr.Index(), c, []int64{4})
			}
		}
		rec := b.Finish()
		q := Query{Scope: recording.Between(20, 40)}
		for _, x := range []struct {
			where string
			want  int64
			basis Basis
		}{{"tenant=a", 12, Windows}, {"tenant=c", 8, Windows}, {"tid=1", 20, Samples}} {
			want, basis := x.want, x.basis
			if !windows && basis == Windows {
				want, basis = 5*want, Stacks
			}
			w, err := Weigh(context.Background(), rec, q.With(rec, []Transform{Where(x.where)}))
			if err != nil || w.Sum != want || w.Basis != basis || w.Ranged != (basis != Stacks) {
				t.Errorf("windows %v, %s: %d from %s (ranged %v), %v; want %d from %s", windows, x.where, w.Sum, w.Basis, w.Ranged, err, want, basis)
			}
		}
	}
}

func TestConditionsThatCannotBe(t *testing.T) {
	for text, says := range map[string]string{"request": "write KEY=VALUE", "=3": "names no key", "!=3": "names no key", "a~(": "not a regular expression"} {
		if err := Where(text).Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, which should say %q", text, err, says)
		}
	}
	r := newContextRun(rand.New(rand.NewPCG(5, 6)))
	for text, says := range map[string]string{
		"tenant=a":       `no label "tenant"; it has execname, probe, `,
		"execname=x9":    `the recording has no execname "x9"; values: x0, x1, x2`,
		"execname~^y":    `the recording has no execname that matches "^y"`,
		"execname=x1":    "",
		"execname!=x9":   "",
		"probe~f1:entry": "",
	} {
		err := CheckWhere(r.rec, Where(text))
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: %v, which should say %q", text, err, says)
		}
	}
	if got := labelValues(r.rec, "execname"); !slices.Equal(got, []string{"x0", "x1", "x2"}) {
		t.Errorf("the values are %q", got)
	}
}
