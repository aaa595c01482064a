package findings

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

// drawn is a trace under construction, with times in microseconds.
type drawn struct{ events []map[string]any }

func (d *drawn) thread(tid int, name string) {
	d.events = append(d.events, map[string]any{"name": "thread_name", "ph": "M", "pid": 1, "tid": tid, "args": map[string]any{"name": name}})
}

func (d *drawn) span(tid int, name string, at, length float64, args ...any) {
	e := map[string]any{"name": name, "ph": "X", "pid": 1, "tid": tid, "ts": at, "dur": length}
	if len(args) > 0 {
		e["args"] = args[0]
	}
	d.events = append(d.events, e)
}

func (d *drawn) count(name string, at, value float64) {
	d.events = append(d.events, map[string]any{"name": name, "ph": "C", "pid": 1, "tid": 1, "ts": at, "args": map[string]any{"value": value}})
}

func (d *drawn) findings(t *testing.T) (*recording.Recording, []Finding) {
	t.Helper()
	content, err := json.Marshal(d.events)
	if err != nil {
		t.Fatal(err)
	}
	return foundIn(t, "a.json", content)
}

// found returns the findings, one per line.
func (d *drawn) found(t *testing.T) (text string) {
	t.Helper()
	_, all := d.findings(t)
	for _, f := range all {
		text += f.Rule + ": " + f.Claim + "\n"
	}
	return text
}

// frames adds 1,000 frames of 1 ms, one every 2 ms. slow returns by how many ms a frame is
// longer, and its arguments.
func frames(d *drawn, name func(i int) string, slow func(i int) (ms float64, args map[string]any)) {
	d.thread(1, "Main")
	for i := range 1000 {
		more, args := slow(i)
		at := float64(i) * 2000
		length := 1000 + float64(i%7) + 1000*more
		if args == nil {
			args = map[string]any{"frame": i}
		}
		d.span(1, name(i), at, length, args)
		d.span(1, "draw", at+10, 500+1000*more)
	}
}

func always(name string) func(int) string { return func(int) string { return name } }

