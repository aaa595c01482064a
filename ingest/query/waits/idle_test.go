package waits_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"runtime/trace"
	"strings"
	"sync"
	"testing"
	"time"

	"ashlar/ingest"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/waits"
)

// goroutines makes a recording of goroutines: the program's own, which waits for 10 ps, a
// worker of the collector that runs for 5 ps and waits for 20 and 30 ps, and one that runs
// finalizers, waits for 40 ps for them, and for 7 ps within one.
func goroutines() *recording.Recording {
	b := recording.NewBuilder()
	b.AddEvent(recording.StateEvent())
	p := b.ProcessInfo(b.Process(1))
	p.Member, p.Grouped = "goroutine", true
	call := func(names ...string) (c recording.CallID) {
		for _, n := range names {
			c = b.Call(c, b.FunctionFrame(b.Function(recording.Function{Name: n})))
		}
		return c
	}
	park := call("runtime.gcBgMarkWorker", "runtime.gopark")
	run, wait := b.StateFrame(recording.Running, ""), b.StateFrame(recording.Blocked, "sync")
	none := b.StateFrame(recording.Blocked, "")
	add := func(tid int64, name string, start, end int64, c recording.CallID) {
		t := b.Track(recording.TrackKey{PID: 1, TID: tid})
		t.SetName(name)
		t.State(start, end, c, recording.NoTrack)
	}
	add(1, "main.work", 0, 10, b.Call(call("main.work", "sync.(*Mutex).Lock"), wait))
	add(1, "main.work", 10, 100, b.Call(call("main.work"), run))
	add(2, "runtime.gcBgMarkWorker", 0, 20, b.Call(park, wait))
	add(2, "runtime.gcBgMarkWorker", 20, 25, b.Call(call("runtime.gcBgMarkWorker"), run))
	add(2, "runtime.gcBgMarkWorker", 25, 55, b.Call(recording.NoCall, none))
	add(3, "runtime.runFinalizers", 0, 40, b.Call(call("runtime.runFinalizers", "runtime.gopark"), wait))
	add(3, "runtime.runFinalizers", 40, 47, b.Call(call("runtime.runFinalizers", "main.finish", "sync.(*Mutex).Lock"), wait))
	return b.Finish()
}

// blockedTime returns the blocked time of a scope in four ways, after a check that they agree,
// and the time that the scope leaves out.
func blockedTime(t *testing.T, rec *recording.Recording, in recording.Scope) (sum, left int64) {
	t.Helper()
	ctx := context.Background()
	in = analyze.Apart(rec, in)
	w, err := analyze.Weigh(ctx, rec, analyze.Query{Metric: recording.StateBlocked, Scope: in})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := analyze.StatesIn(ctx, rec, in)
	if err != nil {
		t.Fatal(err)
	}
	var states, lost, by, listed int64
	for _, r := range rows {
		if !strings.HasPrefix(r.Name, "blocked") {
			continue
		}
		states += r.Self
		of := in
		of.Calls = &recording.CallSet{Text: "[" + r.Name + "]"}
		bound, err := calls.Bind(ctx, rec, of)
		if err != nil {
			t.Fatal(err)
		}
		if int64(bound.Calls.Calls) != r.Count {
			t.Errorf("%d calls of %s, %d in states", bound.Calls.Calls, r.Name, r.Count)
		}
		list, err := calls.List(ctx, rec, bound.Calls, calls.ByStart)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range list {
			from, to := in.Bounds(rec)
			listed += min(x.Start+x.Duration, to) - max(x.Start, from)
		}
	}
	locks, err := waits.Of(ctx, rec, in)
	if err != nil {
		t.Fatal(err)
	}
	for i := range locks {
		lost += locks[i].Lost
	}
	sums, err := waits.Sums(ctx, rec, in, waits.ByWaker, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sums {
		by += s.Time
	}
	if states != w.Sum || lost != w.Sum || by != w.Sum || listed != w.Sum {
		t.Errorf("%+v: blocked %d, states %d, locks %d, wakers %d, calls %d", in, w.Sum, states, lost, by, listed)
	}
	n, time, err := waits.LeftOut(ctx, rec, in)
	if err != nil || n != w.Left.IdleRecords || time != w.Left.Idle || w.Left.Waits != (n > 0) {
		t.Errorf("%d waits of %d left out, weights leave out %+v (%v)", n, time, w.Left, err)
	}
	return w.Sum, w.Left.Idle
}

// TestIdleGoroutines checks that waits of the runtime's own goroutines are left out of sums,
// except where no other goroutine is selected and where a function of the program waits.
func TestIdleGoroutines(t *testing.T) {
	rec := goroutines()
	for _, c := range []struct {
		in        recording.Scope
		sum, left int64
	}{
		{recording.Scope{}, 10 + 7, 20 + 30 + 40},
		{recording.Scope{Idle: recording.Out}, 17, 90},
		{recording.Scope{Idle: recording.In}, 107, 0},
		{recording.Scope{Idle: recording.Only}, 90, 0},
		{recording.Scope{Tracks: []int{0, 1}}, 10, 50},
		{recording.Scope{Tracks: []int{1}}, 50, 0},
		{recording.Scope{Tracks: []int{1, 2}}, 97, 0},
		{recording.Scope{Tracks: []int{1}, Idle: recording.Out}, 0, 50},
		{recording.Between(5, 30), 5, 15 + 5 + 25},
	} {
		if sum, left := blockedTime(t, rec, c.in); sum != c.sum || left != c.left {
			t.Errorf("%+v: blocked for %d without %d, want %d without %d", c.in, sum, left, c.sum, c.left)
		}
	}
	ctx := context.Background()
	whole := analyze.Apart(rec, recording.Scope{})
	w, err := analyze.Weigh(ctx, rec, analyze.Query{Metric: recording.StateWall, Scope: whole})
	if err != nil || w.Sum != 10+90+5+7 {
		t.Errorf("wall is %d: %v", w.Sum, err)
	}
	// A state that only idle goroutines were in has calls all the same.
	in, err := calls.Bind(ctx, rec, recording.Scope{Calls: &recording.CallSet{Text: "[blocked]"}})
	if err != nil || in.Calls.Calls != 1 || in.Idle != recording.In {
		t.Errorf("the only idle wait is selected as %+v: %v", in, err)
	}
}

func open(t *testing.T, content []byte) *ingest.Load {
	path := filepath.Join(t.TempDir(), "x.trace")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	l := ingest.Open(context.Background(), path, ingest.Options{})
	if err := l.Wait(); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestIdleOfTrace checks the same on a trace of this program: what is left out and what is
// counted add up to everything, and goroutines of the program keep their waits.
func TestIdleOfTrace(t *testing.T) {
	var file bytes.Buffer
	if err := trace.Start(&file); err != nil {
		t.Skip(err)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 5 {
				mu.Lock()
				time.Sleep(time.Millisecond)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	runtime.GC()
	trace.Stop()
	l := open(t, file.Bytes())
	defer l.Close()
	rec := l.Snapshot()
	sum, left := blockedTime(t, rec, recording.Scope{})
	all, _ := blockedTime(t, rec, recording.Scope{Idle: recording.In})
	if left == 0 || sum+left != all {
		t.Errorf("%d counted and %d left out of %d", sum, left, all)
	}
	var own int64
	for _, tr := range rec.Tracks {
		if !strings.HasPrefix(tr.Name, "runtime") {
			own += tr.InState[recording.Blocked]
		}
	}
	if sum != own {
		t.Errorf("%d counted, but goroutines of the program were blocked for %d", sum, own)
	}
}
