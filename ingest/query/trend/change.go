// Package trend finds the runs at which a cost changed in a series of runs.
//
// The method is E-divisive (Matteson and James, "A Nonparametric Approach for Multiple
// Change Point Analysis of Multivariate Data", JASA 109, 2014) with distance |x-y|. It
// splits a series where the energy distance between all runs before the split and some
// runs after it is largest, tests the split by permuting the runs, and goes on with the
// parts until a test fails. The runs after the split may end before the series does, so
// that a cost that rose and fell again counts as two changes. A series without a change
// gets one with a probability of at most [Level], whatever its distribution, if its runs
// are exchangeable.
package trend

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Level is the probability of finding a change in a series without any.
const Level = .01

// least is the minimum number of runs between two changes.
const least = 3

// permutations is the number of permutations of a test. exceeding is the number of
// permutations with a larger statistic after which the test ends (Besag and Clifford,
// "Sequential Monte Carlo p-values", Biometrika 78, 1991).
const permutations, exceeding = 1999, 20

// mostBlocks is the maximum number of blocks of runs for splits whose later part ends
// before the segment does. In longer segments, such splits are sought between blocks of
// several runs, and then placed exactly.
const mostBlocks = 64

// A Change is a lasting change of a series.
type Change struct {
	// At is the index of the first run after the change. From and To bound the runs around
	// it up to the next changes: From..At-1 before, At..To-1 after.
	At, From, To int
	// Before and After are the means of these runs.
	Before, After float64
	// P is the probability that chance alone makes a split at least this good.
	P float64
}

// Changes returns the changes of a series, in order.
func Changes(values []float64) []Change {
	type segment struct{ from, to, at, end int }
	c := newSplitter(values)
	r := rand.New(rand.NewPCG(2014, uint64(len(values))))
	ps := map[int]float64{}
	segments := []segment{{to: len(values)}}
	for {
		best, at := 0.0, -1
		for i := range segments {
			s := &segments[i]
			var q float64
			if s.at, s.end, q = c.best(s.from, s.to); q > best {
				best, at = q, i
			}
		}
		if at < 0 {
			break
		}
		p := c.chance(r, best, func(yield func(from, to int)) {
			for _, s := range segments {
				yield(s.from, s.to)
			}
		})
		if p > Level {
			break
		}
		s := segments[at]
		if s.end < s.to {
			s.at, _ = c.bestUntil(s.from, s.end)
		}
		ps[s.at] = p
		segments = slices.Replace(segments, at, at+1, segment{from: s.from, to: s.at}, segment{from: s.at, to: s.to})
	}
	var out []Change
	for i := range segments[1:] {
		a, b := segments[i], segments[i+1]
		out = append(out, Change{At: b.from, From: a.from, To: b.to, Before: mean(values[a.from:a.to]), After: mean(values[b.from:b.to]), P: ps[b.from]})
	}
	return out
}

func mean(values []float64) (m float64) {
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}

// splitter finds the best splits of segments of a series.
type splitter struct {
	values []float64
	ranks  []int // ranks of the values, in the order of sorted
	sorted []float64
	// order is the current order of the values. sortedAt are the places of the values in
	// sorted, each its own.
	order, sortedAt []int
	// counts and sums are Fenwick trees over ranks. first[k] and rest[k] are the sums of
	// the distances among the first and among the last k values of a segment.
	counts, sums []float64
	first, rest  []float64
	blocks
}

