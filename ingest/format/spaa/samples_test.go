package spaa

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/testdata/samples"
)

// naive reads SPAA with encoding/json into maps, without using the decoder.
type naive struct {
	order   string
	primary map[string]string
	records map[string]int
	ids     map[string]bool
	frames  map[string]string // "func|dso" by id
	// self and total of the primary metric, by event and function; sums by event and metric
	self, total map[string]map[string]int64
	sums        map[string]*big.Rat
}

func readNaive(t testing.TB, data string) *naive {
	n := &naive{
		primary: map[string]string{}, records: map[string]int{}, ids: map[string]bool{}, frames: map[string]string{},
		self: map[string]map[string]int64{}, total: map[string]map[string]int64{}, sums: map[string]*big.Rat{},
	}
	dsos := map[string]string{}
	sc := bufio.NewScanner(strings.NewReader(data))
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		d := json.NewDecoder(strings.NewReader(sc.Text()))
		d.UseNumber()
		var r map[string]any
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		kind := r["type"].(string)
		n.records[kind]++
		switch kind {
		case "header":
			n.order = r["frame_order"].(string)
			for _, e := range r["events"].([]any) {
				e := e.(map[string]any)
				n.primary[e["name"].(string)] = e["sampling"].(map[string]any)["primary_metric"].(string)
			}
		case "dso":
			dsos[fmt.Sprint(r["id"])] = r["name"].(string)
		case "frame":
			n.frames[fmt.Sprint(r["id"])] = r["func"].(string) + "|" + dsos[fmt.Sprint(r["dso"])]
		case "stack":
			n.stack(r)
		}
	}
	return n
}

func (n *naive) stack(r map[string]any) {
	n.ids[fmt.Sprint(r["id"])] = true
	event := r["context"].(map[string]any)["event"].(string)
	var weight int64
	for _, w := range r["weights"].([]any) {
		w := w.(map[string]any)
		metric, value := w["metric"].(string), w["value"].(json.Number)
		v, _ := new(big.Rat).SetString(value.String())
		key := event + "/" + metric
		if n.sums[key] == nil {
			n.sums[key] = new(big.Rat)
		}
		n.sums[key].Add(n.sums[key], v)
		if metric == n.primary[event] {
			weight, _ = strconv.ParseInt(value.String(), 10, 64)
		}
	}
	if n.self[event] == nil {
		n.self[event], n.total[event] = map[string]int64{}, map[string]int64{}
	}
	frames := r["frames"].([]any)
	if n.order == "root_to_leaf" {
		slices.Reverse(frames)
	}
	seen := map[string]bool{}
	for i, f := range frames {
		fn := n.frames[fmt.Sprint(f)]
		if i == 0 {
			n.self[event][fn] += weight
		}
		if !seen[fn] {
			n.total[event][fn] += weight
		}
		seen[fn] = true
	}
}

// tables computes self and total by function of an event's primary metric.
func tables(rec *recording.Recording, event int) (self, total map[string]int64) {
	self, total = map[string]int64{}, map[string]int64{}
	rows := rec.Stacks[event]
	for i := range rows.Len() {
		v := rows.Value(i, rec.Events[event].Primary)
		if v == recording.Missing {
			continue
		}
		seen := map[recording.FuncID]bool{}
		for c := rows.Call(i); c != recording.NoCall; c = rec.Calls.Parent(c) {
			f := rec.Func(c)
			fn := rec.Functions.At(int(f))
			name := fn.Name
			if fn.Symbol != "" { // the name in the file
				name = fn.Symbol
			}
			key := name + "|" + fn.Module
			if c == rows.Call(i) {
				self[key] += v
			}
			if !seen[f] {
				total[key] += v
			}
			seen[f] = true
		}
	}
	return self, total
}

// agree compares a recording with the naive reader's.
func agree(t *testing.T, rec *recording.Recording, n *naive) {
	t.Helper()
	for kind, want := range n.records {
		equal(t, kind+" records", tally(rec, kind).Kept, int64(want))
	}
	for i, e := range rec.Events {
		if n.self[e.Name] == nil {
			continue
		}
		self, total := tables(rec, i)
		equal(t, e.Name+" self", self, n.self[e.Name])
		equal(t, e.Name+" total", total, n.total[e.Name])
		for _, m := range e.Metrics {
			want := n.sums[e.Name+"/"+m.Name]
			if want == nil {
				want = new(big.Rat)
			}
			got := new(big.Rat).SetFrac(big.NewInt(m.Total), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(m.Decimals)), nil))
			if got.Cmp(want) != 0 {
				t.Errorf("%s/%s: total is %v, want %v", e.Name, m.Name, got, want)
			}
		}
	}
}

var (
	indexRow = regexp.MustCompile(`\| spaa/(\S+) \|.*records (\{.*?\}); unique stack ids (\d+); sum\(primary\) (\{.*?\}); frames`)
	indexKey = regexp.MustCompile(`'([^']+)': (\d+)`)
)

// TestSampleFiles reads files of the reference converters, and compares them with the naive
// reader and INDEX.md.
func TestSampleFiles(t *testing.T) {
	rows := indexRow.FindAllStringSubmatch(string(samples.Read(t, "INDEX.md")), -1)
	if len(rows) == 0 {
		t.Fatal("no row of INDEX.md is about SPAA")
	}
	for _, row := range rows {
		t.Run(row[1], func(t *testing.T) {
			data := samples.Read(t, "spaa/"+row[1])
			rec := read(t, string(data))
			n := readNaive(t, string(data))
			agree(t, rec, n)
			for _, kv := range indexKey.FindAllStringSubmatch(row[2], -1) {
				equal(t, kv[1], strconv.FormatInt(tally(rec, kv[1]).Kept, 10), kv[2])
			}
			equal(t, "ids", strconv.Itoa(len(n.ids)), row[3])
			for _, kv := range indexKey.FindAllStringSubmatch(row[4], -1) {
				event, metric, _ := strings.Cut(kv[1], "/")
				i := slices.IndexFunc(rec.Events, func(e recording.Event) bool { return e.Name == event })
				m := rec.Events[i].Metrics[rec.Events[i].Primary]
				equal(t, "primary metric", m.Name, metric)
				equal(t, "sum", strconv.FormatInt(m.Total, 10), kv[2])
			}
			equal(t, "warnings", codes(rec), "")
			sameHoweverCut(t, string(data), []int{1, 8}, []int{0, 1 << 12})
		})
	}
}

// sameHoweverCut checks that the recording is the same for several numbers of workers and
// chunk sizes.
func sameHoweverCut(t *testing.T, data string, workers, chunks []int) {
	t.Helper()
	first, ferr := tryRead(data, 2, 0)
	want := dump(first)
	for _, w := range workers {
		for _, c := range chunks {
			rec, err := tryRead(data, w, c)
			equal(t, "error", fmt.Sprint(err), fmt.Sprint(ferr))
			if got := dump(rec); got != want {
				t.Errorf("%d workers, chunks of %d: another recording\n%s", w, c, firstDifference(got, want))
			}
		}
	}
}

func firstDifference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return fmt.Sprintf("line %d: %s\nagainst: %s", i, as[i], bs[i])
		}
	}
	return fmt.Sprintf("%d against %d lines", len(as), len(bs))
}
