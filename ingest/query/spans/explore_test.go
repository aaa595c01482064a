package spans

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
)

// someTrace returns a recording with nested spans on some threads, and flows
// between random moments of them.
func someTrace(t *testing.T) *recording.Recording {
	t.Helper()
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	r := rand.New(rand.NewPCG(9, 10))
	const threads, length = 4, 60_000
	for th := range threads {
		tr := b.Track(recording.TrackKey{PID: 1, TID: int64(th + 1)})
		for at := int64(0); at < length; at += r.Int64N(60) {
			if tr.Depth() < 6 && r.IntN(2) == 0 {
				name := string(rune('a' + r.IntN(9)))
				tr.Begin(at, b.FunctionFrame(b.Function(recording.Function{Name: name})), 0)
			} else if tr.Depth() > 0 {
				tr.End(at)
			}
		}
	}
	for range 400 {
		var f recording.Flow
		for range 2 + r.IntN(2) {
			f.Steps = append(f.Steps, recording.FlowStep{Track: r.IntN(threads), Time: r.Int64N(length)})
		}
		b.AddFlow(f)
	}
	return b.Finish()
}

func TestRankOf(t *testing.T) {
	rec := someTrace(t)
	by := map[recording.FuncID][]int64{}
	for _, tr := range rec.Tracks {
		for i := range tr.Lanes {
			l := &tr.Lanes[i]
			for k := range l.Len() {
				f := rec.Func(l.Call(k))
				by[f] = append(by[f], l.End(k)-l.Start(k))
			}
		}
	}
	for f, ds := range by {
		slices.Sort(ds)
		for _, k := range []int{0, len(ds) / 3, len(ds) - 1} {
			want := int64(0)
			for _, d := range ds {
				if d > ds[k] {
					want++
				}
			}
			longer, all, err := RankOf(context.Background(), rec, f, ds[k])
			if err != nil || longer != want || all != int64(len(ds)) {
				t.Errorf("of %d spans %d are longer than %d; RankOf says %d of %d (%v)", len(ds), want, ds[k], longer, all, err)
			}
		}
	}
}

// TestFlowsOfSpans compares the index with a check of every step and span: each step that
// falls within a span belongs to the innermost one there.
func TestFlowsOfSpans(t *testing.T) {
	rec := someTrace(t)
	f := NewFlows(rec)
	type place struct{ track, lane, span int }
	want := map[place]int{}
	for i := range rec.Flows {
		for _, st := range rec.Flows[i].Steps {
			found := false
			var at place
			for lane := range rec.Tracks[st.Track].Lanes {
				l := &rec.Tracks[st.Track].Lanes[lane]
				for k := range l.Len() {
					if l.Start(k) <= st.Time && st.Time < l.End(k) {
						found, at = true, place{st.Track, lane, k}
					}
				}
			}
			if found {
				want[at]++
			}
		}
	}
	if len(want) < 100 {
		t.Fatalf("only %d spans have flows: the test says nothing", len(want))
	}
	for ti, tr := range rec.Tracks {
		for lane := range tr.Lanes {
			l := &tr.Lanes[lane]
			for k := range l.Len() {
				n := 0
				for _, e := range f.Of(ti, lane, l.Start(k), l.End(k), 1000) {
					if st := rec.Flows[e.Flow].Steps[e.Step]; st.Time < l.End(k) {
						n++
					}
				}
				if n != want[place{ti, lane, k}] {
					t.Fatalf("span %d of lane %d of track %d has %d steps, Flows says %d", k, lane, ti, want[place{ti, lane, k}], n)
				}
			}
		}
	}
}
