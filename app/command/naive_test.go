package command

import (
	"bufio"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ianlancetaylor/demangle"

	"ashlar/spaa"
	"ashlar/testdata/rounds"
	"ashlar/testdata/samples"
)

// naiveSPAA is a SPAA file decoded with encoding/json only.
type naiveSPAA struct {
	header  map[string]any
	records map[string]int
	dsos    map[string]string
	frames  map[string]naiveFrame
	stacks  []naiveStack
	samples []naiveSample
}

type naiveFrame struct{ name, module string }

type naiveStack struct {
	id, event, tid string
	context        map[string]any
	frames         []naiveFrame // leaf first
	weights        map[string]*big.Rat
}

type naiveSample struct {
	time       *big.Rat
	event, tid string
	stack      string
	period     *big.Rat
}

func rat(t *testing.T, v any) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(string(v.(json.Number)))
	if !ok {
		t.Fatalf("%v is no number", v)
	}
	return r
}

// text returns a JSON string, quoted, or a number; "" for other values.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case json.Number:
		return string(v)
	}
	return ""
}

func readNaive(t *testing.T, path string) *naiveSPAA {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plain, done, err := spaa.Decompress(f)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	n := &naiveSPAA{records: map[string]int{}, dsos: map[string]string{}, frames: map[string]naiveFrame{}}
	sc := bufio.NewScanner(plain)
	sc.Buffer(nil, 1<<26)
	for sc.Scan() {
		d := json.NewDecoder(strings.NewReader(sc.Text()))
		d.UseNumber()
		var v map[string]any
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		n.records[v["type"].(string)]++
		n.record(t, v)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n *naiveSPAA) record(t *testing.T, v map[string]any) {
	switch v["type"] {
	case "header":
		n.header = v
	case "dso":
		n.dsos[text(v["id"])] = v["name"].(string)
	case "frame":
		n.frames[text(v["id"])] = naiveFrame{demangle.Filter(v["func"].(string)), n.dsos[text(v["dso"])]}
	case "stack":
		c := v["context"].(map[string]any)
		s := naiveStack{id: text(v["id"]), event: c["event"].(string), tid: text(c["tid"]), context: c, weights: map[string]*big.Rat{}}
		for _, f := range v["frames"].([]any) {
			fr := n.frames[text(f)]
			if n.header["frame_order"] == "root_to_leaf" {
				s.frames = append([]naiveFrame{fr}, s.frames...)
			} else {
				s.frames = append(s.frames, fr)
			}
		}
		for _, w := range v["weights"].([]any) {
			w := w.(map[string]any)
			s.weights[w["metric"].(string)] = rat(t, w["value"])
		}
		n.stacks = append(n.stacks, s)
	case "sample":
		n.samples = append(n.samples, naiveSample{rat(t, v["timestamp"]), v["event"].(string), text(v["tid"]), text(v["stack_id"]), rat(t, v["period"])})
	}
}

// primary returns an event's primary metric according to the header.
func (n *naiveSPAA) primary(event string) string {
	for _, e := range n.header["events"].([]any) {
		e := e.(map[string]any)
		if e["name"] == event {
			return e["sampling"].(map[string]any)["primary_metric"].(string)
		}
	}
	return ""
}

// naiveRow holds the expected values of a function.
type naiveRow struct {
	self, total *big.Rat
	count       int64
}

type naiveRows map[naiveFrame]*naiveRow

// add adds a stack's weight: self to the leaf, total once to each function.
func (rows naiveRows) add(frames []naiveFrame, v *big.Rat) {
	once := map[naiveFrame]bool{}
	for i, f := range frames {
		r := rows[f]
		if r == nil {
			r = &naiveRow{new(big.Rat), new(big.Rat), 0}
			rows[f] = r
		}
		if i == 0 {
			r.self.Add(r.self, v)
			r.count++
		}
		if !once[f] {
			r.total.Add(r.total, v)
		}
		once[f] = true
	}
}

// topJSON holds the fields of top's JSON that are compared.
type topJSON struct {
	Event, Metric, Unit, Basis string
	Range                      *struct {
		Start json.Number `json:"start_ns"`
		End   json.Number `json:"end_ns"`
	}
	Total json.Number
	Rows  []struct {
		Name, Module string
		Self, Total  json.Number
		Count        int64
		TID          json.Number
	}
	More int
}

// everything includes async spans and idle samples in top, because the naive sums do.
var everything = []string{"top", "--json", "--async", "in", "--idle", "in"}

func topOf(t *testing.T, args ...string) topJSON {
	t.Helper()
	r := ask(append(slices.Clone(everything), args...)...)
	if r.code != Done || r.stderr != "" {
		t.Fatalf("top %v: exit code %d: %s", args, r.code, r.stderr)
	}
	var v topJSON
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// same compares an answer with the naive rows.
func same(t *testing.T, got topJSON, want naiveRows) {
	t.Helper()
	sum := new(big.Rat)
	for _, r := range want {
		sum.Add(sum, r.self)
	}
	if rat(t, got.Total).Cmp(sum) != 0 {
		t.Errorf("the total is %s, want %s", got.Total, sum.RatString())
	}
	if len(got.Rows) != len(want) || got.More != 0 {
		t.Errorf("%d rows and %d more, want %d", len(got.Rows), got.More, len(want))
	}
	for _, r := range got.Rows {
		w := want[naiveFrame{r.Name, r.Module}]
		if w == nil {
			t.Errorf("%q of %q is not in the file", r.Name, r.Module)
			continue
		}
		if rat(t, r.Self).Cmp(w.self) != 0 || rat(t, r.Total).Cmp(w.total) != 0 || r.Count != w.count {
			t.Errorf("%q has self %s, total %s, count %d, want %s, %s, %d", r.Name, r.Self, r.Total, r.Count, w.self.RatString(), w.total.RatString(), w.count)
		}
	}
}

// spaaFiles returns the recordings to compare: small ones of the repository, and the samples
// if available.
func spaaFiles(t *testing.T) []string {
	t.Helper()
	return append([]string{"testdata/small.spaa", "../../assets/demo.spaa.zst"}, samples.Files(t, "spaa/*.spaa*")...)
}

// TestTopAgainstNaive compares self, total and count of every function for every event and
// metric.
func TestTopAgainstNaive(t *testing.T) {
	rounds.Unraced(t)
	for _, path := range spaaFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			n := readNaive(t, path)
			for event, metrics := range n.metrics() {
				for metric := range metrics {
					want := naiveRows{}
					for _, s := range n.stacks {
						if s.event == event {
							v := s.weights[metric]
							if v == nil {
								v = new(big.Rat)
							}
							want.add(s.frames, v)
						}
					}
					got := topOf(t, path, "--event", event, "--metric", metric)
					if got.Event != event || got.Metric != metric || got.Basis != "stacks" {
						t.Errorf("answered for %q, %q from %s", got.Event, got.Metric, got.Basis)
					}
					same(t, got, want)
				}
			}
			// The default is the first event and its primary metric.
			first := n.header["events"].([]any)[0].(map[string]any)["name"].(string)
			if got := topOf(t, path); got.Event != first || got.Metric != n.primary(first) {
				t.Errorf("without flags: %s of %s, want %s of %s", got.Metric, got.Event, n.primary(first), first)
			}
		})
	}
}

