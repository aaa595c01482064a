package waitreport

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
)

// locked returns a recording with an evictor and two readers. The readers wait for the
// evictor's lock from 1 and 2 ns on; at 5 ns the evictor wakes the first reader, which holds
// the lock until 7 ns.
func locked() *recording.Recording {
	b := recording.NewBuilder()
	b.AddEvent(recording.StateEvent())
	stack := func(names ...string) (c recording.CallID) {
		for _, n := range names {
			c = b.Call(c, b.FunctionFrame(b.Function(recording.Function{Name: n})))
		}
		return c
	}
	lock, unlock := stack("main.reader", "main.get", "sync.(*Mutex).Lock"), stack("main.evictor", "sync.(*Mutex).Unlock")
	run, blocked := b.StateFrame(recording.Running, ""), b.StateFrame(recording.Blocked, "sync")
	evictor := b.Track(recording.TrackKey{PID: 1, TID: 3})
	evictor.SetName("main.evictor")
	evictor.State(0, 9000, b.Call(stack("main.evictor"), run), recording.NoTrack)
	var readers [2]*recording.TrackBuilder
	for i := range readers {
		readers[i] = b.Track(recording.TrackKey{PID: 1, TID: int64(i) + 1})
		readers[i].SetName("main.reader")
	}
	readers[0].State(1000, 5000, b.Call(lock, blocked), recording.NoTrack)
	readers[0].StateBy(5000, 9000, b.Call(lock, run), b.Waker(evictor.Index(), unlock))
	readers[1].State(2000, 7000, b.Call(lock, blocked), recording.NoTrack)
	readers[1].StateBy(7000, 9000, b.Call(lock, run), b.Waker(readers[0].Index(), stack("main.reader", "main.get", "sync.(*Mutex).Unlock")))
	return b.Finish()
}

func TestAnswer(t *testing.T) {
	rec := locked()
	a, err := Of(context.Background(), rec, recording.Scope{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(a.Locks)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"kind":"locks","reason":"sync","places":["sync.(*Mutex).Lock in main.get"],"waits":2,"waiters":2,"lost":9,"longest":5,` +
		`"holds_derived":{"count":2,"threads":2,"sum":6,"median":2,"longest":4},` +
		`"holders":[{"thread":"main.evictor","tid":"3","stack":["sync.(*Mutex).Unlock","main.evictor"],"count":1,"sum":4,"median":4,"longest":4},` +
		`{"thread":"main.reader","tid":"1","stack":["sync.(*Mutex).Unlock","main.get","main.reader"],"count":1,"sum":2,"median":2,"longest":2}],` +
		`"losers":[{"thread":"main.reader","tid":"2","stack":["sync.(*Mutex).Lock","main.get","main.reader"],"count":1,"lost":5,"longest":5},` +
		`{"thread":"main.reader","tid":"1","stack":["sync.(*Mutex).Lock","main.get","main.reader"],"count":1,"lost":4,"longest":4}],` +
		`"convoy":{"start":2,"length":3,"most_waiting":2,"waits":2}}]`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	text := a.Text(1)
	for _, want := range []string{"9.000 ns blocked in 2 waits", "lost 9.000 ns in 2 waits of 2 threads, longest 5.000 ns", "held 6.000 ns in 2 holds (derived), median 2.000 ns, longest 4.000 ns",
		"main.evictor 3: sync.(*Mutex).Unlock ← main.evictor", "main.reader 2: sync.(*Mutex).Lock ← main.get ← main.reader", "longest convoy: 3.000 ns from 2.000 ns, 2 waits, up to 2 at once"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if text := a.Text(0); !strings.Contains(text, "… and 1 more") || strings.Contains(text, "held") {
		t.Error(text)
	}
}

// TestCells checks the columns about a wait: who ended it, in which function, and since when
// that thread had run.
func TestCells(t *testing.T) {
	rec := locked()
	r := calls.Row{Track: 1, Lane: recording.StateLane, Call: rec.Tracks[1].States.Call(0), Start: 1000, Duration: 4000}
	for i, want := range []string{"sync.(*Mutex).Lock ← main.get ← main.reader", "main.evictor 3", "sync.(*Mutex).Unlock ← main.evictor", "running since 0.000 ns"} {
		if got := Cells[i].Text(rec, &r); got != want && !(i == 3 && strings.HasPrefix(got, "running since 0")) {
			t.Errorf("%s is %q, want %q", Cells[i].Name, got, want)
		}
	}
	w := WakerOf(rec, &r)
	if w == nil || w.Thread != "main.evictor" || w.TID != "3" || w.State != "running" || w.Since != "0" {
		t.Errorf("the waker is %+v", w)
	}
	r.Span, r.Call = 1, rec.Tracks[1].States.Call(1)
	if w := WakerOf(rec, &r); w != nil || Cells[1].Text(rec, &r) != "" {
		t.Errorf("a running thread was woken by %+v", w)
	}
}
