package findings

import (
	"fmt"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
)

// goroutines builds a recording of states.
type goroutines struct {
	*recording.Builder
	tracks int
}

func newGoroutines() *goroutines {
	g := &goroutines{Builder: recording.NewBuilder()}
	g.AddEvent(recording.StateEvent())
	g.ProcessInfo(g.Process(1)).Member = "goroutine"
	return g
}

func (g *goroutines) stack(names ...string) (c recording.CallID) {
	for _, n := range names {
		c = g.Call(c, g.FunctionFrame(g.Function(recording.Function{Name: n})))
	}
	return c
}

// start adds a goroutine of a function.
func (g *goroutines) start(name string) *recording.TrackBuilder {
	g.tracks++
	t := g.Track(recording.TrackKey{PID: 1, TID: int64(g.tracks)})
	t.SetName(name)
	return t
}

func (g *goroutines) runs(names ...string) recording.CallID {
	return g.Call(g.stack(names...), g.StateFrame(recording.Running, ""))
}

func (g *goroutines) waits(reason string, names ...string) recording.CallID {
	return g.Call(g.stack(names...), g.StateFrame(recording.Blocked, reason))
}

func (g *goroutines) claims(t *testing.T, rule string) []string {
	t.Helper()
	found, err := Of(t.Context(), g.Finish())
	if err != nil {
		t.Fatal(err)
	}
	return claimsOf(found, rule)
}

const ms, us = int64(1e9), int64(1e6)

// TestLeak checks that goroutines are found that start throughout the recording and wait forever;
// not if they start together, as workers do, or if most end.
func TestLeak(t *testing.T) {
	for what, c := range map[string]struct {
		every, ends int64 // ms between starts; one of so many waits forever
		want        []string
	}{
		"leak":    {10, 1, []string{"89 of 99 goroutines that start in “main.watch” during the recording never end: 89 of them wait in “main.watch”. At its end each has waited for at least 100.0 ms."}},
		"workers": {0, 1, nil},
		"few":     {10, 3, nil},
	} {
		g := newGoroutines()
		g.start("main.main").State(0, 1000*ms, g.runs("main.main"), recording.NoTrack)
		for i := range int64(99) {
			at := 10*ms + i*c.every*ms + ms
			tr := g.start("main.watch")
			if tr.State(at, at+ms, g.runs("main.watch"), recording.NoTrack); i%c.ends == 0 {
				tr.State(at+ms, 1000*ms, g.waits("chan receive", "main.watch", "runtime.chanrecv1"), recording.NoTrack)
			}
		}
		if got := g.claims(t, "leak"); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", what, got, c.want)
		}
	}
}

