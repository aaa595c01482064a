package search

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"ashlar/ingest/model/order"
	"ashlar/ingest/query/scan"
)

// counting is a count of all spans and samples in progress, block by block.
type counting struct {
	h     *Hits
	items []countItem
	// members is the number of spans or samples in the hits of each item; done reports
	// whether the item has been counted.
	members []int64
	done    []atomic.Bool
}

// countItem is a range of blocks of a row, counted by one goroutine.
type countItem struct {
	row, first, last int
	part             float64 // part of the row that precedes the item
}

// itemBlocks is the largest number of blocks of an item.
const itemBlocks = 64

// previewAfter is the time after which a search reports its first hits.
const previewAfter = 20 * time.Millisecond

// count fills in the rows' counts by block, and removes rows without hits.
func (h *Hits) count(ctx context.Context, soon func(*Hits)) error {
	c := newCounting(h)
	began := time.Now()
	var told atomic.Bool
	told.Store(soon == nil)
	err := scan.Spread(ctx, len(c.items), func(_, i int) {
		c.look(i)
		if told.Load() || time.Since(began) < previewAfter || !told.CompareAndSwap(false, true) {
			return
		}
		if part := c.soFar(); part.n > 0 {
			soon(part)
		} else {
			told.Store(false)
		}
	})
	if err != nil {
		return err
	}
	c.sum(h)
	return nil
}

// newCounting divides the rows into items. The items are sorted by their relative
// position in their row, so that an early result has the beginning of every row.
func newCounting(h *Hits) *counting {
	c := &counting{h: h}
	for r := range h.rows {
		n := len(h.rows[r].before) - 1
		for b := 0; b < n; b += itemBlocks {
			c.items = append(c.items, countItem{r, b, min(n, b+itemBlocks), float64(b) / float64(n)})
		}
	}
	order.By(c.items, func(a, b countItem) int { return cmp.Compare(a.part, b.part) })
	c.members = make([]int64, len(c.items))
	c.done = make([]atomic.Bool, len(c.items))
	return c
}

// look counts an item. The counts are per block until sum adds them up.
func (c *counting) look(i int) {
	it := &c.items[i]
	row := &c.h.rows[it.row]
	for b := it.first; b < it.last; b++ {
		hits, members := row.countBlock(b)
		row.before[b+1] = hits
		c.members[i] += members
	}
	c.done[i].Store(true)
}

// soFar returns the result so far, while other goroutines go on counting.
func (c *counting) soFar() *Hits {
	h := *c.h
	h.Partial = true
	h.rows = slices.Clone(c.h.rows)
	for r := range h.rows {
		h.rows[r].before = make([]int64, len(c.h.rows[r].before))
	}
	part := counting{items: c.items, members: make([]int64, len(c.items))}
	for i := range c.items {
		if c.done[i].Load() {
			it := &c.items[i]
			copy(h.rows[it.row].before[it.first+1:it.last+1], c.h.rows[it.row].before[it.first+1:])
			part.members[i] = c.members[i]
		}
	}
	part.sum(&h)
	return &h
}

// sum adds up the blocks' counts and removes rows without hits.
func (c *counting) sum(h *Hits) {
	for i := range c.items {
		h.rows[c.items[i].row].members += c.members[i]
	}
	n := 0
	for _, r := range h.rows {
		if r.members == 0 {
			continue
		}
		for b := 1; b < len(r.before); b++ {
			r.before[b] += r.before[b-1]
		}
		all := r.before[len(r.before)-1]
		h.n += all
		if r.lane != nil {
			h.Spans += all
		} else {
			h.Samples += r.members
		}
		h.rows[n] = r
		n++
	}
	h.rows = h.rows[:n]
}
