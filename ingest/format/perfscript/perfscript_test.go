package perfscript

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/ianlancetaylor/demangle"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/samples"
)

func decodeText(t testing.TB, text string, chunk int) (*recording.Recording, error) {
	t.Helper()
	return decodetest.Bytes(t, Decode, []byte(text), chunk)
}

// sums adds up the samples and periods of a recording by event and stack,
// "event;outermost;…;leaf".
func sums(r *recording.Recording) map[string][2]int64 {
	out := map[string][2]int64{}
	for e, s := range r.Stacks {
		if s == nil {
			continue
		}
		for i := range s.Len() {
			k := r.Events[e].Name
			for _, c := range r.Calls.Path(nil, s.Call(i)) {
				k += ";" + r.FuncName(c)
			}
			v := out[k]
			v[0] += s.Value(i, samplesMetric)
			if p := s.Value(i, periodMetric); p != recording.Missing {
				v[1] += p
			}
			out[k] = v
		}
	}
	return out
}

var (
	naiveHeader = regexp.MustCompile(`^\S.*?\s+\d+(?:/\d+)?\s.*\d+\.\d+:\s+(?:(\d+) )?(\S+):\s*$`)
	naiveOffset = regexp.MustCompile(`\+0x[0-9a-f]+$`)
)

// naive computes the same sums from perf script's default output, with a regular expression
// and string functions only.
func naive(t *testing.T, text string) (headers, frames int, folded map[string][2]int64) {
	t.Helper()
	folded = map[string][2]int64{}
	for _, block := range strings.Split(text, "\n\n") {
		var stack []string
		var event string
		var period int64
		for _, l := range strings.Split(strings.Trim(block, "\n"), "\n") {
			if strings.HasPrefix(l, "#") || l == "" {
				continue
			}
			if m := naiveHeader.FindStringSubmatch(l); m != nil {
				headers++
				event = m[2]
				fmt.Sscan(m[1], &period)
				continue
			}
			frames++
			l = strings.TrimSpace(l)
			l = strings.TrimSpace(l[strings.IndexAny(l, " \t"):])
			sym := naiveOffset.ReplaceAllString(l[:strings.LastIndex(l, " (")], "")
			stack = append([]string{demangle.Filter(sym)}, stack...) // as the recording shows it
		}
		if event == "" {
			continue
		}
		k := strings.Join(append([]string{event}, stack...), ";")
		v := folded[k]
		folded[k] = [2]int64{v[0] + 1, v[1] + period}
	}
	return headers, frames, folded
}

func TestSamples(t *testing.T) {
	for _, want := range []struct {
		file            string
		headers, frames int64
		events          string
	}{
		{"perf-script/flamescope_perf.test01", 9, 240, "cpu-clock:9"},
		{"perf-script/forks.linux-perf.txt", 561, 2659, "cpu-clock:561"},
		{"perf-script/fx_gzip.perf.gz", 420, 3503, "cycles:420"},
		{"perf-script/fx_simple-perf.txt.gz", 163, 4135, "task-clock:u:163"},
		{"perf-script/fx_test.perf.gz", 73, 671, "cycles:ppp:1 cycles:uppp:72"},
		{"perf-script/rust-mangled.linux-perf.txt", 96, 388, "task-clock:ppp:96"},
		{"perf-script/simple-with-pid.linux-perf.txt", 137, 603, "cpu-clock:137"},
		{"generated/go_vet.perf-script.txt", 168, 3587, "cpu-clock:pppH:168"},
	} {
		t.Run(filepath.Base(want.file), func(t *testing.T) {
			text := string(samples.Unpack(t, samples.Read(t, want.file)))
			if c, err := Sniff([]byte(text[:min(len(text), 1<<16)]), len(text) <= 1<<16); c != decode.Certain || err != nil {
				t.Errorf("Sniff = %v, %v", c, err)
			}
			headers, frames, folded := naive(t, text)
			for _, chunk := range []int{0, 777} {
				r, err := decodeText(t, text, chunk)
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Warnings) > 0 {
					t.Errorf("warnings %v", r.Warnings)
				}
				var events []string
				var n int64
				for e := range r.Events {
					n += r.Events[e].Metrics[0].Total
					events = append(events, fmt.Sprintf("%s:%d", r.Events[e].Name, r.Events[e].Metrics[0].Total))
				}
				sort.Strings(events)
				if n != want.headers || n != int64(headers) || r.Ledger[1].Kept != want.frames || want.frames != int64(frames) || strings.Join(events, " ") != want.events {
					t.Errorf("samples %d (naively %d), frame lines %d (naively %d), events %v", n, headers, r.Ledger[1].Kept, frames, events)
				}
				if r.Counts.Samples != want.headers || !r.HasTime {
					t.Errorf("%d samples on the timeline", r.Counts.Samples)
				}
				got := sums(r)
				for k, v := range folded {
					if got[k] != v {
						t.Errorf("%s: %v, naively %v", k, got[k], v)
					}
				}
				if len(got) != len(folded) {
					t.Errorf("%d distinct stacks, naively %d", len(got), len(folded))
				}
				timeline(t, r)
			}
		})
	}
}