func newSplitter(values []float64) *splitter {
	n := len(values)
	c := &splitter{values: values, sorted: slices.Sorted(slices.Values(values)), sortedAt: make([]int, n), counts: make([]float64, n+1), sums: make([]float64, n+1),
		first: make([]float64, n+1), rest: make([]float64, n+1), blocks: blocks{of: make([]int, n)}}
	for i, v := range values {
		k, _ := slices.BinarySearch(c.sorted, v)
		c.ranks, c.order = append(c.ranks, k+1), append(c.order, i)
	}
	bySize := slices.Clone(c.order)
	slices.SortStableFunc(bySize, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	for k, i := range bySize {
		c.sortedAt[i] = k
	}
	return c
}

// within writes the sums of distances in the first 0, 1, … n of some values.
func (c *splitter) within(out []float64, n int, value func(k int) int) {
	clear(c.counts)
	clear(c.sums)
	count, sum, all := 0.0, 0.0, 0.0
	out[0] = 0
	for k := range n {
		i := value(k)
		v := c.values[i]
		below, belowSum := 0.0, 0.0
		for r := c.ranks[i]; r > 0; r -= r & -r {
			below += c.counts[r]
			belowSum += c.sums[r]
		}
		all += v*below - belowSum + (sum - belowSum) - v*(count-below)
		for r := c.ranks[i]; r < len(c.counts); r += r & -r {
			c.counts[r]++
			c.sums[r] += v
		}
		count++
		sum += v
		out[k+1] = all
	}
}

// energy returns the statistic of a split into a and b values from the sums of distances
// within and between both parts.
func energy(a, b int, withinA, withinB, between float64) float64 {
	m, n := float64(a), float64(b)
	return m * n / (m + n) * (2*between/(m*n) - 2*withinA/(m*(m-1)) - 2*withinB/(n*(n-1)))
}

// best returns the best split of the values from..to-1 in their current order: the values
// before at against those of at..end-1. The statistic is 0 if there is none.
func (c *splitter) best(from, to int) (at, end int, q float64) {
	if to-from < 2*least || c.sorted[0] == c.sorted[len(c.sorted)-1] {
		return 0, 0, 0
	}
	at, end, q = c.bestOfBlocks(from, to)
	if to-from > mostBlocks {
		if last, v := c.bestUntil(from, to); v > q {
			return last, to, v
		}
	}
	return at, end, q
}

// bestUntil returns the best split of the values from..to-1 whose later part ends with them.
func (c *splitter) bestUntil(from, to int) (at int, q float64) {
	n := to - from
	c.within(c.first, n, func(k int) int { return c.order[from+k] })
	c.within(c.rest, n, func(k int) int { return c.order[to-1-k] })
	for k := least; k <= n-least; k++ {
		if v := energy(k, n-k, c.first[k], c.rest[n-k], c.first[n]-c.first[k]-c.rest[n-k]); v > q {
			at, q = from+k, v
		}
	}
	return at, q
}

// chance returns the probability that the best split of permuted segments is as good as q.
func (c *splitter) chance(r *rand.Rand, q float64, segments func(yield func(from, to int))) float64 {
	was := slices.Clone(c.order)
	defer func() { copy(c.order, was) }()
	more := 0
	for i := range permutations {
		most := 0.0
		segments(func(from, to int) {
			r.Shuffle(to-from, func(i, k int) { c.order[from+i], c.order[from+k] = c.order[from+k], c.order[from+i] })
			if _, _, v := c.best(from, to); v > most {
				most = v
			}
		})
		if most >= q*(1-1e-9) {
			if more++; more == exceeding {
				return float64(more) / float64(i+1)
			}
		}
	}
	return float64(more+1) / (permutations + 1)
}

// Sure removes changes of several series that may be false alarms: of the series that keep
// any, at most one in twenty is expected to have no real change (Benjamini and Hochberg,
// 1995).
func Sure(all [][]Change) {
	var first []float64
	for _, cs := range all {
		p := 1.0
		for _, c := range cs {
			p = math.Min(p, c.P)
		}
		first = append(first, p)
	}
	ps := slices.Sorted(slices.Values(first))
	limit := -1.0
	for i, p := range ps {
		if p <= .05*float64(i+1)/float64(len(ps)) {
			limit = p
		}
	}
	for i := range all {
		if first[i] > limit {
			all[i] = nil
		}
	}
}
