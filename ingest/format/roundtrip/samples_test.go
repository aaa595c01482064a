package roundtrip

import (
	"bytes"
	"cmp"
	"context"
	"math/big"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/samples"
)

// eachSampleFile calls f with the recording of each readable sample file.
func eachSampleFile(t *testing.T, f func(t *testing.T, path string, rec *recording.Recording)) {
	samples.Need(t)
	n := 0
	for _, path := range samples.Files(t) {
		name := samples.Name(path)
		if testing.Short() && (strings.HasPrefix(name, "spall") || strings.Contains(name, "large")) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			rec, _, err := ingest.ReadAll(context.Background(), path, ingest.Options{})
			if err != nil {
				t.Skip(err)
			}
			n++
			f(t, path, rec)
		})
	}
	t.Logf("%d recordings", n)
}

// targetFiles names a file of each target.
var targetFiles = []string{"out.spaa", "out.pb", "out.otlp", "out.folded", "out.json", "out.spall"}

// converted is a file in another format, with the report of what it lacks.
type converted struct {
	out []byte
	rep *encode.Report
}

// toAll writes a recording in every format that holds any of it.
func toAll(t *testing.T, rec *recording.Recording) map[string]converted {
	t.Helper()
	all := map[string]converted{}
	for _, name := range targetFiles {
		if out, rep := write(t, rec, name, encode.Options{}); out != nil {
			all[name] = converted{out, rep}
		}
	}
	return all
}

// TestSamplesToAll writes every recording in every format and reads the files with our
// decoders, with independent libraries, and with naive readers. It skips the last two for
// large recordings, because smaller ones of the same kind exist.
func TestSamplesToAll(t *testing.T) {
	tried, counted := map[string]int{}, map[string]int{}
	eachSampleFile(t, func(t *testing.T, path string, rec *recording.Recording) {
		all := toAll(t, rec)
		readBack(t, rec, all)
		if rec.Counts.Stacks+rec.Counts.Samples+rec.Counts.Spans <= 15_000 {
			fieldsAreKept(t, rec, all, tried)
			lossesAreCounted(t, rec, all, counted)
		}
	})
	t.Log(tried)
	t.Log(counted)
}

// readBack reads the files with our decoders. The content that a format holds must be
// equal, except for rounding.
func readBack(t *testing.T, rec *recording.Recording, all map[string]converted) {
	for _, name := range targetFiles {
		out, rep := all[name].out, all[name].rep
		if out == nil {
			t.Logf("%s holds nothing of it", name)
			continue
		}
		again, _ := write(t, rec, name, encode.Options{})
		if !bytes.Equal(out, again) {
			t.Errorf("%s: a second time, other bytes", name)
		}
		back := load(t, name, out)
		for _, l := range rep.Lost {
			t.Logf("%s: %s", name, l)
		}
		for _, w := range back.Warnings {
			t.Logf("%s: reading back: %s %d: %s", name, w.Code, w.Count, w.Text)
		}
		timed := rec.CPU != nil
		if said := slices.ContainsFunc(rep.Lost, func(l encode.Loss) bool { return l.What == "span CPU times" }); said != timed {
			t.Errorf("%s: spans have processor times: %v, said to be lost: %v", name, timed, said)
		}
		rec := rec.Plain()
		switch name {
		case "out.spaa":
			r := checkSPAA(t, out)
			t.Logf("%s: %v", name, r.Counts)
			sameSPAA(t, rec, back)
		case "out.pb":
			samePprof(t, rec, back)
		case "out.otlp":
			sameOTLP(t, rec, back)
		case "out.folded":
			sameFolded(t, rec, back)
		case "out.json":
			sameChrome(t, rec, back, rep)
		case "out.spall":
			sameSpall(t, rec, back)
		}
	}
}

