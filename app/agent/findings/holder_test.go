package findings

import (
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestHoldersInTurn checks that a lock is found that four threads hold in turn for 1 ms each, so
// that none of them is the holder. Two waits end with the recording, the longest of them after
// 3 ms.
func TestHoldersInTurn(t *testing.T) {
	const threads, slots, ms = 4, 64, int64(1e9)
	b := recording.NewBuilder()
	b.AddEvent(recording.StateEvent())
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
	}
	const want = "holder: 4 threads hold the lock of “sync.(*Mutex).Lock in main.update” in turn, mostly in “main.update”: 62 holds, median 1.000 ms, longest 3.000 ms, together 64.00 ms (100 % of the recording). 64 waits of 4 threads lost 189.0 ms."
	if !slices.Contains(claims, want) {
		t.Errorf("claims %q, want %q", claims, want)
	}
}
