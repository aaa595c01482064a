package command

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/app/command/difference"
)

func TestDiffGolden(t *testing.T) {
	writeSmallSpall(t)
	for name, args := range map[string][]string{
		"diff.txt":            {"testdata/diff-a.folded", "testdata/diff-b.folded"},
		"diff.json":           {"testdata/diff-a.folded", "testdata/diff-b.folded", "--json", "-n", "3"},
		"diff-total.txt":      {"testdata/diff-a.folded", "testdata/diff-b.folded", "--normalize", "total", "-n", "4"},
		"diff-sure.txt":       {"testdata/diff-a.folded", "testdata/diff-b.folded", "--min-confidence", "0.95"},
		"diff-stacks.txt":     {"testdata/diff-a.folded", "testdata/diff-b.folded", "--by", "stack", "--all"},
		"diff-same.txt":       {"testdata/diff-a.folded", "testdata/diff-a.folded"},
		"diff-ranges.txt":     {"testdata/small.spall", "--range-a", "..4us", "--range-b", "4us.."},
		"diff-thread-by.txt":  {"testdata/small.spaa", "testdata/small.spaa", "--by", "thread", "--all", "--metric", "samples"},
		"diff-match-none.txt": {"testdata/diff-a.folded", "testdata/diff-b.folded", "--match", "none", "-n", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(append([]string{"diff"}, args...)...)
			if r.code != Done {
				t.Fatalf("%v: exit code %d: %s", args, r.code, r.stderr)
			}
			isKept(t, name, anywhere(r.stdout))
		})
	}
}

func fraction(t *testing.T, v any) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(fmt.Sprint(v))
	if !ok {
		t.Fatalf("%v is no number", v)
	}
	return r
}

// TestDiffAddsUp checks that the rows of the JSON have all keys and add up to the difference
// of the totals.
func TestDiffAddsUp(t *testing.T) {
	for _, by := range []string{"function", "module", "file", "thread", "stack"} {
		for _, n := range []string{"raw", "total", "samples"} {
			r := run("diff", "testdata/diff-a.folded", "testdata/diff-b.folded", "--json", "--by", by, "--normalize", n)
			d := json.NewDecoder(strings.NewReader(r.stdout))
			d.UseNumber()
			var v map[string]any
			if err := d.Decode(&v); err != nil {
				t.Fatal(err, r.stderr)
			}
			for _, key := range []string{"metric", "unit", "normalize", "a", "b", "rows"} {
				if _, ok := v[key]; !ok {
					t.Errorf("there is no %s", key)
				}
			}
			sum := new(big.Rat)
			for _, row := range v["rows"].([]any) {
				x := row.(map[string]any)
				for _, key := range []string{"name", "module", "a_self", "b_self", "delta_self", "a_total", "b_total", "delta_total", "status", "confidence"} {
					if _, ok := x[key]; !ok {
						t.Errorf("a row has no %s", key)
					}
				}
				for _, k := range []string{"self", "total"} {
					d := new(big.Rat).Sub(fraction(t, x["b_"+k]), fraction(t, x["a_"+k]))
					if d.Cmp(fraction(t, x["delta_"+k])) != 0 {
						t.Errorf("the difference of %s is %v", x["name"], x["delta_"+k])
					}
				}
				if fraction(t, x["delta_self"]).Sign() == 0 && fraction(t, x["delta_total"]).Sign() == 0 {
					t.Errorf("%s is listed without a difference", x["name"])
				}
				sum.Add(sum, fraction(t, x["delta_self"]))
			}
			a, b := v["a"].(map[string]any), v["b"].(map[string]any)
			want := new(big.Rat).Sub(fraction(t, b["total"]), fraction(t, a["total"]))
			if sum.Cmp(want) != 0 {
				t.Errorf("by %s, %s: the differences add up to %s, those of the totals to %s", by, n, sum.FloatString(6), want.FloatString(6))
			}
			if a["file"] != "testdata/diff-a.folded" || fmt.Sprint(a["samples"]) != "10650" {
				t.Errorf("side A is %v", a)
			}
		}
	}
}

