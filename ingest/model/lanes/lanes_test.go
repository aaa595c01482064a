package lanes

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"ashlar/testdata/rounds"
)

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 99)) }

// lane returns a lane of n spans from time 0 on.
func lane(rng *rand.Rand, n int) *Lane { return laneFrom(rng, n, 0) }

func laneFrom(rng *rand.Rand, n int, now int64) *Lane {
	lane := New(nil, false)
	l := &lane
	for range n {
		if rng.IntN(3) > 0 {
			now += rng.Int64N(20)
		}
		if rng.IntN(500) == 0 {
			now += 10_000
		}
		d := rng.Int64N(10)
		if rng.IntN(300) == 0 {
			d = rng.Int64N(5000)
		}
		l.Append(now, now+d, CallID(1+rng.IntN(50)), 0, false)
		now += d
	}
	return l
}

// The bars of Walk cover every span of the range once and in order, and their fields agree
// with the spans.
func TestWalk(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 17, 127, 128, 129, 1023, 1024, 5000, 70_000} {
		rng := random(uint64(n))
		// Times may be negative: the origin is the recording's first record, and spans may
		// have begun before it.
		begin := []int64{0, -1 << 50, 1 << 50}[n%3]
		plain := laneFrom(rng, n, begin)
		length := int64(1000)
		if n > 0 {
			length = plain.End(n-1) + 1 - begin
		}
		squeezed := squeezedLane(plain)
		for i := range rounds.Of(200) {
			l := []*Lane{plain, squeezed}[i%2]
			from := begin + rng.Int64N(length+200) - 100
			to := from + 1 + rng.Int64N(length)
			res := int64(math.Exp(rng.Float64() * math.Log(float64(length))))
			next, bars := -1, 0
			l.Walk(from, to, res, func(b *Bar) bool {
				bars++
				if next >= 0 && b.Index != next {
					t.Fatalf("n %d: a bar begins at span %d, not %d", n, b.Index, next)
				}
				if next < 0 && b.Index > 0 && l.End(b.Index-1) > from {
					t.Fatalf("n %d: the first bar leaves out what reaches into the range", n)
				}
				next = b.Index + b.N
				checkBar(t, l, b, res)
				if at := b.Start - from; b.Pixel != int(at/res) && (at >= 0 || b.Pixel != -1) {
					t.Fatalf("bar %+v is not at pixel %d", *b, at/res)
				}
				return true
			})
			if next < 0 {
				// If there is no bar, no span may be in the range.
				for i := range n {
					if l.End(i) > from && l.Start(i) < to {
						t.Fatalf("n %d: %d..%d reports nothing, but span %d is in it", n, from, to, i)
					}
				}
				continue
			}
			if next < n && l.Start(next) < to {
				t.Fatalf("n %d: %d..%d stops before span %d at %d", n, from, to, next, l.Start(next))
			}
			// The number of bars depends on the pixels: up to seven groups on each side on
			// each of a few levels.
			if pixels := (to-from)/res + 2; int64(bars) > 60*pixels {
				t.Errorf("n %d: %d bars for %d pixels", n, bars, pixels)
			}
		}
	}
}

// TestWalkIsTheSamePixelsAway checks that bars that begin in a range are the same if Walk
// starts a whole number of pixels earlier.
func TestWalkIsTheSamePixelsAway(t *testing.T) {
	for _, n := range []int{17, 129, 5000, 70_000} {
		rng := random(uint64(n))
		l := laneFrom(rng, n, 0)
		length := l.End(n - 1)
		for range 100 {
			res := int64(math.Exp(rng.Float64() * math.Log(float64(length)/4)))
			from := rng.Int64N(length)
			var all []Bar
			l.Walk(from, length+1, res, func(b *Bar) bool { all = append(all, *b); return true })
			later := from + res*rng.Int64N((length-from)/res+1)
			all = all[sort.Search(len(all), func(i int) bool { return all[i].Start >= later }):]
			l.Walk(later, length+1, res, func(b *Bar) bool {
				if b.Start < later {
					return true
				}
				found := *b
				found.Pixel += int((later - from) / res)
				if len(all) == 0 || all[0] != found {
					t.Fatalf("n %d, pixels of %d: from %d on %+v is a bar, from %d on it is %+v", n, res, later, *b, from, all[:min(1, len(all))])
				}
				all = all[1:]
				return true
			})
			if len(all) > 0 {
				t.Fatalf("n %d, pixels of %d: from %d on there is no %+v", n, res, later, all[0])
			}
		}
	}
}

func checkBar(t *testing.T, l *Lane, b *Bar, res int64) {
	t.Helper()
	var busy int64
	found := false
	for i := b.Index; i < b.Index+b.N; i++ {
		busy += l.End(i) - l.Start(i)
		found = found || l.Call(i) == b.Call
	}
	if b.Start != l.Start(b.Index) || b.End != l.End(b.Index+b.N-1) || !found {
		t.Fatalf("bar %+v is not spans %d..%d", *b, b.Index, b.Index+b.N-1)
	}
	if math.Abs(float64(b.Busy)-float64(busy)) > 1e-5*float64(busy) {
		t.Fatalf("bar %+v covers %d", *b, busy)
	}
	if b.N > 1 && b.End-b.Start > res {
		t.Fatalf("bar %+v is wider than %d", *b, res)
	}
}

func TestWalkStops(t *testing.T) {
	l := lane(random(1), 100)
	n := 0
	l.Walk(0, math.MaxInt64, 1, func(*Bar) bool { n++; return n < 5 })
	if n != 5 {
		t.Errorf("visited %d bars", n)
	}
}

// Detail levels take at most a tenth of the memory of the columns.
func TestLevelsAreSmall(t *testing.T) {
	l := lane(random(2), 1_000_000)
	columns := int64(20 * l.Len())
	var levels int64
	for i := range l.levels {
		levels += l.levels[i].Bytes(24)
	}
	if levels*10 > columns {
		t.Errorf("%d bytes of levels over %d of columns", levels, columns)
	}
}

// Arguments can be read back, few or many, also in a snapshot from before the lane grew.
func TestArgColumn(t *testing.T) {
	for _, every := range []int{1, 2, 63, 64, 65, 1000, 5000} {
		rng := random(uint64(every))
		l := New(nil, false)
		want := make([]uint64, 20_000)
		old := New(nil, false)
		for i := range want {
			if i == 9_000 {
				old = l.Snapshot()
			}
			if rng.IntN(every) == 0 {
				want[i] = uint64(i) + 1<<40
			}
			l.Append(int64(i), int64(i+1), 1, want[i], false)
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
