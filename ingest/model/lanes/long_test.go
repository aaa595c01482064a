package lanes

import (
	"math"
	"reflect"
	"testing"
)

// Spans of any length are stored exactly, even those whose length needs more than 32 bits.
func TestLongSpans(t *testing.T) {
	lengths := []int64{0, 1, 4095, math.MaxUint32 - 1, math.MaxUint32, math.MaxUint32 + 1, 1 << 40, 1 << 50}
	for _, share := range []int{1, 2, 50, 5000} { // one span in share has a length from lengths
		rng := random(uint64(share))
		lane := New(nil, false)
		l := &lane
		var want [][2]int64
		now := int64(-1 << 60)
		early := New(nil, false)
		for i := range 10_000 {
			now += rng.Int64N(100)
			d := rng.Int64N(1000)
			if rng.IntN(share) == 0 {
				d = lengths[rng.IntN(len(lengths))]
			}
			l.Append(now, now+d, CallID(1+i%7), 0, false)
			want = append(want, [2]int64{now, now + d})
			now += d
			if i == 4200 {
				early = l.Snapshot()
			}
		}
		l.Trim()
		for _, l := range []*Lane{l, &early} {
			var room Room
			for i := 0; i < l.Len(); {
				starts, ends, calls := l.Columns(i, l.Len(), &room)
				for k := range starts {
					w := want[i+k]
					if starts[k] != w[0] || ends[k] != w[1] || l.Start(i+k) != w[0] || l.End(i+k) != w[1] || calls[k] != CallID(1+(i+k)%7) || l.Calls(i + k)[0] != calls[k] {
						t.Fatalf("span %d of one in %d is %d..%d and %d..%d, want %v", i+k, share, starts[k], ends[k], l.Start(i+k), l.End(i+k), w)
					}
				}
				i += len(starts)
			}
			for range 200 {
				i := rng.IntN(l.Len())
				if w := want[i]; w[1] > w[0] {
					if got := l.Search(w[1] - 1); got != i {
						t.Fatalf("span %d of one in %d ends first after %d, want %d", got, share, w[1]-1, i)
					}
				}
			}
			for range 200 {
				at := want[rng.IntN(l.Len())][rng.IntN(2)] + rng.Int64N(3) - 1
				if near := rng.IntN(l.Len() + 1); l.SearchNear(at, near) != l.Search(at) {
					t.Fatalf("near %d, span %d of one in %d ends first after %d, want %d", near, l.SearchNear(at, near), share, at, l.Search(at))
				}
			}
			// Walk at several pixel widths must give the sum over all spans.
			var all float64
			for i := range l.Len() {
				all += float64(want[i][1] - want[i][0])
			}
			for _, res := range []int64{1, 1 << 20, 1 << 33, 1 << 55} {
				var busy float64
				n := 0
				l.Walk(want[0][0], math.MaxInt64, res, func(b *Bar) bool {
					busy += float64(b.Busy)
					n += b.N
					return true
				})
				if n != l.Len() || math.Abs(busy-all) > 1e-5*all {
					t.Errorf("pixels of %d: %d spans cover %g, want %d and %g", res, n, busy, l.Len(), all)
				}
			}
		}
	}
}

// AppendAll gives the same lane as Append for each span.
func TestManyAtATime(t *testing.T) {
	for seed := range uint64(30) {
		rng := random(seed)
		one, many := New(nil, false), New(nil, false)
		var all []Span
		now := int64(-1000)
		for i := range 1 + rng.IntN(20_000) {
			s := Span{Start: now + rng.Int64N(3), Call: CallID(i % 9)}
			s.End = s.Start + rng.Int64N(4)
			if rng.IntN(50) == 0 {
				s.End += isLong - 2
			}
			if rng.IntN(3) == 0 {
				s.Args = rng.Uint64()
			}
			all, now = append(all, s), s.End
			one.Append(s.Start, s.End, s.Call, s.Args, false)
		}
		for len(all) > 0 {
			n := 1 + rng.IntN(min(len(all), 1+int(seed)*20))
			many.AppendAll(all[:n])
			all = all[n:]
		}
		if !reflect.DeepEqual(one, many) {
			t.Fatalf("seed %d: %d and %d spans differ", seed, one.Len(), many.Len())
		}
	}
}
