package extract_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/extract"
	"ashlar/testdata/gen/synth"
	"ashlar/testdata/samples"
)

// files writes recordings of each kind and returns their paths: nested and overlapping
// spans, samples with stacks and windows, and only stacks.
func files(t *testing.T) (paths []string) {
	dir := t.TempDir()
	for _, kind := range []string{"spall3", "chrome", "spaa", "pprof"} {
		path := filepath.Join(dir, "made."+kind)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := synth.Write(f, synth.Options{Kind: kind, Records: 4000, Threads: 3, Seed: 5}); err != nil {
			t.Fatal(kind, err)
		}
		f.Close()
		paths = append(paths, path)
	}
	async := filepath.Join(dir, "async.json")
	var b bytes.Buffer
	b.WriteString("[")
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 300 {
		at := r.IntN(1000)
		fmt.Fprintf(&b, `{"ph":"X","pid":1,"tid":%d,"name":"f%d","ts":%d,"dur":%d},`, i%2, r.IntN(9), at, r.IntN(60))
		fmt.Fprintf(&b, `{"ph":"b","cat":"c","id":%d,"pid":1,"tid":1,"name":"op%d","ts":%d},{"ph":"e","cat":"c","id":%d,"pid":1,"tid":1,"name":"op%d","ts":%d},`, i, i%5, at, i, i%5, at+r.IntN(90))
	}
	b.WriteString(`{"ph":"i","pid":1,"tid":1,"name":"now","ts":5,"s":"t"}]`)
	if err := os.WriteFile(async, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return append(paths, async, "../../../assets/demo.spaa.zst")
}

// selectable returns the paths of the smaller samples with events and functions.
func selectable(t *testing.T) (paths []string) {
	all := samples.Small(1<<20, samples.Files(t))
	for _, path := range all {
		if rec, _, err := ingest.ReadAll(context.Background(), path, ingest.Options{}); err == nil && len(rec.Events) > 0 && rec.Functions.Len() > 0 {
			paths = append(paths, path)
		}
	}
	if len(paths) < len(all)/2 {
		t.Fatalf("only %d of %d samples can be read", len(paths), len(all))
	}
	return paths
}

func read(t *testing.T, path string) *recording.Recording {
	t.Helper()
	rec, _, err := ingest.ReadAll(context.Background(), path, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// answer returns self and total by name and module of the function, and the weights.
func answer(t *testing.T, rec *recording.Recording, q analyze.Query, ts []analyze.Transform) (sums map[[2]string][2]int64, w *analyze.Weights) {
	t.Helper()
	q = q.With(rec, ts)
	w, err := analyze.Weigh(context.Background(), rec, q)
	if err != nil {
		t.Fatal(err)
	}
	sums = map[[2]string][2]int64{}
	for _, r := range analyze.Table(rec, analyze.NewTree(rec, w, ts...), analyze.ByFunction) {
		if r.Self != 0 || r.Total != 0 {
			sums[[2]string{r.Name, r.Module}] = [2]int64{r.Self, r.Total}
		}
	}
	return sums, w
}

func anyPart(r *rand.Rand, rec *recording.Recording) (in recording.Scope, ts []analyze.Transform) {
	if r.IntN(3) > 0 && rec.HasTime && rec.Duration() > 0 {
		a, b := r.Int64N(rec.Duration()), r.Int64N(rec.Duration())
		in = recording.Between(rec.Start+min(a, b), rec.Start+max(a, b)+1)
	}
	if r.IntN(3) == 0 && len(rec.Tracks) > 1 {
		for i := range rec.Tracks {
			if r.IntN(2) == 0 {
				in.Tracks = append(in.Tracks, i)
			}
		}
	}
	if r.IntN(2) == 0 {
		f := analyze.RefTo(rec.Functions.At(r.IntN(rec.Functions.Len())))
		ts = []analyze.Transform{[]analyze.Transform{
			analyze.Focus(f), analyze.Transform{Op: analyze.OpHide, Ref: f}, analyze.Transform{Op: analyze.OpDrop, Ref: f}, analyze.CalleesOf(f), analyze.Transform{Op: analyze.OpCollapseRecursion}, analyze.Transform{Op: analyze.OpCollapseRecursion, Ref: f},
			analyze.Transform{Op: analyze.OpFoldInlined}, analyze.Transform{Op: analyze.OpHideKernel}, analyze.Transform{Op: analyze.OpMergeByModule}, analyze.Only("a"),
		}[r.IntN(10)]}
	}
	if keys := analyze.ContextKeys(rec); r.IntN(3) == 0 && len(keys) > 0 {
		// A condition on a record's label or on a thread.
		c := "tid=0"
		if n := len(rec.Tracks); n > 0 {
			c = fmt.Sprintf("tid=%d", rec.Tracks[r.IntN(n)].TID)
		}
		if x := rec.Contexts.At(r.IntN(rec.Contexts.Len())); len(x) > 0 {
			a := x[r.IntN(len(x))]
			c = a.Key + "=" + a.Value
		}
		ts = append(ts, analyze.Where(c))
	}
	if r.IntN(9) == 0 {
		ts = append(ts, analyze.Where("tid!~3$"))
	}
	return in, ts
}

func same(t *testing.T, what string, got, want map[[2]string][2]int64) {
	t.Helper()
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s: %v has self and total %v, the selection has %v", what, k, got[k], v)
			return
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d functions, the selection has %d", what, len(got), len(want))
	}
}

// TestPartsAnswerAsTheSelection checks that a copied part has the same numbers in every
// metric as the selection in the original, also after writing and reading it.
func TestPartsAnswerAsTheSelection(t *testing.T) {
	made := files(t)
	for i, path := range append(made, selectable(t)...) {
		rec := read(t, path)
		seeds := uint64(25)
		if testing.Short() {
			seeds = 8
		}
		if i >= len(made) {
			seeds = 4
		}
		for seed := range seeds {
			in, ts := anyPart(rand.New(rand.NewPCG(seed, 8)), rec)
			part, notes, err := extract.Recording(context.Background(), rec, in, ts)
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("%s, seed %d (%+v, %v; %s)", filepath.Base(path), seed, in, ts, notes)
			for e := range rec.Events {
				for m := range rec.Events[e].Plain().Metrics { // the CPU time of a part of a span is unknown
					q := analyze.Query{Event: e, Metric: m, Scope: in}
					want, w := answer(t, rec, q, ts)
					got, _ := answer(t, part, analyze.Query{Event: e, Metric: m}, nil)
					same(t, what+" "+rec.Events[e].Metrics[m].Name, got, want)
					if in.Ranged && w.Ranged && part.HasTime && w.Basis == analyze.Spans && (part.Start < in.From || part.End > in.To) {
						t.Errorf("%s: the part reaches from %d to %d", what, part.Start, part.End)
					}
				}
			}
			if seed < 6 {
				written(t, what, rec, part, in, ts)
			}
			if t.Failed() {
				break
			}
		}
	}
}

// byName adds up sums by name without the module, because formats without modules invent
// one. An address is named without its module. several holds the names of more than one
// function, which some formats merge.
func byName(of map[[2]string][2]int64) (sums map[string][2]int64, several map[string]bool) {
	sums, several = map[string][2]int64{}, map[string]bool{}
	for k, v := range of {
		name := k[0]
		if i := strings.LastIndex(name, "+0x"); i >= 0 {
			name = name[i+1:]
		}
		s, twice := sums[name]
		sums[name] = [2]int64{s[0] + v[0], s[1] + v[1]}
		several[name] = several[name] || twice
	}
	return sums, several
}

// written writes a part in other formats, reads it back and compares its primary metric.
func written(t *testing.T, what string, rec, part *recording.Recording, in recording.Scope, ts []analyze.Transform) {
	ev := &rec.Events[0]
	q := analyze.Query{Metric: ev.Primary, Scope: in}
	want, w := answer(t, rec, q, ts)
	if w.Sum == 0 || len(want) == 0 {
		return
	}
	for _, ext := range []string{"spaa", "pb.gz"} {
		path := filepath.Join(t.TempDir(), "part."+ext)
		target, err := ingest.FormatFor(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := target.Write(context.Background(), f, path, part, encode.Options{}); err != nil {
			t.Fatalf("%s as %s: %v", what, ext, err)
		}
		f.Close()
		again := read(t, path)
		m := &ev.Metrics[ev.Primary]
		k := -1
		for i := range again.Events[0].Metrics {
			if again.Events[0].Metrics[i].Name == m.Name {
				k = i
			}
		}
		if k < 0 {
			k = again.Events[0].Primary
		}
		got, _ := answer(t, again, analyze.Query{Metric: k}, nil)
		am := &again.Events[0].Metrics[k]
		names, _ := byName(got)
		sums, several := byName(want)
		var selves, selected int64
		for key, v := range sums {
			g := names[key]
			selves, selected = selves+g[0], selected+v[0]
			if several[key] {
				continue // functions of the same name count once if they call each other
			}
			a, b := recording.Decimal{Mantissa: g[1], Scale: am.Decimals}.String(), recording.Decimal{Mantissa: v[1], Scale: m.Decimals}.String()
			// pprof values are integers, so metrics with decimals are rounded.
			if a != b && (ext == "spaa" || m.Decimals == 0) {
				t.Errorf("%s as %s: %v has the total %s, the selection has %s", what, ext, key, a, b)
				return
			}
		}
		if am.Decimals == m.Decimals && selves != selected {
			t.Errorf("%s as %s: all of self is %d, of the selection %d", what, ext, selves, selected)
		}
	}
}
