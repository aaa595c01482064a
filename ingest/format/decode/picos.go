package decode

import (
	"cmp"
	"math"
	"math/big"
	"slices"
)

// Picos is a time in picoseconds: Mantissa times 10^-Scale.
type Picos struct {
	Mantissa int64
	Scale    int
}

// Picos converts a number of units of 10^exp picoseconds each.
func (n Number) Picos(exp int) Picos { return Picos{n.Mantissa, n.Scale - exp} }

// Since returns t minus o in whole picoseconds. ok is false if the difference exceeds a
// quarter of the range of 64 bits, 26 days.
func (t Picos) Since(o Picos) (ps int64, ok bool) {
	s := max(t.Scale, o.Scale, 0)
	a, fits := Number{Mantissa: t.Mantissa, Scale: t.Scale}.At(s)
	b, also := Number{Mantissa: o.Mantissa, Scale: o.Scale}.At(s)
	if d := a - b; fits && also && (d < a) == (b > 0) {
		n := Number{Mantissa: d, Scale: s}.Round(0)
		return n.Mantissa, n.Mantissa < math.MaxInt64/4 && n.Mantissa > math.MinInt64/4
	}
	ten := func(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
	d := new(big.Int).Mul(big.NewInt(t.Mantissa), ten(s-t.Scale))
	d.Sub(d, new(big.Int).Mul(big.NewInt(o.Mantissa), ten(s-o.Scale)))
	half := new(big.Int).Rsh(ten(s), 1)
	if d.Sign() < 0 {
		half.Neg(half)
	}
	d.Quo(d.Add(d, half), ten(s)) // halves away from zero
	return d.Int64(), d.IsInt64() && d.Int64() < math.MaxInt64/4 && d.Int64() > math.MinInt64/4
}

// Anchor returns the index of the time from which a recording counts: the first one, or, if most
// times are too far from it, the first that is near their median. So one stray time at the
// beginning does not push all others off the timeline. Of more than 1024 times it looks at so many,
// evenly spread.
func Anchor(times []Picos) int {
	const most = 1024
	every := (len(times) + most - 1) / most
	if every > 1 {
		var some []Picos
		for i := 0; i < len(times); i += every {
			some = append(some, times[i])
		}
		return every * Anchor(some)
	}
	far := 0
	for _, t := range times {
		if _, ok := t.Since(times[0]); !ok {
			far++
		}
	}
	if 2*far <= len(times) {
		return 0
	}
	value := func(t Picos) float64 { return float64(t.Mantissa) * math.Pow10(-t.Scale) }
	sorted := slices.SortedFunc(slices.Values(times), func(a, b Picos) int { return cmp.Compare(value(a), value(b)) })
	median := sorted[(len(sorted)-1)/2]
	return slices.IndexFunc(times, func(t Picos) bool { _, ok := t.Since(median); return ok })
}

// Origin returns the earliest of times in nanoseconds that is within 26 days of most of them.
func Origin(ns []int64) int64 {
	times := make([]Picos, len(ns))
	for i, t := range ns {
		times[i] = Picos{Mantissa: t, Scale: -3}
	}
	near := times[Anchor(times)]
	first := near
	for _, t := range times {
		if _, ok := t.Since(near); ok && t.Mantissa < first.Mantissa {
			first = t
		}
	}
	return first.Mantissa
}
