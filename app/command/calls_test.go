package command

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"ashlar/testdata/rounds"
)

// madeCall is a call of a random trace. Times are in microseconds.
type madeCall struct {
	name          string
	tid           int64
	at, dur, self int64
	cpu           int64 // -1 if not recorded
	tenant        string
	under         []*madeCall // its stack, from the outermost call to itself
}

// madeTrace writes a trace of random nested calls.
func madeTrace(t *testing.T, seed uint64) (path string, all []*madeCall) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 16))
	var events []string
	var make func(tid, from, to int64, under []*madeCall)
	make = func(tid, from, to int64, under []*madeCall) {
		for from < to {
			c := &madeCall{name: []string{"task", "parse", "read", "draw"}[r.IntN(4)], tid: tid, at: from + r.Int64N(9), cpu: -1, tenant: []string{"", "7", "8"}[r.IntN(3)]}
			if c.dur = 1 + r.Int64N(200); c.at+c.dur > to {
				return
			}
			c.self = c.dur
			if n := len(under); n > 0 {
				under[n-1].self -= c.dur
			}
			from = c.at + c.dur + 1
			e := fmt.Sprintf(`{"ph":"X","name":"%s","pid":1,"tid":%d,"ts":%d,"dur":%d`, c.name, tid, c.at, c.dur)
			if r.IntN(3) > 0 {
				c.cpu = r.Int64N(c.dur + 1)
				e += fmt.Sprintf(`,"tdur":%d,"tts":5`, c.cpu)
			}
			if c.tenant != "" {
				e += `,"args":{"tenant":` + c.tenant + `,"data":{"url":"/a, b"}}`
			}
			events = append(events, e+"}")
			c.under = append(slices.Clone(under), c)
			all = append(all, c)
			if len(under) < 4 {
				make(tid, c.at, c.at+c.dur, c.under)
			}
		}
	}
	for tid := range int64(3) {
		make(tid+1, 0, 3000, nil)
	}
	events = append(events, `{"ph":"X","name":"first","pid":1,"tid":9,"ts":0,"dur":0}`) // makes times count from 0
	path = filepath.Join(t.TempDir(), "made.json")
	if err := os.WriteFile(path, []byte("["+strings.Join(events, ",\n")+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, all
}

// answerOf runs a command and decodes its JSON output.
func answerOf(t *testing.T, to any, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := Main(args, strings.NewReader(""), &out, &errs, Runner{}); code != Done {
		t.Fatalf("%v: %d, %s", args, code, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), to); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
}

// madeSets are sets of calls, as typed and as conditions on the calls of a random trace.
var madeSets = []struct {
	text string
	is   func(*madeCall) bool
}{
	{"task[60us..150us]", func(c *madeCall) bool { return c.name == "task" && c.dur >= 60 && c.dur < 150 }},
	{"!task[60us..150us]", func(c *madeCall) bool { return c.name == "task" && (c.dur < 60 || c.dur >= 150) }},
	{"read|parse[self ..20us, tenant=7]", func(c *madeCall) bool {
		return (c.name == "read" || c.name == "parse") && c.self < 20 && c.tenant == "7"
	}},
	{`*[data.url~"^/a", tenant in 8..]`, func(c *madeCall) bool { return c.tenant == "8" }},
	{"*[tdur in 100..]", func(c *madeCall) bool { return c.cpu >= 100 }},
	{"draw[found arg:b]", func(c *madeCall) bool { return c.name == "draw" && c.tenant != "" }},
}

// TestCallsAreThoseOfTheFile compares every row and sum of the command with the calls written
// to the trace.
func TestCallsAreThoseOfTheFile(t *testing.T) {
	rounds.Unraced(t)
	for seed := range uint64(4) {
		path, all := madeTrace(t, seed)
		for _, set := range madeSets {
			var got callList
			answerOf(t, &got, "calls", path, set.text, "--json", "--sort", "start")
			var want []*madeCall
			var sum, together int64
			for _, c := range all {
				if set.is(c) {
					want = append(want, c)
					sum += c.dur
					if slices.IndexFunc(c.under, set.is) == len(c.under)-1 {
						together += c.dur
					}
				}
			}
			slices.SortStableFunc(want, func(a, b *madeCall) int {
				return int(a.at-b.at)*100 + int(a.tid-b.tid)*10 + len(a.under) - len(b.under)
			})
			us := func(v int64) json.Number { return json.Number(strconv.FormatInt(1000*v, 10)) }
			if len(got.Rows) != len(want) || got.Count != int64(len(want)) || got.Sum != us(sum) || got.Together != us(together) {
				t.Fatalf("seed %d: %s has %d rows, %d calls and %s, together %s; want %d and %s, %s", seed, set.text, len(got.Rows), got.Count, got.Sum, got.Together, len(want), us(sum), us(together))
			}
			for i, c := range want {
				r := got.Rows[i]
				cpu, waiting := json.Number(""), json.Number("")
				if c.cpu >= 0 {
					cpu, waiting = us(c.cpu), us(c.dur-c.cpu)
				}
				if r.Function != c.name || int64(r.TID) != c.tid || r.Start != us(c.at) || r.Duration != us(c.dur) || r.Self != us(c.self) || r.CPU != cpu || r.Waiting != waiting || r.Args["tenant"] != c.tenant {
					t.Fatalf("seed %d: row %d of %s is %+v, want %+v", seed, i, set.text, r, c)
				}
			}
			var n int64
			for _, h := range got.Modes {
				n += h.Count
			}
			if n != got.Count {
				t.Errorf("seed %d: the modes of %s have %d calls of %d", seed, set.text, n, got.Count)
			}
			var top struct {
				Total json.Number
				Rows  []topRow
			}
			answerOf(t, &top, "top", path, "--calls", set.text, "--json")
			total, self := int64(0), map[string]int64{}
			for _, c := range all {
				k := slices.IndexFunc(c.under, set.is)
				if k < 0 {
					continue
				}
				self[c.name] += c.self
				total += c.self
			}
			if top.Total != us(total) {
				t.Fatalf("seed %d: top --calls %s adds up to %s, want %s", seed, set.text, top.Total, us(total))
			}
			for _, r := range top.Rows {
				if r.Self != us(self[r.Name]) {
					t.Errorf("seed %d: with %s %s has %s for itself, want %s", seed, set.text, r.Name, r.Self, us(self[r.Name]))
				}
			}
		}
	}
}

// TestCallsText checks the output as text and CSV, and error messages.
func TestCallsText(t *testing.T) {
	path, all := madeTrace(t, 1)
	var out, errs bytes.Buffer
	if Main([]string{"calls", path, "task", "--csv", "--sort", "-tenant"}, nil, &out, &errs, Runner{}) != Done {
		t.Fatal(errs.String())
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range all {
		if c.name == "task" {
			n++
		}
	}
	if len(rows) != n+1 || !slices.Contains(rows[0], "data.url") || rows[0][2] != "duration_ns" {
		t.Errorf("the CSV has %d rows and the columns %v", len(rows), rows[0])
	}
	for _, c := range []struct{ args, says string }{
		{"task -n 2", "… and "}, {"task", "waiting"}, {"task --histogram linear", "p99"}, {"first[1s..]", "0 calls"},
	} {
		out.Reset()
		if Main(append([]string{"calls", path}, strings.Fields(c.args)...), nil, &out, &errs, Runner{}) != Done || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: %s%s", c.args, out.String(), errs.String())
		}
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"calls", path}, "name the file and the calls"}, {[]string{"calls", path, "task["}, "is not a set of calls;"}, {[]string{"calls", path, "tusk"}, "no function is called tusk"},
		{[]string{"calls", path, "task", "--sort", "colour"}, "no call has an argument"}, {[]string{"calls", path, "task", "-n", "-1"}, "negative"},
		{[]string{"top", path, "--calls", "task[1us..2us"}, "is not a set of calls;"},
	} {
		out.Reset()
		errs.Reset()
		if Main(c.args, nil, &out, &errs, Runner{}) == Done || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%v: %q, want %q", c.args, errs.String(), c.says)
		}
	}
}

