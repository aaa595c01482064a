package findings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// foundIn reads a file and returns its recording and findings.
func foundIn(t *testing.T, name string, content []byte) (*recording.Recording, []Finding) {
	t.Helper()
	l := ingest.OpenInput(t.Context(), source.FromBytes(name, content), ingest.Options{})
	defer l.Close()
	if err := l.Wait(); err != nil {
		t.Fatal(err)
	}
	all, err := Of(t.Context(), l.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	return l.Snapshot(), all
}

// TestWeightWithoutStack checks a heap profile with mostly unknown stacks: no function may be
// blamed for their memory, and a recording without any function must not fail.
func TestWeightWithoutStack(t *testing.T) {
	for name, frames := range map[string]string{"no function": `""`, "one function": `"[root]","0x1: keep (a.c:1)"`} {
		content := fmt.Sprintf(`{"dhatFileVersion":2,"mode":"heap","verb":"Allocated","bklt":true,"bkacc":false,"tu":"instrs","Mtu":"Minstr","tuth":500,"cmd":"x","pid":7,"te":900,"tg":800,
"pps":[{"tb":1000000,"tbk":2000,"tl":1,"mb":9,"mbk":1,"gb":9,"gbk":1,"eb":0,"ebk":0,"fs":[]},{"tb":8,"tbk":1,"tl":1,"mb":8,"mbk":1,"gb":8,"gbk":1,"eb":8,"ebk":1,"fs":[1]}],"ftbl":[%s]}`, frames)
		_, found := foundIn(t, "heap.json", []byte(content))
		for _, f := range found {
			if f.Rule == "garbage" || f.Rule == "hot" {
				t.Errorf("%s: %s", name, f.Claim)
			}
		}
	}
}

// TestProfileBesideSpans checks that the CPU profile in a trace of spans is examined too, and
// that findings about it name its event in the sentence, the address and the command.
func TestProfileBesideSpans(t *testing.T) {
	for hot, want := range map[int]bool{80: true, 20: false} {
		var samples, deltas []string
		for i := range 100 {
			samples, deltas = append(samples, fmt.Sprint(3+i%7)), append(deltas, "1000")
			if i < hot {
				samples[i] = "2"
			}
		}
		nodes := `{"id":1,"callFrame":{"functionName":"(root)"}},{"id":2,"parent":1,"callFrame":{"functionName":"collect"}}`
		for i := range 7 {
			nodes += fmt.Sprintf(`,{"id":%d,"parent":1,"callFrame":{"functionName":"f%d"}}`, 3+i, i)
		}
		content := fmt.Sprintf(`[{"ph":"X","name":"build","pid":1,"tid":1,"ts":0,"dur":100000},{"ph":"X","name":"seal","pid":1,"tid":1,"ts":200000,"dur":90000},
{"ph":"P","name":"Profile","id":1,"pid":1,"tid":2,"ts":1,"args":{"data":{"startTime":1}}},
{"ph":"P","name":"ProfileChunk","id":1,"pid":1,"tid":2,"ts":9,"args":{"data":{"cpuProfile":{"nodes":[%s],"samples":[%s]},"timeDeltas":[%s]}}}]`, nodes, strings.Join(samples, ","), strings.Join(deltas, ","))
		_, found := foundIn(t, "a.json", []byte(content))
		i := slices.IndexFunc(found, func(f Finding) bool { return f.Rule == "hot" })
		switch {
		case want != (i >= 0):
			t.Errorf("with %d of 100 samples in a function there are the findings %v", hot, found)
		case want:
			f := found[i]
			if f.Function != "collect" || !strings.Contains(f.Claim, "of time in JS samples.") || !strings.Contains(f.Command, "--event cpu-profile") || !strings.Contains(f.Address, "event=cpu-profile&") {
				t.Errorf("the finding is %+v", f)
			}
		}
	}
}

// TestSaturatedTotal checks that a finding about a share of a sum beyond 64 bits has no
// confidence and says that the sum is a lower bound.
func TestSaturatedTotal(t *testing.T) {
	for values, saturated := range map[[2]int64]bool{{9e18, 9e18}: true, {9e15, 9e14}: false} {
		content := fmt.Sprintf("version: 1\nevents: Ir\nfl=a.c\nfn=main\n1 %d\nfn=work\n2 %d\n", values[0], values[1])
		l := ingest.OpenInput(t.Context(), source.FromBytes("a.out", []byte(content)), ingest.Options{})
		if err := l.Wait(); err != nil {
			t.Fatal(err)
		}
		found, err := Of(t.Context(), l.Snapshot())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(found, func(f Finding) bool { return f.Rule == "hot" })
		if i < 0 {
			t.Fatalf("%v: findings %v", values, found)
		}
		f := found[i]
		if text := f.Text(); (f.Confidence == nil) != saturated || strings.Contains(text, " sure.") == saturated || strings.Contains(f.Claim, "it is a lower bound, and the share may be smaller.") != saturated {
			t.Errorf("%v: %s (%v)", values, text, f.Confidence)
		}
	}
}

// TestStatesAreNotHot checks that no state of a thread is reported as a hot function.
func TestStatesAreNotHot(t *testing.T) {
	const content = `# tracer: nop
          <idle>-0     [001] d..2.   100.000000: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=app next_pid=42 next_prio=120
             app-42    [001] d..2.   100.005000: sched_switch: prev_comm=app prev_pid=42 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
          <idle>-0     [001] d..2.   100.006000: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=app next_pid=42 next_prio=120
             app-42    [001] d..2.   100.007000: sched_switch: prev_comm=app prev_pid=42 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
`
	rec, found := foundIn(t, "a.txt", []byte(content))
	if rec.Counts.States == 0 || slices.ContainsFunc(found, func(f Finding) bool { return f.Rule == "hot" }) {
		t.Errorf("%d states, findings %+v", rec.Counts.States, found)
	}
}

// TestWaitsAreNotHot checks that in a wall-clock profile, where most threads wait most of the
// time, waits are neither hot nor charged to the program's functions, whatever function the
// waiting ends in.
func TestWaitsAreNotHot(t *testing.T) {
	const content = `main;worker;pthread_cond_timedwait;__futex_abstimed_wait_common;__syscall_cancel_arch 900
main;reader;read;__GI___poll;__syscall_cancel_arch 300
main;notifier;pthread_cond_signal;futex_wake 3
main;app.compute 90
main;app.parse 10
`
	_, found := foundIn(t, "a.folded", []byte(content))
	var claims []string
	for _, f := range found {
		claims = append(claims, f.Claim)
	}
	if want := "“app.compute” has the highest self cost outside waits: 90 (6.9 %) of samples (87.4 % of the non-idle total)."; !slices.Equal(claims, []string{want}) {
		t.Errorf("claims %q", claims)
	}
}

// TestSkippedRecords checks that a recorder's remarks and losses do not count as records of the
// file that were skipped, and that skipped ones are counted among their kind.
func TestSkippedRecords(t *testing.T) {
	const stack = "@[\n    read+1\n    main+20\n]: 6\n"
	for content, want := range map[string]string{
		"Attaching 1 probe...\n\n" + stack + "Lost 31 events\n": "bpftrace lost events while it recorded: Lost 31 events.",
		`{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"a"},{"name":"b"}]},
"profiles":[{"type":"sampled","name":"p","unit":"none","startValue":0,"endValue":3,"samples":[[0],[1],[0]],"weights":[1,1]}]}`: "1 of 3 samples were skipped (33.3 %).",
	} {
		_, found := foundIn(t, "a", []byte(content))
		var claims []string
		for _, f := range found {
			if f.Rule == "sampler" {
				claims = append(claims, f.Claim)
			}
		}
		if !slices.Equal(claims, []string{want}) {
			t.Errorf("claims %q, want %q of\n%s", claims, want, content)
		}
	}
}

// TestNegativeCostsHaveNoShare checks that no function is hot if some costs are negative, as in the
// difference of two profiles.
func TestNegativeCostsHaveNoShare(t *testing.T) {
	for content, want := range map[string]bool{"main;a 700\nmain;b 300\nmain;c -400\n": false, "main;a 700\nmain;b 300\n": true} {
		_, found := foundIn(t, "a.folded", []byte(content))
		if got := slices.ContainsFunc(found, func(f Finding) bool { return f.Rule == "hot" }); got != want {
			t.Errorf("%q: %+v", content, found)
		}
	}
}
