package ftrace

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/format/sched"
	"ashlar/ingest/model/recording"
)

var decodeBytes = decodetest.Of(Decode)

// told lists the states, spans, instants and counters of a recording.
func told(r *recording.Recording) (lines []string) {
	line := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, tr := range r.Tracks {
		lines = append(lines, decodetest.States(r, tr)...)
		for d := range tr.Lanes {
			for l, i := &tr.Lanes[d], 0; i < l.Len(); i++ {
				end := r.Clock.Text(l.End(i))
				if l.Unfinished(i) {
					end = "open"
				}
				line("span %d/%s %s %s to %s", max(tr.PID, -1), tr.Name, r.FuncName(l.Call(i)), r.Clock.Text(l.Start(i)), end)
			}
		}
		for _, i := range tr.Instants {
			line("instant %d/%s %s %s %s", tr.PID, tr.Name, i.Name, r.Clock.Text(i.Time), r.Args(i.Args))
		}
	}
	for _, c := range r.Counters {
		for i := range c.Len() {
			line("counter %d/%s %s %g", r.Processes[c.Process].PID, c.Name, r.Clock.Text(c.Time(i)), c.Value(i))
		}
	}
	slices.Sort(lines)
	return lines
}

const small = `# tracer: nop
#
#           TASK-PID    TGID   CPU#  ||||   TIMESTAMP  FUNCTION
          <idle>-0     (-----) [000] d..2  10.000100: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=my app next_pid=12 next_prio=120
          my app-12    (   10) [000] ...1  10.000200: tracing_mark_write: B|10|outer|x
          my app-12    (   10) [000] ...1  10.000300: tracing_mark_write: B|10|inner
          my app-12    (   10) [000] ...1  10.000350: tracing_mark_write: C|10|heap|42
          my app-12    (   10) [000] ...1  10.000400: tracing_mark_write: E|10
          my app-12    (   10) [000] ...1  10.000450: tracing_mark_write: S|10|load|7
          my app-12    (   10) [000] d..3  10.000500: sched_switch: prev_comm=my app prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
            a-b-33     (   30) [001] d..3  10.000600: sched_waking: comm=my app pid=12 prio=120 target_cpu=000
          <idle>-0     (-----) [000] d..2  10.000700: sched_switch: swapper/0:0 [120] R ==> my app:12 [120]
          my app-12    (   10) [000] ...1  10.000800: print: 0xffffffff: F|10|load|7
          my app-12    (   10) [000] ...1  10.000900: irq_handler_entry: irq=3 name="x"
          my app-12    (   10) [000] ...1  10.001000: tracing_mark_write: E
`

var want = []string{
	`counter 10/heap 10.00035 42`,
	`instant 10/my app irq_handler_entry 10.0009 {"text":"irq=3 name=\"x\""}`,
	`span -1/CPU 0 my app 10.0001 to 10.0005`,
	`span -1/CPU 0 my app 10.0007 to open`,
	`span 10/load load 10.00045 to 10.0008`,
	`span 10/my app inner 10.0003 to 10.0004`,
	`span 10/my app outer|x 10.0002 to 10.001`,
	`state 10/my app [blocked: sleeping] 10.0005 to 10.0006`,
	`state 10/my app [runnable] 10.0006 to 10.0007 by a-b`,
	`state 10/my app [running] 10.0001 to 10.0005`,
	`state 10/my app [running] 10.0007 to 10.001`,
}

