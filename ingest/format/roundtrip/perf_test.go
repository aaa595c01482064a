package roundtrip

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/ianlancetaylor/demangle"

	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
	"ashlar/spaa"
	"ashlar/testdata/samples"
)

// perfText is output of perf script: two events, two processes, an inlined function, an
// address without a name, and a thread that changes its name.
const perfText = `app 100/101 [000] 5000.000001: 1000 cycles:
	    401200 helper+0x10 (inlined)
	    401200 parse+0x20 (/usr/bin/app)
	    401100 main+0x5 (/usr/bin/app)

app 100/101 [001] 5000.400001: 3000 cycles:
	    401300 read+0x1 (/usr/bin/app)
	    401100 main+0x5 (/usr/bin/app)

worker 100/102 [001] 5000.500000: 500 cycles:
	ffffffff81000100 do_syscall+0x9 ([kernel.kallsyms])
	    401300 read+0x1 (/usr/bin/app)

app 100/101 [000] 5001.000001: 7 instructions:
	    401300 read+0x1 (/usr/bin/app)
	    401100 main+0x5 (/usr/bin/app)

renamed 100/102 [001] 5001.000002: 9007199254740993 cycles:
	    401300 read+0x1 (/usr/bin/app)

other 200/200 [002] 5002.999999: 11 cycles:
	      7f00 [unknown] ([unknown])

`

// perfSums sums the periods of a perf script text by event and function, line by line.
func perfSums(text string) (self, total map[string]*big.Rat) {
	self, total = map[string]*big.Rat{}, map[string]*big.Rat{}
	header := regexp.MustCompile(`^\S.*\s([0-9.]+):\s+([0-9]+) (\S+):`)
	noPeriod := regexp.MustCompile(`^\S.*\s([0-9.]+):\s+(\S+):\s*$`)
	frame := regexp.MustCompile(`^\s+[0-9a-f]+ (.*) \((.*)\)$`)
	add := func(m map[string]*big.Rat, k string, v *big.Rat) {
		if m[k] == nil {
			m[k] = new(big.Rat)
		}
		m[k].Add(m[k], v)
	}
	var event string
	var period *big.Rat
	var seen map[string]bool
	for line := range strings.Lines(strings.ReplaceAll(text, "\r", "")) {
		line = strings.TrimRight(line, "\n ")
		if m := header.FindStringSubmatch(line); m != nil {
			event, seen = m[3], map[string]bool{}
			period, _ = new(big.Rat).SetString(m[2])
			continue
		}
		if m := noPeriod.FindStringSubmatch(line); m != nil {
			event, seen, period = m[2], map[string]bool{}, big.NewRat(1, 1)
			continue
		}
		m := frame.FindStringSubmatch(line)
		if m == nil || period == nil {
			continue
		}
		name := regexp.MustCompile(`\+0x[0-9a-f]+$`).ReplaceAllString(m[1], "")
		name = demangle.Filter(name) // as the recording shows it
		if len(seen) == 0 {
			add(self, event+" "+name, period)
		}
		if !seen[name] {
			add(total, event+" "+name, period)
		}
		seen[name] = true
	}
	return self, total
}

func ratText(m map[string]*big.Rat) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%s %s\n", k, m[k].RatString())
	}
	return b.String()
}

// weigh sums self and total by event and function over the stacks of a recording.
func weigh(rec *recording.Recording) (self, total map[string]*big.Rat) {
	self, total = map[string]*big.Rat{}, map[string]*big.Rat{}
	for e, s := range rec.Stacks {
		ev := &rec.Events[e]
		for i := range s.Len() {
			v := rat(s.Value(i, ev.Primary), &ev.Metrics[ev.Primary])
			seen := map[string]bool{}
			for c := s.Call(i); c != recording.NoCall; c = rec.Calls.Parent(c) {
				k := ev.Name + " " + rec.FuncName(c)
				for _, m := range []map[string]*big.Rat{self, total} {
					if m[k] == nil {
						m[k] = new(big.Rat)
					}
				}
				if len(seen) == 0 {
					self[k].Add(self[k], v)
				}
				if !seen[k] {
					total[k].Add(total[k], v)
				}
				seen[k] = true
			}
		}
	}
	maps.DeleteFunc(self, func(_ string, v *big.Rat) bool { return v.Sign() == 0 })
	return self, total
}

// TestPerfScriptToSPAA checks that the sums of a perf script text, counted from its lines,
// are kept in SPAA.
func TestPerfScriptToSPAA(t *testing.T) {
	texts := map[string]string{"made.perf": perfText}
	for name, content := range samples.Each(t, "perf-script/forks.linux-perf.txt", "perf-script/simple-with-pid.linux-perf.txt", "perf-script/fx_gzip.perf.gz", "generated/go_vet.perf-script.txt") {
		texts[name] = string(samples.Unpack(t, content))
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			rec := load(t, "in.perf", []byte(text))
			out, rep := write(t, rec, "out.spaa", encode.Options{Window: encode.Second})
			checkSPAA(t, out)
			for _, l := range rep.Lost {
				t.Errorf("lost %v", l)
			}
			back := load(t, "out.spaa", out)
			self, total := weigh(back)
			wantSelf, wantTotal := perfSums(text)
			if got, want := ratText(self), ratText(wantSelf); got != want {
				t.Errorf("self is\n%s\nwant\n%s", got, want)
			}
			if got, want := ratText(total), ratText(wantTotal); got != want {
				t.Errorf("total is\n%s\nwant\n%s", got, want)
			}
			windowsAddUp(t, back)
		})
	}
}

