package jfr

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/samples"
)

var decodeBytes = decodetest.Of(Decode)

var row = regexp.MustCompile(`(?m)^ (\S+\.\S+) +(\d+) +\d+ *$`)

// summary returns the event counts by type according to the JDK's own tool.
func summary(t *testing.T, path string) map[string]int64 {
	out, err := exec.Command("jfr", "summary", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for _, m := range row.FindAllStringSubmatch(string(out), -1) {
		n, _ := strconv.ParseInt(m[2], 10, 64)
		if n > 0 {
			counts[m[1]] = n
		}
	}
	return counts
}

// printed returns the number of events by leaf, and their total duration, of one type
// according to `jfr print`.
func printed(t *testing.T, path, name string) (leaves map[string]int64, ns int64) {
	out, err := exec.Command("jfr", "print", "--json", "--stack-depth", "1", "--events", name, path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Recording struct {
			Events []struct {
				Values struct {
					Duration   string
					StackTrace *struct {
						Frames []struct {
							Method struct {
								Name string
								Type struct{ Name string }
							}
						}
					}
				}
			}
		}
	}
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	leaves = map[string]int64{}
	for _, e := range all.Recording.Events {
		leaf := ""
		if s := e.Values.StackTrace; s != nil && len(s.Frames) > 0 {
			m := s.Frames[0].Method
			leaf = strings.TrimPrefix(strings.ReplaceAll(m.Type.Name, "/", ".")+"."+m.Name, ".")
		}
		leaves[leaf]++
		if d, err := time.ParseDuration(strings.ToLower(strings.TrimPrefix(e.Values.Duration, "PT"))); err == nil {
			ns += int64(d)
		}
	}
	return leaves, ns
}

// TestSampleFiles checks the event counts against `jfr summary`, and the leaves and
// durations of samples against `jfr print`.
func TestSampleFiles(t *testing.T) {
	samples.Need(t)
	if _, err := exec.LookPath("jfr"); err != nil {
		t.Skip("the JDK's jfr is not installed")
	}
	for name, content := range samples.Each(t, "jfr/*") {
		content = samples.Unpack(t, content)
		path := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(name), ".gz"))
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		tool := &told{counts: summary(t, path), leaves: map[string]map[string]int64{}, ns: map[string]int64{}}
		same(t, path, content, 1, tool)
		twice := append(bytes.Clone(content), later(content)...) // two chunks
		same(t, path, twice, 2, tool)
	}
}

// later returns the same chunks, recorded a minute later.
func later(content []byte) []byte {
	content = bytes.Clone(content)
	for rest := content; len(rest) > 0; rest = rest[binary.BigEndian.Uint64(rest[8:]):] {
		binary.BigEndian.PutUint64(rest[32:], binary.BigEndian.Uint64(rest[32:])+60e9)
	}
	return content
}

// TestRepeatedChunks checks that a chunk that comes again, as in concatenated dumps of one
// recording, is counted once, and a chunk of another time is not.
func TestRepeatedChunks(t *testing.T) {
	a := tiny(true)
	b := later(a)
	for _, c := range []struct {
		chunks  [][]byte
		samples int64
		left    int64
	}{
		{[][]byte{a}, 1, 0}, {[][]byte{a, b}, 2, 0}, {[][]byte{a, a}, 1, 1}, {[][]byte{a, a, b}, 2, 1}, {[][]byte{a, b, a, b}, 2, 2},
	} {
		r, err := decodeBytes(t, bytes.Join(c.chunks, nil), 0)
		if err != nil {
			t.Fatal(err)
		}
		var left, repeated int64
		for _, l := range r.Ledger {
			if l.Kind == "repeated chunk" {
				left = l.LeftOut
			}
		}
		for _, w := range r.Warnings {
			if w.Code != "chunk-repeated" {
				t.Errorf("%d chunks: %s", len(c.chunks), w.Text)
			}
			repeated = w.Count
		}
		if r.Counts.Samples != c.samples || left != c.left || repeated != c.left {
			t.Errorf("%d chunks: %d samples, %d left out, %d warnings; want %d and %d", len(c.chunks), r.Counts.Samples, left, repeated, c.samples, c.left)
		}
	}
}

