package recording

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCounterExtent compares the extents of ranges with a loop over their points, for
// points in and out of order, while the counter grows.
func TestCounterExtent(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, late := range []int64{0, 50} {
		b := NewBuilder()
		c := b.AddCounter(b.Process(1), "bytes", "", "")
		var snaps []*Counter
		for i := range 9000 {
			b.CounterPoint(c, int64(i)*10-r.Int64N(late+1), math.Round(r.NormFloat64()*1000))
			if i%1717 == 0 {
				snaps = append(snaps, b.Snapshot().Counters[c])
			}
		}
		for _, c := range append(snaps, b.Finish().Counters[c]) {
			for i := 1; i < c.Len(); i++ {
				if c.Time(i) < c.Time(i-1) {
					t.Fatalf("point %d is before the one before it", i)
				}
			}
			for range 200 {
				i := r.IntN(c.Len() + 1)
				j := i + r.IntN(c.Len()-i+1)
				lo, hi := math.Inf(1), math.Inf(-1)
				for k := i; k < j; k++ {
					lo, hi = math.Min(lo, c.Value(k)), math.Max(hi, c.Value(k))
				}
				if l, h := c.Extent(i, j); l != lo || h != hi {
					t.Fatalf("points %d to %d of %d go from %v to %v, Extent says %v to %v", i, j, c.Len(), lo, hi, l, h)
				}
			}
		}
	}
}

func TestCounterLabel(t *testing.T) {
	for of, want := range map[[2]string]string{
		{"queue depth", "depth"}:       "queue depth",
		{"queue", "depth"}:             "queue depth",
		{"Queue depth", "queue depth"}: "Queue depth",
		{"heap", "heap used"}:          "heap used",
		{"heap", "heaps"}:              "heap heaps",
		{"GpuMemoryUsage", "value"}:    "GpuMemoryUsage",
		{"", "value"}:                  "value",
		{"", "used"}:                   "used",
		{"used", ""}:                   "used",
	} {
		c := &Counter{Name: of[0], Series: of[1]}
		if got := c.Label(); got != want {
			t.Errorf("counter %q with series %q is %q, want %q", of[0], of[1], got, want)
		}
	}
}