// timeline checks that the sums of the samples on tracks equal those of the stack records.
func timeline(t *testing.T, r *recording.Recording) {
	t.Helper()
	for e := range r.Events {
		for m := range r.Events[e].Metrics {
			metric := &r.Events[e].Metrics[m]
			var sum int64
			for _, tr := range r.Tracks {
				if s := tr.SamplesOf(e); s != nil {
					for i := range s.Len() {
						if v := s.Value(i, metric, m); v != recording.Missing {
							sum += v
						}
					}
				}
			}
			if sum != metric.Total {
				t.Errorf("%s %s: %d on the timeline, %d in stacks", r.Events[e].Name, metric.Name, sum, metric.Total)
			}
		}
	}
}

// TestVariants prints one recording with perf itself with many choices of fields. All must
// give the same stacks.
func TestVariants(t *testing.T) {
	data := samples.Path(t, "generated/go_vet.perf.data")
	if _, err := exec.LookPath("perf"); err != nil {
		t.Skip("there is no perf to print with")
	}
	script := func(t *testing.T, args ...string) string {
		cmd := exec.Command("perf", append([]string{"script", "--no-inline", "-f", "-i", data}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Skipf("perf script: %v: %s", err, stderr.Bytes())
		}
		return string(out)
	}
	_, _, folded := naive(t, script(t))
	for _, fields := range []string{
		"comm,tid,time,period,event,ip,sym,dso", "comm,pid,tid,time,period,event,ip,sym,symoff,dso,misc",
		"comm,tid,time,event,ip", "ip", "comm,ip", "time,ip", "event,ip", "period,ip", "tid,ip", "pid,ip", "ip,dso",
		"comm,pid,time,event,ip,sym,dso", "comm,tid,event,ip,sym", "comm,pid,tid,time,ip,sym,dso", "comm,ip,sym,dso", "ip,sym,dso",
		"time,period,event,ip,sym,dso", "comm,time,event,ip,sym", "comm,tid,period,event,ip,sym", "comm,tid,time,event,sym,ip,srcline",
	} {
		t.Run(fields, func(t *testing.T) {
			text := script(t, "-F", fields, "--header")
			if c, err := Sniff([]byte(text[:min(len(text), 1<<16)]), len(text) <= 1<<16); c < decode.Maybe || err != nil {
				t.Errorf("Sniff = %v, %v", c, err)
			}
			r, err := decodeText(t, text, 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Warnings) > 0 {
				t.Errorf("warnings %v", r.Warnings)
			}
			if r.Source.Tool == "" || !strings.Contains(r.Source.Command, "go vet strconv") {
				t.Errorf("%+v", r.Source)
			}
			got := sums(r)
			n := int64(0)
			for k, v := range folded {
				_, stack, _ := strings.Cut(k, ";")
				if strings.Contains(fields, "event") {
					stack = k
				} else {
					stack = ";" + stack
				}
				g := got[stack]
				if !strings.Contains(fields, "sym") {
					continue // their addresses are compared below
				}
				if g[0] != v[0] || strings.Contains(fields, "period") && g[1] != v[1] {
					t.Errorf("%.150s: %v, naively %v", stack, g, v)
				}
				n += g[0]
			}
			if !strings.Contains(fields, "sym") {
				n = naiveAddresses(t, text, r)
			}
			if n != 168 || r.Ledger[0].Kept != 168 {
				t.Errorf("%d samples, ledger %+v", n, r.Ledger[0])
			}
			if e := r.Events[0]; strings.Contains(fields, "event") && (e.Mode != "frequency" || e.Frequency != 199) {
				t.Errorf("%+v", e)
			}
		})
	}
}

// naiveAddresses compares the frames of a text without symbols with the addresses that
// follow a tab in it, and returns the number of samples.
func naiveAddresses(t *testing.T, text string, r *recording.Recording) (n int64) {
	t.Helper()
	want := map[string]int64{}
	for _, m := range regexp.MustCompile(`(?m)^\t *([0-9a-f]+)`).FindAllStringSubmatch(text, -1) {
		want["0x"+m[1]]++
	}
	for stack, v := range sums(r) {
		n += v[0]
		for _, name := range strings.Split(stack, ";")[1:] {
			want[name] -= v[0]
		}
	}
	for name, v := range want {
		if v != 0 {
			t.Errorf("%s: %d more in the text than in the recording", name, v)
		}
	}
	return n
}

func TestHeaders(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"forks     9 [002] 203265.377019:    1001001 cpu-clock: ", "forks|0/9|2|203265377019000|1001001|cpu-clock|"},
		{"simple-terminat     9/9     198791.127353: cpu-clock: ", "simple-terminat|9/9|-1|198791127353000|-|cpu-clock|"},
		{"Gecko\t25122 [007] 115539.936601:\t\t1000000 task-clock:u:", "Gecko|0/25122|7|115539936601000|1000000|task-clock:u|"},
		{"Web Content 12 7 123/456 [001] 1.5: 3 cycles:ppp: ", "Web Content 12 7|123/456|1|1500000000|3|cycles:ppp|"},
		{"swapper     0/0     [000] 12.000000001:          1 cpu_core/cycles/P: ", "swapper|0/0|0|12000000001|1|cpu_core/cycles/P|"},
		{":-1    -1/-1    [000]  1.000000:  1 cycles: ", ":-1|-1/-1|0|1000000000|1|cycles|"},
		{"bash  1977 [000] 17284.993652: sched:sched_switch: prev_comm=bash prev_pid=1977 ==> next_comm=x", "bash|0/1977|0|17284993652000|-|sched:sched_switch|prev_comm=bash prev_pid=1977 ==> next_comm=x"},
		{"vet 16659/16659 [001] U     2221.725043:    5025125 cpu-clock:pppH: ", "vet|16659/16659|1|2221725043000|5025125|cpu-clock:pppH|"},
		{"perf  83220/83220 36556.170907:          1 cycles:  ffffffffa4c7c5c6 native_write_msr+0x6 ([kernel.kallsyms])", "perf|83220/83220|-1|36556170907000|1|cycles|ffffffffa4c7c5c6 native_write_msr+0x6 ([kernel.kallsyms])"},
		{"java  123 cycles: ", "java|0/123|-1|-|-|cycles|"},
		{"java cycles: ", "java||-1|-|-|cycles|"},
		{"java  5.000000: cycles: ", "java||-1|5000000000|-|cycles|"},
		{"java  12  5.000000: ", "java|0/12|-1|5000000000|-||"},
		{"  12  5.000000:  77 cycles:", "|0/12|-1|5000000000|77|cycles|"},
		{"12.5: 3 cycles:", "||-1|12500000000|3|cycles|"},
	} {
		var h header
		if !parseHeader(bytes.TrimSpace([]byte(c.line)), &h) {
			t.Errorf("%q is no header", c.line)
			continue
		}
		ids, ns, period := "", "-", "-"
		if h.hasTID {
			ids = fmt.Sprintf("%d/%d", h.pid, h.tid)
		}
		if h.hasTime {
			ns = fmt.Sprint(h.ns)
		}
		if h.hasPeriod {
			period = fmt.Sprint(h.period)
		}
		if got := fmt.Sprintf("%s|%s|%d|%s|%s|%s|%s", h.comm, ids, h.cpu, ns, period, h.event, h.rest); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.line, got, c.want)
		}
	}
}

