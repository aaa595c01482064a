package spans

import (
	"math"
	"slices"
)

// Mode is a group of Count calls with similar durations, From (inclusive) to To
// (exclusive). Few calls have durations between two modes.
type Mode struct{ From, To, Count int64 }

// A valley between two modes is a run of at most widest bins between their peaks. It has
// at most half as many calls as the fullest run of that width in the lower mode, and the
// difference is at least sure times its standard deviation (counts are Poisson).
const (
	widest = 5
	sure   = 3
	// finest is the least width of a bin in ticks of the file's clock. Narrower bins
	// would show the clock's resolution.
	finest = 10
)

// Modes returns the modes of the logarithmic histogram, shortest durations first: one
// if it has no valleys. Each local maximum starts as a mode of its own. Neighbours that
// no valley separates are then merged, those with the least certain valley first. The
// border of two modes is the middle of the emptiest bins between their peaks.
func (d *Durations) Modes() []Mode {
	bins := d.coarse()
	var hs []heap
	for i, b := range bins {
		if b.Count > 0 && (len(hs) == 0 || bins[i-1].Count == 0 || rises(bins, i)) {
			hs = append(hs, heap{peak: i})
		}
		if b.Count > 0 {
			if h := &hs[len(hs)-1]; b.Count > bins[h.peak].Count {
				h.peak = i
			}
		}
	}
	rise(bins, hs)
	for len(hs) > 1 {
		k, least := 0, math.Inf(1)
		for i := range hs[1:] {
			if v := valley(bins, hs, i); v < least {
				k, least = i, v
			}
		}
		if least >= sure {
			break
		}
		if next := hs[k+1].peak; bins[next].Count > bins[hs[k].peak].Count {
			hs[k].peak = next
		}
		hs = append(hs[:k+1], hs[k+2:]...)
		rise(bins, hs)
	}
	hs = split(bins, hs)
	out := make([]Mode, len(hs))
	for i := range hs {
		first, last := extent(bins, hs, i)
		out[i] = Mode{From: bins[first].From, To: bins[last].To}
		for _, b := range bins[first : last+1] {
			out[i].Count += b.Count
		}
	}
	return out
}

// coarse returns the logarithmic histogram with bins merged until each spans at least
// finest ticks of the clock. The tick is the greatest common divisor of the durations
// known.
func (d *Durations) coarse() (bins []Bin) {
	var step int64
	for _, v := range []int64{d.Min, d.Median, d.P90, d.P99, d.P999, d.Max} {
		for a, b := step, v; ; a, b = b, a%b {
			if b == 0 {
				step = a
				break
			}
		}
	}
	for _, b := range d.Logarithmic {
		if n := len(bins); n > 0 && (bins[n-1].To-bins[n-1].From)/finest < step {
			bins[n-1].To, bins[n-1].Count = b.To, bins[n-1].Count+b.Count
			continue
		}
		bins = append(bins, b)
	}
	return bins
}

// heap is a mode under construction; peak is its fullest bin.
type heap struct{ peak int }

// rises reports whether bin i is the first in which the counts rise again after a fall.
func rises(bins []Bin, i int) bool {
	if bins[i].Count <= bins[i-1].Count {
		return false
	}
	k := i - 1
	for k > 0 && bins[k-1].Count == bins[k].Count {
		k--
	}
	return k > 0 && bins[k-1].Count > bins[k].Count
}

// rise moves each peak to the fullest bin of its heap, until nothing changes.
func rise(bins []Bin, hs []heap) {
	for range bins { // mostly the first round changes nothing
		changed := false
		for i := range hs {
			first, last := extent(bins, hs, i)
			p := fullest(bins, first, last)
			changed = changed || p != hs[i].peak
			hs[i].peak = p
		}
		if !changed {
			return
		}
	}
}

// fullest returns the first of the fullest bins in first..last.
func fullest(bins []Bin, first, last int) (peak int) {
	peak = first
	for i := first; i <= last; i++ {
		if bins[i].Count > bins[peak].Count {
			peak = i
		}
	}
	return peak
}

// split splits heaps that were merged too early, if valleys on all sides remain.
func split(bins []Bin, hs []heap) []heap {
	for i := 0; i < len(hs); i++ {
		first, last := extent(bins, hs, i)
		for border := first + 1; border <= last; border++ {
			p, q := fullest(bins, first, border-1), fullest(bins, border, last)
			more := slices.Replace(slices.Clone(hs), i, i+1, heap{p}, heap{q})
			rise(bins, more)
			if valley(bins, more, i) >= sure && (i == 0 || valley(bins, more, i-1) >= sure) && (i+2 == len(more) || valley(bins, more, i+1) >= sure) {
				hs = more
				i = -1
				break
			}
		}
	}
	return hs
}

// extent returns the first and the last bin of a heap. It meets its neighbours in the
// middle of the emptiest bins between their peaks.
func extent(bins []Bin, hs []heap, i int) (first, last int) {
	last = len(bins) - 1
	if i+1 < len(hs) {
		last = meet(bins, hs[i].peak, hs[i+1].peak) - 1
	}
	if i > 0 {
		first = meet(bins, hs[i-1].peak, hs[i].peak)
	}
	return first, last
}

// valley returns how certain the valley between a heap and the next one is: the number of
// standard deviations by which the lower heap rises above it; 0 if the valley has more
// than half as many calls.
func valley(bins []Bin, hs []heap, i int) (z float64) {
	af, al := extent(bins, hs, i)
	bf, bl := extent(bins, hs, i+1)
	for w := 1; w <= widest; w++ {
		low := run(bins, hs[i].peak+1, hs[i+1].peak-1, w, func(x, y int64) bool { return x < y })
		more := func(x, y int64) bool { return x > y }
		high := min(run(bins, af, al, w, more), run(bins, bf, bl, w, more))
		if low >= 0 && 2*low <= high {
			z = max(z, float64(high-low)/math.Sqrt(float64(high+low)))
		}
	}
	return z
}

// run returns the best sum of w neighbouring bins in first..last. If there are fewer
// bins, it returns the sum of all if better prefers larger sums, else -1.
func run(bins []Bin, first, last, w int, better func(x, y int64) bool) int64 {
	best, sum := int64(-1), int64(0)
	for i := first; i <= last; i++ {
		sum += bins[i].Count
		if i-w >= first {
			sum -= bins[i-w].Count
		}
		if i-first+1 >= w && (best < 0 || better(sum, best)) {
			best = sum
		}
	}
	if best < 0 && better(1, 0) {
		return sum
	}
	return best
}

// meet returns the first bin of the second of two modes: the middle of the emptiest bins
// between their peaks.
func meet(bins []Bin, a, b int) int {
	least := a + 1
	for i := a + 1; i < b; i++ {
		if bins[i].Count < bins[least].Count {
			least = i
		}
	}
	last := least
	for last+1 < b && bins[last+1].Count == bins[least].Count {
		last++
	}
	return (least + last + 1) / 2
}
