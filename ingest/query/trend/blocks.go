package trend

// blocks holds the sums of distances between blocks of runs.
type blocks struct {
	// of are the blocks of the values in sorted order, -1 for values outside the segment.
	of []int
	// near are the sums of the distances of the values of one block to the smaller ones of
	// another, by both blocks.
	near [mostBlocks][mostBlocks]float64
}

// bestOfBlocks returns the best split of the values from..to-1 into those before at and
// those of at..end-1, where at and end are limits of blocks.
func (c *splitter) bestOfBlocks(from, to int) (at, end int, q float64) {
	size := (to - from + mostBlocks - 1) / mostBlocks
	n := (to - from + size - 1) / size
	c.measure(from, to, size, n)
	limit := func(block int) int { return min(from+block*size, to) }
	// first[k] and within[k] are the sums of distances in the blocks 0..k-1 and k..j.
	var first, within [mostBlocks + 1]float64
	for j := range n {
		sum := 0.0
		for i := j; i >= 0; i-- {
			if sum += c.near[i][j]; i != j {
				sum += c.near[j][i]
			}
			within[i] += sum
		}
		first[j+1] = within[0]
		stop := limit(j + 1)
		for i := 1; i <= j; i++ {
			mid := limit(i)
			if mid-from < least || stop-mid < least {
				continue
			}
			if v := energy(mid-from, stop-mid, first[i], within[i], within[0]-first[i]-within[i]); v > q {
				at, end, q = mid, stop, v
			}
		}
	}
	return at, end, q
}

// measure sums the distances between n blocks of the values from..to-1.
func (c *splitter) measure(from, to, size, n int) {
	for k := range c.of {
		c.of[k] = -1
	}
	for k := range to - from {
		c.of[c.sortedAt[c.order[from+k]]] = k / size
	}
	for i := range n {
		clear(c.near[i][:n])
	}
	var counts, sums [mostBlocks]float64
	for k, b := range c.of {
		if b < 0 {
			continue
		}
		v, row := c.sorted[k], c.near[b][:n]
		for a := range row {
			row[a] += v*counts[a] - sums[a]
		}
		counts[b]++
		sums[b] += v
	}
}