func TestFrames(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"ffffffffa4c7c5c6 native_write_msr+0x6 ([kernel.kallsyms])", "ffffffffa4c7c5c6|native_write_msr|6|[kernel.kallsyms]|false|kernel"},
		{"7fa4b39f24f8 Lcom/x;::run->Ly$Z;::call (/tmp/perf-4771.map)", "7fa4b39f24f8|Lcom/x;::run->Ly$Z;::call|0|/tmp/perf-4771.map|false|managed"},
		{"b3cea6c4\tLock::unlock() (/system/lib/libc.so)", "b3cea6c4|Lock::unlock()|0|/system/lib/libc.so|false|user"},
		{"1 f(int (*)(char)) const (/opt/my app (copy)/a.out (deleted))", "1|f(int (*)(char)) const|0|/opt/my app (copy)/a.out (deleted)|false|user"},
		{"1 main+0x54 (/tmp/a(b)", "1|main|54|/tmp/a(b|false|user"},
		{"1 main (/tmp/x y (z/a)", "1|main|0|/tmp/x y (z/a|false|user"},
		{"6ce258d4c544155 [unknown] ([unknown])", "6ce258d4c544155|[unknown]|0|[unknown]|false|unknown"},
		{"ffffffffc0001000 ext4_read ([ext4])", "ffffffffc0001000|ext4_read|0|[ext4]|false|kernel"},
		{"401136 std::vector<int, std::allocator<int> >::size (inlined)", "401136|std::vector<int, std::allocator<int> >::size|0||true|unknown"},
		{"401136 operator()(int)", "401136|operator()(int)|0||false|unknown"},
		{"22fc6", "22fc6||0||false|unknown"},
		{"401136 (/tmp/a.out)", "401136||0|/tmp/a.out|false|user"},
		{"main+0x1 (/tmp/a.out)", "0|main|1|/tmp/a.out|false|user"},
		{"7fa4c73bc184 start_thread (/lib/x86_64-linux-gnu", "7fa4c73bc184|start_thread|0|/lib/x86_64-linux-gnu|false|user"},
		{"401136 main+0x1 (/tmp/a.out+0x1136)", "401136|main|1|/tmp/a.out|false|user"},
	} {
		f := parseFrame([]byte(c.line))
		if f == nil {
			t.Errorf("%q is no frame", c.line)
			continue
		}
		if got := fmt.Sprintf("%x|%s|%x|%s|%v|%s", f.addr, f.sym, f.offset, f.dso, f.inlined, f.kind(f.dso)); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.line, got, c.want)
		}
	}
	for _, bad := range []string{"hello", "0x12 main"} {
		if f := parseFrame([]byte(bad)); f != nil {
			t.Errorf("%q is a frame: %+v", bad, f)
		}
	}
}