// TestAsyncIsApart checks that sums exclude async spans by default, with a note, unless there
// are no other spans. Functions that occur only in async spans are found by name anyway.
func TestAsyncIsApart(t *testing.T) {
	dir := t.TempDir()
	const load = `{"ph":"b","cat":"c","id":"1","name":"load","ts":0,"pid":1,"tid":1},{"ph":"b","cat":"c","id":"2","name":"load","ts":10,"pid":1,"tid":1},
{"ph":"e","cat":"c","id":"1","name":"load","ts":90,"pid":1,"tid":1},{"ph":"e","cat":"c","id":"2","name":"load","ts":100,"pid":1,"tid":1}]`
	path, alone := filepath.Join(dir, "async.json"), filepath.Join(dir, "alone.json")
	for p, events := range map[string]string{path: `[{"ph":"X","name":"task","ts":0,"dur":100,"pid":1,"tid":1},` + load, alone: "[" + load} {
		if err := os.WriteFile(p, []byte(events), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	type answer struct {
		Total, Sum json.Number
		Count      int64
		Left       int64       `json:"async_spans_left_out"`
		Time       json.Number `json:"async_ns_left_out"`
	}
	for _, c := range []struct {
		args []string
		want answer
		says string
	}{
		{[]string{"top", path}, answer{Total: "100000", Left: 2, Time: "180000"}, "async spans excluded: 180.0 µs in 2"},
		{[]string{"top", path, "--async", "out"}, answer{Total: "100000", Left: 2, Time: "180000"}, "--async in"},
		{[]string{"top", path, "--range", "0s..50us"}, answer{Total: "50000", Left: 2, Time: "90000"}, "async spans excluded: 90.00 µs in 2"},
		{[]string{"top", path, "--async", "in"}, answer{Total: "280000"}, "load"},
		{[]string{"top", path, "--async", "only"}, answer{Total: "180000"}, "load"},
		{[]string{"top", path, "--calls", "load"}, answer{Total: "180000"}, "load"},
		{[]string{"top", alone}, answer{Total: "180000"}, "load"},
		{[]string{"calls", path, "load"}, answer{Sum: "180000", Count: 2}, "2 calls"},
		{[]string{"calls", path, "*"}, answer{Sum: "100000", Count: 1}, "1 call"},
		{[]string{"stats", path, "-f", "load"}, answer{Count: 2}, "2 calls"},
	} {
		var got answer
		if answerOf(t, &got, append(c.args, "--json")...); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.args, got, c.want)
		}
		if text := textOf(t, c.args...); !strings.Contains(text, c.says) {
			t.Errorf("%v: %s does not say %q", c.args, text, c.says)
		}
	}
	var d struct {
		A, B struct {
			Total json.Number
			Left  int64 `json:"async_spans_left_out"`
		}
	}
	if answerOf(t, &d, "diff", path, alone, "--json"); d.A.Total != "100000" || d.A.Left != 2 || d.B.Total != "180000" || d.B.Left != 0 {
		t.Errorf("diff has %+v", d)
	}
}

