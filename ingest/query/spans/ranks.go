package spans

import (
	"context"
	"math/bits"
	"runtime"
	"slices"

	"ashlar/ingest/query/scan"
)

// Percentiles here are nearest-rank: the p-th percentile of n sorted values is the value
// at position ⌈p·n⌉, counted from 1, so it is always one of the values. The median of an
// even number of values is the lower of the two in the middle.

// rankOf returns the index, from 0, of a percentile given in thousandths.
func rankOf(n, perMille int64) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(perMille))
	lo, carry := bits.Add64(lo, 999, 0)
	q, _ := bits.Div64(hi+carry, lo, 1000)
	return max(0, int64(q)-1)
}

// parts are values in several slices, unordered.
type parts [][]int64

func (p parts) len() int64 {
	var n int64
	for _, s := range p {
		n += int64(len(s))
	}
	return n
}

const (
	digitBits = 11
	digits    = 1 << digitBits
	// sortAtMost is the number of values up to which sorting is as quick as counting.
	sortAtMost = 1 << 15
)

// between is a range of values that contains a rank: the digits·2^shift values from lo
// on.
type between struct {
	lo    int64
	shift int
}

// atRanks returns the values that would be at the given ranks if all values were sorted,
// without sorting them. Each round counts the values by their next eleven bits and
// continues with the range that contains the rank, so a few passes on all cores are
// enough for any values. least and most are the extremes of all values. ranks must
// ascend.
func atRanks(ctx context.Context, p parts, least, most int64, ranks []int64) ([]int64, error) {
	if n := p.len(); n <= sortAtMost {
		all := make([]int64, 0, n)
		for _, s := range p {
			all = append(all, s...)
		}
		slices.Sort(all)
		out := make([]int64, len(ranks))
		for k, r := range ranks {
			out[k] = all[r]
		}
		return out, nil
	}
	at := make([]between, len(ranks))
	left := slices.Clone(ranks)
	for k := range at {
		at[k] = between{least, max(0, bits.Len64(uint64(most-least))-digitBits)}
	}
	for shift := at[0].shift; ; shift = max(0, shift-digitBits) {
		apart := slices.Compact(slices.Clone(at)) // ranks ascend, so their ranges do too
		counts, err := countDigits(ctx, p, apart)
		if err != nil {
			return nil, err
		}
		for k := range at {
			c := counts[slices.Index(apart, at[k])]
			d := 0
			for left[k] >= c[d] {
				left[k] -= c[d]
				d++
			}
			at[k] = between{at[k].lo + int64(d)<<shift, max(0, shift-digitBits)}
		}
		if shift == 0 {
			break
		}
	}
	out := make([]int64, len(ranks))
	for k := range at {
		out[k] = at[k].lo
	}
	return out, nil
}

// countDigits counts, for each range, the values by digit.
func countDigits(ctx context.Context, p parts, at []between) ([][]int64, error) {
	workers := runtime.GOMAXPROCS(0)
	all := make([][]int64, workers) // one worker's counts, range after range
	err := scan.Spread(ctx, len(p), func(worker, i int) {
		if all[worker] == nil {
			all[worker] = make([]int64, len(at)*digits)
		}
		for k, b := range at {
			c := all[worker][k*digits : (k+1)*digits]
			for _, v := range p[i] {
				// Values below lo wrap around to a large number.
				if d := uint64(v-b.lo) >> b.shift; d < digits {
					c[d]++
				}
			}
		}
	})
	sum := make([][]int64, len(at))
	for k := range sum {
		sum[k] = make([]int64, digits)
		for _, c := range all {
			if c != nil {
				for d, n := range c[k*digits : (k+1)*digits] {
					sum[k][d] += n
				}
			}
		}
	}
	return sum, err
}

// Nth returns the value that would be at index k if s were sorted. It reorders s.
func Nth(s []int64, k int) int64 {
	for len(s) > 24 {
		pivot := median3(s[0], s[len(s)/2], s[len(s)-1])
		// Three ways, since durations repeat: less before lt, more from gt on.
		lt, i, gt := 0, 0, len(s)
		for i < gt {
			switch v := s[i]; {
			case v < pivot:
				s[i], s[lt] = s[lt], v
				lt++
				i++
			case v > pivot:
				gt--
				s[i], s[gt] = s[gt], v
			default:
				i++
			}
		}
		switch {
		case k < lt:
			s = s[:lt]
		case k >= gt:
			s, k = s[gt:], k-gt
		default:
			return pivot
		}
	}
	slices.Sort(s)
	return s[k]
}

func median3(a, b, c int64) int64 { return max(min(a, b), min(max(a, b), c)) }
