package callgrind

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/samples"
)

var decodeBytes = decodetest.Of(Decode)

// stacksOf returns the values of each stack of a recording, keyed by the path and the
// leaf's line.
func stacksOf(r *recording.Recording) map[string][]int64 {
	all := map[string][]int64{}
	for e, s := range r.Stacks {
		if s == nil {
			continue
		}
		for i := range s.Len() {
			path := fmt.Sprint(":", r.Frames.At(int(r.Calls.Frame(s.Call(i)))).Line)
			for c := s.Call(i); c != recording.NoCall; c = r.Calls.Parent(c) {
				path = ";" + r.FuncName(c) + path
			}
			v := all[path]
			if v == nil {
				v = make([]int64, len(r.Events[e].Metrics))
			}
			for m := range v {
				v[m] += s.Value(i, m)
			}
			all[path] = v
		}
	}
	return all
}

// selfOf returns the self cost of each function and line.
func selfOf(r *recording.Recording) map[string][]int64 {
	all := map[string][]int64{}
	for k, v := range stacksOf(r) {
		k = k[strings.LastIndexByte(k, ';')+1:]
		if all[k] == nil {
			all[k] = make([]int64, len(v))
		}
		for i := range v {
			all[k][i] += v[i]
		}
	}
	maps.DeleteFunc(all, func(_ string, v []int64) bool { return slices.Max(v) == 0 })
	return all
}

var named = regexp.MustCompile(`^fn=(\(\d+\))? ?(.*)$`)
var namesOther = regexp.MustCompile(`^cfn=(\(\d+\)) ?(.+)$`)

// naive adds up the self costs of each function by reading the lines below its fn line and
// skipping the costs of calls.
func naive(t testing.TB, content string) map[string][]int64 {
	all, names := map[string][]int64{}, map[string]string{}
	fn, called, events := "", false, 0
	line, last := int64(0), []int64{}
	number := func(w string, last int64) int64 {
		switch w[0] {
		case '*':
			return last
		case '+', '-':
			n, _ := strconv.ParseInt(w, 10, 64)
			return last + n
		}
		n, err := strconv.ParseInt(w, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, l := range strings.Split(content, "\n") {
		if w, ok := strings.CutPrefix(l, "events: "); ok {
			events = len(strings.Fields(w))
			last = make([]int64, events)
		}
		if m := namesOther.FindStringSubmatch(l); m != nil {
			names[m[1]] = m[2]
		}
		if m := named.FindStringSubmatch(l); m != nil {
			if fn = m[2]; m[1] != "" && fn != "" {
				names[m[1]] = fn
			} else if fn == "" {
				fn = names[m[1]]
			}
		}
		if strings.HasPrefix(l, "calls=") {
			called = true
			continue
		}
		w := strings.Fields(l)
		if len(w) == 0 || !strings.ContainsAny(l[:1], "0123456789+-*") {
			continue
		}
		line = number(w[0], line)
		v := make([]int64, events)
		for i := range w[1:] {
			v[i] = number(w[1+i], last[i])
		}
		copy(last, v)
		if called {
			called = false
			continue
		}
		k := fmt.Sprintf("%s:%d", fn, line)
		if all[k] == nil {
			all[k] = make([]int64, events)
		}
		for i := range v {
			all[k][i] += v[i]
		}
	}
	maps.DeleteFunc(all, func(_ string, v []int64) bool { return slices.Max(v) == 0 })
	return all
}

func compare(t *testing.T, name, content string) {
	t.Helper()
	want := naive(t, content)
	for _, chunk := range []int{0, 7, 100} {
		r, err := decodeBytes(t, []byte(content), chunk)
		if err != nil || slices.ContainsFunc(r.Warnings, func(w recording.Warning) bool {
			// In this sample file two calls of gamma cost 10 each, but gamma itself costs
			// only 10.
			return name != "cfn-reset" || w.Code != "calls-cost-more"
		}) {
			t.Fatal(name, err, r.Warnings)
		}
		if got := selfOf(r); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s in chunks of %d\n got %v\nwant %v", name, chunk, got, want)
		}
	}
}

// TestSampleFiles checks the self costs against the file's lines, and the stacks built from
// its caller-callee pairs.
func TestSampleFiles(t *testing.T) {
	samples.Need(t)
	small := "map[;main:16:[20] ;main;func1:51:[100] ;main;func1;func2:20:[300] ;main;func2:20:[400]]"
	for name, want := range map[string]string{
		"name-compression": small, "subposition-compression": small,
		"multiple-event-types": "map[;main:16:[20 15000] ;main;func1:51:[100 15000] ;main;func1;func2:20:[300 5000] ;main;func2:20:[400 3000]]",
		"cfn-reset":            "map[;alpha:1:[10] ;alpha;beta:1:[10] ;alpha;delta:1:[10] ;alpha;delta;gamma:1:[5] ;alpha;gamma:1:[5]]",
	} {
		content := samples.Read(t, "callgrind/callgrind."+name+".log")
		if sure, err := Sniff(content, true); sure < decode.Likely || err != nil {
			t.Errorf("%s: %v %v", name, sure, err)
		}
		compare(t, name, string(content))
		r, err := decodeBytes(t, content, 0)
		if got := fmt.Sprint(stacksOf(r)); err != nil || got != want {
			t.Errorf("%s:\n got %s\nwant %s (%v)", name, got, want, err)
		}
	}
}

// write writes stacks as a Callgrind file: self costs and caller-callee pairs.
func write(stacks map[string]int64) string {
	self, pairs := map[string]int64{}, map[[2]string]int64{}
	for s, v := range stacks {
		fns := strings.Split(s, ";")
		self[fns[len(fns)-1]] += v
		for i := range fns[1:] {
			pairs[[2]string{fns[i], fns[i+1]}] += v
		}
	}
	for p := range pairs {
		self[p[0]] += 0
	}
	var out strings.Builder
	out.WriteString("# callgrind format\nevents: Ir\n")
	for _, fn := range slices.Sorted(maps.Keys(self)) {
		fmt.Fprintf(&out, "\nfl=x.c\nfn=%s\n%d %d\n", fn, len(fn), self[fn])
		for p, v := range pairs {
			if p[0] == fn {
				fmt.Fprintf(&out, "cfn=%s\ncalls=1 3\n+1 %d\n", p[1], v)
				fmt.Fprintf(&out, "-1 0\n")
			}
		}
	}
	return out.String()
}

// TestTrees checks that the stacks are exact if each function has only one caller.
func TestTrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		stacks, paths := map[string]int64{}, []string{"f"}
		for i := range 1 + r.IntN(20) {
			p := paths[r.IntN(len(paths))] + fmt.Sprintf(";g%d", i)
			paths = append(paths, p)
			stacks[p] = r.Int64N(1e6)
		}
		content := write(stacks)
		compare(t, "tree", content)
		rec, err := decodeBytes(t, []byte(content), 0)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for k, v := range stacksOf(rec) {
			if v[0] != 0 {
				got[k[1:strings.LastIndexByte(k, ':')]] = v[0]
			}
		}
		maps.DeleteFunc(stacks, func(_ string, v int64) bool { return v == 0 })
		if fmt.Sprint(got) != fmt.Sprint(stacks) {
			t.Fatalf("got %v\nwant %v of\n%s", got, stacks, content)
		}
	}
}