func TestDiffFailIf(t *testing.T) {
	for cond, fails := range map[string]bool{
		// The total rises from 10650 to 11395, by 745 or 6.995 %.
		"total>5%": true, "total>6.9%": true, "total>7%": false, "total > 744": true, "total>745": false, "total>=745": true,
		"total<-1%": false, "total<7%": true, "total>0.7k": true, "total<=745samples": false,
		// parse: self rises from 4000 to 4800, total from 4900 to 5705.
		"self(parse)>19.9%": true, "self(parse)>20%": false, "self(parse)>=20%": true, "total(parse)>16.4%": true, "total(parse)>16.5%": false,
		"self(sort)>0%": false, "self(sort)<0%": true, "self(validate)>1000%": true, "self(legacy_check)>0": false, "total(main)>700": true,
		"self(Cache<long>::get)>0": false, "module([no module])>6%": true,
	} {
		r := run("diff", "testdata/diff-a.folded", "testdata/diff-b.folded", "--fail-if", cond)
		want := Done
		if fails {
			want = Failed
		}
		if cond == "total<=745samples" {
			want = Usage
		}
		if r.code != want {
			t.Errorf("%s: exit code %d, want %d (%s)", cond, r.code, want, r.stderr)
		}
		if fails && !strings.Contains(r.stderr, cond) {
			t.Errorf("%s: standard error is %q", cond, r.stderr)
		}
		if fails && !strings.Contains(r.stdout, "parse") {
			t.Errorf("%s: the table is not printed", cond)
		}
	}
	// One of several conditions is enough. With --min-confidence, uncertain differences do not
	// count.
	r := run("diff", "testdata/diff-a.folded", "testdata/diff-b.folded", "--fail-if", "total>50%", "--fail-if", "self(parse)>10%", "--json")
	if r.code != Failed || !strings.Contains(r.stdout, `"self(parse)>10%: +20.0 %, from 4000 to 4800"`) {
		t.Errorf("exit code %d, %s", r.code, r.stderr)
	}
	for sure, want := range map[string]int{"0": Failed, "0.95": Done} {
		r := run("diff", "testdata/diff-a.folded", "testdata/diff-b.folded", "--min-confidence", sure, "--fail-if", "self(read)>0%")
		if r.code != want {
			t.Errorf("at %s the exit code is %d, want %d", sure, r.code, want)
		}
	}
}

// TestDiffFailIfUnits checks limits in all time units.
func TestDiffFailIfUnits(t *testing.T) {
	writeSmallSpall(t)
	args := []string{"diff", "testdata/small.spall", "--range-a", "..4us", "--range-b", "4us..", "--json"}
	r := run(args...)
	var v struct {
		A, B struct{ Total float64 }
		Unit string
	}
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil || v.Unit != "ns" {
		t.Fatal(err, v, r.stderr)
	}
	d := v.B.Total - v.A.Total
	for unit, per := range map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "": 1} {
		for off, want := range map[float64]int{-.5: Failed, .5: Done} {
			cond := fmt.Sprintf("total>%.7f%s", (d+off)/per, unit)
			if r := run(append(args, "--fail-if", cond)...); r.code != want {
				t.Errorf("%s: exit code %d, want %d: the difference is %g ns (%s)", cond, r.code, want, d, r.stderr)
			}
		}
	}
	if r := run(append(args, "--fail-if", "total>5MB")...); r.code != Usage {
		t.Errorf("megabytes of time: exit code %d", r.code)
	}
}