// TestIdleIsApart checks that sums exclude idle samples by default.
func TestIdleIsApart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "idle.cpuprofile")
	const profile = `{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"children":[2,3,4]},{"id":2,"callFrame":{"functionName":"(idle)"}},{"id":3,"callFrame":{"functionName":"(program)"}},
{"id":4,"callFrame":{"functionName":"work","url":"a.js","lineNumber":1}}],"startTime":0,"endTime":600,"samples":[2,2,3,4,4,4],"timeDeltas":[100,100,100,100,100,100]}`
	if err := os.WriteFile(path, []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		idle          string
		records, left int64
	}{{"out", 3, 3}, {"in", 6, 0}, {"only", 3, 0}} {
		var got struct {
			Records int64
			Left    int64 `json:"idle_records_left_out"`
			Rows    []struct{ Count int64 }
		}
		answerOf(t, &got, "top", path, "--json", "--idle", c.idle)
		var n int64
		for _, r := range got.Rows {
			n += r.Count
		}
		if got.Records != c.records || n != c.records || got.Left != c.left {
			t.Errorf("with idle %s there are %+v, want %d and %d left out", c.idle, got, c.records, c.left)
		}
	}
	if text := textOf(t, "top", path); !strings.Contains(text, "\nidle samples excluded: 300.0 µs in 3 (--idle in includes them)") {
		t.Errorf("%s does not say what is idle", text)
	}
}