// TestGraphs checks that every function keeps its self cost, even in recursion. Without
// recursion, each pair keeps its cost except for rounding.
func TestGraphs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 100 {
		cyclic := round%2 == 1
		stacks, pairs := map[string]int64{}, map[string]int64{}
		for range 1 + r.IntN(30) {
			var s []string
			for f := 0; f < 8; f++ {
				if r.IntN(2) == 0 {
					s = append(s, fmt.Sprintf("f%d", f))
				}
			}
			if cyclic {
				r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
			}
			if len(s) > 0 {
				v := r.Int64N(1e6)
				stacks[strings.Join(s, ";")] += v
				for i := range s[1:] {
					pairs[s[i]+" "+s[i+1]] += v
				}
			}
		}
		content := write(stacks)
		compare(t, "graph", content)
		if cyclic {
			continue
		}
		rec, err := decodeBytes(t, []byte(content), 0)
		if err != nil {
			t.Fatal(err)
		}
		got, n := map[string]int64{}, int64(0)
		for k, v := range stacksOf(rec) {
			fns := strings.Split(k[1:strings.LastIndexByte(k, ':')], ";")
			for i := range fns[1:] {
				got[fns[i]+" "+fns[i+1]] += v[0]
			}
			n++
		}
		for p, want := range pairs {
			if d := got[p] - want; d > n || d < -n {
				t.Fatalf("%s costs %d, want %d within %d, in\n%s", p, got[p], want, n, content)
			}
		}
	}
}

const body = "events: Ir Dr\nfl=a.c\nfn=main\n"

