package command

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/testdata/rounds"
)

// memoryMetrics are the metrics of section 9.2 of the SPAA specification.
var memoryMetrics = []string{"alloc_bytes", "alloc_count", "free_bytes", "free_count", "live_bytes", "live_count", "peak_bytes"}

// memoryFile writes a SPAA file with allocations, deallocations and CPU samples, and two
// windows of the allocations.
func memoryFile(t *testing.T, rng *rand.Rand) string {
	var b strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	add(`{"type":"header","format":"spaa","version":"1.0","source_tool":"heaptrack","frame_order":"leaf_to_root","stack_id_mode":"local","time_range":{"start":0,"end":20,"unit":"seconds"},"events":[` +
		`{"name":"malloc","kind":"allocation","sampling":{"mode":"event","primary_metric":"alloc_bytes"},"allocation_tracking":{"tracks_frees":true,"has_timestamps":false}},` +
		`{"name":"free","kind":"deallocation","sampling":{"mode":"event","primary_metric":"free_bytes"}},` +
		`{"name":"cycles","kind":"hardware","sampling":{"mode":"period","primary_metric":"period"}}]}`)
	add(`{"type":"dso","id":1,"name":"/bin/app"}`)
	for i := range 6 {
		add(`{"type":"frame","id":%d,"func":"f%d","dso":1,"kind":"user"}`, i, i)
	}
	weights := func(names []string) string {
		var ws []string
		for _, m := range names {
			if rng.IntN(8) > 0 || m == names[0] {
				ws = append(ws, fmt.Sprintf(`{"metric":%q,"value":%d}`, m, rng.Int64N(1<<40)))
			}
		}
		return strings.Join(ws, ",")
	}
	var allocs []string
	for i := range 60 {
		// All stacks differ.
		frames := []string{fmt.Sprint(i % 6), fmt.Sprint(i / 6 % 6), fmt.Sprint(i / 36)}
		for range rng.IntN(4) {
			frames = append(frames, fmt.Sprint(rng.IntN(6)))
		}
		event, names := "malloc", memoryMetrics
		switch i % 3 {
		case 1:
			event, names = "free", []string{"free_bytes", "free_count"}
		case 2:
			event, names = "cycles", []string{"period", "samples"}
		default:
			allocs = append(allocs, fmt.Sprint("s", i))
		}
		add(`{"type":"stack","id":"s%d","frames":[%s],"context":{"event":%q,"tid":%d},"weights":[%s]}`, i, strings.Join(frames, ","), event, 1+rng.IntN(3), weights(names))
	}
	for w := range 2 {
		var rows []string
		for _, id := range allocs {
			rows = append(rows, fmt.Sprintf(`{"stack_id":%q,"weights":[%s]}`, id, weights(memoryMetrics)))
		}
		add(`{"type":"window","id":"w%d","start":%d,"end":%d,"unit":"seconds","by_stack":[%s]}`, w, w*10, w*10+10, strings.Join(rows, ","))
	}
	path := filepath.Join(t.TempDir(), "memory.spaa")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// memoryRecord holds the fields of all record types that the test reads.
type memoryRecord struct {
	Type, ID, Func string
	Frames         []json.Number
	Context        struct{ Event string }
	Weights        []memoryWeight
	ByStack        []struct {
		StackID string `json:"stack_id"`
		Weights []memoryWeight
	} `json:"by_stack"`
}

type memoryWeight struct {
	Metric string
	Value  int64
}

// readMemory is a file read naively: each stack's path, event and weights, and the weights by
// stack in each window.
type readMemory struct {
	path    map[string][]string // leaf first, by stack
	event   map[string]string
	weights map[string]map[string]int64 // by stack and metric
	windows []map[string]map[string]int64
}

func newReadMemory(t *testing.T, path string) *readMemory {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := &readMemory{path: map[string][]string{}, event: map[string]string{}, weights: map[string]map[string]int64{}}
	names := map[string]string{}
	values := func(ws []memoryWeight) map[string]int64 {
		out := map[string]int64{}
		for _, w := range ws {
			out[w.Metric] = w.Value
		}
		return out
	}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var x memoryRecord
		var id struct{ ID json.RawMessage }
		if json.Unmarshal(lines.Bytes(), &id) != nil {
			t.Fatal("not JSON")
		}
		err := json.Unmarshal(lines.Bytes(), &x)
		switch {
		case strings.Contains(lines.Text(), `"type":"frame"`):
			names[string(id.ID)] = x.Func
		case strings.Contains(lines.Text(), `"type":"stack"`):
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range x.Frames {
				r.path[x.ID] = append(r.path[x.ID], names[f.String()])
			}
			r.event[x.ID], r.weights[x.ID] = x.Context.Event, values(x.Weights)
		case strings.Contains(lines.Text(), `"type":"window"`):
			w := map[string]map[string]int64{}
			for _, row := range x.ByStack {
				w[row.StackID] = values(row.Weights)
			}
			r.windows = append(r.windows, w)
		}
	}
	return r
}