// TestProcessorTime checks the exact values of the metrics cpu and waiting, which exist only
// if the file records CPU time. Spans without a CPU time, or cut off by the range, are counted
// separately.
func TestProcessorTime(t *testing.T) {
	dir := t.TempDir()
	path, plain := filepath.Join(dir, "cpu.json"), filepath.Join(dir, "plain.json")
	const events = `[{"ph":"X","name":"task","ts":0,"dur":100,"tdur":60,"pid":1,"tid":1},{"ph":"X","name":"inner","ts":10,"dur":40,"tdur":45,"pid":1,"tid":1},{"ph":"X","name":"mute","ts":60,"dur":10,"pid":1,"tid":1},
{"ph":"B","name":"pair","ts":200,"tts":1000,"pid":1,"tid":2},{"ph":"E","ts":300,"tts":1030,"pid":1,"tid":2}]`
	for p, text := range map[string]string{path: events, plain: `[{"ph":"X","name":"task","ts":0,"dur":100,"tts":5,"pid":1,"tid":1}]`} {
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	type answer struct {
		Total  json.Number
		Untold int64 `json:"untold_spans"`
		Rows   []struct {
			Name        string
			Self, Total json.Number
		}
	}
	for _, c := range []struct {
		args   []string
		total  string
		untold int64
		rows   string
	}{
		// Only 40 of inner's 45 µs count: CPU time cannot exceed the duration.
		{[]string{"--metric", "cpu"}, "90000", 1, "inner 40000 40000, pair 30000 30000, task 20000 60000, mute 0 0"},
		{[]string{"--metric", "waiting"}, "110000", 1, "pair 70000 70000, task 40000 40000, inner 0 0, mute 0 0"},
		{[]string{"--metric", "cpu", "--range", "0s..60us"}, "40000", 1, "inner 40000 40000, task 0 40000"},
		{[]string{"--metric", "cpu", "--calls", "inner"}, "40000", 0, "inner 40000 40000, task 0 40000"},
		{[]string{"--metric", "cpu", "--by", "thread"}, "90000", 1, "thread 1 60000 60000, thread 2 30000 30000"},
	} {
		var got answer
		answerOf(t, &got, append([]string{"top", path, "--json"}, c.args...)...)
		var rows []string
		for _, r := range got.Rows {
			rows = append(rows, fmt.Sprintf("%s %s %s", r.Name, r.Self, r.Total))
		}
		if string(got.Total) != c.total || got.Untold != c.untold || strings.Join(rows, ", ") != c.rows {
			t.Errorf("%v: %s with %d untold: %s, want %s with %d: %s", c.args, got.Total, got.Untold, rows, c.total, c.untold, c.rows)
		}
	}
	if text := textOf(t, "info", path); !strings.Contains(text, "waiting") || !strings.Contains(strings.Join(strings.FieldsFunc(text, unicode.IsSpace), ""), "110000ns") {
		t.Errorf("info has %s", text)
	}
	var errs, out strings.Builder
	if Main([]string{"top", plain, "--metric", "cpu"}, nil, &out, &errs, Runner{}) == Done || !strings.Contains(errs.String(), "no metric") {
		t.Errorf("a file that does not tell has %s%s", out.String(), errs.String())
	}
}
