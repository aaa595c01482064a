package chrome

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/samples"
)

// sampleFiles lists the sample files with Chrome traces and CPU profiles.
func sampleFiles(t testing.TB) []string {
	samples.Need(t)
	return samples.Files(t, "chrome-trace/*", "chrome-devtools/*")
}

// indexed returns the counts in INDEX.md by file; an independent reader made them.
func indexed(t testing.TB) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(string(samples.Read(t, "INDEX.md"))) {
		if f := strings.Split(line, "|"); len(f) == 7 {
			out[strings.TrimSpace(f[1])] = strings.TrimSpace(f[5])
		}
	}
	return out
}

// content reads a file, decompressed by the standard library.
func content(t testing.TB, path string) []byte {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return samples.Unpack(t, b)
}

// others are sample files in these folders that are not traces.
var others = map[string]bool{
	"69_Heap-20181005T144546.heapprofile": true, "node10_Heap.heapprofile": true, "google_cloud_trace.json": true,
}

// byPhase holds the event counts, made by hand or with grep, of files that INDEX.md does
// not count because a strict reader rejects them.
var byPhase = map[string]string{
	"simple-partial.json":            "B:2 X:2 E:2",
	"simple-partial-whitespace.json": "B:2 X:2 E:2",
	"spall_cuik_c_compiler.json":     "X:5692",
}

func TestSamples(t *testing.T) {
	index := indexed(t)
	for _, path := range sampleFiles(t) {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			in, err := source.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			head, whole, err := in.Head(64 << 10)
			if err != nil {
				t.Fatal(err)
			}
			recognise := sniff
			if filepath.Ext(name) == ".cpuprofile" {
				recognise = sniffProfile
			}
			sure, err := recognise(head, whole)
			if others[name] {
				if sure != decode.No {
					t.Fatalf("claimed with %d", sure)
				}
				return
			}
			if filepath.Ext(name) == ".zip" && sure >= decode.Likely {
				return // app/command's table of samples checks the files inside the archive
			}
			if err != nil || sure < decode.Likely {
				t.Fatalf("sniffed as %d, %v", sure, err)
			}
			rec := read(t, in)
			balanced(t, rec)
			says := index[samples.Name(path)]
			if strings.HasSuffix(name, ".cpuprofile") {
				checkCPUProfile(t, rec, content(t, path), says)
				return
			}
			want := byPhase[name]
			if want == "" {
				_, want, _ = strings.Cut(says, " ph=")
			}
			if got := phases(rec); got != sortedWords(want) {
				t.Errorf("phases read: %s\nindex says:  %s", got, sortedWords(want))
			}
			if naive, ok := readNaively(content(t, path)); ok {
				naive.check(t, rec)
			} else if byPhase[name] == "" {
				t.Error("encoding/json can't read it and nothing else checks it")
			}
		})
	}
}