// TestLeakedProfile checks profiles that count goroutines by stack.
func TestLeakedProfile(t *testing.T) {
	for n, want := range map[int64][]string{
		80: {"“main.watch” has 80 of goroutine (80.0 %) in one function of the program."},
		45: nil,
	} {
		b := recording.NewBuilder()
		e := b.AddEvent(recording.Event{Kind: "goroutine", Basis: recording.FromStacks, Metrics: []recording.Metric{{Name: "goroutine", Unit: "count", Kind: recording.Level}}})
		for _, s := range []struct {
			names []string
			n     int64
		}{{[]string{"main.watch", "runtime.gopark"}, n}, {[]string{"main.serve"}, (100 - n) / 2}, {[]string{"main.accept"}, 100 - n - (100-n)/2}} {
			var at recording.CallID
			for _, f := range s.names {
				at = b.Call(at, b.FunctionFrame(b.Function(recording.Function{Name: f})))
			}
			b.AddStack(e, at, recording.NoTrack, 0, []int64{s.n})
		}
		found, err := Of(t.Context(), b.Finish())
		if err != nil {
			t.Fatal(err)
		}
		if got := claimsOf(found, "leak"); !slices.Equal(got, want) {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

// TestUneven checks that the goroutine is found that has most of the work of four; not if the
// work is even, or if it has so little that it can be done by one of them.
func TestUneven(t *testing.T) {
	for what, c := range map[string]struct {
		most, others int64 // µs that goroutines run every 10 ms
		want         []string
	}{
		"one":  {8000, 1000, []string{"Goroutine “main.consume 3” has 800.0 ms of cpu, 72.7 % of that of the 4 goroutines with such names; the median of the others is 100.0 ms. Most of its stacks are in “main.consume”."}},
		"even": {8000, 7000, nil},
		"idle": {1600, 200, nil},
	} {
		g := newGoroutines()
		run, wait := g.runs("main.consume"), g.waits("chan receive", "main.consume", "runtime.chanrecv1")
		for i := range int64(4) {
			tr, d := g.start("main.consume"), c.others*us
			if i == 2 {
				d = c.most * us
			}
			for at := int64(0); at < 1000*ms; at += 10 * ms {
				tr.State(at, at+d, run, recording.NoTrack)
				tr.State(at+d, at+10*ms, wait, recording.NoTrack)
			}
		}
		if got := g.claims(t, "uneven"); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", what, got, c.want)
		}
	}
}

// TestTurns checks that clients are found that wait for the two connections of a pool, but not
// workers that wait at a barrier, nor those that wait for work of another goroutine.
func TestTurns(t *testing.T) {
	for what, want := range map[string][]string{
		"pool":    {"4 goroutines wait for each other at “chan receive in main.acquire”: 396 waits, the longest 2.000 ms, together 792.0 ms, 50.0 % of the time in which they had work. At least one of them waits for 99.2 % of the recording."},
		"work":    nil,
		"barrier": nil,
	} {
		g := newGoroutines()
		var all []*recording.TrackBuilder
		for range 4 {
			all = append(all, g.start("main.client"))
		}
		g.start("main.main").State(0, 400*ms, g.runs("main.main"), recording.NoTrack)
		release := g.stack("main.release")
		for i, tr := range all {
			from := int64(i) * ms
			for k := int64(0); from+4*k*ms < 396*ms; k++ {
				at := from + 4*k*ms
				waker := g.Waker((i+3)%4, release)
				switch what {
				case "work":
					waker = g.Waker(4, release)
				case "barrier":
					at -= from
				}
				tr.State(at, at+2*ms, g.waits("chan receive", "main.acquire"), recording.NoTrack)
				tr.StateBy(at+2*ms, at+4*ms, g.runs("main.client"), waker)
			}
		}
		if got := g.claims(t, "turns"); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
}

// TestPollStates checks that a goroutine is found that sleeps briefly again and again, but not one
// that works in between, nor one that is woken.
func TestPollStates(t *testing.T) {
	for what, c := range map[string]struct {
		run    int64 // µs between sleeps of 1 ms
		reason string
		want   []string
	}{
		"poll":  {50, "sleep", []string{"Goroutine “main.watch” in “main.watch” waits in steps: it sleeps 300 times, median 1.000 ms, for 95.2 % of the recording, and runs for a median of 50.00 µs in between."}},
		"work":  {300, "sleep", nil},
		"woken": {50, "chan receive", nil},
		"paced": {50, "sleep", nil},
	} {
		g := newGoroutines()
		tr, other := g.start("main.watch"), g.start("main.work")
		at := int64(0)
		for range 300 {
			tr.State(at, at+ms, g.waits(c.reason, "main.watch", "time.Sleep"), recording.NoTrack)
			if what == "paced" {
				other.State(at, at+ms, g.waits("chan receive", "main.work"), recording.NoTrack)
				other.StateBy(at+ms, at+ms+c.run*us, g.runs("main.work"), g.Waker(0, g.stack("main.watch")))
			}
			tr.State(at+ms, at+ms+c.run*us, g.runs("main.watch"), recording.NoTrack)
			at += ms + c.run*us
		}
		if got := g.claims(t, "poll"); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", what, got, c.want)
		}
	}
}

// TestPoll checks that a function is found that sleeps several times in each of its calls; not one
// that works meanwhile, nor one whose only call sleeps many times.
func TestPoll(t *testing.T) {
	for what, c := range map[string]struct {
		calls, sleeps int
		length        float64
		want          []string
	}{
		"poll": {20, 5, 1000, []string{"“await” waits in steps: in 20 calls it calls “sleep” 100 times (5 times a call), for 99.0 % of its time, and takes 101.0 ms (84.2 % of the time in spans)."}},
		"once": {20, 1, 1000, nil},
		"work": {20, 5, 300, nil},
		"main": {1, 100, 1000, nil},
	} {
		d := &drawn{}
		d.thread(1, "Main")
		for k := range c.calls {
			at := float64(k * (c.sleeps*1010 + 960))
			d.span(1, "await", at, float64(c.sleeps*1010))
			for i := range c.sleeps {
				d.span(1, "sleep", at+float64(i*1010)+5, c.length)
			}
			d.span(1, "work", at+float64(c.sleeps*1010)+5, 945)
		}
		_, found := d.findings(t)
		if got := claimsOf(found, "poll"); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", what, got, c.want)
		}
	}
}

// TestWakeup checks that waits are found that end in vain, but not those after which each
// goroutine works.
func TestWakeup(t *testing.T) {
	for run, want := range map[int64][]string{
		5:   {"297 of 300 waits of 3 goroutines at “sync.(*Cond).Wait in main.take” end in vain: the goroutine runs for at most 25.00 µs and waits again at the same place."},
		100: nil,
	} {
		g := newGoroutines()
		for range 3 {
			tr := g.start("main.take")
			for at := int64(0); at < 100*ms; at += ms {
				tr.State(at, at+ms-run*us, g.waits("sync", "main.take", "sync.(*Cond).Wait"), recording.NoTrack)
				tr.State(at+ms-run*us, at+ms, g.runs("main.take"), recording.NoTrack)
			}
		}
		if got := g.claims(t, "wakeup"); !slices.Equal(got, want) {
			t.Errorf("%d µs: got %q, want %q", run, got, want)
		}
	}
}

// TestPhase checks that a callee is found that calls have from some time on, or only for some
// time; not one that every third call has, nor one of little time.
func TestPhase(t *testing.T) {
	for what, c := range map[string]struct {
		has    func(i int) bool
		length float64
		want   []string
	}{
		"later":  {func(i int) bool { return i >= 120 }, 500, []string{"From 120.0 ms on, 80 of 80 calls of “request” on “Main” call “load”, but only 0 of the 120 others. Its calls in that time take 40.00 ms, 22.2 % of the time of all calls of “request”."}},
		"outage": {func(i int) bool { return i >= 50 && i < 90 }, 500, []string{"From 50.00 ms to 89.90 ms, 40 of 40 calls of “request” on “Main” call “load”, but only 0 of the 160 others. Its calls in that time take 20.00 ms, 11.1 % of the time of all calls of “request”."}},
		"warm":   {func(i int) bool { return i < 50 }, 500, []string{"Until 49.90 ms, 50 of 50 calls of “request” on “Main” call “load”, but only 0 of the 150 others. Its calls in that time take 25.00 ms, 13.9 % of the time of all calls of “request”."}},
		"always": {func(i int) bool { return i%3 == 0 }, 500, nil},
		"little": {func(i int) bool { return i >= 120 }, 50, nil},
	} {
		d := &drawn{}
		d.thread(1, "Main")
		for i := range 200 {
			at := float64(i * 1000)
			d.span(1, "request", at, 900)
			d.span(1, "parse", at+5, 200)
			if c.has(i) {
				d.span(1, "load", at+300, c.length)
			}
		}
		_, found := d.findings(t)
		if got := claimsOf(found, "phase"); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", what, got, c.want)
		}
	}
}