func sameSPAA(t *testing.T, rec, back *recording.Recording) {
	t.Helper()
	if len(back.Events) != len(rec.Events) {
		t.Errorf("spaa: %d events, want %d", len(back.Events), len(rec.Events))
		return
	}
	if back.Counts.Samples != rec.Counts.Samples {
		t.Errorf("spaa: %d samples, want %d", back.Counts.Samples, rec.Counts.Samples)
	}
	if rec.HasTime && (back.Duration() != rec.Duration() || !back.HasTime) {
		t.Errorf("spaa: it takes %d ps, want %d", back.Duration(), rec.Duration())
	}
	for e := range rec.Events {
		for m := range rec.Events[e].Metrics {
			name := cmp.Or(encode.HeapMetrics[rec.Events[e].Metrics[m].Name], rec.Events[e].Metrics[m].Name)
			want := selfOf(rec, e, m, plainName)
			k := back.Events[e].Metric(name)
			if k < 0 {
				if len(want) > 1 {
					t.Errorf("spaa: the metric %s is gone", name)
				}
				continue
			}
			if warned(back, "rounded") {
				continue // the file has more decimals than the decoder keeps
			}
			if got := selfOf(back, e, k, plainName); got.String() != want.String() {
				t.Errorf("spaa: %s/%s is\n%.2000v\nwant\n%.2000v", back.Events[e].Name, name, got, want)
			}
		}
	}
}

func warned(rec *recording.Recording, code string) bool {
	for _, w := range rec.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}

func samePprof(t *testing.T, rec, back *recording.Recording) {
	t.Helper()
	e := &rec.Events[0]
	for m := range e.Metrics {
		want, got := selfOf(rec, 0, m, plainName), selfOf(back, 0, m, plainName)
		if !near(got, want, e.Metrics[m].Decimals == 0) {
			t.Errorf("pprof: %s is\n%.2000v\nwant\n%.2000v", e.Metrics[m].Name, got, want)
		}
	}
	if p := back.Events[0].Primary; len(e.Metrics) > 0 && p != e.Primary {
		t.Errorf("pprof: metric %d is the first to show, want %d", p, e.Primary)
	}
}

func sameOTLP(t *testing.T, rec, back *recording.Recording) {
	t.Helper()
	want := map[string]*big.Rat{} // by metric
	for e := range rec.Events {
		for m := range rec.Events[e].Metrics {
			k := encode.PprofMetric(rec.Events[e].Metrics[m].Name)
			if want[k] == nil {
				want[k] = new(big.Rat)
			}
			want[k].Add(want[k], selfOf(rec, e, m, plainName)[""])
		}
	}
	for e := range back.Events {
		k := back.Events[e].Metrics[0].Name
		if want[k] == nil {
			t.Errorf("otlp: the metric %s is new", k)
			continue
		}
		want[k].Sub(want[k], selfOf(back, e, 0, plainName)[""])
	}
	for k, v := range want {
		if v.Abs(v).Cmp(big.NewRat(int64(len(rec.Processes)+1), 2)) > 0 || v.IsInt() && v.Sign() != 0 {
			t.Errorf("otlp: %s is off by %s", k, v.RatString())
		}
	}
	if len(rec.Events) != 1 {
		return
	}
	for m := range rec.Events[0].Metrics {
		if m >= len(back.Events) {
			break
		}
		if rec.Events[0].Metrics[m].Decimals == 0 {
			if got, want := selfOf(back, m, 0, plainName), selfOf(rec, 0, m, plainName); got.String() != want.String() {
				t.Errorf("otlp: %s is\n%.2000v\nwant\n%.2000v", back.Events[m].Name, got, want)
			}
		}
	}
}

func foldedNameOf(f *recording.Frame, fn *recording.Function) string {
	name := strings.TrimSpace(strings.NewReplacer(";", ":", "\n", " ", "\r", " ", "\t", " ").Replace(fn.Name))
	// The decoder takes the text before a backtick for a module, as DTrace writes it, and
	// ignores a leading underscore.
	if i := strings.IndexByte(name, '`'); i >= 0 {
		name = name[i+1:]
	}
	return strings.TrimPrefix(name, "_")
}

