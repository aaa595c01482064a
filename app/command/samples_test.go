package command

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"ashlar/testdata/samples"
)

// infoJSON holds the fields of info's JSON that are compared.
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
	r := ask("info", "--json", path)
	if r.code != Done {
		t.Fatalf("info %s: exit code %d: %s", path, r.code, r.stderr)
	}
	var v infoJSON
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// balances checks sums that must agree in every recording.
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

// tabled lists patterns of the samples to open.
var tabled = []string{"spaa/*", "spall/*", "chrome-trace/*", "chrome-devtools/*", "pprof/*", "otlp/*", "perf-script/*", "folded/*", "generated/*"}

// sampleRow is a line of testdata/samples.txt.
type sampleRow struct {
	format         string // with the version
	spans, samples string
	totals         map[string]string // by event/metric
	refused        string
}

// sampleTable reads testdata/samples.txt.
func sampleTable(t *testing.T) map[string]sampleRow {
	t.Helper()
	text, err := os.ReadFile("testdata/samples.txt")
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]sampleRow{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, " | ")
		row := sampleRow{format: cells[1], totals: map[string]string{}}
		switch {
		case row.format == "refused" && len(cells) == 3:
			row.refused = cells[2]
		case len(cells) == 5:
			row.spans, row.samples = cells[2], cells[3]
			for _, total := range strings.Split(cells[4], ", ") {
				metric, value, _ := strings.Cut(total, "=")
				if !strings.Contains(metric, "/") {
					metric = "/" + metric
				}
				row.totals[metric] = value
			}
		default:
			t.Fatalf("%q has %d cells", line, len(cells))
		}
		if _, twice := table[cells[0]]; twice {
			t.Errorf("%s has two rows", cells[0])
		}
		table[cells[0]] = row
	}
	return table
}

// TestSampleTable compares every sample with its row in testdata/samples.txt. A sample without
// a row fails, as does a row without a sample.
func TestSampleTable(t *testing.T) {
	table := sampleTable(t)
	samples.Need(t)
	for _, path := range samples.Files(t, tabled...) {
		name := samples.Name(path)
		row, ok := table[name]
		delete(table, name)
		t.Run(name, func(t *testing.T) {
			if !ok {
				t.Fatal("testdata/samples.txt has no row for it")
			}
			row.check(t, path)
		})
	}
	for name := range table {
		t.Errorf("%s has a row and is not there", name)
	}
}

func (row *sampleRow) check(t *testing.T, path string) {
	if row.refused != "" {
		r := run("info", path)
		r.sentence(t, Problem, path+": "+row.refused)
		return
	}
	in := infoOf(t, path)
	in.balances(t)
	if got := strings.TrimSpace(in.Format + " " + in.Version); got != row.format {
		t.Errorf("it is %s, want %s", got, row.format)
	}
	if spans, samples := fmt.Sprint(in.Counts.Spans), fmt.Sprint(in.Counts.Samples); spans != row.spans || samples != row.samples {
		t.Errorf("%s spans and %s samples, want %s and %s", spans, samples, row.spans, row.samples)
	}
	for _, e := range in.Events {
		for _, m := range e.Metrics {
			name := e.Name + "/" + m.Name
			want, ok := row.totals[name]
			delete(row.totals, name)
			switch {
			case !ok && m.Primary:
				t.Errorf("its row says nothing of %s", name)
			case ok && string(m.Total) != want:
				t.Errorf("%s adds up to %s, want %s", name, m.Total, want)
			}
			selfAddsUp(t, path, e.Name, m.Name, m.Total)
		}
	}
	for name := range row.totals {
		t.Errorf("there is no %s", name)
	}
}

// selfAddsUp checks that the self costs of all functions add up to the total.
func selfAddsUp(t *testing.T, path, event, metric string, total json.Number) {
	t.Helper()
	args := []string{path, "--metric", metric}
	if event != "" {
		args = append(args, "--event", event)
	}
	top := topOf(t, args...)
	sum := rat(t, json.Number("0"))
	for _, r := range top.Rows {
		sum.Add(sum, rat(t, r.Self))
	}
	if sum.Cmp(rat(t, total)) != 0 || top.Event != event || top.Metric != metric {
		t.Errorf("self of %s/%s adds up to %s, want %s", top.Event, top.Metric, sum.RatString(), total)
	}
}
