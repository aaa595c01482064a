package column

import (
	"math/rand/v2"
	"testing"

	"ashlar/testdata/rounds"
)

// Unpacked spans equal the packed ones, for any lengths, gaps, units and numbers of spans,
// whether read one by one or many at a time.
func TestSpans(t *testing.T) {
	for seed := range 60 {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		n := 1 + rng.IntN(ChunkLen)
		unit := []int64{1, 64_000, 1 << 40}[rng.IntN(3)]
		if n > 200 && unit == 1<<40 {
			n = 200 // keep times within 63 bits
		}
		gaps, wide := rng.IntN(3), rng.IntN(2) == 0
		at := -rng.Int64N(1 << 50)
		starts, ends := make([]int64, n), make([]int64, n)
		first, second := make([]uint32, n), make([]uint32, n)
		for i := range starts {
			if rng.IntN(3) < gaps {
				at += rng.Int64N(1<<rng.IntN(12)) * unit
			}
			starts[i] = at
			at += rng.Int64N(1<<rng.IntN(12)) * unit
			ends[i] = at
			first[i] = rng.Uint32N(100)
			if second[i] = 0; rng.IntN(4) == 0 {
				second[i] = rng.Uint32()
			}
			if wide {
				first[i] = rng.Uint32()
			}
		}
		more := second
		if seed%4 == 0 {
			more = nil
			clear(second)
		}
		s := SpansOf(nil, starts, ends, first, more)
		if s.Len() != n {
			t.Fatal(s.Len(), n)
		}
		if err := checked(&s); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if s.Start(i) != starts[i] || s.End(i) != ends[i] || s.First(i) != first[i] || s.Second(i) != second[i] {
				t.Fatalf("seed %d: span %d is %d..%d of %d and %d, want %d..%d of %d and %d", seed, i, s.Start(i), s.End(i), s.First(i), s.Second(i), starts[i], ends[i], first[i], second[i])
			}
		}
		from := rng.IntN(n)
		m := rng.IntN(n - from)
		a, b, c := make([]int64, m), make([]int64, m), make([]uint32, m)
		ReadSpans(&s, from, a, b, c)
		for k := range m {
			if a[k] != starts[from+k] || b[k] != ends[from+k] || c[k] != first[from+k] {
				t.Fatalf("seed %d: span %d of many is %d..%d of %d", seed, from+k, a[k], b[k], c[k])
			}
		}
	}
}

// Reading damaged spans does not panic if they have passed Check.
func TestSpansDamaged(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	starts, numbers := make([]int64, 500), make([]uint32, 500)
	for i := range starts {
		starts[i], numbers[i] = int64(i*100+rng.IntN(50)), rng.Uint32N(1<<20)
	}
	refused, n := 0, rounds.Of(20_000)
	for range n {
		s := SpansOf(nil, starts, starts, numbers, numbers)
		switch rng.IntN(4) {
		case 0:
			s.words = s.words[:rng.IntN(len(s.words))]
		default:
			s.words[rng.IntN(min(len(s.words), 2*headWords*8))] ^= 1 << rng.IntN(64)
		}
		if checked(&s) != nil {
			refused++
			continue
		}
		for i := range s.Len() { // must not panic
			s.Start(i)
			s.End(i)
			s.First(i)
			s.Second(i)
		}
	}
	if refused == 0 || refused == n {
		t.Error("refused", refused)
	}
}

func checked(s *Spans) (err error) {
	defer Recover(&err)
	s.Check()
	return nil
}