func sameFolded(t *testing.T, rec, back *recording.Recording) {
	t.Helper()
	want, got := selfOf(rec, 0, rec.Events[0].Primary, foldedNameOf), selfOf(back, 0, 0, foldedNameOf)
	if got.String() != want.String() {
		t.Errorf("folded: it is\n%.2000v\nwant\n%.2000v", got, want)
	}
}

func spanEvent(rec *recording.Recording) int {
	for e := range rec.Events {
		if rec.Events[e].Basis == recording.FromSpans {
			return e
		}
	}
	return -1
}

// twins reports whether an operation has the same start and end as its parent. In a trace
// their ends are at the same time, so the order in the file decides which one is the
// parent.
func twins(rec *recording.Recording) bool {
	for _, t := range rec.Tracks {
		outer := map[[2]int64]bool{}
		for d := range t.Lanes {
			inner := map[[2]int64]bool{}
			for l, i := &t.Lanes[d], 0; i < l.Len() && t.Kind == recording.AsyncTrack; i++ {
				at := [2]int64{l.Start(i), l.End(i)}
				if inner[at] = true; outer[at] {
					return true
				}
			}
			outer = inner
		}
	}
	return false
}

func sameChrome(t *testing.T, rec, back *recording.Recording, rep *encode.Report) {
	t.Helper()
	a, b := rec.Counts, back.Counts
	if a.Spans != b.Spans || a.Instants != b.Instants || a.Samples != b.Samples || encode.Points(rec) != encode.Points(back) || a.Counters != b.Counters || a.Flows != b.Flows {
		t.Errorf("chrome: %+v\nwant %+v", b, a)
	}
	if e, k := spanEvent(rec), spanEvent(back); e >= 0 && a.Spans > 0 {
		for m := range 2 {
			got, want := selfOf(back, k, m, plainName), selfOf(rec, e, m, plainName)
			if twins(rec) { // the order of parent and child is not kept
				got, want = totals{"": got[""]}, totals{"": want[""]}
			}
			if got.String() != want.String() {
				t.Errorf("chrome: spans' metric %d is\n%.2000v\nwant\n%.2000v", m, got, want)
			}
		}
	}
	renamed := slices.ContainsFunc(rep.Lost, func(l encode.Loss) bool { return l.What == "names of async rows" })
	sameThreads(t, "chrome", rec, back, renamed)
}

// sameThreads compares the names and span counts of the threads that have spans. For
// asynchronous rows, which may be renamed, it compares only the span counts by process.
func sameThreads(t *testing.T, what string, rec, back *recording.Recording, renamed bool) {
	t.Helper()
	type thread struct {
		pid   int64
		name  string
		spans int
	}
	count := map[thread]int{}
	for i, r := range []*recording.Recording{rec, back} {
		for _, tr := range r.Tracks {
			switch n := tr.Spans(); {
			case n > 0 && renamed && tr.Kind == recording.AsyncTrack:
				count[thread{pid: tr.PID}] += n * (1 - 2*i)
			case n > 0:
				count[thread{tr.PID, tr.Name, n}] += 1 - 2*i
			}
		}
	}
	for k, n := range count {
		if n != 0 {
			t.Errorf("%s: %d more (or fewer, below 0) threads like %+v", what, -n, k)
		}
	}
}

func sameSpall(t *testing.T, rec, back *recording.Recording) {
	t.Helper()
	if rec.Counts.Spans != back.Counts.Spans {
		t.Errorf("spall: %d spans, want %d", back.Counts.Spans, rec.Counts.Spans)
	}
	cut := func(f *recording.Frame, fn *recording.Function) string { return fn.Name[:min(len(fn.Name), 200)] }
	for m := range 2 {
		if got, want := selfOf(back, spanEvent(back), m, cut), selfOf(rec, spanEvent(rec), m, cut); got.String() != want.String() {
			t.Errorf("spall: metric %d is\n%.2000v\nwant\n%.2000v", m, got, want)
		}
	}
}
