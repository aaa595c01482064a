package calls_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/spans"
)

// A query selects the same states as a check of each state, and the times of these states
// limit the states that are added up.
func TestStatesAgainstNaive(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(5, 1))
	b := recording.NewBuilder()
	b.AddEvent(recording.StateEvent())
	frames := []recording.FrameID{b.StateFrame(recording.Running, ""), b.StateFrame(recording.Blocked, "sync"), b.StateFrame(recording.Blocked, "chan receive"), b.StateFrame(recording.Runnable, "")}
	for tid := range int64(4) {
		tr := b.Track(recording.TrackKey{PID: 1, TID: tid + 1})
		for at := r.Int64N(5); at < 3000; {
			to := at + 1 + r.Int64N(20)
			tr.State(at, to, b.Call(recording.NoCall, frames[r.IntN(4)]), recording.NoTrack)
			at = to + r.Int64N(2)*r.Int64N(4)
		}
	}
	rec := b.Finish()
	type state struct {
		track, i   int
		name       string
		start, end int64
	}
	var all []state
	for ti, tr := range rec.Tracks {
		for i := range tr.States.Len() {
			all = append(all, state{ti, i, rec.FuncName(tr.States.Call(i)), tr.States.Start(i), tr.States.End(i)})
		}
	}
	for text, is := range map[string]func(s state) bool{
		"[blocked: sync]":                 func(s state) bool { return s.name == "[blocked: sync]" },
		"[blocked: sync][5ps..12ps]":      func(s state) bool { return s.name == "[blocked: sync]" && s.end-s.start >= 5 && s.end-s.start < 12 },
		"[runnable]|[blocked: sync]":      func(s state) bool { return s.name == "[runnable]" || s.name == "[blocked: sync]" },
		"![blocked: chan receive][9ps..]": func(s state) bool { return s.name == "[blocked: chan receive]" && s.end-s.start < 9 },
		"/^.blocked/[started 100ps..900ps]": func(s state) bool {
			return strings.HasPrefix(s.name, "[blocked") && s.start-rec.Start >= 100 && s.start-rec.Start < 900
		},
	} {
		var want, got []string
		var sum int64
		for _, s := range all {
			if is(s) {
				want = append(want, fmt.Sprint(s.track, s.i, s.start, s.end-s.start))
				sum += s.end - s.start
			}
		}
		q, err := calls.Parse(text)
		if err != nil {
			t.Fatal(text, err)
		}
		if again, err := calls.Parse(q.String()); err != nil || again.String() != q.String() || !q.OfStates(rec) {
			t.Errorf("%s is written %s (%v)", text, q, err)
		}
		in, err := calls.Bind(ctx, rec, recording.Scope{}.Of(&recording.CallSet{Text: text}))
		if err != nil {
			t.Fatal(text, err)
		}
		rows, err := calls.List(ctx, rec, in.Calls, calls.ByStart)
		if err != nil {
			t.Fatal(text, err)
		}
		for _, x := range rows {
			if x.Lane != recording.StateLane {
				t.Fatalf("%s: row %+v is no state", text, x)
			}
			got = append(got, fmt.Sprint(x.Track, x.Span, x.Start, x.Duration))
		}
		slices.Sort(want)
		slices.Sort(got)
		d, err := spans.DurationsIn(ctx, rec, in)
		if err != nil || len(want) == 0 || !slices.Equal(got, want) || in.Calls.Calls != len(want) || d.Count != int64(len(want)) || d.Sum.Int64() != sum || d.Together.Int64() != sum {
			t.Errorf("%s: %d states, durations of %d with sum %v, want %d with %d (%v)", text, len(got), d.Count, d.Sum, len(want), sum, err)
		}
		w, err := analyze.Weigh(ctx, rec, analyze.Query{Metric: recording.StateWall, Scope: in})
		if err != nil || w.Sum != sum {
			t.Errorf("%s: %d weighs in the set, want %d (%v)", text, w.Sum, sum, err)
		}
	}
	for _, text := range []string{"[10ms..]", "[slowest 3]", "[blocked"} {
		if q, err := calls.Parse(text); err == nil {
			t.Errorf("%s is %s", text, q)
		}
	}
}
