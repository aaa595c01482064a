package compare

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"ashlar/ingest"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare/match"
	"ashlar/testdata/samples"
)

type flatCum struct{ flat, cum float64 }

// pprofDiff returns the differences by function that go tool pprof prints, in the metric's
// own unit.
func pprofDiff(t *testing.T, base, file string, metric int, unit string, flags ...string) map[string]flatCum {
	t.Helper()
	top := map[string]flatCum{}
	for _, r := range decodetest.PprofTop(t, strconv.Itoa(metric), unit, append(append([]string{"-diff_base=" + base}, flags...), file)...) {
		flat, err1 := strconv.ParseFloat(r.Flat, 64)
		cum, err2 := strconv.ParseFloat(r.Cum, 64)
		if err1 != nil || err2 != nil {
			t.Fatalf("cannot read %q", r)
		}
		old := top[r.Name]
		top[r.Name] = flatCum{old.flat + flat, old.cum + cum}
	}
	return top
}

// named returns the differences of a comparison by function name, merged like in pprof.
// Functions without a name are left out, because pprof combines those of a binary.
func named(t *testing.T, c *Comparison) map[string]flatCum {
	t.Helper()
	scale := math.Pow10(c.Metric.Common.Decimals)
	out := map[string]flatCum{}
	for _, r := range mustTable(t, c, ByFunction).Rows {
		if r.Key < 0 {
			continue
		}
		f := &c.Matching.Funcs[r.Key]
		bare := false
		for k, i := range f.In {
			bare = bare || i >= 0 && c.recs[k].Functions.At(int(i)).Unresolved
		}
		if !bare {
			old := out[r.Name]
			out[r.Name] = flatCum{old.flat + float64(r.DeltaSelf())/scale, old.cum + float64(r.DeltaTotal())/scale}
		}
	}
	return out
}

// agree compares differences with pprof's; off is the tolerance.
func agree(t *testing.T, what string, got, want map[string]flatCum, scale, off float64) {
	t.Helper()
	for name, g := range got {
		w := want[name]
		if math.Abs(g.flat-w.flat/scale) > off || math.Abs(g.cum-w.cum/scale) > off {
			t.Errorf("%s: %q differs by %v, pprof says %v", what, name, g, flatCum{w.flat / scale, w.cum / scale})
		}
	}
	for name, w := range want {
		if _, ok := got[name]; !ok && w != (flatCum{}) && !strings.HasPrefix(name, "[") && !strings.HasPrefix(name, "<") {
			t.Errorf("%s: %q is missing, pprof says %v", what, name, w)
		}
	}
}

func read(t *testing.T, file string) *recording.Recording {
	t.Helper()
	rec, _, err := ingest.ReadAll(context.Background(), file, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// multiplied writes a copy of a profile with all values multiplied by k.
func multiplied(t *testing.T, file string, k int64) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(content)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Sample {
		for i := range s.Value {
			s.Value[i] *= k
		}
	}
	return write(t, p)
}

func write(t *testing.T, p *profile.Profile) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "p.pprof")
	f, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := p.Write(f); err != nil {
		t.Fatal(err)
	}
	return out
}

// againstPprof compares two profiles in all metrics, raw and normalised.
//
// pprof scales each sample and rounds it to an integer, so its sums are off by up to half a
// unit per sample. Copies of the profiles with values a million times as large make that
// negligible.
func againstPprof(t *testing.T, a, b string) {
	t.Helper()
	ra, rb := read(t, a), read(t, b)
	const finer = 1_000_000
	fineA, fineB := "", ""
	for m := range ra.Events[0].Metrics {
		met := &ra.Events[0].Metrics[m]
		what := fmt.Sprintf("%s and %s, %s", filepath.Base(a), filepath.Base(b), met.Name)
		// pprof merges functions by exact name, whatever their binary.
		o := Options{Metric: met.Name, Match: match.Options{NoSimilar: true, NoRenamed: true}}
		agree(t, what, named(t, mustCompare(t, ra, rb, o)), pprofDiff(t, a, b, m, met.Unit), 1, 0)

		o.Normalize = Total
		if met.Total <= 0 || rb.Events[0].Metrics[m].Total <= 0 || met.Total > math.MaxInt64/finer/4 || rb.Events[0].Metrics[m].Total > math.MaxInt64/finer/4 {
			continue
		}
		if fineA == "" {
			fineA, fineB = multiplied(t, a, finer), multiplied(t, b, finer)
		}
		got := named(t, mustCompare(t, ra, rb, o))
		agree(t, what+" normalised", got, pprofDiff(t, fineA, fineB, m, met.Unit, "-normalize"), finer, .51)
		rounding := 1 + float64(rb.Counts.Stacks)/2
		agree(t, what+" normalised and rounded", got, pprofDiff(t, a, b, m, met.Unit, "-normalize"), 1, rounding)
	}
}

func TestAgreesWithPprof(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to compare with")
	}
	for _, pair := range [][2]string{
		{"pprof/gp_go.crc32.cpu", "generated/strconv_cpu.pprof"},
		{"generated/strconv_cpu.pprof", "pprof/parca_fib.pb.gz"},
		{"generated/json_mem.pprof", "pprof/parca_1644509272337470000.pb.gz"},
		{"pprof/parca_inlining-disabled-cpu.stripped.pprof", "pprof/parca_fib.pb.gz"},
		{"pprof/parca_fgprof.pb.gz", "pprof/parca_fgprof.pb.gz"},
		{"generated/block.pprof", "generated/block.pprof"},
	} {
		againstPprof(t, samples.Path(t, pair[0]), samples.Path(t, pair[1]))
	}
}

// TestAgreesWithPprofPerturbed compares a made-up profile with a variant in which some stacks
// are heavier, some gone and some new, and checks the differences against pprof's.
func TestAgreesWithPprofPerturbed(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to compare with")
	}
	a := madeProfile()
	b := a.Copy()
	kept := b.Sample[:0]
	for i, s := range b.Sample {
		switch {
		case i%7 == 3:
			continue
		case i%5 == 0:
			s.Value[0], s.Value[1] = s.Value[0]*3+1, s.Value[1]*3+10
		case i%11 == 4:
			s.Location = s.Location[1:]
		}
		kept = append(kept, s)
	}
	b.Sample = kept
	againstPprof(t, write(t, a), write(t, b))
}

// madeProfile returns a profile of functions that call each other and themselves.
func madeProfile() *profile.Profile {
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10_000_000,
		Mapping: []*profile.Mapping{{ID: 1, File: "/bin/made", HasFunctions: true}},
	}
	for i := range uint64(23) {
		f := &profile.Function{ID: i + 1, Name: fmt.Sprintf("pkg.f%d", i), Filename: "f.go"}
		p.Function = append(p.Function, f)
		p.Location = append(p.Location, &profile.Location{ID: i + 1, Mapping: p.Mapping[0], Address: 0x1000 + i, Line: []profile.Line{{Function: f, Line: int64(i)}}})
	}
	r := newProgram(9).r
	for range 300 {
		s := &profile.Sample{}
		for range 2 + r.IntN(8) {
			s.Location = append(s.Location, p.Location[r.IntN(len(p.Location))])
		}
		n := int64(1 + r.IntN(9))
		s.Value = []int64{n, n*10_000_000 + int64(r.IntN(1000))}
		p.Sample = append(p.Sample, s)
	}
	return p
}
