package recording

import (
	"math"

	"ashlar/ingest/input/decimal"
	"ashlar/ingest/model/column"
)

// SetDecimals changes the unit of a metric to 10^-decimals, finer or coarser than before.
// Everything recorded so far is scaled; snapshots keep their values. If a value would no
// longer fit, SetDecimals returns false and changes nothing. With a coarser unit values
// are rounded, halves away from zero, and the total is the sum of the rounded values.
func (b *Builder) SetDecimals(event, metric, decimals int) bool {
	m := &b.rec.Events[event].Metrics[metric]
	if decimals == m.Decimals {
		return true
	}
	var cols []*column.Vec[int64]
	var sums []*int64 // sums[i] is the sum of cols[i], if one is kept
	add := func(c *column.Vec[int64], sum *int64) { cols, sums = append(cols, c), append(sums, sum) }
	if s := b.rec.Stacks[event]; s != nil && metric < len(s.values) {
		add(&s.values[metric], &m.Total)
	}
	for _, w := range b.rec.Windows {
		if w.Event == event && metric < len(w.Rows.values) {
			add(&w.Rows.values[metric], new(int64))
		}
	}
	for t := range b.live {
		for _, s := range t.samples {
			if s.Event == event && metric < len(s.values) && s.values[metric] != nil {
				add(s.values[metric], &s.sums[metric])
			}
		}
	}
	f := decimal.Power(max(decimals-m.Decimals, m.Decimals-decimals))
	scale := func(v int64) int64 { return decimal.Round(v, f) }
	if decimals > m.Decimals {
		limit := int64(math.MaxInt64) / f
		fits := func(v int64) bool { return v == Missing || v <= limit && v >= -limit }
		if t := b.stackTotal(event, metric); !fits(t.above) || !fits(t.below) {
			return false
		}
		for i, c := range cols {
			if !fits(*sums[i]) {
				return false
			}
			for k := range c.Len() {
				if !fits(c.At(k)) {
					return false
				}
			}
		}
		scale = func(v int64) int64 { return v * f }
	}
	for t := range b.live {
		t.cached = nil
	}
	for i, c := range cols {
		out := column.On[int64](c.Shelf())
		*sums[i] = 0
		for k := range c.Len() {
			v := c.At(k)
			if v != Missing {
				v = scale(v)
				Add(sums[i], v)
			}
			out.Append(v)
		}
		*c = out
	}
	m.Decimals = decimals
	if s := b.rec.Stacks[event]; s != nil && metric < len(s.values) {
		t := b.stackTotal(event, metric)
		*t = stackTotal{}
		for i := range s.values[metric].Len() {
			if v := s.values[metric].At(i); v != Missing {
				t.add(v)
			}
		}
		m.Total = t.all.Limited()
	}
	return true
}
