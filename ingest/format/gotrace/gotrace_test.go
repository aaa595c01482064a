package gotrace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"runtime/trace"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/samples"
)

var decodeBytes = decodetest.Of(Decode)

// made returns a trace of goroutines that wait for each other, with every kind of
// annotation that a program can make.
var made = sync.OnceValue(func() []byte {
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		panic(err)
	}
	ctx, task := trace.NewTask(context.Background(), "order")
	var mu sync.Mutex
	var all sync.WaitGroup
	c := make(chan int)
	for i := range 4 {
		all.Go(func() { worker(ctx, i, c, &mu) })
	}
	talk()
	for i := range 40 {
		c <- i
	}
	close(c)
	all.Wait()
	goruntime.GC()
	time.Sleep(time.Millisecond)
	task.End()
	trace.NewTask(ctx, "endless")
	trace.Stop()
	return out.Bytes()
})

// talk makes goroutines wait for the network.
func talk() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		defer c.Close()
		time.Sleep(2 * time.Millisecond)
		fmt.Fprint(c, "late")
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		panic(err)
	}
	defer c.Close()
	if _, err := io.ReadAll(c); err != nil {
		panic(err)
	}
}

func worker(ctx context.Context, i int, c chan int, mu *sync.Mutex) {
	defer trace.StartRegion(ctx, "work").End()
	trace.Log(ctx, "who", strconv.Itoa(i))
	for n := range c {
		trace.WithRegion(ctx, "locked", func() {
			mu.Lock()
			defer mu.Unlock()
			time.Sleep(time.Duration(n) * 10 * time.Microsecond)
		})
		goruntime.Gosched()
	}
}

// tool returns the output of `go tool trace` for a trace.
func tool(t *testing.T, content []byte, flag string) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.trace")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(decodetest.GoTool(t, "trace"), flag, name)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go tool trace %s: %v\n%s", flag, err, stderr.String())
	}
	return out
}

var line = regexp.MustCompile(`^M=(-?\d+) P=(-?\d+) G=(-?\d+) (\w+) Time=(\d+)(.*)$`)
var state = regexp.MustCompile(`GoID=(\d+) (\w+)->(\w+) Reason="([^"]*)"`)

// naive sums the time of each goroutine in each state, and counts all other events, from
// the output of `go tool trace -d=parsed`.
func naive(t *testing.T, content []byte) map[string]int64 {
	type in struct {
		state string
		since int64
	}
	sums, now := map[string]int64{}, map[string]in{}
	var sync, last int64
	for _, l := range strings.Split(string(tool(t, content, "-d=parsed")), "\n") {
		m := line.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		at, err := strconv.ParseInt(m[5], 10, 64)
		if err != nil {
			t.Fatal(l)
		}
		last = at
		switch m[4] {
		case "Sync":
			sync = at
		case "StackSample", "Log", "RegionBegin", "TaskBegin", "RangeBegin", "RangeActive", "Metric":
			sums[m[4]]++
		}
		s := state.FindStringSubmatch(m[6])
		if s == nil || s[2] == s[3] {
			continue
		}
		g := s[1]
		if s[2] == "Undetermined" {
			at = sync
		} else if was, ok := now[g]; ok {
			sums["G"+g+" "+was.state] += at - was.since
		}
		delete(now, g)
		name := map[string]string{"Running": "running", "Runnable": "runnable", "Waiting": "waiting", "Syscall": "system call"}[s[3]]
		if name == "waiting" && s[4] != "" {
			name += ": " + s[4]
		} else if name == "waiting" && s[2] == "Undetermined" {
			name += ": since before the trace"
		}
		if name != "" {
			now[g] = in{name, at}
		}
	}
	for g, was := range now {
		sums["G"+g+" "+was.state] += last - was.since
	}
	maps.DeleteFunc(sums, func(_ string, v int64) bool { return v == 0 })
	return sums
}

