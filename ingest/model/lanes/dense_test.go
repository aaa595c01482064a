package lanes

import (
	"slices"
	"testing"
)

// squeezedLane returns a squeezed lane with the spans of another lane.
func squeezedLane(of *Lane) *Lane {
	l := NewStates(nil)
	for i := range of.Len() {
		l.Append(of.Start(i), of.End(i), of.Call(i), 0, false)
	}
	l.Trim()
	return &l
}

// A squeezed lane has the same spans as a plain one, at any length, also if it is trimmed
// and then extended, and in earlier snapshots.
func TestSqueezed(t *testing.T) {
	for seed := range uint64(24) {
		rng := random(seed)
		plain, dense := New(nil, false), NewStates(nil)
		var wakers []int
		now := rng.Int64N(1 << 40)
		n := 1 + rng.IntN([]int{40, 300, 14_000}[seed%3])
		type early struct{ plain, dense Lane }
		var shown []early
		for range n {
			if rng.IntN(4) == 0 {
				now += rng.Int64N(2000)
			}
			end := now + rng.Int64N(1<<rng.IntN(10))
			if rng.IntN(200) == 0 {
				end += isLong - rng.Int64N(3)
			}
			call := CallID(1 + rng.IntN(500))
			plain.Append(now, end, call, 0, false)
			w := rng.IntN(9)
			dense.AppendState(now, end, call, uint32(w))
			wakers, now = append(wakers, w), end
			if rng.IntN(n) < 4 {
				shown = append(shown, early{plain.Snapshot(), dense.Copy()})
				if rng.IntN(2) == 0 {
					dense.Trim()
				}
			}
		}
		shown = append(shown, early{plain.Snapshot(), dense.Copy()})
		dense.Trim()
		if want := (n + 4095) / 4096; len(dense.dense) != want || len(dense.chunks) != 0 {
			t.Fatalf("%d spans are in %d chunks", n, len(dense.dense))
		}
		for _, e := range append(shown, early{plain, dense}) {
			a, b := &e.plain, &e.dense
			var ra, rb Room
			for i := range a.Len() {
				if a.Start(i) != b.Start(i) || a.End(i) != b.End(i) || a.Duration(i) != b.Duration(i) || a.Call(i) != b.Call(i) || int(b.Waker(i)) != wakers[i] {
					t.Fatalf("seed %d: span %d of %d is %d..%d, want %d..%d", seed, i, a.Len(), b.Start(i), b.End(i), a.Start(i), a.End(i))
				}
			}
			for i := 0; i < a.Len(); {
				s, ends, calls := b.Columns(i, 1+rng.IntN(900), &rb)
				ws, we, wc := a.Columns(i, len(s), &ra)
				if !slices.Equal(s[:len(ws)], ws) || !slices.Equal(ends[:len(ws)], we) || !slices.Equal(calls[:len(ws)], wc) || b.Calls(i)[0] != wc[0] {
					t.Fatalf("seed %d: columns differ from span %d on", seed, i)
				}
				i += len(ws)
			}
		}
	}
}