const inlined = `app 7/8 [003] 10.000000:        100 cycles:u: 
	          4011d6 inner (inlined)
	          4011d6 middle (inlined)
	          4011d6 outer+0x6 (/tmp/a b)
  /src/a.c:12
	          401300 main+0x10 (/tmp/a b)

app 7/8 [001] 10.000500:        300 cycles:u: 
	          401300 main+0x10 (/tmp/a b)

app 7/9 [001] 9.999999:        50 cycles:u: 
	          401300 main+0x10 (/tmp/a b)

`

func TestInlinedAndTimes(t *testing.T) {
	r, err := decodeText(t, inlined, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range r.Calls.Path(nil, r.Stacks[0].Call(0)) {
		f := r.Frames.At(int(r.Calls.Frame(c)))
		fn := r.Functions.At(int(f.Func))
		got = append(got, fmt.Sprintf("%s %s %x %v %d %s:%d", fn.Name, fn.Module, f.Offset, f.Inlined, f.InlineDepth, f.File, f.Line))
	}
	want := "main /tmp/a b 10 false 0 :0|outer /tmp/a b 6 false 0 /src/a.c:12|middle /tmp/a b 0 true 1 :0|inner /tmp/a b 0 true 2 :0"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	if len(r.Tracks) != 2 || r.Tracks[0].PID != 7 || r.Tracks[0].TID != 8 || r.Tracks[0].Name != "app" {
		t.Errorf("%+v", r.Tracks)
	}
	s := r.Tracks[0].SamplesOf(0)
	if s.Len() != 2 || s.Time(1)-s.Time(0) != 500_000_000 || s.CPU(0) != 3 || s.CPU(1) != 1 || r.Clock.Text(s.Time(1)) != "10.0005" {
		t.Errorf("times %d %d", s.Time(0), s.Time(1))
	}
	if r.Clock.Text(r.Start) != "9.999999" || r.Events[0].Metrics[1].Total != 450 || r.Events[0].Primary != 1 || r.Stacks[0].Len() != 3 {
		t.Errorf("start %s, %+v", r.Clock.Text(r.Start), r.Events[0])
	}
	if c := r.Contexts.At(int(r.Stacks[0].Context(2))); fmt.Sprint(c) != "[{comm app} {pid 7} {tid 9}]" {
		t.Errorf("context %v", c)
	}
}

func TestOddTexts(t *testing.T) {
	for _, c := range []struct {
		name, text string
		samples    int64
		folded     string
		warning    string
		err        string
	}{
		{"empty", "", 0, "", "", "the text has no samples: perf script prints each as a line with thread, time and event, then one line per frame"},
		{"prose", "hello world, this is a text that is longer than any name of a thread\n", 0, "", "line 1 not-a-sample", "the text has no samples: perf script prints each as a line with thread, time and event, then one line per frame"},
		{"no stacks", "            perf  1 [000] 1.000000:  1 cycles:  ffffffffa4 f+0x6 ([kernel.kallsyms])\n            cafe  2 [000] 1.000001:  1 cycles:  ffffffffa4 f+0x6 ([kernel.kallsyms])\n", 2, "cycles;f=2", "", ""},
		{"tracepoint", "bash  1 [000] 1.000000: sched:sched_switch: prev=1\n\tffff f (/a)\n\n", 1, "sched:sched_switch;f=1", "line 1 fields-not-shown", ""},
		{"no source line", "node \n\t1de39 dl_main\n  rtld.c:2356\n\t1ab78 _start\n  :0\n\n", 1, ";_start;dl_main=1", "", ""},
		{"side band", "a 1 [000] 1.0: PERF_RECORD_COMM exec: a:1/1\na 1 [000] 1.0: PERF_RECORD_LOST lost 5\na 1 [000] 1.0: 1 c: \n\t1 f (/a)\n", 1, "c;f=1", "line 2 samples-lost", ""},
		{"cut frame", "a 1 1.0: 1 c: \n\t1 f (/a)\n\t2 mai", 1, "c;f=1", "line 3 cut", ""},
		{"cut header", "a 1 1.0: 1 c: \n\t1 f (/a)\n\na 1 1.5: 10", 1, "c;f=1", "line 4 not-a-sample", ""},
		{"no blank lines", "a 1 1.0: 1 c: \n\t1 f (/a)\na 1 1.5: 1 c: \n\t1 f (/a)\n\t1 g (/a)", 2, "c;f=1 c;g;f=1", "", ""},
		{"stack without frames", "a 1 1.0: 1 c: \n\na 1 1.0: 1 c: \n\n", 2, "c=2", "", ""},
		{"garbage inside", "a 1 1.0: 1 c: \n\tzzz\n\t1 f (/a)\n", 1, "c;f=1", "line 2 not-a-frame", ""},
		{"a period on some samples only", "a 1 1.0: c: \n\t1 f (/a)\n\na 1 1.1: 10 c: \n\t1 f (/a)\n\na 1 1.2: c: \n\t1 f (/a)\n\nb 1 1.3: d: \n\t1 g (/a)\n", 4, "c;f=3 d;g=1", "line 1 period-missing", ""},
		{"period too large", "a 1 1.0: 99999999999999999999 c: \n\t1 f (/a)\n", 1, "c;f=1", "line 1 period-too-large", ""},
		{"two events", "a 1 1.0: 1 c: \n\t1 f (/a)\n\na 1 1.0: d: \n\t1 f (/a)\n", 2, "c;f=1 d;f=1", "", ""},
		{"blank line behind the header", "a 1 1.0: 1 c: \n\n\t1 f (/a)\n\t2 g (/a)\n\na 1 1.5: 1 c: \n\n\t1 f (/a)\n", 2, "c;f=1 c;g;f=1", "line 3 blank-line", ""},
		{"blank line in the stack", "a 1 1.0: 1 c: \n\t1 f (/a)\n\n\t2 g (/a)\n\n\na 1 1.5: 1 c: \n\t1 f (/a)\n", 2, "c;f=1 c;g;f=1", "line 4 blank-line", ""},
		{"a header that cannot be read", "a 1 1.0: 1 c: \n\t1 f (/a)\n\nthis is no header of any sample that perf prints\n\t1 h (/a)\n\na 1 1.5: 1 c: \n\t1 f (/a)\n", 3, "c;f=2 c;h=1", "line 4 not-a-sample", ""},
		{"addresses only", "a 1 1.0: c: \n\t             1f\n\t             2e\n\na 1 1.5: c: \n\t             1f\n", 2, "c;0x1f=1 c;0x2e;0x1f=1", "", ""},
		{"-F ip", "\n\t             1f\n\t             2e\n\n\n\t             1f\n\n", 2, ";0x1f=1 ;0x2e;0x1f=1", "", ""},
		{"-F ip,dso", "\n\t 7f1f (/lib/c.so)\n\t 2e ([unknown])\n\n\n\t 7f1f (/lib/c.so+0x1f)\n\n", 2, ";0x2e;0x7f1f=1 ;c.so+0x1f=1", "", ""},
		{"-F period,ip", "   5025125 \n\t             1f\n\n        17 \n\t             1f\n\t 2e\n\n", 2, ";0x1f=1 ;0x2e;0x1f=1", "", ""},
		{"-F comm,event", "             vet cpu-clock:pppH: \n              go cpu-clock:pppH: \n", 2, "cpu-clock:pppH=2", "", ""},
		{"-F time,event", " 2221.725043: c: \n 2221.732172: c: \n", 2, "c=2", "", ""},
		{"an odd line between", "a 1 1.0: 1 c: \n\t1 f (/a)\n\nWarning: 3 samples could not be read\n\na 1 1.5: 1 c: \n\t1 f (/a)\n", 2, "c;f=2", "line 4 not-a-sample", ""},
		{"an odd line among comments", "# ========\n# hostname : box\nhello\n# cmdline : /usr/bin/perf record x\n#\na 1 1.0: 1 c: \n\t1 f (/a)\n", 1, "c;f=1", "line 3 not-a-sample", ""},
		{"a comm with a hash", "#kworker 1 1.0: 1 c: \n\t1 f (/a)\n\n# captured on    : Sun Nov  1 10:20:11 2026\n", 1, "c;f=1", "", ""},
		{"windows line ends", "a 1 1.0: 1 c: \r\n\t1 f (/a)\r\n\r\n", 1, "c;f=1", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, chunk := range []int{0, 1, 3} {
				r, err := decodeText(t, c.text, chunk)
				if c.err == "" != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), c.err) {
					t.Fatalf("error %v", err)
				}
				var got []string
				for k, v := range sums(r) {
					got = append(got, fmt.Sprintf("%s=%d", k, v[0]))
				}
				sort.Strings(got)
				if strings.Join(got, " ") != c.folded || r.Ledger[0].Kept != c.samples {
					t.Errorf("got %v, ledger %+v", got, r.Ledger)
				}
				w := ""
				if len(r.Warnings) > 0 {
					w = r.Warnings[0].First + " " + r.Warnings[0].Code
				}
				if w != c.warning {
					t.Errorf("warning %q, want %q", w, c.warning)
				}
			}
		})
	}
}