// told returns the same numbers for a recording.
func told(t *testing.T, r *recording.Recording) map[string]int64 {
	sums := map[string]int64{}
	for _, tr := range r.Tracks {
		for l, i := &tr.States, 0; i < l.Len(); i++ {
			name := strings.Trim(r.FuncName(l.Call(i)), "[]")
			name = strings.Replace(strings.Replace(name, "blocked", "waiting", 1), "garbage collection", "running", 1)
			sums[fmt.Sprintf("G%d %s", tr.TID, name)] += (l.End(i) - l.Start(i)) / 1000
		}
		for d := range tr.Lanes {
			for l, i := &tr.Lanes[d], 0; i < l.Len(); i++ {
				ns, name := (l.End(i)-l.Start(i))/1000, r.FuncName(l.Call(i))
				switch {
				case tr.PID == processors && tr.Kind == recording.ThreadTrack:
					sums["processors"] += ns
				case tr.Name == "tasks":
					sums["TaskBegin"]++
				case tr.PID == goroutines && !strings.HasPrefix(name, "GC "):
					sums["RegionBegin"]++
				default:
					sums["RangeBegin"]++
				}
			}
		}
		for _, s := range tr.Samples {
			if r.Events[s.Event].Name == "CPU samples" {
				sums["StackSample"] += int64(s.Len())
			}
		}
		for _, i := range tr.Instants {
			if !strings.HasPrefix(i.Name, "label: ") {
				sums["Log"]++
			}
		}
	}
	for _, c := range r.Counters {
		if c.Name != "goroutines" {
			sums["Metric"] += int64(c.Len())
		}
	}
	running := int64(0)
	for k, v := range sums {
		if strings.HasSuffix(k, " running") {
			running += v
		}
	}
	if running != sums["processors"] {
		t.Errorf("goroutines ran %d ns and processors %d", running, sums["processors"])
	}
	delete(sums, "processors")
	maps.DeleteFunc(sums, func(_ string, v int64) bool { return v == 0 })
	return sums
}

func compare(t *testing.T, content []byte) {
	t.Helper()
	want := naive(t, content)
	want["RangeBegin"] += want["RangeActive"]
	delete(want, "RangeActive")
	for _, chunk := range []int{0, 7} {
		r, err := decodeBytes(t, content, chunk)
		if err != nil || len(r.Warnings) > 0 {
			t.Fatal(err, r.Warnings)
		}
		if got := told(t, r); !maps.Equal(got, want) {
			for k := range want {
				if got[k] != want[k] {
					t.Errorf("in chunks of %d, %s: %d, want %d", chunk, k, got[k], want[k])
				}
			}
			for k := range got {
				if _, ok := want[k]; !ok {
					t.Errorf("in chunks of %d, %s: %d, want none", chunk, k, got[k])
				}
			}
		}
	}
}

// profiled maps each profile of `go tool trace` to the state and reasons that it covers. The
// fourth, sched, is checked by [compareSched]: its stacks are the wakers', and it omits some
// waits.
var profiled = map[string]struct {
	state recording.State
	why   *regexp.Regexp
}{
	"syscall": {recording.InSystemCall, regexp.MustCompile("")},
	"sync":    {recording.Blocked, regexp.MustCompile(`^\[blocked: .*(chan|sync|select)`)},
	"net":     {recording.Blocked, regexp.MustCompile(`^\[blocked: network\]$`)},
}

