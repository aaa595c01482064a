package findings

import (
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestHoldersInTurn checks that a lock is found that four threads hold in turn for 1 ms each, so
// that none of them is the holder. Two waits end with the recording, the longest of them after
// 3 ms. Goroutines are not called threads.
func TestHoldersInTurn(t *testing.T) {
	for _, word := range []string{"thread", "goroutine"} {
		holdersInTurn(t, word)
	}
}

func holdersInTurn(t *testing.T, word string) {
	const threads, slots, ms = 4, 64, int64(1e9)
	b := recording.NewBuilder()
	b.AddEvent(recording.StateEvent())
	b.ProcessInfo(b.Process(1)).Member = word
	stack := func(names ...string) (c recording.CallID) {
		for _, n := range names {
			c = b.Call(c, b.FunctionFrame(b.Function(recording.Function{Name: n})))
		}
		return c
	}
	update, lock, unlock := stack("main.main", "main.update"), stack("main.main", "main.update", "sync.(*Mutex).Lock"), stack("main.main", "main.update", "sync.(*Mutex).Unlock")
	var tracks []*recording.TrackBuilder
	for i := range threads {
		tracks = append(tracks, b.Track(recording.TrackKey{PID: 1, TID: int64(i + 1)}))
	}
	for slot := range slots {
		at := int64(slot) * ms
		for i, track := range tracks {
			if slot%threads == i {
				woken := recording.NoWaker
				if slot >= threads {
					woken = b.Waker((i+threads-1)%threads, unlock)
				}
				track.StateBy(at, at+ms, b.Call(update, b.StateFrame(recording.Running, "")), woken)
			} else if slot%threads == (i+1)%threads {
				track.State(at, min(at+(threads-1)*ms, slots*ms), b.Call(lock, b.StateFrame(recording.Blocked, "sync")), recording.NoTrack)
			}
		}
	}
	found, err := Of(t.Context(), b.Finish())
	if err != nil {
		t.Fatal(err)
	}
	var claims []string
	for _, f := range found {
		claims = append(claims, f.Rule+": "+f.Claim)
		if text := f.Claim + f.WrongWhen; word != "thread" && strings.Contains(text, "thread") {
			t.Errorf("%s has threads among goroutines: %s", f.Rule, text)
		}
	}
	want := "holder: 4 threads take turns holding the lock “sync.(*Mutex).Lock in main.update”, mostly in “main.update”: 62 holds, median 1.000 ms, longest 3.000 ms, together 64.00 ms (100 % of the recording). 64 waits of 4 threads lost 189.0 ms."
	want = strings.ReplaceAll(want, "thread", word)
	if !slices.Contains(claims, want) {
		t.Errorf("claims %q, want %q", claims, want)
	}
}

// TestDearLock checks that a lock is found that a writer holds for only 2.5 % of the time, but
// whose six readers lose much of the time in which they have work; not if they have much more.
// A release that wakes all readers ends one hold.
func TestDearLock(t *testing.T) {
	const ms, end = int64(1e9), 1000
	for _, work := range []int64{10, 180} {
		b := recording.NewBuilder()
		b.AddEvent(recording.StateEvent())
		stack := func(names ...string) (c recording.CallID) {
			for _, n := range names {
				c = b.Call(c, b.FunctionFrame(b.Function(recording.Function{Name: n})))
			}
			return c
		}
		run := b.StateFrame(recording.Running, "")
		writer := b.Track(recording.TrackKey{PID: 1, TID: 1})
		writer.SetName("writer")
		rebuild, unlock := stack("main.rebuild"), stack("main.rebuild", "sync.(*RWMutex).Unlock")
		lock := b.Call(stack("main.get", "sync.(*RWMutex).RLock"), b.StateFrame(recording.Blocked, "sync"))
		sleep := b.Call(stack("main.get"), b.StateFrame(recording.Blocked, "sleep"))
		for at := 100 * ms; at < end*ms; at += 200 * ms {
			writer.State(at, at+6*ms, b.Call(rebuild, run), recording.NoTrack)
		}
		for i := range int64(6) {
			tr := b.Track(recording.TrackKey{PID: 1, TID: i + 2})
			tr.State(0, 100*ms, sleep, recording.NoTrack)
			for at := 100 * ms; at < end*ms; at += 200 * ms {
				woken := at + 5*ms + i*1000
				tr.State(at, woken, lock, recording.NoTrack)
				tr.StateBy(woken, woken+work*ms, b.Call(stack("main.get"), run), b.Waker(0, unlock))
				tr.State(woken+work*ms, at+200*ms, sleep, recording.NoTrack)
			}
		}
		b.Cover(0, end*ms)
		found, err := Of(t.Context(), b.Finish())
		if err != nil {
			t.Fatal(err)
		}
		var claims []string
		for _, f := range found {
			if f.Rule == "holder" {
				claims = append(claims, f.Claim)
			}
		}
		var want []string
		if work == 10 {
			want = []string{"“main.rebuild” on “writer” holds the lock of “sync.(*RWMutex).RLock in main.get” in 5 holds, median 5.000 ms, longest 5.000 ms: 100 % of the 25.00 ms in which threads waited for it. 30 waits of 6 threads lost 150.0 ms, 33.3 % of the time in which they had work."}
		}
		if !slices.Equal(claims, want) {
			t.Errorf("with work for %d ms: claims %q, want %q", work, claims, want)
		}
	}
}

// TestStatesNeedNoStack checks that states of threads without a stack, beside deep ones, are
// not taken for broken stacks.
func TestStatesNeedNoStack(t *testing.T) {
	b := recording.NewBuilder()
	b.AddEvent(recording.StateEvent())
	c := recording.NoCall
	for range 20 {
		c = b.Call(c, b.FunctionFrame(b.Function(recording.Function{Name: "f"})))
	}
	run := b.StateFrame(recording.Running, "")
	tr := b.Track(recording.TrackKey{PID: 1, TID: 1})
	tr.State(0, 10, b.Call(c, run), recording.NoTrack)
	tr.State(10, 90, b.Call(recording.NoCall, run), recording.NoTrack)
	found, err := Of(t.Context(), b.Finish())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.Rule == "sampler" {
			t.Error(f.Claim)
		}
	}
}