func TestSniffRefuses(t *testing.T) {
	for _, c := range []string{
		"", "{\"a\": 1}\n", "a;b 1\nmain;c 2\n", "hello world\n", "\x0a\x04\x08\x01", "<html>\n  <a>\n",
		"# tracer: nop\n#\n#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n          <idle>-0       [001] d..2.  1234.567890: sched_switch: prev_comm=swapper/1 ==> next_comm=x\n",
		"     ksoftirqd/0-3     [000] ...2 22.123456: sched_wakeup: comm=x pid=1\n     my app-12    (   12) [003] d..3 22.123457: tracing_mark_write: B|12|draw\n",
		"cpus=2\n          <idle>-0     [001]   123.456789: sched_switch:         swapper/1:0 [120] R ==> bash:12 [120]\n            bash-12    [001]   123.456791: sched_switch:         bash:12 [120] S ==> swapper/1:0 [120]\n",
		"package main\n\nfunc main() {\n\tfoo()\n}\n", "heap profile: 13: 15 [47: 25] @ heap/1048576\n1: 524288 [3: 1572864] @ 0x420cef\n",
		"a: 1\nb: 2\n",
		"--- heapz 1 ---\nformat = java\nresolution = bytes\n          7048     1 @ 0x00000003 0x00000004\n          4752     9 @ 0x0000002b\n",
		"--- contentionz 1 ---\ncycles/second = 3201000000\nsampling period = 100\n   8 1 @ 0x1 0x2\n",
	} {
		if got, err := Sniff([]byte(c), true); got != decode.No || err != nil {
			t.Errorf("Sniff(%.30q) = %v, %v", c, got, err)
		}
	}
}