// told caches the tool's answers about a file, because each start of the tool takes
// seconds.
type told struct {
	counts map[string]int64
	leaves map[string]map[string]int64
	ns     map[string]int64
}

// mostPrinted is the maximum number of event types per file to print.
const mostPrinted = 3

func same(t *testing.T, path string, content []byte, times int64, tool *told) {
	t.Helper()
	r, err := decodeBytes(t, content, 0)
	if err != nil || len(r.Warnings) > 0 {
		t.Fatal(path, err, r.Warnings)
	}
	want := tool.counts
	var all, read int64
	for _, n := range want {
		all += n
	}
	for _, l := range r.Ledger {
		read += l.Read
		if n, ok := want[l.Kind]; ok && l.Read != times*n {
			t.Errorf("%s: %d of %s, want %d", path, l.Read, l.Kind, times*n)
		}
	}
	if read != times*all {
		t.Errorf("%s: %d events, want %d", path, read, times*all)
	}
	for e := range r.Events {
		ev := &r.Events[e]
		if ev.Basis != recording.FromSamples {
			continue
		}
		if tool.leaves[ev.Name] == nil {
			if len(tool.leaves) == mostPrinted {
				continue
			}
			tool.leaves[ev.Name], tool.ns[ev.Name] = printed(t, path, ev.Name)
		}
		leaves, ns := maps.Clone(tool.leaves[ev.Name]), tool.ns[ev.Name]
		got := map[string]int64{}
		for _, tr := range r.Tracks {
			if s := tr.SamplesOf(e); s != nil {
				for i := range s.Len() {
					leaf := ""
					if c := s.Call(i); c != recording.NoCall {
						f := r.Functions.At(int(r.Func(c)))
						leaf = strings.TrimPrefix(f.Module+"."+f.Name, ".")
					}
					got[leaf]++
				}
			}
		}
		for k := range leaves {
			leaves[k] *= times
		}
		if !maps.Equal(got, leaves) {
			t.Errorf("%s, %s: leaves are %v, want %v", path, ev.Name, got, leaves)
		}
		if m := ev.Metric("duration"); m >= 0 && ev.Metrics[m].Total != times*ns {
			t.Errorf("%s, %s: %d ns, want %d", path, ev.Name, ev.Metrics[m].Total, times*ns)
		}
	}
}