// TestOutlier checks the numbers of slow calls and the explanations of rules on small traces,
// against results worked out by hand.
func TestOutlier(t *testing.T) {
	everyTenth := func(i int) (float64, map[string]any) {
		if i%10 == 9 {
			return .9, nil
		}
		return 0, nil
	}
	for what, c := range map[string]struct {
		draw func(d *drawn)
		want []string
	}{
		"argument": {func(d *drawn) {
			r := rand.New(rand.NewPCG(1, 1))
			frames(d, always("Frame"), func(int) (float64, map[string]any) {
				if r.IntN(8) == 0 {
					return .9, map[string]any{"level": "ice"}
				}
				return 0, map[string]any{"level": "grass"}
			})
		}, []string{"outlier: ", "slow calls have “level=ice”, and 0 of the", "“draw” accounts for 100.0 % of the difference"}},
		"period": {func(d *drawn) { frames(d, always("Frame"), everyTenth) }, []string{"100 of 1000 calls of “Frame” on “Main”", "They start every 20.00 ms.", "One call in 10 is slow."}},
		"numbers in names": {func(d *drawn) { frames(d, func(i int) string { return fmt.Sprintf("Frame#%d", i) }, everyTenth) },
			[]string{"100 of 1000 calls of “Frame#” on “Main”", "One call in 10 is slow."}},
		"onset": {func(d *drawn) {
			frames(d, always("Frame"), func(i int) (float64, map[string]any) {
				if i >= 500 && i%5 == 0 {
					return .9, nil
				}
				return 0, nil
			})
		}, []string{"100 of 1000 calls", "The first starts at 1.000 s, then one every 10.00 ms."}},
		"overlap": {func(d *drawn) {
			r := rand.New(rand.NewPCG(2, 1))
			d.thread(2, "Worker")
			frames(d, always("Frame"), func(i int) (float64, map[string]any) {
				if r.IntN(12) == 0 {
					d.span(2, "AssetCache::evict", float64(i)*2000+50, 1700)
					return .9, nil
				}
				return 0, nil
			})
			for i := range 1500 {
				d.span(2, "job", float64(i)*1333+1, 1)
			}
		}, []string{"slow calls overlap “AssetCache::evict” on “Worker”, which runs for", "; so do 0 of "}},
		"pause": {func(d *drawn) {
			d.thread(1, "Main")
			at := 0.
			for i := range 300 {
				d.span(1, "Frame", at, 1000)
				at += 1100
				if i%30 == 29 {
					at += 30000
				}
			}
		}, []string{"pause: 9 of 299 gaps between calls of “Frame” on “Main” last at least 30.10 ms (median 100.0 µs)"}},
		"many": {func(d *drawn) {
			for i := range 20 {
				at := float64(i) * 5000
				d.span(1, "request", at, 4000)
				for k := range 40 {
					d.span(1, "SELECT customer", at+100+float64(k)*90, 80)
				}
			}
		}, []string{"many: In each call of “request”, “SELECT customer” is called 40 times (800 calls in 20) and takes 80.0 % of the time."}},
		"straggler": {func(d *drawn) {
			for n := range 4 {
				d.thread(n+1, fmt.Sprint("rank ", n))
				for i := range 60 {
					d.span(n+1, "step", float64(i)*5000, 4900)
					long := 1000.
					if n == 2 {
						long = 3000
					}
					d.span(n+1, "forward", float64(i)*5000+10, long)
					d.span(n+1, "allreduce", float64(i)*5000+20+long, 4000-long)
				}
			}
		}, []string{"straggler: “forward” takes 3.000 ms of self time per call on “rank 2”, but 1.000 ms to 1.000 ms on its 3 peers."}},
		"straggler in two functions alike": {func(d *drawn) {
			for n := range 4 {
				d.thread(n+1, fmt.Sprint("rank ", n))
				for i := range 60 {
					d.span(n+1, "step", float64(i)*9000, 8900)
					long := 1000.
					if n == 2 {
						long = 3000
					}
					d.span(n+1, "forward", float64(i)*9000+10, long)
					d.span(n+1, "backward", float64(i)*9000+20+long, long)
					d.span(n+1, "allreduce", float64(i)*9000+30+2*long, 8000-2*long)
				}
			}
		}, []string{"straggler: “forward” takes 3.000 ms of self time per call on “rank 2”"}},
		"holder": {func(d *drawn) {
			r := rand.New(rand.NewPCG(4, 1))
			d.thread(1, "handler")
			d.thread(2, "indexer")
			for i := range 200 {
				at, wait := float64(i)*5000, 1+float64(i%3)
				if i%4 == 0 {
					wait = 2000 + 1000*r.Float64()
					d.span(2, "swap tables", at-3000, 3100+wait)
				} else {
					d.span(2, "scan", at+100, 500+100*r.Float64())
				}
				d.span(1, "request", at, 1000+wait)
				d.span(1, "lock wait", at+100, wait)
			}
		}, []string{"holder: “lock wait” takes ", "39 of 39 long waits end within", "of the end of a call of “swap tables” on “indexer” (correlation, not proof)."}},
		"evenly idle": {func(d *drawn) {
			d.thread(1, "Main")
			at := 0.
			for i := range 300 {
				d.span(1, "Frame", at, 1000+float64(i%4))
				at += 7000 + float64(i%4)
			}
		}, []string{"pause: Thread “Main” is idle between calls of “Frame” for 85.7 % of 2.094 s (median gap: 6.000 ms)."}},
		"climb": {func(d *drawn) {
			d.span(1, "work", 0, 200000)
			for i := range 200 {
				d.count("queue length", float64(i)*1000, float64(5+i))
			}
		}, []string{"climb: Counter “queue length” rises for 199.0 ms of 199.0 ms, from 5 to 195 (lowest values in each twentieth of the time)."}},
	} {
		d := &drawn{}
		c.draw(d)
		got := d.found(t)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is missing in:\n%s", what, want, got)
			}
		}
	}
}

// TestNoFalseAlarm checks that ordinary traces have no findings: repeating calls of varying
// length, long tails, other threads with unrelated work, and counters that go up and down.
func TestNoFalseAlarm(t *testing.T) {
	rounds.Unraced(t)
	const traces = 60
	alarms := 0
	for seed := range uint64(traces) {
		r := rand.New(rand.NewPCG(seed, 9))
		d := &drawn{}
		tail := seed%3 == 0
		for tid := 1; tid <= 4; tid++ {
			d.thread(tid, []string{"", "Main", "io", "worker 1", "worker 2"}[tid])
			at := 0.
			for i := 0; at < 5e5; i++ {
				length := 800 * (.6 + .8*r.Float64())
				if tail && r.IntN(20) == 0 {
					length *= 1 + 2*r.ExpFloat64()
				}
				d.span(tid, []string{"", "Frame", "read", "job", "job"}[tid], at, length, map[string]any{"n": i, "kind": r.IntN(5)})
				for k, name := range []string{"a", "b", "c"} {
					d.span(tid, name, at+length*float64(k)/3, length*.3)
				}
				at += length + 300*r.ExpFloat64()
			}
		}
		level := 40.
		for i := range 1000 {
			level = max(0, level+float64(r.IntN(21)-10))
			d.count("queue length", float64(i)*1000, level)
		}
		if got := d.found(t); got != "" {
			alarms++
			t.Logf("seed %d: %s", seed, got)
		}
	}
	if alarms > 0 {
		t.Errorf("%d of %d traces of nothing have findings", alarms, traces)
	}
}

