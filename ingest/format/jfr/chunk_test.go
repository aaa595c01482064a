package jfr

import (
	"math/rand/v2"
	"testing"
)

// TestNumbers checks that varint, which reads eight bytes at a time, and skipNumbers agree
// with reading byte by byte. Numbers have 1 to 9 bytes; the ninth uses all its bits.
func TestNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var b []byte
		var want []int64
		var ends []int
		for range rng.IntN(60) {
			size := 1 + rng.IntN(9)
			if rng.IntN(2) == 0 {
				size = 1 + rng.IntN(2)
			}
			var v uint64
			for i := range size {
				x := byte(rng.Uint32())
				if i == 8 {
					v |= uint64(x) << 56
				} else {
					x &= 0x7f
					v |= uint64(x) << (7 * i)
					if i < size-1 {
						x |= 0x80
					}
				}
				b = append(b, x)
			}
			want, ends = append(want, int64(v)), append(ends, len(b))
		}
		c := &chunk{b: b, compressed: true}
		for i, v := range want {
			if got := c.varint(); got != v || c.at != ends[i] {
				t.Fatalf("number %d of %x is %x, and ends at %d; want %x, %d", i, b, got, c.at, v, ends[i])
			}
		}
		for n := range ends {
			c.at = 0
			if c.skipNumbers(n + 1); c.at != ends[n] {
				t.Fatalf("%d numbers of %x end at %d, want %d", n+1, b, c.at, ends[n])
			}
		}
	}
}