func TestDiffSeveralRuns(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		for side, parse := range map[string]int{"old": 4000, "new": 4800} {
			text := fmt.Sprintf("main;parse %d\nmain;sort %d\n", parse+7*i, 1500+(i*37)%50)
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d.folded", side, i)), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := run("diff", "--a", filepath.Join(dir, "old-*.folded"), "--b", filepath.Join(dir, "new-*.folded"), "--json")
	var v struct {
		Method string
		A, B   struct{ Files []string }
		Rows   []struct {
			Name       string
			DeltaSelf  float64 `json:"delta_self"`
			Confidence float64
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatal(err, r.stderr)
	}
	if v.Method != "runs" || len(v.A.Files) != 3 || len(v.B.Files) != 3 || len(v.Rows) == 0 || v.Rows[0].Name != "parse" || v.Rows[0].DeltaSelf != 800 || v.Rows[0].Confidence < .95 {
		t.Errorf("several runs compare as %+v", v)
	}
}

func TestDiffPair(t *testing.T) {
	r := run("diff", "testdata/diff-a.folded", "testdata/diff-b.folded", "--pair", "legacy_check=validate", "--json")
	if !strings.Contains(r.stdout, `"name_b": "validate"`) || !strings.Contains(r.stdout, `"match": "hand"`) || strings.Contains(r.stdout, `"status": "gone"`) {
		t.Errorf("the pair is not taken: %s", r.stdout)
	}
}

func TestDiffMisuse(t *testing.T) {
	a, b := "testdata/diff-a.folded", "testdata/diff-b.folded"
	for _, c := range []struct {
		args []string
		code int
		say  string
	}{
		{[]string{}, Usage, "two files"},
		{[]string{a}, Usage, "--range-a"},
		{[]string{a, b, b}, Usage, "--a and --b"},
		{[]string{"--a", a}, Usage, "--b"},
		{[]string{"--a", "testdata/no-*.x", "--b", b}, Usage, "no file matches"},
		{[]string{a, "--a", a, "--b", b}, Usage, "quote patterns"},
		{[]string{a, "testdata/none.folded"}, Problem, "none.folded"},
		{[]string{a, b, "--by", "colour"}, Usage, "thread or stack"},
		{[]string{a, b, "--normalize", "luck"}, Usage, "duration"},
		{[]string{a, b, "--normalize", "duration"}, Problem, "duration"},
		{[]string{a, b, "--match", "luck"}, Usage, "similar"},
		{[]string{a, b, "--pair", "x"}, Usage, "OLD=NEW"},
		{[]string{a, b, "--pair", "x=y"}, Problem, "x=y"},
		{[]string{a, b, "--min-confidence", "2"}, Usage, "between 0 and 1"},
		{[]string{a, b, "--min-confidence", "NaN"}, Usage, "between 0 and 1"},
		{[]string{a, b, "--fail-if", "parse>5%"}, Usage, "is not a condition"},
		{[]string{a, b, "--fail-if", "self>5%"}, Usage, "self(NAME)"},
		{[]string{a, b, "--fail-if", "self(nobody)>5%"}, Problem, "nobody"},
		{[]string{a, b, "--fail-if", "total>5ms"}, Usage, "ms"},
		{[]string{a, b, "--fail-if", "total>5%", "--normalize", "total"}, Usage, "never"},
		{[]string{a, b, "--range-a", "1s..2s"}, Usage, "no times"},
		{[]string{a, b, "--thread-b", "x"}, Usage, "no thread"},
		{[]string{a, b, "--metric", "bytes"}, Problem, "samples"},
		{[]string{a, "testdata/small.spall", "--metric", "time"}, Problem, "time (ns)"},
		{[]string{a, b, "-n", "-1"}, Usage, "negative"},
		{[]string{"--demo", a}, Usage, "--demo"},
	} {
		r := run(append([]string{"diff"}, c.args...)...)
		r.sentence(t, c.code, c.say)
		if t.Failed() {
			t.Fatal(c.args)
		}
	}
}

func TestDiffDemoRanges(t *testing.T) {
	r := run("diff", "--demo", "--range-a", "..1s", "--range-b", "1s..", "-n", "3")
	if r.code != Done || !strings.Contains(r.stdout, "sure") {
		t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
}

// TestTwoCountsAlone checks that diff of a single folded file with two counts per line
// compares the first counts with the second. Any other single file needs flags that select two
// parts.
func TestTwoCountsAlone(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	two := write("two.folded", "main;read 274 415\nmain;write 10 0\nmain;read;copy 1 2\n")
	var got difference.JSON
	if err := json.Unmarshal([]byte(said(t, "diff", two, "--json")), &got); err != nil {
		t.Fatal(err)
	}
	if got.Metric != "A" || got.MetricB != "B" || got.A.Total != "285" || got.B.Total != "417" {
		t.Errorf("%s of %s against %s of %s", got.A.Total, got.Metric, got.B.Total, got.MetricB)
	}
	var rows []string
	for _, r := range got.Rows {
		rows = append(rows, r.Name+" "+string(r.ASelf)+" "+string(r.BSelf)+" "+string(r.DeltaTotal))
	}
	if want := "read 274 415 142, write 10 0 -10, copy 1 2 1, main 0 0 132"; strings.Join(rows, ", ") != want {
		t.Errorf("rows %q, want %s", rows, want)
	}
	if out := said(t, "diff", two); !strings.Contains(out, "\n\nA → B\n") || strings.Contains(out, "matched by name\n") {
		t.Error(out)
	}
	one := write("one.folded", "main;read 274\n")
	fails(t, []string{"diff", one}, Usage, "name a second file, or compare parts of one with --range-a, --range-b, --thread-a, --thread-b, --calls-b or --metric-b")
	fails(t, []string{"diff", two, "--metric", "A"}, Usage, "name a second file, or compare parts of one with --range-a, --range-b, --thread-a, --thread-b, --calls-b or --metric-b")
	if out := said(t, "diff", two, "--metric", "B", "--metric-b", "A"); !strings.Contains(out, "\n\nB → A\n") || !strings.Contains(out, "−132") {
		t.Error(out)
	}
	fails(t, []string{"diff", two, "--metric", "A", "--metric-b", "C"}, Problem, "two.folded", `no metric "C"`)
	heap := write("heap.pprof", "heap profile: 1: 10 [2: 30] @ heap/1\n1: 10 [2: 30] @ 0x10\n")
	fails(t, []string{"diff", heap, "--metric", "alloc_space", "--metric-b", "alloc_objects"}, Problem, "measure different things")
}

func fails(t *testing.T, args []string, code int, parts ...string) {
	t.Helper()
	r := run(args...)
	r.sentence(t, code, parts...)
}