// phases lists the number of events read by phase.
func phases(rec *recording.Recording) string {
	var out []string
	for _, l := range rec.Ledger {
		if len(l.Kind) == 1 {
			out = append(out, l.Kind+":"+strconv.FormatInt(l.Read, 10))
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func sortedWords(s string) string {
	w := strings.Fields(s)
	slices.Sort(w)
	return strings.Join(w, " ")
}

// naive holds the begins, ends and complete spans of each thread as read with
// encoding/json, with exact times.
type naive struct {
	begins, ends, xs map[string]map[string]int // thread → time and name → count
	instants         int
	points           map[string][]string // counter → "time value" sorted by time
	names            map[string]string   // thread → name
	samples          int
	sampleTime       *big.Rat
}

// exact parses a number of microseconds without rounding.
func exact(v any) *big.Rat {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	r, _ := new(big.Rat).SetString(n.String())
	return r
}

func readNaively(b []byte) (*naive, bool) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var top any
	if dec.Decode(&top) != nil {
		return nil, false
	}
	if o, ok := top.(map[string]any); ok {
		top = o["traceEvents"]
	}
	n := &naive{begins: map[string]map[string]int{}, ends: map[string]map[string]int{}, xs: map[string]map[string]int{}, points: map[string][]string{}, names: map[string]string{}, sampleTime: new(big.Rat)}
	count := func(m map[string]map[string]int, thread, what string) {
		if m[thread] == nil {
			m[thread] = map[string]int{}
		}
		m[thread][what]++
	}
	str := func(v any) string {
		s, _ := v.(string)
		return s
	}
	type point struct {
		at *big.Rat
		v  string
	}
	points := map[string][]point{}
	for _, e := range top.([]any) {
		e := e.(map[string]any)
		id := func(k string) string {
			if v, ok := e[k]; ok {
				return fmt.Sprint(v)
			}
			return "0"
		}
		thread := id("pid") + "/" + id("tid")
		ts := exact(e["ts"])
		name := str(e["name"])
		if name == "" {
			name = nameless
		}
		args, _ := e["args"].(map[string]any)
		switch str(e["ph"]) {
		case "B":
			count(n.begins, thread, ps(ts)+" "+name)
		case "E":
			count(n.ends, thread, ps(ts))
		case "X":
			if dur := exact(e["dur"]); dur != nil {
				count(n.xs, thread, ps(ts)+" "+ps(new(big.Rat).Add(ts, dur))+" "+name)
			} else if tdur := exact(e["tdur"]); tdur != nil && tdur.Sign() > 0 {
				count(n.xs, thread, ps(ts)+" "+ps(new(big.Rat).Add(ts, tdur))+" "+name)
			} else {
				count(n.begins, thread, ps(ts)+" "+name)
			}
		case "i", "I", "R":
			n.instants++
			if name == "CpuProfile" {
				if d, ok := args["data"].(map[string]any); ok {
					p := d["cpuProfile"].(map[string]any)
					n.samples += len(p["samples"].([]any))
				}
			}
		case "n", "T", "p":
			n.instants++
		case "C":
			if i, ok := e["id"]; ok {
				name += "[" + fmt.Sprint(i) + "]"
			}
			for k, v := range args {
				if r := exact(v); r != nil {
					key := id("pid") + " " + name + " " + k
					f, _ := r.Float64()
					points[key] = append(points[key], point{ts, strconv.FormatFloat(f, 'g', -1, 64)})
				}
			}
		case "M":
			if str(e["name"]) == "thread_name" {
				n.names[thread] = str(args["name"])
			}
		case "P":
			if name != "Profile" && name != "ProfileChunk" {
				n.samples++
				continue
			}
			d := args["data"].(map[string]any)
			if p, ok := d["cpuProfile"].(map[string]any); ok {
				s, _ := p["samples"].([]any)
				n.samples += len(s)
			}
		}
	}
	for k, list := range points {
		slices.SortStableFunc(list, func(a, b point) int { return a.at.Cmp(b.at) })
		for _, p := range list {
			n.points[k] = append(n.points[k], ps(p.at)+" "+p.v)
		}
	}
	if o, ok := top.(map[string]any); ok {
		s, _ := o["samples"].([]any)
		n.samples += len(s)
	}
	return n, true
}

// ps formats microseconds as whole picoseconds, rounded down.
func ps(r *big.Rat) string {
	v := new(big.Rat).Mul(r, big.NewRat(million, 1))
	return new(big.Int).Div(v.Num(), v.Denom()).String()
}

// check compares a recording with what the naive reader found.
func (n *naive) check(t *testing.T, rec *recording.Recording) {
	t.Helper()
	origin := new(big.Int).Mul(big.NewInt(rec.Clock.Origin.Mantissa), big.NewInt(million))
	abs := func(at int64) string { return new(big.Int).Add(origin, big.NewInt(at)).String() }
	instants, samples := 0, 0
	for _, tr := range rec.Tracks {
		instants += len(tr.Instants)
		for _, s := range tr.Samples {
			samples += s.Len()
		}
		if tr.Kind != recording.ThreadTrack {
			continue
		}
		thread := fmt.Sprintf("%d/%d", tr.PID, tr.TID)
		if want, ok := n.names[thread]; ok && tr.Name != want {
			t.Errorf("thread %s is named %q, want %q", thread, tr.Name, want)
		}
		xs, begins, ends := maps.Clone(n.xs[thread]), maps.Clone(n.begins[thread]), maps.Clone(n.ends[thread])
		for i := range tr.Lanes {
			l := &tr.Lanes[i]
			for k := range l.Len() {
				name := rec.FuncName(l.Call(k))
				if name == recording.Overlapping {
					continue
				}
				start, end := abs(l.Start(k)), abs(l.End(k))
				if l.Unfinished(k) {
					begins[start+" "+name]--
					continue
				}
				if x := start + " " + end + " " + name; xs[x] > 0 {
					xs[x]--
					continue
				}
				begins[start+" "+name]--
				ends[end]--
			}
		}
		for what, m := range map[string]map[string]int{"complete span": xs, "begin": begins} {
			for k, c := range m {
				if c != 0 {
					t.Errorf("thread %s: %s %s is there %d times too few", thread, what, k, c)
				}
			}
		}
		for k, c := range ends {
			if c < 0 {
				t.Errorf("thread %s: a span ends at %s where no end is", thread, k)
			}
		}
		delete(n.xs, thread)
		delete(n.begins, thread)
	}
	for thread, m := range n.xs {
		t.Errorf("thread %s with %d spans has no track", thread, len(m))
	}
	for thread, m := range n.begins {
		t.Errorf("thread %s with %d spans has no track", thread, len(m))
	}
	if instants != n.instants {
		t.Errorf("%d instants, want %d", instants, n.instants)
	}
	if extra := kept(rec, "samples"); int64(samples) != int64(n.samples)+extra {
		t.Errorf("%d samples, want %d", samples, int64(n.samples)+extra)
	}
	got := map[string][]string{}
	for _, c := range rec.Counters {
		key := fmt.Sprintf("%d %s %s", rec.Processes[c.Process].PID, c.Name, c.Series)
		for i := range c.Len() {
			got[key] = append(got[key], abs(c.Time(i))+" "+strconv.FormatFloat(c.Value(i), 'g', -1, 64))
		}
	}
	for key, want := range n.points {
		if !slices.Equal(got[key], want) {
			t.Errorf("counter %s: %d points, want %d", key, len(got[key]), len(want))
		}
	}
	if len(got) != len(n.points) {
		t.Errorf("%d counters, want %d", len(got), len(n.points))
	}
}

func kept(rec *recording.Recording, kind string) int64 {
	for _, l := range rec.Ledger {
		if l.Kind == kind {
			return l.Kept
		}
	}
	return 0
}

// checkCPUProfile compares a recording with INDEX.md and with a count by encoding/json.
func checkCPUProfile(t *testing.T, rec *recording.Recording, b []byte, says string) {
	m := regexp.MustCompile(`nodes=(\d+) samples=(\d+)`).FindStringSubmatch(says)
	if m == nil {
		t.Fatalf("INDEX.md says %q", says)
	}
	if got := fmt.Sprint(kept(rec, "nodes")); got != m[1] {
		t.Errorf("%s nodes, want %s", got, m[1])
	}
	if got := fmt.Sprint(rec.Counts.Samples); got != m[2] {
		t.Errorf("%s samples, want %s", got, m[2])
	}
	var p struct {
		Nodes []struct {
			ID        int64
			CallFrame struct{ FunctionName string }
			Children  []int64
		}
		StartTime, EndTime  int64
		Samples, TimeDeltas []int64
	}
	if err := json.Unmarshal(b, &p); err != nil {
		t.Fatal(err)
	}
	// Compare the number of samples by leaf, and the total time.
	leaf := map[int64]string{}
	for _, n := range p.Nodes {
		leaf[n.ID] = n.CallFrame.FunctionName
	}
	want := map[string]int{}
	for _, id := range p.Samples {
		want[leaf[id]]++
	}
	got := map[string]int{}
	for _, tr := range rec.Tracks {
		for _, s := range tr.Samples {
			for i := range s.Len() {
				name := rec.FuncName(s.Call(i))
				if strings.HasPrefix(name, "(anonymous)") {
					name = ""
				}
				got[name]++
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("samples by innermost function: %v\nwant %v", got, want)
	}
	total := (p.EndTime - p.StartTime - p.TimeDeltas[0]) * million
	if slices.Min(p.TimeDeltas) >= 0 && rec.Events[0].Metrics[1].Total != total {
		t.Errorf("time %d, want %d", rec.Events[0].Metrics[1].Total, total)
	}
}

// TestSamplesInPieces checks that every sample file gives the same recording mapped or as a
// stream, for several chunk sizes.
func TestSamplesInPieces(t *testing.T) {
	for _, path := range sampleFiles(t) {
		name := filepath.Base(path)
		if others[name] {
			continue
		}
		b := content(t, path)
		want := dumped(read(t, source.FromBytes(name, b)))
		for _, size := range []int{1, 7, 4096, 100_003} {
			if size < 10 && len(b) > 5_000 || size < 10_000 && len(b) > 300_000 {
				continue // the smallest pieces are for the smaller files
			}
			mapped := source.FromBytes(name, b)
			mapped.ChunkSize = size
			stream := source.FromReader(name, bytes.NewReader(b))
			stream.ChunkSize = size
			for how, in := range map[string]*source.Input{"mapped": mapped, "stream": stream} {
				if how == "stream" && size < 10 && len(b) > 500 {
					continue // a stream hands each piece over between goroutines
				}
				if got := dumped(read(t, in)); got != want {
					t.Errorf("%s, %s, chunks of %d: %s", name, how, size, firstDifference(want, got))
				}
			}
		}
	}
}

func TestSniffOthers(t *testing.T) {
	samples.Need(t)
	for _, path := range samples.Files(t, "[^c]*/*", "callgrind/*") { // all but Chrome's
		in, err := source.Open(path)
		if err != nil {
			continue
		}
		head, whole, err := in.Head(64 << 10)
		if err != nil {
			t.Fatal(err)
		}
		if sure, err := sniffProfile(head, whole); sure != decode.No {
			t.Errorf("%s is claimed as a CPU profile with %d, %v", path, sure, err)
		}
		if sure, err := sniff(head, whole); sure != decode.No {
			t.Logf("%s: %d %v %.80q", path, sure, err, head)
			if !bytes.Contains(head, []byte(`"ph"`)) {
				t.Errorf("%s is claimed with %d, %v", filepath.Base(path), sure, err)
			}
		}
		in.Close()
	}
}
