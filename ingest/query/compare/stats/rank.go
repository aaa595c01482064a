package stats

import (
	"cmp"
	"math"
	"sort"
)

// The rank test is exact up to exactAll values on both sides together, or up to
// exactLarge if the smaller side has at most exactSmall.
const (
	exactAll   = 24
	exactSmall = 4
	exactLarge = 60
)

func sortBy(order []int, less func(i, j int) bool) {
	sort.SliceStable(order, func(a, b int) bool { return less(order[a], order[b]) })
}

// Ranks tests whether the values of a and b come from the same distribution, by the sum
// of their ranks (Mann and Whitney 1947; ties share their mean rank). For few values the
// result is exact, over all ways to distribute the ranks; for many it comes from the
// normal distribution, corrected for ties and for continuity. Both slices must be sorted.
// It returns 1 if a slice is empty.
func Ranks[T cmp.Ordered](a, b []T) float64 {
	n, m := len(a), len(b)
	if n == 0 || m == 0 {
		return 1
	}
	all := n + m
	exact := all <= exactAll || min(n, m) <= exactSmall && all <= exactLarge
	// Twice a mean rank is an integer.
	var ranks []int
	if exact {
		ranks = make([]int, 0, all)
	}
	sumA, ties := 0, 0.0
	for i, j := 0, 0; i < n || j < m; {
		var v T
		if i < n && (j == m || a[i] <= b[j]) {
			v = a[i]
		} else {
			v = b[j]
		}
		i0, j0 := i, j
		for i < n && a[i] == v {
			i++
		}
		for j < m && b[j] == v {
			j++
		}
		t := i - i0 + j - j0
		r := 2*(i0+j0) + t + 1 // twice the mean of ranks i0+j0+1 … i+j
		sumA += r * (i - i0)
		ft := float64(t)
		ties += ft*ft*ft - ft
		for k := 0; exact && k < t; k++ {
			ranks = append(ranks, r)
		}
	}
	if exact {
		if m < n { // use the smaller side, which costs less; the deviation is the same
			sumA = all*(all+1) - sumA
			n, m = m, n
		}
		return exactRanks(ranks, n, sumA)
	}
	fn, fm, fa := float64(n), float64(m), float64(all)
	mean := fn * (fa + 1) / 2
	variance := fn * fm / 12 * (fa + 1 - ties/(fa*(fa-1)))
	if variance <= 0 {
		return 1
	}
	d := math.Max(0, math.Abs(float64(sumA)/2-mean)-.5)
	return NormalTails(d / math.Sqrt(variance))
}

// exactRanks returns the share of all choices of n ranks whose sum is at least as far
// from the mean as sum is. Ranks are doubled.
func exactRanks(ranks []int, n, sum int) float64 {
	top := 0
	for _, r := range ranks[len(ranks)-n:] {
		top += r
	}
	ways := make([][]float64, n+1)
	for k := range ways {
		ways[k] = make([]float64, top+1)
	}
	ways[0][0] = 1
	reach := 0 // upper bound of the sums so far
	for i, r := range ranks {
		reach = min(top, reach+r)
		for k := min(n, i+1); k > 0; k-- {
			from, to := ways[k-1], ways[k]
			for s := reach; s >= r; s-- {
				if f := from[s-r]; f != 0 {
					to[s] += f
				}
			}
		}
	}
	mean := n * (len(ranks) + 1) // doubled, like the ranks
	far := abs(sum - mean)
	var all, out float64
	for s, w := range ways[n] {
		all += w
		if abs(s-mean) >= far {
			out += w
		}
	}
	return out / all
}

func abs(x int) int {
	if x < 0 {
		return -x
	}
	return x
}

// mostThin is the largest number of values per side from which a shift is computed. More
// quantiles would give the same result.
const mostThin = 512

// thin returns evenly spaced values of a sorted slice.
func thin(s []float64) []float64 {
	if len(s) <= mostThin {
		return s
	}
	out := make([]float64, mostThin)
	for i := range out {
		out[i] = s[(2*i+1)*len(s)/(2*mostThin)]
	}
	return out
}

// Shift returns how much larger b is than a: the median of all differences of a value of
// b and one of a (Hodges and Lehmann 1963), with a 95 % interval from the rank test. Both
// slices must be sorted and not empty. If a side has more than 512 values, 512 quantiles
// stand for them.
func Shift(a, b []float64) (shift, low, high float64) {
	nm := float64(len(a)) * float64(len(b))
	// The interval leaves out this share of all differences at each end.
	out := .5 - Z95*math.Sqrt(float64(len(a)+len(b)+1)/12/nm)
	a, b = thin(a), thin(b)
	nm = float64(len(a)) * float64(len(b))
	k := math.Floor(nm * out)
	low, high = math.Inf(-1), math.Inf(1)
	if k >= 1 {
		low, high = kthDifference(a, b, k), kthDifference(a, b, nm-k+1)
	}
	lo := kthDifference(a, b, math.Floor((nm+1)/2))
	if hi := math.Floor(nm/2) + 1; hi != math.Floor((nm+1)/2) {
		return (lo + kthDifference(a, b, hi)) / 2, low, high
	}
	return lo, low, high
}

// kthDifference returns the k-th smallest (from 1) of all b[j]-a[i]. It bisects the range
// and counts, in linear time per step.
func kthDifference(a, b []float64, k float64) float64 {
	lo, hi := b[0]-a[len(a)-1], b[len(b)-1]-a[0]
	for range 48 {
		if lo >= hi {
			break
		}
		mid := lo + (hi-lo)/2
		if mid >= hi { // adjacent floating-point numbers
			break
		}
		if countUpTo(a, b, mid) >= k {
			hi = mid
		} else {
			lo = math.Nextafter(mid, math.Inf(1))
		}
	}
	return nearestDifference(a, b, hi)
}

// countUpTo counts the pairs with b[j]-a[i] <= d.
func countUpTo(a, b []float64, d float64) float64 {
	var n float64
	j := 0
	for i := range a {
		for j < len(b) && b[j]-a[i] <= d {
			j++
		}
		n += float64(j)
	}
	return n
}

// nearestDifference returns the largest b[j]-a[i] that is at most d. It removes the error
// left by bisection.
func nearestDifference(a, b []float64, d float64) float64 {
	best := math.Inf(-1)
	j := 0
	for i := range a {
		for j < len(b) && b[j]-a[i] <= d {
			j++
		}
		if j > 0 {
			best = math.Max(best, b[j-1]-a[i])
		}
	}
	if math.IsInf(best, -1) {
		return d
	}
	return best
}

// Quantile returns the smallest of the sorted values for which at least a part q of all
// values are no larger (nearest rank).
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	k := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(k, 0), len(sorted)-1)]
}
