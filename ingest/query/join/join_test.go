package join_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/join"
	"ashlar/testdata/gen/synth"
	"ashlar/testdata/samples"
)

func read(t *testing.T, path string) *recording.Recording {
	t.Helper()
	rec, _, err := ingest.ReadAll(context.Background(), path, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// made writes recordings of several formats.
func made(t *testing.T) (paths []string) {
	dir := t.TempDir()
	for i, kind := range []string{"spall3", "chrome", "spaa", "pprof"} {
		path := filepath.Join(dir, "made."+kind)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := synth.Write(f, synth.Options{Kind: kind, Records: 2000, Threads: 3, Seed: uint64(i)}); err != nil {
			t.Fatal(kind, err)
		}
		f.Close()
		paths = append(paths, path)
	}
	return append(paths, "../../../assets/demo.spaa.zst")
}

// facts are sums and lists that must be the same for the parts together and for the joined
// recording, each computed by visiting the records.
type facts struct {
	sums  map[string]int64
	texts map[string]int
}

func (f *facts) add(t *testing.T, rec *recording.Recording) {
	t.Helper()
	for e := range rec.Events {
		ev := &rec.Events[e]
		of := fmt.Sprint(ev.Basis, ev.Title(), ev.Kind, ev.Mode)
		if ev.Basis == recording.FromSpans || ev.Basis == recording.FromStates {
			of = fmt.Sprint(ev.Basis)
		}
		for m := range ev.Plain().Metrics { // CPU times are compared by span
			key := of + "/" + ev.Metrics[m].Name + "/"
			if v := ev.Metrics[m].Total; v != recording.Missing {
				f.sums[key+"total"] += v
			}
			w, err := analyze.Weigh(context.Background(), rec, analyze.Query{Event: e, Metric: m})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range analyze.Table(rec, analyze.NewTree(rec, w), analyze.ByFunction) {
				f.sums[key+r.Name+"@"+r.Module+" self"] += r.Self
				f.sums[key+r.Name+"@"+r.Module+" total"] += r.Total
				f.sums[key+r.Name+"@"+r.Module+" count"] += r.Count
			}
		}
	}
	for i, track := range rec.Tracks {
		for s, ps := range track.InState {
			f.sums[fmt.Sprint("state ", s)] += ps
		}
		for k := range track.States.Len() {
			if w := rec.Waker(track, k); w.Track != recording.NoTrack {
				f.texts[fmt.Sprint("woken by ", rec.Tracks[w.Track].Label(), rec.FuncName(w.Call))]++
			}
		}
		for d := range track.Lanes {
			l := &track.Lanes[d]
			for k := range l.Len() {
				text := ""
				if ref := l.Args(k); ref != 0 && rec.Args != nil {
					text = rec.Args(ref)
				}
				cpu, known := rec.SpanCPU(l, k)
				f.texts[fmt.Sprint("span ", d, track.Label(), rec.FuncName(l.Call(k)), l.End(k)-l.Start(k), l.Unfinished(k), text, cpu, known)]++
			}
		}
		for _, m := range track.Instants {
			text := ""
			if m.Args != 0 && rec.Args != nil {
				text = rec.Args(m.Args)
			}
			f.texts[fmt.Sprint("instant ", m.Name, text)]++
		}
		f.texts[fmt.Sprint("track ", track.Kind, rec.Processes[track.Process].Member, track.Name, track.TID, track.Spans(), rec.ThreadWord(i))]++
	}
	for _, c := range rec.Counters {
		sum := 0.0
		for i := range c.Len() {
			sum += c.Value(i)
		}
		f.texts[fmt.Sprint("counter ", c.Name, c.Series, c.Unit, c.Len(), sum)]++
	}
	for _, w := range rec.Windows {
		for i := range w.Windows {
			x := &w.Windows[i]
			f.texts[fmt.Sprint("window ", x.ID, x.End-x.Start, x.Last-x.First)]++
		}
	}
	for _, x := range rec.Flows {
		text := "flow " + x.Name
		for _, s := range x.Steps {
			text += fmt.Sprint(" ", rec.Tracks[s.Track].Label(), s.Time-x.Steps[0].Time)
		}
		f.texts[text]++
	}
	for _, x := range rec.Ledger {
		f.sums["read "+x.Kind] += x.Read
	}
	c := rec.Counts
	for name, n := range map[string]int64{"spans": c.Spans, "unfinished": c.Unfinished, "samples": c.Samples, "stacks": c.Stacks, "windows": c.Windows, "instants": c.Instants, "states": c.States, "pairs": rec.Pairs()} {
		f.sums["count of "+name] += n
	}
}

// totals returns self and total by function of the event shown first.
func totals(t *testing.T, rec *recording.Recording, ts ...analyze.Transform) map[string]int64 {
	t.Helper()
	if len(rec.Events) == 0 {
		return nil
	}
	w, err := analyze.Weigh(context.Background(), rec, analyze.Query{}.With(rec, ts))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for _, r := range analyze.Table(rec, analyze.NewTree(rec, w, ts...), analyze.ByFunction) {
		out[r.Name+"@"+r.Module+" self"] += r.Self
		out[r.Name+"@"+r.Module+" total"] += r.Total
	}
	return out
}

func newFacts() *facts { return &facts{map[string]int64{}, map[string]int{}} }

func compare[V comparable](t *testing.T, what string, got, want map[string]V) {
	t.Helper()
	bad := 0
	var zero V
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if got[k] != want[k] && bad < 5 {
			t.Errorf("%s: %s is %v, the parts have %v", what, k, got[k], want[k])
			bad++
		}
	}
	for k, v := range got {
		if _, ok := want[k]; !ok && v != zero && bad < 5 {
			t.Errorf("%s: %s is %v, the parts have none", what, k, v)
			bad++
		}
	}
}

// TestSums joins pairs of recordings, of the same and of different formats, and compares the
// result with its parts.
func TestSums(t *testing.T) {
	paths := append(made(t), samples.Small(1<<20, samples.Files(t))...)
	if testing.Short() {
		paths = append(paths[:5:5], samples.Small(100<<10, samples.Files(t))...)
	}
	for i := range paths {
		a, b := paths[i], paths[(i+1)%len(paths)]
		if i%3 == 0 {
			b = a
		}
		want := newFacts()
		var parts []join.Part
		for k, path := range []string{a, b} {
			rec, _, err := ingest.ReadAll(context.Background(), path, ingest.Options{})
			if err != nil {
				break
			}
			want.add(t, rec)
			parts = append(parts, join.Part{Name: fmt.Sprint("part", k), Rec: rec})
		}
		if len(parts) < 2 {
			continue // not a recording
		}
		first := totals(t, parts[0].Rec)
		what := filepath.Base(a) + " + " + filepath.Base(b)
		joined, err := join.Recordings(context.Background(), parts, recording.Range{})
		if err != nil {
			t.Fatal(what, err)
		}
		if err := joined.Verify(context.Background()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		got := newFacts()
		got.add(t, joined)
		compare(t, what, got.sums, want.sums)
		compare(t, what, got.texts, want.texts)
		compare(t, what+", of the first", totals(t, joined, analyze.Where("recording=part0")), first)
		if t.Failed() {
			break
		}
	}
}

// TestWritten writes a joined recording, reads it back and compares its functions.
func TestWritten(t *testing.T) {
	paths := made(t)
	for _, names := range [][]string{{paths[0], paths[1]}, {paths[2], paths[3]}, {paths[1], paths[1]}} {
		joined := read(t, join.Name(names...))
		path := filepath.Join(t.TempDir(), "job.spaa")
		target, err := ingest.FormatFor(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := target.Write(context.Background(), f, path, joined, encode.Options{}); err != nil {
			t.Fatal(err)
		}
		f.Close()
		again := read(t, path)
		got, want := map[string]string{}, map[string]string{}
		for _, x := range []struct {
			rec *recording.Recording
			to  map[string]string
		}{{again, got}, {joined, want}} {
			e := x.rec.DefaultEvent()
			w, err := analyze.Weigh(context.Background(), x.rec, analyze.Query{Event: e, Metric: x.rec.Events[e].Primary})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range analyze.Table(x.rec, analyze.NewTree(x.rec, w), analyze.ByFunction) {
				if r.Total != 0 {
					x.to[r.Name] += " " + recording.Decimal{Mantissa: r.Total, Scale: x.rec.Events[e].Metrics[x.rec.Events[e].Primary].Decimals}.String()
				}
			}
		}
		if len(want) < 3 {
			t.Errorf("%v: only %d functions", names, len(want))
		}
		compare(t, strings.Join(names, " + "), got, want)
	}
}
