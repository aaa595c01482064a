package spans

import (
	"context"
	"math"
	"math/bits"
	"runtime"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/scan"
)

// A Bin is a range of values From..To, To excluded, with the number of values in it and
// their sum.
type Bin struct{ From, To, Count, Sum int64 }

// linearBins is the largest number of bins in a linear histogram.
const linearBins = 50

// renard is a series of ten steps per power of ten, each about a quarter larger than the
// one before: the preferred numbers R10 of ISO 3, in hundredths.
var renard = [...]int64{100, 125, 160, 200, 250, 315, 400, 500, 630, 800}

// logEdges returns the edges of bins that cover least..most, ten bins per power of ten.
func logEdges(least, most int64) []int64 {
	all := []int64{0}
	for power := int64(1); ; power *= 10 {
		for _, m := range renard {
			e := power / 100 * m
			if power < 100 {
				e = power * m / 100
			}
			if e > all[len(all)-1] {
				all = append(all, e)
			}
		}
		if power > math.MaxInt64/100 {
			all = append(all, math.MaxInt64)
			break
		}
	}
	first, last := 0, len(all)-1
	for all[first+1] <= least {
		first++
	}
	for all[last-1] > most {
		last--
	}
	return all[first : last+1]
}

// linearEdges returns the edges of at most linearBins equally wide bins that cover
// least..most. Their width is 1, 2 or 5 times a power of ten.
func linearEdges(least, most int64) []int64 {
	width := int64(1)
	for k := 0; (most/width - least/width) >= linearBins; k++ {
		if k%3 == 1 { // 1, 2, 5, 10: times 2, times 2.5, times 2
			width = width / 2 * 5
		} else {
			width *= 2
		}
	}
	edges := []int64{least / width * width}
	for edges[len(edges)-1] <= most {
		e := edges[len(edges)-1]
		if e > math.MaxInt64-width {
			return append(edges, math.MaxInt64)
		}
		edges = append(edges, e+width)
	}
	return edges
}

// binner finds the bin of a value by comparing it with few edges.
type binner struct {
	edges []int64
	// start is, by number of bits, the last edge that is not larger than any value with
	// that many bits.
	start [65]int
	// width is the width of all bins, if they are equally wide; per is 1/width.
	width int64
	per   float64
}

func newBinner(edges []int64, alike bool) *binner {
	b := &binner{edges: edges}
	for n := range b.start {
		least := int64(0)
		if n > 0 {
			least = int64(1<<(n-1)) & math.MaxInt64
		}
		for b.start[n] < len(edges)-2 && edges[b.start[n]+1] <= least {
			b.start[n]++
		}
	}
	if alike {
		b.width = edges[1] - edges[0]
		b.per = 1 / float64(b.width)
	}
	return b
}

func (b *binner) bin(v int64) int {
	i := 0
	if b.width > 0 {
		i = min(int(float64(v-b.edges[0])*b.per), len(b.edges)-2)
		for b.edges[i] > v { // rounding may have led too far
			i--
		}
	} else {
		i = b.start[bits.Len64(uint64(v))]
	}
	for i < len(b.edges)-2 && b.edges[i+1] <= v {
		i++
	}
	return i
}

// histograms counts values in a logarithmic and a linear histogram.
func histograms(ctx context.Context, p parts, least, most int64) (log, linear []Bin, err error) {
	by := [2]*binner{newBinner(logEdges(least, most), false), newBinner(linearEdges(least, most), true)}
	type sum struct{ n, of int64 }
	counts := make([][2][]sum, runtime.GOMAXPROCS(0))
	err = scan.Spread(ctx, len(p), func(worker, i int) {
		c := &counts[worker]
		if c[0] == nil {
			for k := range by {
				c[k] = make([]sum, len(by[k].edges)-1)
			}
		}
		for _, v := range p[i] {
			for k := range by {
				b := &c[k][by[k].bin(v)]
				b.n++
				recording.Add(&b.of, v)
			}
		}
	})
	var out [2][]Bin
	for k, b := range by {
		out[k] = make([]Bin, len(b.edges)-1)
		for i := range out[k] {
			out[k][i] = Bin{From: b.edges[i], To: b.edges[i+1]}
			for _, c := range counts {
				if c[k] != nil {
					out[k][i].Count += c[k][i].n
					recording.Add(&out[k][i].Sum, c[k][i].of)
				}
			}
		}
	}
	return closeGap(out[0]), out[1], err
}

// gap is the number of empty bins kept between 0 and the next values of a logarithmic
// histogram: enough to separate two modes.
const gap = 5

// closeGap widens the first bin of a logarithmic histogram if only zeros are in it, so that
// the many powers of ten between zero and the next value do not fill the picture.
func closeGap(bins []Bin) []Bin {
	if len(bins) == 0 || bins[0].From > 0 || bins[0].Sum > 0 {
		return bins
	}
	next := 1
	for next < len(bins) && bins[next].Count == 0 {
		next++
	}
	if next -= gap; next > 1 && next+gap < len(bins) {
		bins[next-1] = Bin{To: bins[next-1].To, Count: bins[0].Count}
		return bins[next-1:]
	}
	return bins
}
