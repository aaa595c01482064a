package recording

import (
	"cmp"
	"slices"
	"testing"
)

// Runs that are merged give what sorting everything gives, whatever the order
// and however many spans are alike.
func TestLooseMerge(t *testing.T) {
	for seed := range uint64(6) {
		rng := random(seed)
		var s looseSpans
		type span struct {
			start, end int64
			args       uint64
		}
		var want []span
		n := 5 * runSpans / 2
		for i := range n {
			start := int64(i) + rng.Int64N(1+int64(seed)*500)
			if rng.IntN(5000) == 0 {
				start = rng.Int64N(100) // long ones come late
			}
			x := span{start, start + rng.Int64N(3), uint64(i) * uint64(rng.IntN(2))}
			want = append(want, x)
			s.add(x.start, x.end, 1, 0, x.args, false)
			if rng.IntN(3000) == 0 { // in the middle of a run
				s.merge(false, func(*looseSpan) bool { return true })
			}
		}
		// Those alike keep their order among those of a run, which sorting them
		// again does not change.
		slices.SortStableFunc(want, func(a, b span) int {
			return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
		})
		for _, drain := range []bool{false, true} {
			i := 0
			s.merge(drain, func(x *looseSpan) bool {
				got := span{x.start, x.end, 0}
				if x.args != 0 {
					got.args = s.args.At(int(x.args) - 1)
				}
				if i < n && got != want[i] {
					t.Fatalf("seed %d: span %d is %v, not %v", seed, i, got, want[i])
				}
				i++
				return true
			})
			if i != n {
				t.Fatalf("seed %d: %d spans of %d", seed, i, n)
			}
		}
		if s.runs != nil {
			t.Error("runs are kept")
		}
	}
}

// Arguments are found again, few or many, also in a snapshot that the lane has
// outgrown.
func TestArgColumn(t *testing.T) {
	for _, every := range []int{1, 2, 63, 64, 65, 1000, 5000} {
		rng := random(uint64(every))
		var l Lane
		want := make([]uint64, 20_000)
		var old Lane
		for i := range want {
			if i == 9_000 {
				old = l.snapshot()
			}
			if rng.IntN(every) == 0 {
				want[i] = uint64(i) + 1<<40
			}
			l.append(int64(i), int64(i+1), 1, want[i])
		}
		for i, w := range want {
			if got := l.Args(i); got != w {
				t.Fatalf("one in %d: span %d has %d, not %d", every, i, got, w)
			}
			if i < old.Len() && old.Args(i) != w {
				t.Fatalf("one in %d: span %d of the snapshot has %d, not %d", every, i, old.Args(i), w)
			}
		}
	}
}