// TestSniffFields checks that samples are recognised whatever fields were printed.
func TestSniffFields(t *testing.T) {
	for _, c := range []struct {
		text string
		want decode.Confidence
	}{
		{"vet 16659  2221.725043: cpu-clock:pppH: \n\t           22fc6\n\t           2040a\n\n", decode.Certain},
		{"a 1 1.0: 1 c: \n\t1 f (/a)\n\nWarning: 3 samples could not be read\n\na 1 1.5: 1 c: \n\t1 f (/a)\n", decode.Certain},
		{"a 1 1.0: 1 c: \n\t1 f (/a)\n\n[ perf record: Woken up 1 times to write data and so on ]\n\na 1 1.5: 1 c: \n\t1 f (/a)\n", decode.Likely},
		{"\n\t           22fc6\n\t           2040a\n\n", decode.Maybe},
		{"\n\t 22fc6 (/usr/bin/a)\n\t 2040a (/usr/bin/a)\n\n", decode.Maybe},
		{"vet \n\t           22fc6\n\t           2040a\n\n", decode.Maybe},
		{"16659 \n\t           22fc6\n\t           2040a\n\n", decode.Maybe},
		{" 2221.725043: \n\t           22fc6\n\t           2040a\n\n", decode.Maybe},
		{"<unnamed> 1 1.0: 1 c: \n\t1 f (/a)\n", decode.Certain},
		{"{x} 1 1.0: 1 c: \n\t1 f (/a)\n", decode.Certain},
		{"             vet 16659  2221.725043: \n              go 16656  2221.732172: \n", decode.Maybe},
	} {
		if got, err := Sniff([]byte(c.text), true); got != c.want || err != nil {
			t.Errorf("Sniff(%q) = %v, %v", c.text, got, err)
		}
	}
}