// windowsAddUp checks that the windows partition the samples.
func windowsAddUp(t *testing.T, rec *recording.Recording) {
	t.Helper()
	for _, set := range rec.Windows {
		for m := range rec.Events[set.Event].Metrics {
			var got int64
			for i := range set.Rows.Len() {
				if v := set.Rows.Value(i, m); v != recording.Missing {
					got += v
				}
			}
			if want := rec.Events[set.Event].Metrics[m].Total; got != want {
				t.Errorf("windows of %s have %d %s, want %d", rec.Events[set.Event].Name, got, rec.Events[set.Event].Metrics[m].Name, want)
			}
		}
		for i, w := range set.Windows {
			// Empty windows have no stack that names their event, so they belong to the
			// first event.
			if i > 0 && w.Start < set.Windows[i-1].Start {
				t.Errorf("window %s begins before the one in front of it", w.ID)
			}
		}
	}
}

// TestPerfScriptSPAARecords checks the header, threads, samples and windows of the SPAA
// file written for a known text.
func TestPerfScriptSPAARecords(t *testing.T) {
	out, _ := write(t, load(t, "in.perf", []byte(perfText)), "out.spaa", encode.Options{Window: encode.Second})
	var got strings.Builder
	r := spaa.NewReader(bytes.NewReader(out))
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch rec := rec.(type) {
		case *spaa.Header:
			fmt.Fprintf(&got, "%s %s %s..%s %s\n", rec.SourceTool, rec.StackIDMode, rec.TimeRange.Start, rec.TimeRange.End, rec.TimeRange.Unit)
			for _, e := range rec.Events {
				fmt.Fprintf(&got, "event %s %s %s %s\n", e.Name, e.Kind, e.Sampling.Mode, e.Sampling.PrimaryMetric)
			}
		case *spaa.DSO:
			fmt.Fprintf(&got, "dso %d %s %v\n", rec.ID, rec.Name, rec.IsKernel.V)
		case *spaa.Thread:
			fmt.Fprintf(&got, "thread %d/%d %s\n", rec.PID, rec.TID, rec.Comm)
		case *spaa.Sample:
			fmt.Fprintf(&got, "sample %s %d/%d cpu %d %s %s\n", rec.Timestamp, rec.PID.V, rec.TID.V, rec.CPU.V, rec.Event, rec.Period)
		case *spaa.Window:
			fmt.Fprintf(&got, "window %s %s..%s", rec.ID, rec.Start, rec.End)
			for _, s := range rec.ByStack {
				for _, w := range s.Weights {
					fmt.Fprintf(&got, " %s=%s", w.Metric, w.Value)
				}
			}
			got.WriteByte('\n')
		}
	}
	const want = `perf content_addressable 5000.000001..5002.999999 seconds
event cycles hardware period period
event instructions hardware period period
dso 1 /usr/bin/app false
dso 2 [kernel.kallsyms] true
dso 3 [unknown] false
thread 100/101 app
thread 100/102 renamed
thread 200/200 other
sample 5000.000001 100/101 cpu 0 cycles 1000
sample 5000.400001 100/101 cpu 1 cycles 3000
sample 5000.5 100/102 cpu 1 cycles 500
sample 5001.000001 100/101 cpu 0 instructions 7
sample 5001.000002 100/102 cpu 1 cycles 9007199254740993
sample 5002.999999 200/200 cpu 2 cycles 11
window w1 5000.000001..5001.000001 samples=1 period=1000 samples=1 period=3000 samples=1 period=500
window w2 5001.000001..5002.000001 samples=1 period=9007199254740993 samples=1 period=7
window w3 5002.000001..5002.999999 samples=1 period=11
`
	var lines []string // samples and windows alternate, in time order
	for _, kind := range []string{"perf", "event", "dso", "thread", "sample", "window"} {
		for line := range strings.Lines(got.String()) {
			if strings.HasPrefix(line, kind) {
				lines = append(lines, line)
			}
		}
	}
	if s := strings.Join(lines, ""); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
}

// TestPerfScriptWithoutPeriod checks that SPAA without periods has another source_tool,
// because perf's own files have a period metric.
func TestPerfScriptWithoutPeriod(t *testing.T) {
	text := regexp.MustCompile(`: [0-9]+ (cycles|instructions):`).ReplaceAllString(perfText, ": $1:")
	rec := load(t, "in.perf", []byte(text))
	out, _ := write(t, rec, "out.spaa", encode.Options{})
	checkSPAA(t, out)
	if !bytes.Contains(out[:200], []byte(`"source_tool":"perf-script"`)) {
		t.Errorf("the header is %s", out[:200])
	}
}