// tiny returns a chunk with one type and one event, with compressed numbers or not.
func tiny(compressed bool) []byte {
	num := func(b []byte, width int, v uint64) []byte {
		switch {
		case compressed && width > 1:
			return binary.AppendUvarint(b, v)
		case width == 8:
			return binary.BigEndian.AppendUint64(b, v)
		case width == 4:
			return binary.BigEndian.AppendUint32(b, uint32(v))
		}
		return append(b, byte(v))
	}
	text := func(b []byte, s string) []byte { return append(num(append(b, 3), 4, uint64(len(s))), s...) }
	event := func(id uint64, body []byte) []byte {
		b := num(nil, 8, id)
		b = append(b, body...)
		n := len(b) + 4
		if compressed { // compressed, but padded to the four bytes of the fixed-size field
			return append([]byte{byte(n&0x7f | 0x80), byte(n>>7&0x7f | 0x80), byte(n>>14&0x7f | 0x80), byte(n >> 21)}, b...)
		}
		return append(binary.BigEndian.AppendUint32(nil, uint32(n)), b...)
	}
	names := []string{"root", "metadata", "class", "id", "name", "field", "constantPool", "true", "dimension", "1",
		"10", "long", "11", "int", "12", "java.lang.String", "20", "java.lang.Thread", "osName", "osThreadId",
		"30", "jdk.ThreadSleep", "startTime", "duration", "eventThread", "stackTrace", "21", "jdk.types.StackTrace", "frames", "22", "jdk.types.StackFrame", "lineNumber",
		"method", "type", "descriptor", "23", "jdk.types.Method", "24", "jdk.types.FrameType", "description", "25", "java.lang.Class"}
	at := func(s string) uint64 {
		for i, n := range names {
			if n == s {
				return uint64(i)
			}
		}
		panic(s)
	}
	element := func(b []byte, name string, attrs []string, children ...[]byte) []byte {
		b = num(num(b, 4, at(name)), 4, uint64(len(attrs)/2))
		for _, a := range attrs {
			b = num(b, 4, at(a))
		}
		b = num(b, 4, uint64(len(children)))
		for _, c := range children {
			b = append(b, c...)
		}
		return b
	}
	fieldOf := func(name, class string, more ...string) []byte {
		b := num(num(nil, 4, at("field")), 4, uint64(2+len(more)/2))
		b = num(num(b, 4, at("name")), 4, at(name))
		b = num(num(b, 4, at("class")), 4, at(class))
		for _, a := range more {
			b = num(b, 4, at(a))
		}
		return num(b, 4, 0)
	}
	class := func(id, name string, fields ...[]byte) []byte {
		return element(nil, "class", []string{"id", id, "name", name}, fields...)
	}
	meta := num(num(num(nil, 8, 0), 8, 0), 8, 1)
	meta = num(meta, 4, uint64(len(names)))
	for _, n := range names {
		meta = text(meta, n)
	}
	meta = append(meta, element(nil, "root", nil, element(nil, "metadata", nil, class("10", "long"), class("11", "int"), class("12", "java.lang.String"),
		class("20", "java.lang.Thread", fieldOf("osName", "12"), fieldOf("osThreadId", "10")),
		class("21", "jdk.types.StackTrace", fieldOf("frames", "22", "dimension", "1")),
		class("22", "jdk.types.StackFrame", fieldOf("method", "23", "constantPool", "true"), fieldOf("lineNumber", "11"), fieldOf("type", "24", "constantPool", "true")),
		class("23", "jdk.types.Method", fieldOf("type", "25", "constantPool", "true"), fieldOf("name", "12", "constantPool", "true"), fieldOf("descriptor", "12", "constantPool", "true")),
		class("24", "jdk.types.FrameType", fieldOf("description", "12")),
		class("25", "java.lang.Class", fieldOf("name", "12", "constantPool", "true")),
		class("30", "jdk.ThreadSleep", fieldOf("startTime", "10"), fieldOf("duration", "10"), fieldOf("eventThread", "20", "constantPool", "true"), fieldOf("stackTrace", "21", "constantPool", "true"))))...)
	pool := num(num(num(nil, 8, 0), 8, 0), 8, 0)
	pool = num(append(pool, 1), 4, 6)
	pool = num(num(num(pool, 8, 20), 4, 1), 8, 7)
	pool = num(text(pool, "main"), 8, 42)
	pool = num(num(num(pool, 8, 21), 4, 1), 8, 5)
	pool = num(pool, 4, 2)
	for _, f := range [][3]uint64{{1, 1<<32 - 1, 1}, {2, 12, 1}} { // method, line, type
		pool = num(num(num(pool, 8, f[0]), 4, f[1]), 8, f[2])
	}
	pool = num(num(pool, 8, 23), 4, 2)
	for _, m := range [][4]uint64{{1, 1, 1, 2}, {2, 2, 3, 4}} { // id, class, name, descriptor
		for _, v := range m {
			pool = num(pool, 8, v)
		}
	}
	pool = text(num(num(num(pool, 8, 24), 4, 1), 8, 1), "Native")
	pool = num(num(num(num(num(num(pool, 8, 25), 4, 2), 8, 1), 8, 5), 8, 2), 8, 6)
	pool = num(num(pool, 8, 12), 4, 6)
	for i, s := range []string{"sleep", "(J)V", "poll", "()L;", "java/lang/Thread", "libc.so.6"} {
		pool = text(num(pool, 8, uint64(i+1)), s)
	}
	body := event(30, num(num(num(num(nil, 8, 1500), 8, 500), 8, 7), 8, 5))
	body = append(body, event(1, pool)...)
	metaAt := headBytes + len(body)
	body = append(body, event(0, meta)...)
	head := append([]byte(magic), 0, 2, 0, 0)
	for _, v := range []uint64{uint64(headBytes + len(body)), 0, uint64(metaAt), 1e18, 0, 1000, 1e6} {
		head = binary.BigEndian.AppendUint64(head, v)
	}
	flag := byte(0)
	if compressed {
		flag = 1
	}
	return append(append(head, 0, 0, 0, flag), body...)
}