func TestPeriodAlone(t *testing.T) {
	r, err := decodeText(t, "   5025125 \n\t             1f\n\n        17 \n\t             1f\n\t 2e\n\n", 0)
	if m := r.Events[0].Metrics; err != nil || len(m) != 2 || m[1].Total != 5025142 || r.Ledger[1].Kept != 3 {
		t.Errorf("%v, %+v, %+v", err, m, r.Ledger)
	}
}

func TestBatches(t *testing.T) {
	var text strings.Builder
	for i := range batch + 10 {
		fmt.Fprintf(&text, "a 1 %d.%06d: 2 c: \n\t1 f (/a)\n\t2 g%d (/a)\n\n", i/1000, i%1000*1000, i%3)
	}
	r, err := decodeText(t, text.String(), 0)
	if err != nil {
		t.Fatal(err)
	}
	m := r.Events[0].Metrics
	if m[0].Total != batch+10 || m[1].Total != 2*(batch+10) || r.Stacks[0].Len() != 6 {
		t.Errorf("%+v, %d rows", m, r.Stacks[0].Len())
	}
	timeline(t, r)
}

// TestRepeatedText checks that a text that contains its samples twice gives a warning, and that
// two samples at one time do not.
func TestRepeatedText(t *testing.T) {
	sample := func(time string) string {
		return "app  7/7 [001]  " + time + ":     250000 cycles: \n\t          401000 leaf+0x0 (/bin/app)\n\n"
	}
	a, b, c := sample("100.000001"), sample("100.000002"), sample("100.000003")
	for text, want := range map[string]string{
		a + b + c:             "",
		a + a + b + b:         "", // within a microsecond
		b + a + c:             "", // not sorted
		a + b + c + a + b + c: "line 10",
		a + a + b + a + a + b: "line 10",
		sample("0.000000") + b + sample("0.000000") + b: "", // --reltime, of two recordings
	} {
		r, err := decodeText(t, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, w := range r.Warnings {
			got += w.First
		}
		if got != want || r.Counts.Samples != int64(strings.Count(text, "app  ")) {
			t.Errorf("%s: %d samples, warned at %q, want %q: %v", text, r.Counts.Samples, got, want, r.Warnings)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := Decode(ctx, source.FromBytes("x", []byte(inlined)), recording.NewBuilder(), decode.Options{})
	if err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(inlined), 3)
	f.Add([]byte("# ========\n# event : name = c, { sample_period, sample_freq } = 5, freq = 1\n#\na 1/2 [003] 1.5: sched:x: y=1\n\tffff8000000000000 f+0x1 (/a (b))\n"), 1)
	f.Add([]byte("\t1 f\n\t2 g\n\n\t1 f\n"), 0)
	f.Add([]byte("   5025125 \n\t 1f\n\n\t 2e\nodd\n# x : y\n\t3\n"), 0)
	f.Add([]byte("a 1 1.0: 1 c: \n\n\t1 f (/a)\n\n\t2 g (/a)\nthis is no header of any sample that perf prints\n\t4 (/a+0x4)\n"), 2)
	decodetest.FuzzParts(f, Decode, Sniff, sums)
}

func BenchmarkDecode(b *testing.B) {
	var text strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&text, "server %d/%d [%03d] %d.%06d:    1001001 cycles:ppp: \n", 100, 100+i%8, i%4, i/1000, i%1000*1000)
		for d := range 12 + i%9 {
			k := (i/7*31 + d*d*(i%5+1)) % 900
			fmt.Fprintf(&text, "\t%16x pkg%d::Type%d::method+0x%x (/usr/lib/libserver.so.%d)\n", 0x7f0000000000+k*64, k%40, k, k%50, k%3)
		}
		text.WriteByte('\n')
	}
	content := []byte(text.String())
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		in := source.FromBytes("x", content)
		if err := Decode(context.Background(), in, recording.NewBuilder(), decode.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(50_000*float64(b.N)/b.Elapsed().Seconds(), "samples/s")
}