// TestProcessor checks that threads are found that wait for one processor while another is idle.
func TestProcessor(t *testing.T) {
	for share, want := range map[int64][]string{
		1: {"Threads wait for a processor for 1.800 s, 66.7 % of the time in which they could run, and “CPU 0” has 100.0 % of the work of all (2 processors)."},
		2: nil,
	} {
		g := newGoroutines()
		g.ProcessInfo(g.Process(1)).Member = ""
		const processors = recording.TextID
		g.ProcessInfo(g.Process(processors)).Member = recording.ProcessorWord
		var cpus, threads []*recording.TrackBuilder
		for i := range int64(2) {
			cpus = append(cpus, g.Track(recording.TrackKey{PID: processors, TID: i}))
			cpus[i].SetName(fmt.Sprint("CPU ", i))
			cpus[i].Span(0, 1000, g.FunctionFrame(g.Function(recording.Function{Name: "other"})), 0, false)
		}
		work := g.FunctionFrame(g.Function(recording.Function{Name: "worker"}))
		for range 3 {
			threads = append(threads, g.start("worker"))
		}
		for k := range int64(90) {
			at := k*10*ms + 1000
			cpus[k%share].Span(at, at+10*ms, work, 0, false)
			for i, tr := range threads {
				state := g.Call(recording.NoCall, g.StateFrame(recording.Runnable, ""))
				if int64(i) == k%3 {
					state = g.runs("worker")
				}
				tr.State(at, at+10*ms, state, recording.NoTrack)
			}
		}
		if got := g.claims(t, "processor"); !slices.Equal(got, want) {
			t.Errorf("%d: got %q, want %q", share, got, want)
		}
	}
}
