package pathreport

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
)

// waits returns a recording of 4 ns in which one thread waits for another from 1 to 3 ns.
func waits() *recording.Recording {
	b := recording.NewBuilder()
	b.AddEvent(recording.StateEvent())
	serve, ask := b.Track(recording.TrackKey{PID: 1, TID: 1}), b.Track(recording.TrackKey{PID: 1, TID: 2})
	serve.SetName("server")
	ask.SetName("client")
	state := func(t *recording.TrackBuilder, from, to int64, name string, s recording.State, waker int) {
		at := b.Call(recording.NoCall, b.FunctionFrame(b.Function(recording.Function{Name: name})))
		t.State(from, to, b.Call(at, b.StateFrame(s, "")), waker)
	}
	state(serve, 0, 1500, "idle", recording.Blocked, recording.NoTrack)
	state(serve, 1500, 3000, "work", recording.Running, recording.NoTrack)
	state(ask, 0, 1000, "ask", recording.Running, recording.NoTrack)
	state(ask, 1000, 3000, "wait", recording.Blocked, recording.NoTrack)
	state(ask, 3000, 4000, "use", recording.Running, serve.Index())
	return b.Finish()
}

func TestAnswer(t *testing.T) {
	rec := waits()
	a, err := Of(context.Background(), rec, recording.Scope{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := a.CSV(&out); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"0 0 1 client 2 running ask ", "0 1 0.5 server 1 blocked idle ", "0 1.5 1.5 server 1 running work ", "0 3 1 client 2 running use server"}
	for i, row := range rows[1:] {
		if got := strings.Join(row, " "); i >= len(want) || got != want[i] {
			t.Errorf("step %d is %q", i, got)
		}
	}
	if len(rows) != 5 {
		t.Errorf("%d rows", len(rows))
	}
	for name, sums := range map[string][]Sum{"state": a.ByState, "thread": a.ByThread, "function": a.ByFunction} {
		all := new(big.Rat)
		for _, s := range sums {
			x, _ := new(big.Rat).SetString(string(s.Time))
			all.Add(all, x)
		}
		if all.RatString() != "4" || a.Length != "4" {
			t.Errorf("by %s: %s of %s", name, all, a.Length)
		}
	}
	text := a.Text(2)
	for _, want := range []string{"critical path of 4.000 ns, to the end on client", "3.500 ns  87.5 %  3  running", "2.000 ns  50.0 %  2  server", "… and 2 steps more"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if b, err := json.Marshal(a); err != nil || !bytes.Contains(b, []byte(`"woken_by":"server"`)) {
		t.Error(string(b), err)
	}
	if a, err = Of(context.Background(), rec, recording.Scope{}, 1); err != nil || len(a.Steps) != 1 || a.More != 3 || !strings.Contains(a.Text(1), "… and 3 steps more") {
		t.Error(a, err)
	}
}

// TestIDs checks that the text distinguishes threads of one name by their ids.
func TestIDs(t *testing.T) {
	a, err := Of(context.Background(), waits(), recording.Scope{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	text := a.Text(len(a.Steps))
	for _, want := range []string{"to the end on client 2", "50.0 %  2  server 1", "running  use       server 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if last := a.Steps[len(a.Steps)-1]; last.WokenBy != "server" || last.WokenByTID != "1" {
		t.Errorf("woken by %s with id %q", last.WokenBy, last.WokenByTID)
	}
}

// TestCandidates checks that the function on another thread that runs during the ten long frames
// is found, and the one that runs during the 90 short frames is not.
func TestCandidates(t *testing.T) {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	of := func(name string) recording.FrameID {
		return b.FunctionFrame(b.Function(recording.Function{Name: name}))
	}
	main, worker := b.Track(recording.TrackKey{PID: 1, TID: 1}), b.Track(recording.TrackKey{PID: 1, TID: 2})
	worker.SetName("worker")
	for i := range int64(100) {
		at := i * 10_000
		if i%10 == 3 {
			main.Span(at, at+8000, of("Frame"), 0, false)
			worker.Span(at+1000, at+7000, of("evict"), 0, false)
		} else {
			main.Span(at, at+2000, of("Frame"), 0, false)
			worker.Span(at+100, at+200, of("job"), 0, false)
		}
	}
	rec := b.Finish()
	in, err := calls.Bind(t.Context(), rec, recording.Scope{Calls: &recording.CallSet{Text: "Frame[5ns..]"}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := Of(t.Context(), rec, in, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Candidates) != 1 {
		t.Fatalf("candidates are %+v", a.Candidates)
	}
	c := a.Candidates[0]
	if c.Function != "evict" || c.TID != "2" || c.Overlaps != 10 || c.Waits != 10 || c.Elsewhere != 0 || c.Others != 90 || c.Covered != "0.7500" {
		t.Errorf("the candidate is %+v", c)
	}
	if text := a.Text(0); !strings.Contains(text, "10 of 10  for 75.0 % of their time  elsewhere 0 %  evict on worker 2") {
		t.Errorf("the text is %s", text)
	}
}
