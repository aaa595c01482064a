package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// infoJSON is what is read of the info command's answer.
type infoJSON struct {
	Format, Version string
	Events          []struct {
		Name    string
		Metrics []struct {
			Name, Unit string
			Total      json.Number
			Primary    bool
		}
	}
	Threads []struct {
		PID, TID, Spans, Samples, Stacks int64
		MaxDepth                         int `json:"max_depth"`
	}
	Counts struct{ Spans, Unfinished, Samples, Stacks, Frames, Functions, Windows int64 }
	Ledger []struct {
		Kind       string
		Read, Kept int64
		LeftOut    int64 `json:"left_out"`
	}
}

func infoOf(t *testing.T, path string) infoJSON {
	t.Helper()
	r := run("info", "--json", path)
	if r.code != Done {
		t.Fatalf("info %s: exit code %d: %s", path, r.code, r.stderr)
	}
	var v infoJSON
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// balances checks what must hold for every recording.
func (in *infoJSON) balances(t *testing.T) {
	t.Helper()
	for _, l := range in.Ledger {
		if l.Read != l.Kept+l.LeftOut {
			t.Errorf("ledger: %d %s read, %d kept, %d left out", l.Read, l.Kind, l.Kept, l.LeftOut)
		}
	}
	var spans, samples int64
	for _, th := range in.Threads {
		spans += th.Spans
		samples += th.Samples
		if (th.Spans+th.Samples > 0) != (th.MaxDepth > 0) && th.Stacks == 0 {
			t.Errorf("thread %d has %d spans and %d samples, but is %d deep", th.TID, th.Spans, th.Samples, th.MaxDepth)
		}
	}
	if spans != in.Counts.Spans || samples != in.Counts.Samples {
		t.Errorf("threads have %d spans and %d samples, the recording %d and %d", spans, samples, in.Counts.Spans, in.Counts.Samples)
	}
}

func (in *infoJSON) read(kind string) int64 {
	for _, l := range in.Ledger {
		if l.Kind == kind {
			return l.Read
		}
	}
	return 0
}

// index is what INDEX.md's independent readers say of the files in a folder, by
// path below ASHLAR_SAMPLES.
func index(t *testing.T, folder string) map[string]string {
	t.Helper()
	dir := os.Getenv("ASHLAR_SAMPLES")
	if dir == "" {
		t.Skip("ASHLAR_SAMPLES names no folder with recordings")
	}
	text, err := os.ReadFile(filepath.Join(dir, "INDEX.md"))
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if name := strings.TrimSpace(cells[0]); len(cells) >= 4 && strings.HasPrefix(name, folder+"/") {
			said[filepath.Join(dir, name)] = strings.TrimSpace(cells[len(cells)-1])
		}
	}
	found, err := filepath.Glob(filepath.Join(dir, folder, "*"))
	if err != nil || len(found) == 0 || len(said) == 0 {
		t.Fatalf("%d files in %s, %d in its INDEX.md (%v)", len(found), folder, len(said), err)
	}
	for _, f := range found {
		if _, ok := said[f]; !ok {
			t.Errorf("INDEX.md does not know %s", f)
		}
	}
	return said
}

var (
	recordsSaid = regexp.MustCompile(`'(\w+)': (\d+)`)
	primarySaid = regexp.MustCompile(`sum\(primary\) \{'([^}]*)/(\w+)': (\d+)\}`)
	functions   = regexp.MustCompile(`([\d,]+) unique names`)
	pairsSaid   = regexp.MustCompile(`([\d,]+)( or so)? (?:begin/end )?pairs`)
	versionSaid = regexp.MustCompile(`\bv(\d)\b`)
)

func number(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.ReplaceAll(s, ",", ""), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSampleSPAA compares with what an independent reader counted.
func TestSampleSPAA(t *testing.T) {
	for path, said := range index(t, "spaa") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			in := infoOf(t, path)
			in.balances(t)
			if in.Format != "spaa" || in.Version != "1.0" {
				t.Errorf("format %s %s", in.Format, in.Version)
			}
			list, rest, ok := strings.Cut(strings.TrimPrefix(said, "records {"), "}")
			if !ok {
				t.Fatalf("INDEX.md says %q", said)
			}
			for _, m := range recordsSaid.FindAllStringSubmatch(list, -1) {
				if got := in.read(m[1]); got != number(t, m[2]) {
					t.Errorf("%d %s records, want %s", got, m[1], m[2])
				}
				if m[1] == "stack" && in.Counts.Stacks != number(t, m[2]) {
					t.Errorf("%d stacks are kept, want %s", in.Counts.Stacks, m[2])
				}
				if m[1] == "thread" && int64(len(in.Threads)) != number(t, m[2]) {
					t.Errorf("%d threads, want %s", len(in.Threads), m[2])
				}
			}
			m := primarySaid.FindStringSubmatch(rest)
			if m == nil {
				t.Fatalf("INDEX.md says %q", said)
			}
			e := in.Events[0]
			for _, x := range e.Metrics {
				if x.Primary && (e.Name != m[1] || x.Name != m[2] || x.Total != json.Number(m[3])) {
					t.Errorf("%s %s adds up to %s, want %s %s, %s", e.Name, x.Name, x.Total, m[1], m[2], m[3])
				}
			}
			top := topOf(t, path)
			if top.Metric != m[2] || top.Total != json.Number(m[3]) {
				t.Errorf("top says %s of %s, want %s of %s", top.Total, top.Metric, m[3], m[2])
			}
		})
	}
}

// TestSampleSpall compares with what INDEX.md says, and that self adds up to
// the total.
func TestSampleSpall(t *testing.T) {
	for path, said := range index(t, "spall") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			in := infoOf(t, path)
			in.balances(t)
			if filepath.Ext(path) != ".spall" {
				return
			}
			if v := versionSaid.FindStringSubmatch(said); in.Format != "spall" || v != nil && !strings.HasPrefix(in.Version, v[1]) {
				t.Errorf("format %s %s, INDEX.md says %q", in.Format, in.Version, said)
			}
			if m := pairsSaid.FindStringSubmatch(said); m != nil {
				n := number(t, m[1])
				slack := int64(0)
				if m[2] != "" {
					slack = n / 50
				}
				if d := in.Counts.Spans - n; d < -slack || d > slack {
					t.Errorf("%d spans, INDEX.md says %q", in.Counts.Spans, said)
				}
			}
			if m := functions.FindStringSubmatch(said); m != nil && in.Counts.Functions != number(t, m[1]) {
				t.Errorf("%d functions, INDEX.md says %q", in.Counts.Functions, said)
			}
			for _, metric := range []string{"time", "count"} {
				top := topOf(t, path, "--metric", metric)
				sum := rat(t, json.Number("0"))
				for _, r := range top.Rows {
					sum.Add(sum, rat(t, r.Self))
				}
				if sum.Cmp(rat(t, top.Total)) != 0 {
					t.Errorf("self of %s adds up to %s, the total is %s", metric, sum.RatString(), top.Total)
				}
			}
		})
	}
}
