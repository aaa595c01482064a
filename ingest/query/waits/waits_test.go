package waits_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	exptrace "golang.org/x/exp/trace"

	"ashlar/ingest"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/waits"
	"ashlar/testdata/rounds"
	"ashlar/testdata/samples"
)

const end = 200

// random makes a recording of five threads that run, wait for a lock in one of two places
// of the program, and wake each other, sometimes with a stack.
func random(r *rand.Rand) *recording.Recording {
	b := recording.NewBuilder()
	b.AddEvent(recording.StateEvent())
	call := func(names ...string) (c recording.CallID) {
		for _, n := range names {
			c = b.Call(c, b.FunctionFrame(b.Function(recording.Function{Name: n})))
		}
		return c
	}
	stacks := []recording.CallID{call("main.a", "sync.(*Mutex).Lock", "runtime.gopark"), call("main.b", "sync.(*Mutex).Lock")}
	unlock := []recording.CallID{call("main.a", "sync.(*Mutex).Unlock"), call("main.b", "sync.(*Mutex).Unlock"), recording.NoCall}
	for range 5 {
		b.Track(recording.TrackKey{PID: 1, TID: int64(1 + len(b.Snapshot().Tracks))})
	}
	for tid := range int64(5) {
		t := b.Track(recording.TrackKey{PID: 1, TID: tid + 1})
		woken := recording.NoWaker
		for at := r.Int64N(9); at < end; {
			to := min(end, at+1+r.Int64N(25))
			frame := b.StateFrame(recording.Running, "")
			blocked := r.IntN(3) > 0
			if blocked {
				frame = b.StateFrame(recording.Blocked, "sync")
			}
			t.StateBy(at, to, b.Call(stacks[r.IntN(2)], frame), woken)
			if woken = recording.NoWaker; blocked && r.IntN(5) > 0 {
				woken = b.Waker(r.IntN(5), unlock[r.IntN(3)])
			}
			if at = to; r.IntN(6) == 0 {
				at += r.Int64N(8)
			}
		}
	}
	return b.Finish()
}

// seen is a wait found by checking each state of each thread.
type seen struct {
	track, i   int
	start, end int64
	waker      int
	doing      recording.CallID
}

func naive(rec *recording.Recording) (all []seen) {
	for ti, t := range rec.Tracks {
		for i := range t.States.Len() {
			if !strings.HasPrefix(rec.FuncName(t.States.Call(i)), "[blocked") {
				continue
			}
			w := rec.Wakers.At(int(t.States.Waker(i)))
			if w.Track == recording.NoTrack {
				for k := range t.States.Len() {
					if t.States.Start(k) == t.States.End(i) && k > i {
						w = rec.Wakers.At(int(t.States.Waker(k)))
						break
					}
				}
			}
			s := seen{ti, i, t.States.Start(i), t.States.End(i), int(w.Track), w.Call}
			if s.waker != recording.NoTrack && s.doing == recording.NoCall {
				of := rec.Tracks[s.waker]
				for k := range of.States.Len() {
					if of.States.Start(k) < s.end && of.States.End(k) >= s.end {
						s.doing = rec.Calls.Parent(of.States.Call(k))
					}
				}
			}
			all = append(all, s)
		}
	}
	return all
}