// TestSmall checks that a text, alone or in an HTML page, gives the expected recording.
func TestSmall(t *testing.T) {
	html := "<!DOCTYPE html>\n<html><title>Android System Trace</title><script>trace-viewer\n  a-1 [000] 9.0: x: y\n</script>\n" +
		"<script class=\"trace-data\" type=\"application/text\">\nUSER PID PPID\nroot 1 0\n</script>\n<script class=\"trace-data\" type=\"application/text\">\n" + small + "</script>\n</html>\n"
	// Real-time kernels print three more flags.
	realTime := regexp.MustCompile(`\] (\S\.\.)(\d) `).ReplaceAllString(small, "] $1.$2.. ")
	if realTime == small {
		t.Fatal("no line has flags")
	}
	for _, content := range []string{small, html, strings.ReplaceAll(small, "\n", "\r\n"), realTime, "version = 7\ncpus=2\n" + small} {
		if sure, err := Sniff([]byte(content), true); sure < decode.Likely || err != nil {
			t.Error(sure, err)
		}
		for _, chunk := range []int{0, 7} {
			r, err := decodeBytes(t, []byte(content), chunk)
			if err != nil || len(r.Warnings) > 0 {
				t.Fatal(err, r.Warnings)
			}
			if got := told(r); !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// TestOneTrackBesideTheProcess checks that the states of a thread are on the track of its
// spans if others wake it and switch to it before its own events name its process.
func TestOneTrackBesideTheProcess(t *testing.T) {
	r, err := decodeBytes(t, []byte(`   a-33 (   30) [001] d..3 10.000100: sched_waking: comm=app pid=12 prio=120 target_cpu=000
   <idle>-0 (-----) [000] d..2 10.000200: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=app next_pid=12 next_prio=120
   app-12 (   10) [000] ...1 10.000300: tracing_mark_write: B|10|draw
   app-12 (   10) [000] ...1 10.000400: tracing_mark_write: E|10
   app-12 (   10) [000] d..3 10.000500: sched_switch: prev_comm=app prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
`), 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"span -1/CPU 0 app 10.0002 to 10.0005", "span 10/app draw 10.0003 to 10.0004",
		"state 10/app [runnable] 10.0001 to 10.0002 by a", "state 10/app [running] 10.0002 to 10.0005"}
	if got := told(r); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestLastName checks that a thread has its last name: new threads have the name of the one
// that started them.
func TestLastName(t *testing.T) {
	r, err := decodeBytes(t, []byte("   app-1 [000] d..2. 5.000000: sched_switch: prev_comm=app prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=app next_pid=2 next_prio=120\n"+
		"   app-2 [000] d..2. 5.001000: sched_switch: prev_comm=flusher prev_pid=2 prev_prio=120 prev_state=S ==> next_comm=app next_pid=1 next_prio=120\n"+
		"   app-1 [000] d..2. 5.002000: sched_switch: prev_comm=app prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=flusher next_pid=2 next_prio=120\n"), 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, track := range r.Tracks {
		names = append(names, track.Name)
	}
	slices.Sort(names)
	if want := []string{"CPU 0", "app", "flusher"}; !slices.Equal(names, want) {
		t.Errorf("the tracks are %q, want %q", names, want)
	}
}

// TestOperationsOfOneID reads operations with the same name and id. A second begin of an
// open operation is ignored, as in trace_processor; Android's wakelocks write those. An
// operation open at the end lasts until the end.
func TestOperationsOfOneID(t *testing.T) {
	var text strings.Builder
	for at, mark := range []string{"S|1|load|7", "F|1|load|7", "S|1|load|7", "S|1|load|7", "F|1|load|7", "S|1|other|7", "C|1|n|1"} {
		fmt.Fprintf(&text, " app-1 [000] .... 5.%06d: tracing_mark_write: %s\n", at, mark)
	}
	r, err := decodeBytes(t, []byte(text.String()), 0)
	if err != nil || len(r.Warnings) != 1 || r.Warnings[0].Code != sched.BegunAgain || r.Counts.Spans != 3 || r.Counts.Unfinished != 1 {
		t.Fatal(err, r.Warnings, r.Counts)
	}
	var got []string
	for _, track := range r.Tracks {
		for d := range track.Lanes {
			for l, i := &track.Lanes[d], 0; i < l.Len(); i++ {
				got = append(got, fmt.Sprint(track.Name, " ", l.Start(i)/1e6, "..", l.End(i)/1e6))
			}
		}
	}
	slices.Sort(got)
	if want := []string{"load 0..1", "load 2..4", "other 5..6"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRandomSwitches checks the thread on each CPU and the states of the threads for random
// switches.
func TestRandomSwitches(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		type in struct {
			name  string
			since int
		}
		var text strings.Builder
		var lines []string
		run, states := [3]in{}, map[int]in{}
		on, end := [3]int{}, 0
		at := func(n int) string { return strings.TrimRight(fmt.Sprintf("5.%06d", n), "0") }
		for i := 1; i < 200; i++ {
			now, cpu, next := i*10+1, r.IntN(3), r.IntN(5)
			if next != 0 && slices.Contains(on[:], next) {
				continue
			}
			letter := "SDR"[r.IntN(3)]
			fmt.Fprintf(&text, "x-1 [%03d] d..2 5.%06d: sched_switch: prev_comm=t prev_pid=%d prev_prio=1 prev_state=%c ==> next_comm=t%d next_pid=%d next_prio=1\n", cpu, now, on[cpu], letter, next, next)
			move := func(tid int, to string) {
				if tid == 0 {
					return
				}
				if s, ok := states[tid]; ok {
					lines = append(lines, fmt.Sprintf("state 0/t%d [%s] %s to %s", tid, s.name, at(s.since), at(now)))
				}
				states[tid] = in{to, now}
			}
			end = now
			move(on[cpu], map[byte]string{'S': "blocked: sleeping", 'D': "blocked: sleeping, uninterruptible", 'R': "runnable"}[letter])
			move(next, "running")
			if on[cpu] != 0 {
				lines = append(lines, fmt.Sprintf("span -1/CPU %d t%d %s to %s", cpu, on[cpu], at(run[cpu].since), at(now)))
			}
			on[cpu], run[cpu].since = next, now
		}
		for tid, s := range states {
			if at(s.since) != at(end) {
				lines = append(lines, fmt.Sprintf("state 0/t%d [%s] %s to %s", tid, s.name, at(s.since), at(end)))
			}
		}
		for cpu, tid := range on {
			if tid != 0 {
				lines = append(lines, fmt.Sprintf("span -1/CPU %d t%d %s to open", cpu, tid, at(run[cpu].since)))
			}
		}
		slices.Sort(lines)
		rec, err := decodeBytes(t, []byte(text.String()), 0)
		if err != nil || len(rec.Warnings) > 0 {
			t.Fatal(err, rec.Warnings)
		}
		if got := told(rec); !slices.Equal(got, lines) {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
		}
	}
}

func TestSentences(t *testing.T) {
	const good = "a-1 [000] 5.5: x: y\n"
	for _, x := range []struct{ name, content, place, want string }{
		{"nothing", "# tracer: nop\n", "", "the file has no ftrace events"},
		{"noise", good + "noise\n", "line 2", "Line 2 is not an event and was left out"},
		{"far", good + "a-1 [000] 9999999999.0: x: y\n", "line 2", "The time on line 2 is more than 26 days from the others; the line was left out"},
		{"an end alone", good + "a-1 [000] 6.0: tracing_mark_write: E|1\n", "line 2", "Line 2 ends a slice that started before the trace; the line was left out"},
		{"backward", good + "a-1 [000] 6.0: print: B|1|f\na-1 [000] 5.8: print: E|1\n", "line 3", "The event on line 3 is earlier than the previous one on its thread; it gets the previous time"},
		{"lost", "CPU:1 [LOST 37 EVENTS]\n" + good, "line 1", "ftrace lost 37 events of processor 1 before line 1"},
		{"lost, uncounted", good + "CPU:0 [LOST EVENTS]\n", "line 2", "ftrace lost events of processor 0 before line 2"},
		{"lost by several", "CPU:0 [LOST 4 EVENTS]\nCPU:1 [LOST 9 EVENTS]\nCPU:0 [LOST EVENTS]\n" + good, "line 1", "ftrace lost 4 events and more of processor 0, 9 events of processor 1, the first before line 1"},
		{"dropped", "CPU:1 [37 EVENTS DROPPED]\n" + good, "line 1", "ftrace lost 37 events of processor 1 before line 1"},
		{"dropped, uncounted", good + "CPU:0 [EVENTS DROPPED]\n", "line 2", "ftrace lost events of processor 0 before line 2"},
		{"overwritten", "# tracer: nop\n# entries-in-buffer/entries-written: 1/9000   #P:4\n" + good, "line 2", "The ring buffer kept 1 of 9000 events; earlier events were overwritten, so the start of the recording is missing"},
		{"a page of nothing", "<!DOCTYPE html>\n<script>trace-viewer</script>\n", "", "the file has no ftrace events"},
	} {
		r, err := decodeBytes(t, []byte(x.content), 0)
		decodetest.Sentence(t, x.name, r, err, x.place, x.want)
	}
}

func TestSniff(t *testing.T) {
	decodetest.Sniffs(t, Sniff, true, map[string]decode.Confidence{
		strings.Repeat("\n", 1<<20) + "a-1 [000] d..2 5.5: x: y\n": decode.No,
		"": decode.No, "a;b 5\n": decode.No, "# tracer: nop\n": decode.Certain, "#\n\n a-1 [000] d..2 5.5: x: y\n": decode.Likely,
		"swapper 0 [000] 5.5: cycles: \n": decode.No,
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(small), 11)
	f.Add([]byte(latencyText), 11)
	f.Add([]byte(functions), 11)
	decodetest.FuzzParts(f, Decode, Sniff, told)
}
