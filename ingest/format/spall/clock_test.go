package spall

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestClockIsExact checks that times are the nearest picosecond of the exact product, by
// whichever method they are computed.
func TestClockIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	half := big.NewRat(500_000_001, 1_000_000_000) // at a half, both neighbours are correct
	for _, unit := range []float64{1, 1e-3, 1e-6, .25, 1. / 3, 0.0004, 1e3, 0.001000001} {
		c := newClock(unit, 1e6)
		c.begin([]float64{float64(rng.Int64N(1e15))})
		for i := range 5_000 {
			d := float64(rng.Int64N(1 << (1 + i%52)))
			if i%3 == 0 {
				d += rng.Float64()
			}
			if i%2 == 0 {
				d = -d
			}
			at := c.base + d
			got, ok := c.float(at)
			exact := new(big.Rat).SetFloat64(at - c.base)
			exact.Mul(exact, new(big.Rat).SetFloat64(unit)).Mul(exact, big.NewRat(1e6, 1))
			if f, _ := exact.Float64(); math.Abs(f) > 1<<61 {
				continue
			}
			off := new(big.Rat).Sub(exact, new(big.Rat).SetInt64(got))
			if !ok || off.Abs(off).Cmp(half) > 0 {
				t.Fatalf("unit %v: %v ticks are %d ps, %v from what they are", unit, at-c.base, got, off.FloatString(6))
			}
		}
	}
}