// metrics returns the metrics of each event's stacks.
func (n *naiveSPAA) metrics() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, s := range n.stacks {
		if all[s.event] == nil {
			all[s.event] = map[string]bool{}
		}
		for m := range s.weights {
			all[s.event][m] = true
		}
	}
	return all
}

// TestThreadsAgainstNaive compares the values of threads.
func TestThreadsAgainstNaive(t *testing.T) {
	rounds.Unraced(t)
	for _, path := range spaaFiles(t) {
		n := readNaive(t, path)
		for event, metrics := range n.metrics() {
			for metric := range metrics {
				want := map[string]*big.Rat{}
				for _, s := range n.stacks {
					if s.event != event {
						continue
					}
					if want[s.tid] == nil {
						want[s.tid] = new(big.Rat)
					}
					if v := s.weights[metric]; v != nil {
						want[s.tid].Add(want[s.tid], v)
					}
				}
				got := topOf(t, path, "--event", event, "--metric", metric, "--by", "thread")
				if len(got.Rows) != len(want) {
					t.Errorf("%s: %d threads, want %d", path, len(got.Rows), len(want))
				}
				for _, r := range got.Rows {
					if w := want[string(r.TID)]; w == nil || w.Cmp(rat(t, r.Self)) != 0 || r.Self != r.Total {
						t.Errorf("%s: thread %s has %s, want %v", path, r.TID, r.Self, w)
					}
				}
			}
		}
	}
}