// TestPaced checks that a game that waits for the display after each frame is not called idle.
func TestPaced(t *testing.T) {
	d := &drawn{}
	d.thread(1, "Main")
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		d.span(1, "Frame", float64(i)*16_667+20*r.Float64(), 2000+600*r.Float64())
	}
	if got := d.found(t); got != "" {
		t.Error(got)
	}
}

// TestMemoryClimbs checks that memory that grows is found only after a while, or where the
// garbage collector left more in use each time.
func TestMemoryClimbs(t *testing.T) {
	for _, c := range []struct {
		what        string
		seconds     float64
		collections int
		want        bool
	}{{"heap", 9, 0, false}, {"heap", 9, 3, false}, {"heap", 9, 4, true}, {"heap", 11, 0, true}, {"queue length", 1, 0, true}} {
		d := &drawn{}
		d.thread(1, "Main")
		d.thread(2, "garbage collection")
		d.span(1, "work", 0, c.seconds*1e6)
		for i := range c.collections {
			d.span(2, "GC", c.seconds*1e6*(float64(i)+.5)/5, 1000)
		}
		for i := range 200 {
			d.count(c.what, c.seconds*1e6*float64(i)/199, float64(50+10*i))
		}
		if got := strings.Contains(d.found(t), "climb: "); got != c.want {
			t.Errorf("%+v: found is %v", c, got)
		}
	}
}

// TestClimbs checks that levels that rise evenly or in bursts climb, and that random walks do
// not.
func TestClimbs(t *testing.T) {
	rounds.Unraced(t)
	r := rand.New(rand.NewPCG(3, 1))
	for seed := range 5000 {
		level, low := float64(r.IntN(80)), []float64(nil)
		for range parts {
			least := level
			for range 50 {
				if level += float64(r.IntN(21) - 10); seed%2 == 0 {
					level = max(0, level)
				}
				least = min(least, level)
			}
			low = append(low, least)
		}
		if climbs(low) > 0 {
			t.Errorf("a random walk climbs: %v", low)
		}
		for i := range low {
			low[i] = 10 + float64(i)*20 + 15*r.Float64()
		}
		if climbs(low) < parts-1 {
			t.Errorf("%v does not climb", low)
		}
	}
}

// TestDescribed checks that no two rules have the same name, and that costs and no other rules
// have a reason for being common.
func TestDescribed(t *testing.T) {
	var names []string
	for _, r := range Describe() {
		if slices.Contains(names, r.Name) {
			t.Errorf("two rules are called %s", r.Name)
		}
		if (r.Kind == Cost) != (r.Healthy != "") {
			t.Errorf("%s is %s, but the reason is %q", r.Name, r.Kind, r.Healthy)
		}
		names = append(names, r.Name)
	}
	for name := range healthy {
		if !slices.Contains(names, name) {
			t.Errorf("no rule is called %s", name)
		}
	}
}

// TestEvidenceIsOfTheThread checks that slow calls of one thread are shown without those of
// others that call the same function, by the address and by the command.
func TestEvidenceIsOfTheThread(t *testing.T) {
	for _, others := range []bool{false, true} {
		d := &drawn{}
		frames(d, func(int) string { return "Frame" }, func(i int) (float64, map[string]any) { return float64(i%50/49) * 20, nil })
		if others {
			d.thread(2, "Helper")
			d.span(2, "Frame", 0, 30_000)
		}
		_, all := d.findings(t)
		f := all[slices.IndexFunc(all, func(f Finding) bool { return f.Rule == "outlier" })]
		if strings.Contains(f.Address, "thread=") != others || strings.Contains(f.Command, "--thread") != others {
			t.Errorf("others %t: %s\n%s", others, f.Address, f.Command)
		}
	}
}

// TestLoopAmongOtherCalls checks that a finding about the calls at one depth says so where the
// thread has other calls of the function, which its evidence lists as well.
func TestLoopAmongOtherCalls(t *testing.T) {
	for _, others := range []bool{false, true} {
		d := &drawn{}
		frames(d, func(int) string { return "Frame" }, func(i int) (float64, map[string]any) { return float64(i%10/9) * .9, nil })
		want := "100 of 1000 calls of “Frame” on “Main”"
		if others {
			for i := range 40 {
				d.span(1, "Frame", float64(i)*2000+20, 100)
			}
			want = "100 of 1000 calls of “Frame” at depth 1 on “Main”"
		}
		if got := d.found(t); !strings.Contains(got, want) {
			t.Errorf("others %t: %s", others, got)
		}
	}
}
