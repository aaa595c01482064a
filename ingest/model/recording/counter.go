package recording

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"

	"ashlar/ingest/model/column"
)

// Counter is a value over time, drawn as a graph.
type Counter struct {
	Name, Series, Unit string
	Process            int
	times              column.Vec[int64]
	values             column.Vec[float64]
	// levels are the minima and maxima of 16 neighbouring points, then of 16 of these
	// groups, and so on, so that the cost of a picture depends on its pixels and not on
	// the number of points. It is an array so that a copy of the struct is a snapshot.
	levels   [counterLevels]column.Vec[extent]
	unsorted bool // a point came out of order
}

const (
	counterBits   = 4 // each level merges 1<<4 = 16 entries of the one below
	counterLevels = 6
)

type extent struct{ lo, hi float64 }

func newCounter(s *column.Shelf, process int, name, series, unit string) *Counter {
	c := &Counter{Name: name, Series: series, Unit: unit, Process: process}
	c.times, c.values = column.On[int64](s), column.On[float64](s)
	for k := range c.levels {
		c.levels[k] = column.On[extent](s)
	}
	return c
}

// Label returns the counter's name with its series, unless one says what the other does,
// or the series only says that it is a value.
func (c *Counter) Label() string {
	name, series := strings.ToLower(c.Name), strings.ToLower(c.Series)
	switch {
	case series == "" || series == "value" && name != "" || series == name || strings.HasSuffix(name, " "+series):
		return c.Name
	case name == "" || strings.HasPrefix(series, name+" "):
		return c.Series
	}
	return c.Name + " " + c.Series
}

// Len returns the number of points.
func (c *Counter) Len() int { return c.times.Len() }

// Time returns the time of point i in picoseconds.
func (c *Counter) Time(i int) int64 { return c.times.At(i) }

// Value returns the counter's value from point i until the next.
func (c *Counter) Value(i int) float64 { return c.values.At(i) }

// Search returns the first point after t.
func (c *Counter) Search(t int64) int {
	return sort.Search(c.Len(), func(i int) bool { return c.times.At(i) > t })
}

// Extent returns the minimum and maximum of points i to j-1. If there are no points, lo
// is larger than hi.
func (c *Counter) Extent(i, j int) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for i < j {
		level := -1
		for k := range c.levels {
			if n := 1 << ((k + 1) * counterBits); i&(n-1) != 0 || i+n > j || i/n >= c.levels[k].Len() {
				break
			}
			level = k
		}
		if level < 0 {
			v := c.values.At(i)
			lo, hi = min(lo, v), max(hi, v)
			i++
			continue
		}
		shift := (level + 1) * counterBits
		e := c.levels[level].At(i >> shift)
		lo, hi = min(lo, e.lo), max(hi, e.hi)
		i += 1 << shift
	}
	return lo, hi
}

func (c *Counter) append(t int64, v float64) {
	if n := c.times.Len(); n > 0 && t < c.times.At(n-1) {
		c.unsorted = true
	}
	c.times.Append(t)
	c.values.Append(v)
	c.levelUp()
}

// levelUp adds the extents of groups that are now complete.
func (c *Counter) levelUp() {
	n := c.values.Len()
	for k := range c.levels {
		size := 1 << ((k + 1) * counterBits)
		if n&(size-1) != 0 {
			return
		}
		lo, hi := c.Extent(n-size, n)
		c.levels[k].Append(extent{lo, hi})
	}
}

// sortByTime sorts the points by time, stably, if necessary. It builds new columns, so
// snapshots keep theirs.
func (c *Counter) sortByTime() {
	if !c.unsorted {
		return
	}
	order := make([]int, c.times.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.times.At(a), c.times.At(b)) })
	sorted := newCounter(c.times.Shelf(), c.Process, c.Name, c.Series, c.Unit)
	for _, i := range order {
		sorted.append(c.times.At(i), c.values.At(i))
	}
	*c = *sorted
}
