package analyze

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

// Every picosecond of a thread in a state counts 1, both in the total metric and in the
// metric of the state, so the other metrics add up to the total. If the state's stack is
// unknown, it counts for the innermost span at that time.
func TestStatesAgainstNaive(t *testing.T) {
	for seed := range rounds.Of(uint64(200)) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := recording.NewBuilder()
		b.AddEvent(recording.StateEvent())
		const end = 60
		for tid := range int64(3) {
			tr := b.Track(recording.TrackKey{PID: 1, TID: tid})
			var open int
			for at := int64(0); at < end; at += r.Int64N(8) {
				switch {
				case open > 0 && r.IntN(2) == 0:
					tr.End(at)
					open--
				case open < 4:
					tr.Begin(at, b.FunctionFrame(b.Function(recording.Function{Name: string(rune('a' + r.IntN(4)))})), 0)
					open++
				}
			}
			for at := r.Int64N(5); at < end; {
				to := at + 1 + r.Int64N(9)
				stack := recording.NoCall
				if r.IntN(4) == 0 {
					stack = b.Call(stack, b.FunctionFrame(b.Function(recording.Function{Name: "stack"})))
				}
				s := recording.States[r.IntN(len(recording.States))]
				tr.State(at, to, b.Call(stack, b.StateFrame(s, "why"[:r.IntN(4)])), recording.NoTrack)
				at = to + r.Int64N(2)*r.Int64N(5)
			}
		}
		rec := b.Finish()
		for _, in := range []recording.Scope{{}, recording.Between(r.Int64N(30), 30+r.Int64N(40)), {Tracks: []int{1}}} {
			for m := range rec.Events[0].Metrics {
				w, err := Weigh(context.Background(), rec, Query{Metric: m, Scope: in})
				if err != nil {
					t.Fatal(err)
				}
				got := map[string]int64{}
				for c, v := range w.Self {
					if v != 0 {
						got[stackText(rec, recording.CallID(c))] += v
					}
				}
				if want := naiveStates(rec, m, in); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("seed %d, %s, %+v:\n got %v\nwant %v", seed, rec.Events[0].Metrics[m].Name, in, got, want)
				}
				if in.IsWhole() && w.Sum != rec.Events[0].Metrics[m].Total {
					t.Fatalf("seed %d: %d, the total is %d", seed, w.Sum, rec.Events[0].Metrics[m].Total)
				}
				rows, err := StateRows(context.Background(), rec, Query{Metric: m, Scope: in})
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range rows {
					w.Sum -= row.Self
				}
				if w.Sum != 0 {
					t.Fatalf("seed %d: by state there is %d less", seed, w.Sum)
				}
			}
		}
	}
}

// With a set of calls, only the time in states during one of the calls on the same thread
// counts, in every grouping.
func TestStatesOfCalls(t *testing.T) {
	b := recording.NewBuilder()
	b.AddEvent(recording.StateEvent())
	b.AddEvent(recording.SpanEvent())
	f := b.FunctionFrame(b.Function(recording.Function{Name: "request"}))
	for tid := range int64(2) {
		tr := b.Track(recording.TrackKey{PID: 1, TID: tid})
		for at := int64(0); at < 60; at += 6 {
			tr.State(at, at+4, b.Call(recording.NoCall, b.StateFrame(recording.Running, "")), recording.NoTrack)
			tr.State(at+4, at+6, b.Call(recording.NoCall, b.StateFrame(recording.Blocked, "lock")), recording.NoTrack)
		}
		for _, x := range [][2]int64{{3, 11}, {20, 21}, {30, 45 + tid}} {
			tr.Begin(x[0], f, 0)
			tr.End(x[1])
		}
	}
	rec := b.Finish()
	set := &recording.CallSet{Text: "request", Calls: 3, Times: [][]recording.Time{{{From: 3, To: 11}, {From: 20, To: 21}, {From: 30, To: 45}}}} // on the first thread
	for _, in := range []recording.Scope{{Calls: set}, recording.Between(5, 40).Of(set)} {
		from, to := in.Bounds(rec)
		want := map[string]int64{}
		for at := from; at < to; at++ {
			if at >= 3 && at < 11 || at == 20 || at >= 30 && at < 45 {
				want[map[bool]string{true: "running", false: "blocked: lock"}[at%6 < 4]]++
			}
		}
		rows, err := StateRows(context.Background(), rec, Query{Metric: recording.StateWall, Scope: in})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for _, r := range rows {
			got[r.Name] = r.Self
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("in calls there are %v, want %v", got, want)
		}
	}
}

func stackText(rec *recording.Recording, c recording.CallID) (s string) {
	for ; c != recording.NoCall; c = rec.Calls.Parent(c) {
		s = rec.FuncName(c) + " " + s
	}
	return s
}

func naiveStates(rec *recording.Recording, metric int, in recording.Scope) map[string]int64 {
	sums := map[string]int64{}
	for ti, t := range rec.Tracks {
		for i := range t.States.Len() {
			for at := t.States.Start(i); at < t.States.End(i); at++ {
				if !in.HasTrack(ti) || in.Ranged && (at < in.From || at >= in.To) {
					continue
				}
				c := t.States.Call(i)
				name, state := rec.FuncName(c), rec.State(c)
				stack := stackText(rec, rec.Calls.Parent(c))
				if stack == "" {
					for l := range t.Lanes {
						for k := range t.Lanes[l].Len() {
							if t.Lanes[l].Start(k) <= at && at < t.Lanes[l].End(k) {
								stack = stackText(rec, t.Lanes[l].Call(k))
							}
						}
					}
				}
				own := map[recording.State]int{recording.Running: recording.StateCPU, recording.Collecting: recording.StateCPU,
					recording.Runnable: recording.StateRunnable, recording.Blocked: recording.StateBlocked, recording.InSystemCall: recording.StateSyscall}[state]
				switch {
				case metric != recording.StateWall && metric != own:
				case metric == recording.StateWall || metric == recording.StateBlocked || stack == "":
					sums[stack+name+" "]++
				default:
					sums[stack]++
				}
			}
		}
	}
	return sums
}
