package compare

import (
	"errors"
	"math/big"
	"math/bits"
)

// factor is an exact factor for values: num/den, reduced.
type factor struct {
	num, den uint64 // den is 0 if they do not fit
	rat      *big.Rat
}

func newFactor(r *big.Rat) factor {
	f := factor{rat: r}
	if r.Sign() > 0 && r.Num().IsInt64() && r.Denom().IsInt64() {
		f.num, f.den = r.Num().Uint64(), r.Denom().Uint64()
	}
	return f
}

func (f factor) float() float64 {
	v, _ := f.rat.Float64()
	return v
}

// errTooLarge is returned if a scaled sum does not fit.
var errTooLarge = errors.New("the values are too large to compare")

// most is the largest scaled sum; it leaves room for a sign and for adding two sums.
const most = 1 << 61

// round multiplies v and rounds to the nearest integer, halves away from 0.
func (f factor) round(v int64) (int64, error) {
	neg := v < 0
	u := uint64(v)
	if neg {
		u = -u
	}
	if f.den != 0 {
		hi, lo := bits.Mul64(u, f.num)
		lo, carry := bits.Add64(lo, f.den/2, 0)
		if hi += carry; hi < f.den {
			q, _ := bits.Div64(hi, lo, f.den)
			if q > most {
				return 0, errTooLarge
			}
			if neg {
				return -int64(q), nil
			}
			return int64(q), nil
		}
		return 0, errTooLarge
	}
	x := new(big.Int).Mul(new(big.Int).SetUint64(u), f.rat.Num())
	x.Add(x, new(big.Int).Rsh(f.rat.Denom(), 1)).Quo(x, f.rat.Denom())
	if !x.IsInt64() || x.Int64() > most {
		return 0, errTooLarge
	}
	if neg {
		return -x.Int64(), nil
	}
	return x.Int64(), nil
}

// keeps reports whether share returns the values as they are.
func (f factor) keeps(values []int64) bool {
	if f.num != 1 || f.den != 1 {
		return false
	}
	var sum int64
	for _, v := range values {
		if sum += v; v < 0 || sum < 0 || sum > most {
			return false
		}
	}
	return true
}

// share multiplies values by the factor and rounds so that each running sum, and so the
// total, is exactly the rounded product. Each result is the difference of two rounded
// running sums; order is the order in which values are summed.
func (f factor) share(values []int64, order []int32) ([]int64, error) {
	out := make([]int64, len(values))
	var sum, before int64
	for _, i := range order {
		v := values[i]
		if v == 0 {
			continue
		}
		s := sum + v
		if (s > sum) != (v > 0) {
			return nil, errTooLarge
		}
		sum = s
		after, err := f.round(sum)
		if err != nil {
			return nil, err
		}
		out[i], before = after-before, after
	}
	return out, nil
}
