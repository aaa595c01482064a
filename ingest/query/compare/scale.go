package compare

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"

	"ashlar/ingest/model/recording"
)

// Normalize is the way in which the sides are made comparable.
type Normalize string

// Normalisations; see the package documentation.
const (
	Raw      Normalize = "raw"
	Total    Normalize = "total"
	Duration Normalize = "duration"
	Samples  Normalize = "samples"
	Calls    Normalize = "calls"
)

// ParseNormalize parses a normalisation named on the command line.
func ParseNormalize(s string) (Normalize, error) {
	switch n := Normalize(s); n {
	case Raw, Total, Duration, Samples, Calls, Auto:
		return n, nil
	}
	return "", fmt.Errorf("cannot normalise by %q: use auto, raw, total, duration, samples or calls", s)
}

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

// guard is the largest number of decimals added for scaled values.
const guard = 6

// normalize finds the factor for each recording's values.
func (c *Comparison) normalize() error {
	by, err := c.normalizers()
	if err != nil {
		return err
	}
	factors, err := c.factors(by)
	if err != nil {
		return err
	}
	for r := range c.Runs {
		run := &c.Runs[r]
		run.factor = newFactor(factors[r])
		if run.Scaled, err = run.factor.round(run.Weights.Sum); err != nil {
			return err
		}
		// Sum is in the common units too.
		own := new(big.Rat).SetFrac(pow10(c.Metric.Common.Decimals), big.NewInt(1))
		run.Sum, err = newFactor(own.Mul(own, c.own(r))).round(run.Weights.Sum)
		if err != nil {
			return err
		}
	}
	return nil
}

// normalizers returns the divisor for each run's values, all above zero.
func (c *Comparison) normalizers() ([]*big.Rat, error) {
	by := make([]*big.Rat, len(c.Runs))
	if c.PerCall() { // see Comparison.perCall
		for r := range by {
			by[r] = big.NewRat(1, 1)
		}
		return by, nil
	}
	for r := range c.Runs {
		run := &c.Runs[r]
		by[r] = big.NewRat(1, 1)
		what := ""
		switch c.Normalize {
		case Total:
			by[r].SetInt64(run.Sum)
			what = "the total is " + by[r].RatString()
		case Duration:
			by[r].SetInt64(run.Length)
			what = "the duration is " + by[r].RatString()
		case Samples:
			by[r].SetInt64(run.Samples)
			what = "there are no samples"
		case Calls:
			by[r].SetInt64(run.Calls)
			what = "no calls are selected. Choose some with --calls FUNCTION"
		}
		if by[r].Sign() <= 0 {
			return nil, fmt.Errorf("%s: cannot normalise by %s: %s", run.Rec.Source.Path, c.Normalize, what)
		}
	}
	return by, nil
}

// factors returns the factor for each run's values, so that the mean of a side is in
// common units. While a factor has a fraction and the sums leave room, the common units
// get more decimals.
func (c *Comparison) factors(by []*big.Rat) ([]*big.Rat, error) {
	mean := new(big.Rat) // mean of the first side's divisors
	for r := range c.Runs {
		if side, n := c.sideOf(r); side == 0 {
			mean.Add(mean, new(big.Rat).Quo(by[r], big.NewRat(int64(n), 1)))
		}
	}
	exact := !c.PerCall()
	var largest int64
	factors := make([]*big.Rat, len(c.Runs))
	for r := range c.Runs {
		_, n := c.sideOf(r)
		f := new(big.Rat).Quo(mean, by[r])
		switch c.Normalize {
		case Raw:
			f.SetInt64(1)
		case Calls: // both sides are per call
			f.Inv(by[r])
		}
		if c.PerCall() {
			f.SetInt64(1)
		}
		f.Quo(f, big.NewRat(int64(n), 1))
		f.Mul(f, new(big.Rat).SetInt64(c.Metric.times[r]))
		factors[r], exact = f, exact && f.IsInt()
		v, err := newFactor(f).round(c.Runs[r].Weights.Sum)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Runs[r].Rec.Source.Path, err)
		}
		largest = max(largest, v, -v, c.Runs[r].Sum, -c.Runs[r].Sum) // both are shown in these units
	}
	const room = 1e17 // positive and negative parts can be larger than their sum
	for range guard {
		if exact || largest > room/10 {
			break
		}
		largest *= 10
		c.Metric.Common.Decimals++
		c.Metric.Guard++
		for _, f := range factors {
			f.Mul(f, big.NewRat(10, 1))
		}
	}
	return factors, nil
}

// own returns the unit of a recording's values, in common whole units.
func (c *Comparison) own(r int) *big.Rat {
	m := &c.recs[r].Events[c.Metric.Event[r]].Metrics[c.Metric.Metric[r]]
	u := unitOf(&c.recs[r].Events[c.Metric.Event[r]], m)
	common := int64(1)
	if k, ok := units[c.Metric.Common.Unit]; ok {
		common = k.base
	}
	q := new(big.Rat).SetFrac(big.NewInt(u.base), pow10(m.Decimals))
	return q.Quo(q, new(big.Rat).SetInt64(common))
}

// sideOf returns 0 for A and 1 for B, and the number of recordings on that side.
func (c *Comparison) sideOf(r int) (side, n int) {
	if r < c.Sides {
		return 0, c.Sides
	}
	return 1, len(c.Runs) - c.Sides
}

// ForScopes returns the default normalization for two parts of a recording. Call sets have
// different numbers of calls, so for them costs per call tell more than sums.
func ForScopes(a, b *recording.Scope) Normalize {
	switch {
	case b != nil && b.Outside: // the rest is longer
		return Duration
	case a.Calls != nil && b != nil && b.Calls != nil:
		return Calls
	}
	return Auto
}