// table adds up weights by function. Its keys are rows "name self total".
func (r *readMemory) table(event string, weight func(stack string) int64) (rows map[string]bool, sum int64) {
	self, total := map[string]int64{}, map[string]int64{}
	for id, path := range r.path {
		if r.event[id] != event {
			continue
		}
		v := weight(id)
		sum += v
		self[path[0]] += v
		for i, f := range path {
			if !strings.Contains(";"+strings.Join(path[:i], ";")+";", ";"+f+";") {
				total[f] += v
			}
		}
	}
	rows = map[string]bool{}
	for f := range total {
		rows[fmt.Sprintf("%s %d %d", f, self[f], total[f])] = true
	}
	return rows, sum
}

// askTop runs ashlar top and returns rows in the form of table.
func askTop(t *testing.T, args ...string) (rows map[string]bool, total, kind string) {
	t.Helper()
	r := run(append([]string{"top", "--json"}, args...)...)
	if r.code != Done {
		t.Fatalf("%v: %s", args, r.stderr)
	}
	var v struct {
		Total json.Number
		Kind  string
		Rows  []struct {
			Name        string
			Self, Total json.Number
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatal(err)
	}
	rows = map[string]bool{}
	for _, x := range v.Rows {
		rows[fmt.Sprintf("%s %s %s", x.Name, x.Self, x.Total)] = true
	}
	return rows, v.Total.String(), v.Kind
}

// TestMemoryMetrics compares every metric of section 9.2 with a naive reader, for the whole
// file and for a range, where a level has its value in the last window and a peak its largest
// value.
func TestMemoryMetrics(t *testing.T) {
	rounds.Unraced(t)
	kinds := map[string]string{"live_bytes": "level", "live_count": "level", "peak_bytes": "peak"}
	for seed := range uint64(3) {
		path := memoryFile(t, rand.New(rand.NewPCG(seed, 9)))
		r := newReadMemory(t, path)
		check := func(what, event, metric string, weight func(string) int64, args ...string) {
			t.Helper()
			rows, total, kind := askTop(t, append(args, path, "--event", event, "--metric", metric)...)
			want, sum := r.table(event, weight)
			if !maps.Equal(rows, want) || total != fmt.Sprint(sum) {
				t.Errorf("%s %s of %s: got %s %v, want %d %v", what, metric, event, total, rows, sum, want)
			}
			if k := kinds[metric]; kind != k && (k != "" || kind != "sum") {
				t.Errorf("%s is a %s", metric, kind)
			}
		}
		for event, metrics := range map[string][]string{"malloc": memoryMetrics, "free": {"free_bytes", "free_count"}, "cycles": {"period", "samples"}} {
			for _, m := range metrics {
				check("whole", event, m, func(id string) int64 { return r.weights[id][m] })
			}
		}
		for _, m := range memoryMetrics {
			check("range", "malloc", m, func(id string) int64 {
				a, b := r.windows[0][id][m], r.windows[1][id][m]
				switch kinds[m] {
				case "level":
					return b
				case "peak":
					return max(a, b)
				}
				return a + b
			}, "--range", "0s..20s")
			check("first half", "malloc", m, func(id string) int64 { return r.windows[0][id][m] }, "--range", "0s..10s")
		}
	}
}

// TestMemoryInfo checks that info explains the kinds of metrics and does not add up peaks.
func TestMemoryInfo(t *testing.T) {
	path := memoryFile(t, rand.New(rand.NewPCG(7, 9)))
	r := newReadMemory(t, path)
	var most, all int64
	for id, w := range r.weights {
		if r.event[id] == "malloc" {
			most, all = max(most, w["peak_bytes"]), all+w["peak_bytes"]
		}
	}
	var v struct {
		Events []struct {
			Name, Note string
			Metrics    []struct {
				Name, Kind     string
				Total, Largest *json.Number
				AtMost         *json.Number `json:"at_most"`
			}
		}
	}
	out := run("info", path, "--json")
	if err := json.Unmarshal([]byte(out.stdout), &v); err != nil {
		t.Fatal(err, out.stderr)
	}
	if v.Events[0].Note != "frees are tracked, without times" {
		t.Errorf("note %q", v.Events[0].Note)
	}
	peaks := 0
	for _, m := range v.Events[0].Metrics {
		if m.Name != "peak_bytes" {
			if m.Total == nil || m.Largest != nil || m.AtMost != nil {
				t.Errorf("%+v", m)
			}
			continue
		}
		peaks++
		if m.Total != nil || m.Largest.String() != fmt.Sprint(most) || m.AtMost.String() != fmt.Sprint(all) {
			t.Errorf("peak_bytes: total %v, largest %v (want %d), at most %v (want %d)", m.Total, m.Largest, most, m.AtMost, all)
		}
	}
	if peaks != 1 {
		t.Errorf("%d metrics are called peak_bytes", peaks)
	}
	text := run("info", path).stdout
	for _, want := range []string{"a level at one moment", "of the largest stack", "frees are tracked"} {
		if !strings.Contains(text, want) {
			t.Errorf("info does not say %q:\n%s", want, text)
		}
	}
	if text := run("top", path, "--metric", "peak_bytes").stdout; !strings.Contains(text, "total ≤") || !strings.Contains(text, "upper bounds") {
		t.Errorf("top says:\n%s", text)
	}
}