func TestSentences(t *testing.T) {
	for _, x := range []struct{ name, content, place, want string }{
		{"nothing", "events: Ir\n", "", "the profile has no costs"},
		{"no events", "events:\n", "", "line 1 has 0 events; supported are 1 to 64"},
		{"other events", body + "1 2\nevents: Dr\n", "", "line 5 has different events than the earlier parts"},
		{"cut", body + "1 2\ncfn=f\ncalls=1 5\n", "line 6", "The file is truncated at line 6: the cost of a call is missing"},
		{"a call that another thread cuts", body + "1 2\ncfn=f\ncalls=1 5\nthread: 2\nfn=f\n3 4\n", "line 7", "Line 7 is not the cost of the call before it; the call was left out"},
		{"no line of it", body + "1 2\nhello\n", "line 5", "Line 5 is not valid in a Callgrind file and was left out"},
		{"an unknown name", body + "1 2\nfn=(7)\n3 4\n", "line 5", "Line 5 refers to the name number (7), which is not defined; the number is shown"},
		{"no place", body + "1 2\n+x 3\n", "line 5", "Line 5 does not start with a position and was left out"},
		{"too many costs", body + "1 2 3 4\n1 2\n", "line 4", "Line 4 has 3 costs, but the file has 2 events; the line was left out"},
		{"no events yet", "fn=f\n1 2\n" + body + "1 2\n", "line 2", "Line 2 has costs before the events are defined and was left out"},
		{"no cost", body + "1 2\n1 many\n", "line 5", `The cost "many" on line 5 is invalid or too large; the line was left out`},
		{"summary", body + "summary: 3 0\n1 2\n", "", "The total of Ir is 3 in the file, but its lines add up to 2"},
		{"calls that cost more than their function", body + "1 2\ncfn=f\ncalls=1 5\n2 100\nfn=f\n5 3\n", "", "Calls of f cost 100 Ir in the file, but its lines and their calls add up to 3; stacks use this sum"},
		{"the same part again", strings.Repeat("pid: 7\npart: 1\n"+body+"1 2\ntotals: 2 0\n", 2), "line 14", "The part that ends on line 14 is in the file twice, with the same process, number and total; both are counted"},
		{"totals", body + "1 2\ntotals: 3 0\n", "", "The total of Ir is 3 in the file, but its lines add up to 2"},
	} {
		r, err := decodeBytes(t, []byte(x.content), 0)
		decodetest.Sentence(t, x.name, r, err, x.place, x.want)
	}
}

// TestPartsAreNoRepeats checks that two parts that differ in number, thread, process or total both
// count.
func TestPartsAreNoRepeats(t *testing.T) {
	part := func(pid, number, thread, cost string) string {
		return "pid: " + pid + "\npart: " + number + "\nthread: " + thread + "\nevents: Ir\nfl=a.c\nfn=f\n1 " + cost + "\ntotals: " + cost + "\n"
	}
	for _, other := range []string{part("7", "2", "1", "5"), part("7", "1", "2", "5"), part("8", "1", "1", "5"), part("7", "1", "1", "6")} {
		r, err := decodeBytes(t, []byte(part("7", "1", "1", "5")+other), 0)
		if err != nil || len(r.Warnings) > 0 {
			t.Errorf("%s: %v, %v", other, err, r.Warnings)
		}
	}
}

// TestParts checks that threads stay separate, that the parts of one thread add up, and
// that inlined code keeps its file.
func TestParts(t *testing.T) {
	r, err := decodeBytes(t, []byte("version: 1\ncreator: callgrind-3.19.0\ncmd: ./a\npart: 1\nthread: 1\npositions: instr line\nevents: Ir\nob=/usr/bin/a\nfl=(1) a.c\nfn=(1) main\n0x400 3 5\nfi=(2) b.h\n+4 9 2\nfe=(1)\n+0 * 1\npart: 2\nthread: 2\nevents: Ir\nfn=(1)\n0x400 3 7\npart: 1\nthread: 1\nevents: Ir\nfn=(1)\n0x400 3 50\ntotals: 65\n"), 0)
	if err != nil || len(r.Warnings) > 0 {
		t.Fatal(err, r.Warnings)
	}
	got := ""
	s := r.Stacks[0]
	for i := range s.Len() {
		f := r.Frames.At(int(r.Calls.Frame(s.Call(i))))
		fn := r.Functions.At(int(f.Func))
		got += fmt.Sprintf("%s %s@%s %s%s:%d %d\n", r.Tracks[s.Track(i)].Name, fn.Name, fn.Module, fn.File, f.File, f.Line, s.Value(i, 0))
	}
	want := "thread 1 main@a a.c:3 55\nthread 1 main@a a.cb.h:9 2\nthread 1 main@a a.c:9 1\nthread 2 main@a a.c:3 7\n"
	if got != want || r.Source.Tool != "callgrind-3.19.0" || r.Source.Command != "./a" {
		t.Errorf("got\n%swant\n%s%+v", got, want, r.Source)
	}
}

func TestSniff(t *testing.T) {
	decodetest.Sniffs(t, Sniff, true, map[string]decode.Confidence{
		strings.Repeat(" ", 1<<20) + "\nevents: Ir\nfn=a\n1 2\n": decode.No,
		"": decode.No, "a;b 1\n": decode.No, "events: Ir\nfn=a\n1 2\n": decode.Likely, "# callgrind format\n": decode.Certain,
		"version: 1\r\ncreator: x\r\n\r\nevents: Ir\r\n": decode.Likely,
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(write(map[string]int64{"a;b;c": 10, "a;c": 6, "d;c;b": 4})), 9)
	f.Add([]byte(body+"1 2 3\ncfi=b.c\ncfn=(1) g\ncalls=1 5\n* 50\nfn=(1)\n+2 -1\njump=3 4\n5\nthread: 2\ntotals: 5 5\n"), 3)
	f.Add([]byte("calls=1\ncfn=f\ncalls=2\nevents: Ir\n1 5\nfn=f\n1 9223372036854775807\n1 9223372036854775807\n"), 3)
	decodetest.FuzzParts(f, Decode, Sniff, stacksOf)
}
