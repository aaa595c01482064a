package perfdata

import (
	stdmaps "maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

// perf runs perf and returns what it prints.
func perf(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("perf"); err != nil {
		t.Skip("perf is not installed: nothing is compared with it")
	}
	cmd := exec.Command("perf", args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "DEBUGINFOD_URLS=")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		said := stderr.String()
		t.Skipf("perf %s cannot run here, so nothing is compared with it: %v\n%.1000s", args[0], err, said)
	}
	return string(out)
}

// busy is a command that computes, sleeps, and starts children that do the same.
var busy = []string{"--", "sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; sleep 0.02; (sleep 0.01; echo | cat) | cat"}

// TestRecordedHere compares a recording made on this machine with `perf report`.
func TestRecordedHere(t *testing.T) {
	rounds.Unraced(t)
	name := filepath.Join(t.TempDir(), "perf.data")
	perf(t, append([]string{"record", "-q", "-F", "4000", "-g", "-o", name}, busy...)...)
	samePerfReport(t, name)
	sameKernelNames(t, name)
}

// sameKernelNames compares the number of samples of each kernel function with `perf
// report`. It skips the test if the kernel hides its addresses.
func sameKernelNames(t *testing.T, name string) {
	t.Helper()
	want := map[string]int{}
	for l := range strings.Lines(perf(t, "report", "-f", "-i", name, "--stdio", "--no-children", "-g", "none", "-F", "sample,dso,sym", "-t", ";")) {
		cells := strings.Split(strings.TrimSpace(l), ";")
		if len(cells) != 3 || strings.TrimSpace(cells[1]) != kernelModule {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(cells[0]))
		function, ok := strings.CutPrefix(strings.TrimSpace(cells[2]), "[k] ")
		if err != nil || !ok || strings.HasPrefix(function, "0x") {
			t.Skipf("perf says %q of the kernel, which shows no addresses here: names in it are not compared", l)
		}
		want[function] += n
	}
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := decodeBytes(t, content, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, tr := range r.Tracks {
		for _, s := range tr.Samples {
			for i := range s.Len() {
				if f := r.Functions.At(int(r.Func(s.Call(i)))); f.Module == kernelModule {
					got[f.Name]++
				}
			}
		}
	}
	if len(want) == 0 || !stdmaps.Equal(got, want) {
		t.Errorf("in the kernel\n got %v\nwant %v", got, want)
	}
}

// turnRow matches a row of `perf sched timehist`: the time at which a thread gave up its
// processor, and how long it had run.
var turnRow = regexp.MustCompile(`^\s*(\d+)\.(\d{6}) \[\d+\]\s+(?:.*\[(-?\d+)(?:/-?\d+)?\]|<idle>)\s+\S+\s+\S+\s+(\d+)\.(\d{3})\s*$`)

// turn identifies a run by its thread and the microsecond in which it ended.
type turn struct{ tid, end int64 }

// history returns the length of each run in microseconds, according to `perf sched
// timehist`. Threads that had exited have the id -1. mistaken holds the microseconds in
// which perf lists the same thread twice: it has then confused two threads.
func history(t *testing.T, name string) (all map[turn]int64, mistaken map[int64]bool) {
	all, mistaken = map[turn]int64{}, map[int64]bool{}
	for l := range strings.Lines(perf(t, "sched", "timehist", "-f", "-i", name)) {
		m := turnRow.FindStringSubmatch(strings.TrimRight(l, " \n"))
		if m == nil || m[3] == "" {
			continue
		}
		var n [3]int64
		for i, text := range []string{m[3], m[1] + m[2], m[4] + m[5]} {
			var err error
			if n[i], err = strconv.ParseInt(text, 10, 64); err != nil {
				t.Fatal(l)
			}
		}
		k := turn{n[0], n[1]}
		if _, ok := all[k]; ok {
			mistaken[k.end] = true
		}
		all[k] = n[2]
	}
	return all, mistaken
}

// change matches a switch from one thread to the next, as printed by `perf script`.
var change = regexp.MustCompile(`\[(\d+)\].* prev_pid=(\d+) .* next_pid=(\d+) `)

// incomplete returns the threads of which perf lost events: a processor switches away from
// a thread other than the one it switched to, or two processors run the same thread. Both
// perf and this package guess what ran then.
func incomplete(t *testing.T, name string) map[int64]bool {
	missed, cpus := map[int64]bool{-1: true}, map[string]string{}
	miss := func(ids ...string) {
		for _, id := range ids {
			if n, err := strconv.ParseInt(id, 10, 64); err == nil {
				missed[n] = true
			}
		}
	}
	for l := range strings.Lines(perf(t, "script", "-f", "-i", name, "-F", "cpu,event,trace")) {
		m := change.FindStringSubmatch(strings.TrimRight(l, "\n") + " ")
		if m == nil {
			continue
		}
		if was, ok := cpus[m[1]]; ok && was != m[2] {
			miss(was, m[2])
		}
		for cpu, runs := range cpus {
			if cpu != m[1] && (runs == m[2] || runs == m[3]) {
				miss(runs)
			}
		}
		cpus[m[1]] = m[3]
	}
	return missed
}

// TestSchedRecordedHere compares the length of each run, in microseconds, with `perf sched
// timehist`.
func TestSchedRecordedHere(t *testing.T) {
	rounds.Unraced(t)
	name := filepath.Join(t.TempDir(), "sched.data")
	perf(t, append([]string{"sched", "record", "-q", "-o", name}, busy...)...)
	want, mistaken := history(t, name)
	missed := incomplete(t, name)
	if len(want) < 5 {
		t.Fatalf("perf's history has %d rows of threads that ran", len(want))
	}
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := decodeBytes(t, content, 0)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, tr := range r.Tracks {
		for l, i := &tr.States, 0; i < l.Len(); i++ {
			us, end := (l.End(i)-l.Start(i))/1e6, (r.Clock.Origin.Mantissa+l.End(i)/1000)/1000
			if r.State(l.Call(i)) != recording.Running || us == 0 || missed[tr.TID] || mistaken[end] {
				continue
			}
			k := turn{tr.TID, end}
			if _, ok := want[k]; !ok {
				k.tid = -1
			}
			switch ran, ok := want[k]; {
			case !ok && l.End(i) == r.End: // the run at the end of the recording has no row
			case !ok:
				t.Errorf("thread %d ran %d µs until %d µs, which perf does not say", tr.TID, us, end)
			case ran != us:
				t.Errorf("thread %d ran %d µs until %d µs, perf says %d", tr.TID, us, end, ran)
			}
			delete(want, k)
			compared++
		}
	}
	t.Logf("%d runs were compared, %d threads left out", compared, len(missed))
	if compared < 5 {
		t.Errorf("%d runs were compared", compared)
	}
	for k, ran := range want {
		if ran > 0 && !missed[k.tid] && !mistaken[k.end] {
			t.Errorf("thread %d: no run until %d µs, perf says of %d", k.tid, k.end, ran)
		}
	}
}

// inlines is a program with a loop whose work is inlined over two levels.
const inlines = `
volatile unsigned sink;
static inline __attribute__((always_inline)) unsigned leaf(unsigned x) {
	for (int i = 0; i < 100; i++)
		x = x * 1664525 + 1013904223;
	return x;
}
static inline __attribute__((always_inline)) unsigned middle(unsigned x) {
	return leaf(x) ^ leaf(x + 1);
}
__attribute__((noinline)) void work(void) {
	for (int i = 0; i < 2000000; i++)
		sink = middle(sink);
}
int main(void) {
	work();
	return 0;
}
`

// recordInlines compiles the program inlines with flags and records it. It returns the
// recording and the path of the program.
func recordInlines(t *testing.T, flags ...string) (r *recording.Recording, program string) {
	t.Helper()
	dir := t.TempDir()
	source, program, name := filepath.Join(dir, "inlines.c"), filepath.Join(dir, "inlines"), filepath.Join(dir, "perf.data")
	if err := os.WriteFile(source, []byte(inlines), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", append(flags, "-O1", "-fno-omit-frame-pointer", "-o", program, source)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	perf(t, "record", "-q", "-F", "2000", "-g", "-o", name, "--", program)
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = decodeBytes(t, content, 0); err != nil {
		t.Fatal(err)
	}
	return r, program
}

// TestStripped checks that addresses in a program without symbols are grouped by function
// and named by the function's offset.
func TestStripped(t *testing.T) {
	rounds.Unraced(t)
	r, program := recordInlines(t, "-s")
	all, found := 0, map[string]int{}
	for _, tr := range r.Tracks {
		for _, s := range tr.Samples {
			for i := range s.Len() {
				if f := r.Functions.At(int(r.Func(s.Call(i)))); f.Module == program {
					all++
					found[f.Name]++
					if !f.Unresolved || !strings.HasPrefix(f.Name, "inlines+0x") {
						t.Fatalf("a function is called %s", f.Name)
					}
				}
			}
		}
	}
	most := 0
	for _, n := range found {
		most = max(most, n)
	}
	if most < 20 || most < all*8/10 {
		t.Errorf("%d of %d samples are in the busiest function: %v", most, all, found)
	}
}

// TestInlined checks that inlined functions are in the stacks with their lines, below the
// function that contains the code.
func TestInlined(t *testing.T) {
	r, program := recordInlines(t, "-g")
	all, found := 0, map[string]int{}
	for _, tr := range r.Tracks {
		for _, s := range tr.Samples {
			for i := range s.Len() {
				var path []string
				for c := s.Call(i); c != recording.NoCall; c = r.Calls.Parent(c) {
					f := r.Frames.At(int(r.Calls.Frame(c)))
					if fn := r.Functions.At(int(f.Func)); fn.Module == program {
						path = append(path, fn.Name)
						if file := filepath.Base(f.File); file != "inlines.c" && fn.Name != "_start" && !fn.Unresolved { // a sample may hit the code that starts a program
							t.Fatalf("%s is in the file %s", fn.Name, file)
						}
						if want := map[string][2]int32{"leaf": {3, 7}, "middle": {8, 10}, "work": {11, 14}, "main": {15, 18}}[fn.Name]; f.Line < want[0] || f.Line > want[1] && want[1] > 0 {
							t.Fatalf("%s is at line %d", fn.Name, f.Line)
						}
						if inlined := fn.Name == "leaf" || fn.Name == "middle"; f.Inlined != inlined {
							t.Fatalf("%s is inlined: %t", fn.Name, f.Inlined)
						}
					}
				}
				if len(path) > 0 {
					all++
					found[strings.Join(path[:min(3, len(path))], " ")]++ // work may have no frame of its own, and main may be missing
				}
			}
		}
	}
	if n := found["leaf middle work"]; n < 20 || n < all*8/10 {
		t.Errorf("%d of %d samples are in leaf, in middle, in work: %v", n, all, found)
	}
}
