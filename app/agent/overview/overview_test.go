package overview_test

import (
	"bytes"
	"runtime/trace"
	"slices"
	"strings"
	"testing"
	"time"

	"ashlar/app/agent/overview"
	"ashlar/ingest"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// receivers is the number of goroutines that wait for the one that produces. Together they wait
// longer than the goroutine of the testing package, which waits for this test.
const receivers = 3

//go:noinline
func receiveWork(work chan int) int { return <-work }

//go:noinline
func produce(work chan int) {
	for end := time.Now().Add(30 * time.Millisecond); time.Now().Before(end); {
	}
	for range receivers {
		work <- 1
	}
}

// TestOfGoTrace checks that the overview of an execution trace names the goroutine that ran
// most and the place where goroutines waited most, and proposes first to ask who waits for
// whom.
func TestOfGoTrace(t *testing.T) {
	if trace.IsEnabled() {
		t.Fatal("go test -trace records already")
	}
	var file bytes.Buffer
	if err := trace.Start(&file); err != nil {
		t.Fatal(err)
	}
	work, done := make(chan int), make(chan int)
	for range receivers {
		go func() { done <- receiveWork(work) }()
	}
	go produce(work)
	for range receivers {
		<-done
	}
	trace.Stop()

	l := ingest.OpenInput(t.Context(), source.FromBytes("a.trace", file.Bytes()), ingest.Options{})
	if err := l.Wait(); err != nil {
		t.Fatal(err)
	}
	o, err := overview.Of(t.Context(), l.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	if w := o.Waits; w == nil || w.Waiters != receivers || !strings.Contains(w.Place, "overview_test.receiveWork (") {
		t.Errorf("the longest waits are %+v", w)
	}
	if len(o.Busiest) == 0 || !strings.HasPrefix(o.Busiest[0].Name, "ashlar/app/agent/overview_test.produce ") {
		t.Errorf("the busiest goroutines are %+v", o.Busiest)
	}
	if o.Next[0].Command != "ashlar locks a.trace" {
		t.Errorf("the next commands are %+v", o.Next)
	}
}

// TestNoStack checks that overview suggests commands about functions, not about samples
// without a stack, which no command can look for.
func TestNoStack(t *testing.T) {
	text := strings.Repeat("app 1 [000] 1.000000: cycles:\n\n", 5) + strings.Repeat("app 1 [000] 1.000000: cycles:\n\tffff work (/app)\n\n", 3)
	l := ingest.OpenInput(t.Context(), source.FromBytes("a.perf", []byte(text)), ingest.Options{})
	if err := l.Wait(); err != nil {
		t.Fatal(err)
	}
	o, err := overview.Of(t.Context(), l.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(o.Next, func(a overview.Ask) bool { return strings.Contains(a.Command, "--callers-of work") }) || strings.Contains(o.Text(), "--callers-of '[") {
		t.Errorf("the next commands are %+v; the text is\n%s", o.Next, o.Text())
	}
}

// TestMostWaited checks that overview names a lock that threads lose at least 5 % of the
// recording to before a channel to which they lose more, of several such locks the one to which
// they lose most, and otherwise whatever they wait for longest.
func TestMostWaited(t *testing.T) {
	const ms = int64(1e9)
	for _, c := range []struct {
		update, draw int64 // waits for locks, in ms of 1,000
		want         string
	}{{60, 0, "sync.(*Mutex).Lock in main.update"}, {60, 80, "sync.(*Mutex).Lock in main.draw"}, {49, 49, "runtime.chanrecv1 in main.receive"}} {
		b := recording.NewBuilder()
		b.AddEvent(recording.StateEvent())
		for i, w := range []struct {
			length  int64
			in, via string
			reason  string
		}{{c.update, "main.update", "sync.(*Mutex).Lock", "sync"}, {c.draw, "main.draw", "sync.(*Mutex).Lock", "sync"}, {400, "main.receive", "runtime.chanrecv1", "chan receive"}} {
			var call recording.CallID
			for _, name := range []string{"main.main", w.in, w.via} {
				call = b.Call(call, b.FunctionFrame(b.Function(recording.Function{Name: name})))
			}
			track := b.Track(recording.TrackKey{PID: 1, TID: int64(i + 1)})
			running := b.Call(0, b.StateFrame(recording.Running, ""))
			track.State(0, 100*ms, running, recording.NoTrack)
			track.State(100*ms, (100+w.length)*ms, b.Call(call, b.StateFrame(recording.Blocked, w.reason)), recording.NoTrack)
			track.State((100+w.length)*ms, 1000*ms, running, recording.NoTrack)
		}
		o, err := overview.Of(t.Context(), b.Finish())
		if err != nil {
			t.Fatal(err)
		}
		if o.Waits == nil || o.Waits.Place != c.want {
			t.Errorf("with locks of %d and %d ms, the longest waits are %+v, want %s", c.update, c.draw, o.Waits, c.want)
		}
	}
}
