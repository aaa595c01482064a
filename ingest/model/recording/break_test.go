package recording

import (
	"fmt"
	"math"
	"testing"

	"ashlar/ingest/model/column"
)

// TestBreak checks that Break leaves the open span unfinished, and that spans and states
// added afterwards are stored as usual, for tracks of any length.
func TestBreak(t *testing.T) {
	for _, n := range []int{0, 1, 5, 8, 17, 40, 1024, column.ChunkLen - 1, column.ChunkLen, column.ChunkLen + 900} {
		b := NewBuilder()
		b.AddEvent(SpanEvent())
		f := b.FunctionFrame(b.Function(Function{Name: "f"}))
		state := b.Call(NoCall, b.StateFrame(Running, ""))
		tr := b.Track(TrackKey{TID: 1})
		var want []string
		add := func(k int, end int64, ends bool) {
			at := int64(k) * 10
			length := int64(5 + k%3)
			if k%7 == 0 {
				length = math.MaxUint32 + 5
			}
			at *= math.MaxUint32
			tr.Begin(at, f, uint64(k%4))
			if ends {
				end = at + length
				tr.End(end)
			}
			tr.State(at, at+length, state, k%3-1)
			want = append(want, fmt.Sprint(at, end, k%4, !ends, at, at+length, k%3-1))
		}
		for k := range n {
			add(k, 0, true)
		}
		last := int64(n)*10*math.MaxUint32 + math.MaxUint32
		add(n, last, false)
		shown := b.Snapshot()
		tr.Break(last)
		for k := n + 1; k < 2*n+10; k++ {
			add(k, 0, true)
		}
		r := b.Finish()
		l, s := &r.Tracks[0].Lanes[0], &r.Tracks[0].States
		for i, w := range want {
			got := fmt.Sprint(l.Start(i), l.End(i), l.Args(i), l.Unfinished(i), s.Start(i), s.End(i), r.Waker(r.Tracks[0], i).Track)
			if got != w {
				t.Fatalf("%d before: number %d is %s, want %s", n, i, got, w)
			}
		}
		if l.Len() != len(want) || s.Len() != len(want) || r.Counts.Unfinished != 1 {
			t.Errorf("%d before: %d spans, %d states, %d unfinished, want %d", n, l.Len(), s.Len(), r.Counts.Unfinished, len(want))
		}
		if old := &shown.Tracks[0].States; old.Len() != n+1 || n > 0 && fmt.Sprint(old.Start(n-1)) != fmt.Sprint(s.Start(n-1)) {
			t.Errorf("%d before: the snapshot has %d states", n, old.Len())
		}
	}
}