// The sums in every grouping equal sums over all states, also within a range, and add up to
// the blocked time.
func TestSumsAgainstNaive(t *testing.T) {
	for seed := range rounds.Of(uint64(100)) {
		r := rand.New(rand.NewPCG(seed, 7))
		rec := random(r)
		for _, in := range []recording.Scope{{}, recording.Between(r.Int64N(90), 90+r.Int64N(90)), {Tracks: []int{1, 3}}} {
			from, to := in.Bounds(rec)
			for _, by := range []waits.By{waits.ByWaker, waits.ByWakerStack, waits.ByWaiter, waits.ByWaiterStack} {
				want, got, all := map[string]int64{}, map[string]int64{}, int64(0)
				for _, s := range naive(rec) {
					took := min(s.end, to) - max(s.start, from)
					if !in.HasTrack(s.track) || took <= 0 {
						continue
					}
					key := fmt.Sprint(s.waker, recording.NoCall)
					switch by {
					case waits.ByWakerStack:
						key = fmt.Sprint(recording.NoTrack, s.doing)
					case waits.ByWaiter:
						key = fmt.Sprint(s.track, recording.NoCall)
					case waits.ByWaiterStack:
						key = fmt.Sprint(recording.NoTrack, rec.Calls.Parent(rec.Tracks[s.track].States.Call(s.i)))
					}
					want[key] += took
					all += took
				}
				sums, err := waits.Sums(context.Background(), rec, in, by, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range sums {
					got[fmt.Sprint(s.Track, s.Call)] = s.Time
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("seed %d, %+v by %s:\n got %v\nwant %v", seed, in, by, got, want)
				}
				w, err := analyze.Weigh(context.Background(), rec, analyze.Query{Metric: recording.StateBlocked, Scope: in})
				if err != nil || w.Sum != all {
					t.Fatalf("seed %d: blocked is %d, the waits took %d (%v)", seed, w.Sum, all, err)
				}
			}
		}
	}
}

// TestLocksAgainstNaive checks holds and convoys moment by moment: while any thread waits,
// the thread that next ends a wait holds the lock, and a convoy lasts while two or more
// threads wait.
func TestLocksAgainstNaive(t *testing.T) {
	convoys := 0
	for seed := range rounds.Of(uint64(100)) {
		rec := random(rand.New(rand.NewPCG(seed, 8)))
		locks, err := waits.Of(context.Background(), rec, recording.Scope{})
		if err != nil {
			t.Fatal(err)
		}
		all := naive(rec)
		lost := int64(0)
		for _, l := range locks {
			var of []seen // waits of this lock, by their places
			for _, s := range all {
				stack := waits.Functions(rec, rec.Calls.Parent(rec.Tracks[s.track].States.Call(s.i)))
				if slices.ContainsFunc(l.Places, func(p waits.Place) bool { return strings.HasSuffix(p.Text(rec), " in "+stack[len(stack)-1]) }) {
					of = append(of, s)
				}
			}
			held, n, run, longest, waiting, most := map[int64]int64{}, int64(0), int64(0), int64(0), 0, 0
			for at := int64(0); at < end; at++ {
				next := int64(end)
				waiting = 0
				for _, s := range of {
					if s.end > at {
						next = min(next, s.end)
					}
					if s.start <= at && at < s.end {
						waiting++
					}
				}
				if waiting > 0 {
					held[next]++
					n++
				}
				if run++; waiting < 2 {
					run = 0
				}
				longest = max(longest, run)
				most = max(most, waiting)
			}
			got := map[int64]int64{}
			for _, h := range l.Holds {
				got[h.To] = h.To - h.From
			}
			var sum int64
			for _, s := range of {
				sum += s.end - s.start
			}
			if fmt.Sprint(got) != fmt.Sprint(held) || l.Held != n || l.Lost != sum || l.Waits != len(of) {
				t.Fatalf("seed %d: held %v, want %v; %d of %d, lost %d of %d in %d of %d", seed, got, held, l.Held, n, l.Lost, sum, l.Waits, len(of))
			}
			if c := l.Convoy; c.To-c.From != longest || c.Most > most {
				t.Fatalf("seed %d: the longest convoy is %d of %d, %d at once of %d", seed, c.To-c.From, longest, c.Most, most)
			} else if longest > 0 {
				convoys++
			}
			var by int64
			for _, h := range l.Holders {
				by += h.Held
			}
			if by != n {
				t.Fatalf("seed %d: the holders held %d of %d", seed, by, n)
			}
			lost += l.Lost
		}
		for _, s := range all {
			lost -= s.end - s.start
		}
		if lost != 0 {
			t.Fatalf("seed %d: the locks have %d more than all waits", seed, lost)
		}
	}
	if convoys == 0 {
		t.Error("there were no convoys")
	}
}

// In all samples, the sums and the locks add up to the blocked time.
func TestSampleSums(t *testing.T) {
	n := 0
	for _, path := range samples.Files(t) {
		l := ingest.Open(context.Background(), path, ingest.Options{})
		if l.Wait() == nil && l.Snapshot().Counts.States > 0 {
			rec := l.Snapshot()
			rows, err := analyze.StatesIn(context.Background(), rec, recording.Scope{})
			if err != nil {
				t.Fatal(path, err)
			}
			var want, got, lost int64
			for _, r := range rows {
				if strings.HasPrefix(r.Name, "blocked") {
					want += r.Self
				}
			}
			for _, by := range []waits.By{waits.ByWaker, waits.ByWakerStack, waits.ByWaiter, waits.ByWaiterStack} {
				sums, err := waits.Sums(context.Background(), rec, recording.Scope{}, by, nil)
				if err != nil {
					t.Fatal(path, err)
				}
				got = 0
				for _, s := range sums {
					got += s.Time
				}
				if got != want {
					t.Errorf("%s by %s: %d, blocked is %d", path, by, got, want)
				}
			}
			locks, err := waits.Of(context.Background(), rec, recording.Scope{})
			if err != nil {
				t.Fatal(path, err)
			}
			for _, l := range locks {
				lost += l.Lost
			}
			if lost != want {
				t.Errorf("%s: %d lost on locks, blocked is %d", path, lost, want)
			}
			n++
		}
		l.Close()
	}
	if samples.Files(t) != nil && n == 0 {
		t.Error("no sample has states")
	}
}

// record records a trace of goroutines that contend for a lock and pass values through a
// channel.
func record(t *testing.T) (content []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Fatal("recording a trace:", err)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	ch := make(chan int)
	for range 4 {
		wg.Go(func() {
			for range 20 {
				mu.Lock()
				time.Sleep(100 * time.Microsecond)
				mu.Unlock()
			}
		})
	}
	wg.Go(func() {
		for i := range 50 {
			ch <- i
		}
		close(ch)
	})
	wg.Go(func() {
		for range ch {
			time.Sleep(20 * time.Microsecond)
		}
	})
	wg.Wait()
	trace.Stop()
	return b.Bytes()
}

// The wakers of a Go trace and their functions equal those found by the Go project's
// reader.
func TestWakersOfGo(t *testing.T) {
	content := record(t)
	want := map[string]int{}
	r, err := exptrace.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if ev.Kind() != exptrace.EventStateTransition || ev.StateTransition().Resource.Kind != exptrace.ResourceGoroutine {
			continue
		}
		s := ev.StateTransition()
		if from, to := s.Goroutine(); from != exptrace.GoWaiting || to != exptrace.GoRunnable || ev.Goroutine() == exptrace.NoGoroutine {
			continue
		}
		var frames []string
		for f := range ev.Stack().Frames() {
			frames = append(frames, fmt.Sprint(f.Func, ":", f.Line))
		}
		want[fmt.Sprint(s.Resource.Goroutine(), " by ", ev.Goroutine(), " in ", frames)]++
	}
	path := filepath.Join(t.TempDir(), "x.trace")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	l := ingest.Open(context.Background(), path, ingest.Options{})
	defer l.Close()
	if err := l.Wait(); err != nil {
		t.Fatal(err)
	}
	rec, got := l.Snapshot(), map[string]int{}
	err = waits.Each(context.Background(), rec, recording.Scope{}, func(w *waits.Wait, _, _ int64) {
		if w.Waker.Track == recording.NoTrack {
			return
		}
		var frames []string
		for c := w.Waker.Call; c != recording.NoCall; c = rec.Calls.Parent(c) {
			frames = append(frames, fmt.Sprint(rec.FuncName(c), ":", rec.Frames.At(int(rec.Calls.Frame(c))).Line))
		}
		got[fmt.Sprint(rec.Tracks[w.Track].TID, " by ", rec.Tracks[w.Waker.Track].TID, " in ", frames)]++
	})
	if err != nil {
		t.Fatal(err)
	}
	for k, n := range want {
		if got[k] != n {
			t.Errorf("%s: %d waits, want %d", k, got[k], n)
		}
	}
	if len(want) < 5 || len(got) != len(want) {
		t.Errorf("%d kinds of wake-ups, want %d", len(got), len(want))
	}
	locks, err := waits.Of(context.Background(), rec, recording.Scope{})
	if err != nil || len(locks) == 0 || locks[0].Kind != waits.Locks || !strings.HasPrefix(locks[0].Title(rec), "sync.(*Mutex).Lock in ashlar/ingest/query/waits_test.record.func1 (waits_test.go:") {
		t.Errorf("the first lock is %+v (%v)", locks[0].Title(rec), err)
	}
}