// TestStackIDs checks that equal stacks of two recordings get equal ids even if their
// frames have other numbers, and that stacks of different events get different ids.
func TestStackIDs(t *testing.T) {
	ids := func(text string) map[string]string {
		out, _ := write(t, load(t, "in.perf", []byte(text)), "out.spaa", encode.Options{})
		frames, of := map[int64]string{}, map[string]string{}
		r := spaa.NewReader(bytes.NewReader(out))
		for {
			rec, err := r.Next()
			if err == io.EOF {
				return of
			}
			if err != nil {
				t.Fatal(err)
			}
			switch rec := rec.(type) {
			case *spaa.Frame:
				frames[rec.ID] = rec.Func + rec.SymOff
			case *spaa.Stack:
				key := rec.Context.Event
				for _, f := range rec.Frames {
					key += " " + frames[f]
				}
				of[key] = rec.ID.String()
			}
		}
	}
	parts := strings.SplitAfter(perfText, "\n\n")
	slices.Reverse(parts)
	a, b := ids(perfText), ids(strings.Join(parts[:len(parts)-1], ""))
	same := 0
	for k, id := range a {
		if strings.HasPrefix(k, "cycles") && b[k] == id {
			same++
		}
	}
	if same < 3 {
		t.Errorf("only %d stacks have equal ids in %v and %v", same, a, b)
	}
	seen := map[string]string{}
	for k, id := range a {
		if other, ok := seen[id]; ok {
			t.Errorf("%q and %q share the id %s", k, other, id)
		}
		seen[id] = k
	}
}

// pprofTop returns flat and cum by function from go tool pprof.
func pprofTop(t *testing.T, path, sampleType, unit string) map[string][2]string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command")
	}
	top := map[string][2]string{}
	for _, r := range decodetest.PprofTop(t, sampleType, unit, path) {
		top[r.Name] = [2]string{r.Flat, r.Cum}
	}
	return top
}

// TestPprofReadsIt checks that go tool pprof prints the self and total of a SPAA file for
// the profile converted from it.
func TestPprofReadsIt(t *testing.T) {
	files := map[string]*recording.Recording{"made": load(t, "in.perf", []byte(strings.ReplaceAll(perfText, "9007199254740993", "12345")))}
	for _, path := range samples.Files(t, "spaa/perf_go_vet.spaa", "spaa/chrome_65_sucrase.spaa", "spaa/perf_forks.linux-perf.spaa") {
		files[filepath.Base(path)] = open(t, path)
	}
	for name, rec := range files {
		t.Run(name, func(t *testing.T) {
			out, _ := write(t, rec, "out.pb.gz", encode.Options{})
			path := filepath.Join(t.TempDir(), "out.pb.gz")
			if err := os.WriteFile(path, out, 0o666); err != nil {
				t.Fatal(err)
			}
			e := &rec.Events[0]
			self, total := weigh(rec)
			want := map[string][2]string{}
			for k, v := range total {
				fn, ok := strings.CutPrefix(k, e.Name+" ")
				if !ok {
					continue
				}
				s := self[k]
				if s == nil {
					s = new(big.Rat)
				}
				want[fn] = [2]string{s.RatString(), v.RatString()}
			}
			unit := "minimum"
			if e.Metrics[e.Primary].Unit == "ns" { // otherwise pprof rounds to larger units
				unit = "ns"
			}
			got := pprofTop(t, path, encode.PprofMetric(e.Metrics[e.Primary].Name), unit)
			for fn, w := range want {
				g, ok := got[fn]
				if !ok && w == [2]string{"0", "0"} {
					continue
				}
				if !sameNumber(g[0], w[0]) || !sameNumber(g[1], w[1]) {
					t.Errorf("%s has %v, want %v", fn, g, w)
				}
			}
			for fn := range got {
				if _, ok := want[fn]; !ok {
					t.Errorf("%s is new", fn)
				}
			}
		})
	}
}

// TestPprofMainBinary checks that the program is the first mapping of a profile, before the
// kernel and libraries.
func TestPprofMainBinary(t *testing.T) {
	text := strings.Replace(perfText, "app 100/101", "first 1/1 [000] 4999.5: 1 cycles:\n\tffffffff81000200 idle+0x1 ([kernel.kallsyms])\n\t7f0000001000 start+0x1 (/lib/libc.so.6)\n\napp 100/101", 1)
	out, _ := write(t, load(t, "in.perf", []byte(text)), "out.pb", encode.Options{})
	p, err := profile.ParseData(out)
	if err != nil {
		t.Fatal(err)
	}
	if p.Mapping[0].File != "/usr/bin/app" || len(p.Mapping) != 4 {
		t.Errorf("the binaries are %v", p.Mapping)
	}
}

// sameNumber compares a number printed by pprof, with up to two decimals or an exponent,
// with a whole number.
func sameNumber(got, want string) bool {
	g, err1 := strconv.ParseFloat(got, 64)
	w, err2 := strconv.ParseFloat(want, 64)
	if err1 != nil || err2 != nil {
		return false
	}
	return g == w || g != 0 && (g-w)/w < 1e-5 && (g-w)/w > -1e-5
}