// comparePprof checks that the time and number of states by stack equal those of `go tool
// trace -pprof`.
func comparePprof(t *testing.T, content []byte, kind string) (stacks int) {
	t.Helper()
	p, err := profile.ParseData(tool(t, content, "-pprof="+kind))
	if err != nil {
		t.Fatal(err)
	}
	type waited struct{ times, ns int64 }
	want, got := map[string]waited{}, map[string]waited{}
	add := func(to map[string]waited, path string, times, ns int64) {
		w := to[path]
		to[path] = waited{w.times + times, w.ns + ns}
	}
	for _, s := range p.Sample {
		path := ""
		for i := len(s.Location) - 1; i >= 0; i-- {
			for j := len(s.Location[i].Line) - 1; j >= 0; j-- {
				path += ";" + s.Location[i].Line[j].Function.Name
			}
		}
		add(want, path, s.Value[0], s.Value[1])
	}
	r, err := decodeBytes(t, content, 0)
	if err != nil {
		t.Fatal(err)
	}
	is := profiled[kind]
	for _, tr := range r.Tracks {
		l := &tr.States
		for i := range l.Len() {
			c := l.Call(i)
			// The tool omits states that last until the end of the trace, and starts the
			// states from before the trace at its first event.
			if l.Start(i) == 0 || l.End(i) == r.End || r.State(c) != is.state || !is.why.MatchString(r.FuncName(c)) {
				continue
			}
			path := ""
			for c = r.Calls.Parent(c); c != recording.NoCall; c = r.Calls.Parent(c) {
				path = ";" + r.FuncName(c) + path
			}
			add(got, path, 1, (l.End(i)-l.Start(i))/1000)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s: %v, want %v", kind, got, want)
	}
	return len(want)
}

// TestMade compares the recording of made with Go's own tool.
func TestMade(t *testing.T) {
	content := made()
	if sure, err := Sniff(content, true); sure != decode.Certain || err != nil {
		t.Error(sure, err)
	}
	compare(t, content)
	for kind := range profiled {
		if comparePprof(t, content, kind) == 0 {
			t.Errorf("%s: the tool has nothing", kind)
		}
	}
	r, err := decodeBytes(t, content, 0)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, tr := range r.Tracks {
		kinds[tr.Name] = true
		if strings.Contains(tr.Name, "gotrace.worker") || strings.Contains(tr.Name, "WaitGroup).Go") {
			kinds["worker"] = true
		}
	}
	for _, want := range []string{"tasks", "stop the world", "garbage collection", "P0", "worker"} {
		if !kinds[want] {
			t.Errorf("there is no track %s in %v", want, kinds)
		}
	}
	if wakes(r) == 0 || r.Source.Version == "" || len(r.Source.NotesOf(recording.NoteTime)) != 1 {
		t.Errorf("%d wakes, %+v", wakes(r), r.Source)
	}
}

func TestSampleFiles(t *testing.T) {
	content := samples.Read(t, "generated/go.trace")
	compare(t, content)
	for kind := range profiled {
		comparePprof(t, content, kind)
	}
}

func TestSentences(t *testing.T) {
	whole := made()
	for _, x := range []struct{ name, content, place, want string }{
		{"a version to come", "go 1.99 trace\x00\x00\x00", "", "the trace cannot be read: unknown or unsupported trace version go 1.99"},
		{"nothing behind the header", "go 1.22 trace\x00\x00\x00", "", "the trace has no events: it is truncated or damaged before byte 16 (no frequency event found)"},
		{"an old one cut", "go 1.19 trace\x00\x00\x00\x02\x01", "", "the trace cannot be read: read event 2 with current P of 0, but P has no batches yet"},
		{"noise", string(whole[:16]) + strings.Repeat("\xff", 40), "", ""},
	} {
		r, err := decodeBytes(t, []byte(x.content), 0)
		if x.want == "" {
			if err == nil && len(r.Warnings) == 0 {
				t.Errorf("%s: nothing is said", x.name)
			}
			continue
		}
		decodetest.Sentence(t, x.name, r, err, x.place, x.want)
	}
	// A trace cut anywhere is shown up to the cut.
	for _, n := range []int{len(whole) / 2, len(whole) - 1} {
		r, err := decodeBytes(t, whole[:n], 0)
		said := fmt.Sprint(err)
		if len(r.Warnings) > 0 {
			said = r.Warnings[0].Text
		}
		if !strings.Contains(said, "cut") && !strings.Contains(said, "no event") {
			t.Errorf("cut at %d: %s", n, said)
		}
	}
}

func TestSniff(t *testing.T) {
	decodetest.Sniffs(t, Sniff, true, map[string]decode.Confidence{
		"": decode.No, "go 1.2x trace\x00": decode.No, "go 1.22 trace\x00\x00\x00": decode.Certain, "go 1.11 trace\x00\x00\x00": decode.Certain,
	})
}

var position = regexp.MustCompile(`byte \d+`)

func FuzzDecode(f *testing.F) {
	if whole := made(); len(whole) < 1<<18 {
		f.Add(whole, 100)
		f.Add(whole[:len(whole)/3], 100)
	}
	f.Add([]byte("go 1.22 trace\x00\x00\x00\x01\x01\x00\x00\x05\x08\x80\x80\x80\x01"), 1)
	f.Add([]byte("go 1.19 trace\x00\x00\x00\x02\x01\x03"), 1)
	f.Fuzz(func(t *testing.T, content []byte, chunk int) {
		if len(content) > 1<<18 {
			return
		}
		Sniff(content, true)
		whole, err1 := decodeBytes(t, content, 0)
		parts, err2 := decodeBytes(t, content, 1+chunk&4095)
		// How far the library read ahead differs, so ignore positions.
		said := func(err error) string { return position.ReplaceAllString(fmt.Sprint(err), "byte N") }
		if said(err1) != said(err2) || fmt.Sprint(whole.Ledger, whole.Counts) != fmt.Sprint(parts.Ledger, parts.Counts) {
			t.Fatalf("in parts %v %v %v, whole %v %v %v", err2, parts.Ledger, parts.Counts, err1, whole.Ledger, whole.Counts)
		}
	})
}

func wakes(r *recording.Recording) (n int) {
	for _, tr := range r.Tracks {
		for i := range tr.States.Len() {
			if r.Waker(tr, i).Track != recording.NoTrack {
				n++
			}
		}
	}
	return n
}
