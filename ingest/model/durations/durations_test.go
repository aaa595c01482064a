package durations

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestWide compares sums with big.Int, and checks that they stop at 2^128-1.
func TestWide(t *testing.T) {
	most := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var got Wide
		want := new(big.Int)
		for range 1 + rng.IntN(20) {
			v := rng.Uint64() >> rng.IntN(64)
			x := new(big.Int).SetUint64(v)
			if rng.IntN(3) == 0 {
				got.Add(v)
			} else {
				got.AddSquare(v)
				x.Mul(x, x)
			}
			if want.Add(want, x); want.Cmp(most) > 0 {
				want.Set(most)
			}
		}
		is := new(big.Int).SetUint64(got.High)
		if is.Lsh(is, 64).Add(is, new(big.Int).SetUint64(got.Low)); is.Cmp(want) != 0 {
			t.Fatalf("seed %d: the sum is %v, not %v", seed, is, want)
		}
	}
}