func TestTiny(t *testing.T) {
	for _, compressed := range []bool{true, false} {
		for _, chunk := range []int{0, 7} {
			r, err := decodeBytes(t, tiny(compressed), chunk)
			if err != nil || len(r.Tracks) != 1 {
				t.Fatal(compressed, err, r.Tracks)
			}
			tr := r.Tracks[0]
			if tr.Name != "main" || tr.TID != 42 || tr.States.Len() != 1 || tr.States.Start(0) != 500e6 || tr.States.End(0) != 1000e6 || r.State(tr.States.Call(0)) != recording.Blocked {
				t.Errorf("compressed %v: %+v", compressed, tr)
			}
			// A native Java method is named with its class and has no module; a native function
			// has its library as module. A line of -1 in the file means none.
			var frames []string
			for c := r.Calls.Parent(tr.States.Call(0)); c != recording.NoCall; c = r.Calls.Parent(c) {
				f := r.Functions.At(int(r.Func(c)))
				frames = append(frames, fmt.Sprintf("%s of %q, line %d", f.Name, f.Module, r.Frames.At(int(r.Calls.Frame(c))).Line))
			}
			if want := []string{`java.lang.Thread.sleep of "", line 0`, `poll of "libc.so.6", line 12`}; !slices.Equal(frames, want) {
				t.Errorf("compressed %v: frames %q", compressed, frames)
			}
			if s := tr.SamplesOf(0); s == nil || s.Len() != 1 || r.Calls.Depth(s.Call(0)) != 2 || r.Events[0].Metrics[1].Total != 500_000 {
				t.Errorf("compressed %v: %+v", compressed, r.Events)
			}
		}
	}
}

func TestSentences(t *testing.T) {
	good := tiny(true)
	with := func(at int, b ...byte) []byte {
		c := bytes.Clone(good)
		copy(c[at:], b)
		return c
	}
	for _, x := range []struct {
		name, place, want string
		content           []byte
	}{
		{"a head alone", "", "the recording has no events: it is truncated", good[:40]},
		{"cut", "", "the recording has no events: it is truncated", good[:len(good)-3]},
		{"unfinished", "", "the recording has no events: the length is missing, because the recorder did not finish the chunk", with(8, make([]byte, 8)...)},
		{"a version to come", "", "the recording has no events: version 9 is not supported; 1 and 2 are", with(4, 0, 9)},
		{"no clock", "", "the recording has no events: the clock frequency is zero or negative", with(56, make([]byte, 8)...)},
		{"no types", "", "the recording has no events: event descriptions are missing", with(24, make([]byte, 8)...)},
		{"noise behind", fmt.Sprintf("byte %d", len(good)), fmt.Sprintf("The chunk at byte %d is truncated or damaged (no chunk starts here); everything before is shown", len(good)), append(bytes.Clone(good), bytes.Repeat([]byte("x"), 80)...)},
		{"an event without end", "", "the recording has no events: the event at byte 68 has an invalid size, 1 byte", with(68, 1)},
	} {
		r, err := decodeBytes(t, x.content, 0)
		decodetest.Sentence(t, x.name, r, err, x.place, x.want)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(tiny(true), 3)
	f.Add(tiny(false), 100)
	decodetest.FuzzParts(f, Decode, Sniff, func(r *recording.Recording) recording.Counts { return r.Counts })
}

// TestRecordedHere records javac with the local JDK and compares counts, leaves and
// durations with the JDK's own tool.
func TestRecordedHere(t *testing.T) {
	for _, tool := range []string{"javac", "jfr"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed: nothing is recorded and compared with the JDK's own tool", tool)
		}
	}
	if testing.Short() {
		t.Skip("a JDK takes seconds: nothing is recorded with the race detector")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "X.java"), []byte("class X { int x() { return 1; } }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "x.jfr")
	cmd := exec.Command("javac", "-J-XX:StartFlightRecording=settings=profile,filename="+path, "X.java")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Print only one type, because each call takes a second: a and b count towards
	// mostPrinted.
	tool := &told{counts: summary(t, path), leaves: map[string]map[string]int64{"a": {}, "b": {}}, ns: map[string]int64{}}
	same(t, path, content, 1, tool)
	if len(tool.leaves) < mostPrinted {
		t.Error("the recording has no samples that were compared")
	}
}