// TestRangeAgainstNaive compares ranges of the demo with sums over its samples. Some range
// edges coincide with samples.
func TestRangeAgainstNaive(t *testing.T) {
	rounds.Unraced(t)
	const path = "../../assets/demo.spaa.zst"
	n := readNaive(t, path)
	stacks := map[string]*naiveStack{}
	for i := range n.stacks {
		stacks[n.stacks[i].id] = &n.stacks[i]
	}
	start := rat(t, n.header["time_range"].(map[string]any)["start"])
	edge := func(i int) string { // the offset of a sample, in seconds
		return new(big.Rat).Sub(n.samples[i].time, start).FloatString(6)
	}
	last := len(n.samples) - 1
	for _, r := range [][2]string{{"0", "1.3"}, {"0.5", "0.8"}, {edge(1000), edge(2500)}, {edge(3000), edge(3001)}, {"0.755", "0.775"}, {edge(last), "1.3"}, {"0", edge(last)}, {"", "0.0005"}, {"1.2", ""}} {
		got := topOf(t, path, "--range", r[0]+".."+r[1])
		from, to := start, new(big.Rat).Add(start, big.NewRat(13, 10))
		if r[0] != "" {
			from = new(big.Rat).Add(start, rat(t, json.Number(r[0])))
		}
		if r[1] != "" {
			to = new(big.Rat).Add(start, rat(t, json.Number(r[1])))
		}
		want := naiveRows{}
		for _, s := range n.samples {
			if s.time.Cmp(from) >= 0 && s.time.Cmp(to) < 0 {
				want.add(stacks[s.stack].frames, s.period)
			}
		}
		if got.Basis != "samples" {
			t.Errorf("%v: answered from %s", r, got.Basis)
		}
		same(t, got, want)
	}
}

// TestFrameOrder checks that reversing the frame order of a file does not change the answer.
func TestFrameOrder(t *testing.T) {
	rounds.Unraced(t)
	for _, path := range spaaFiles(t) {
		turned := filepath.Join(t.TempDir(), "turned.spaa")
		turn(t, path, turned)
		a, b := topOf(t, path), topOf(t, turned)
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if string(x) != string(y) {
			t.Errorf("%s: turned round it gives another answer:\n%s\n%s", path, x, y)
		}
	}
}

// turn copies a SPAA file with the frame order reversed.
func turn(t *testing.T, from, to string) {
	t.Helper()
	in, err := spaa.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var line []byte
	for {
		rec, err := in.Next()
		if err != nil {
			return
		}
		switch r := rec.(type) {
		case *spaa.Header:
			if r.FrameOrder == spaa.LeafToRoot {
				r.FrameOrder = spaa.RootToLeaf
			} else {
				r.FrameOrder = spaa.LeafToRoot
			}
		case *spaa.Stack:
			for i, j := 0, len(r.Frames)-1; i < j; i, j = i+1, j-1 {
				r.Frames[i], r.Frames[j] = r.Frames[j], r.Frames[i]
			}
		}
		if line, err = spaa.AppendRecord(line[:0], rec); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			t.Fatal(err)
		}
	}
}
