package sql

import (
	"slices"

	"ashlar/ingest/model/relation"
)

// begin begins another recording.
func (x *groups) begin() {
	for k := range x.keys {
		clear(x.keys[k].numbers)
	}
}

// add adds rows of a recording.
func (x *groups) add(name string, rows relation.Rows, from, to int64) {
	for ; from < to; from += batchRows {
		n := int(min(batchRows, to-from))
		rows.Read(from, n, x.read, x.batches)
		x.choose(name, n)
		x.find(name)
		for _, group := range x.of {
			x.rows[group]++
		}
		for k, column := range x.columns {
			x.addColumn(k, x.batch(column))
		}
	}
}

// choose finds the rows of a batch that the conditions hold for.
func (x *groups) choose(name string, n int) {
	x.chosen = x.chosen[:0]
	for i := range n {
		x.chosen = append(x.chosen, int32(i))
	}
	for c := range x.g.where {
		c := &x.g.where[c]
		if c.column == allRecordings {
			if !c.holds(relation.Value{Type: relation.Text, Text: name}) {
				x.chosen = x.chosen[:0]
			}
			continue
		}
		kept, b := x.chosen[:0], x.batch(c.column)
		for _, i := range x.chosen {
			if c.holds(valueOf(b, i)) {
				kept = append(kept, i)
			}
		}
		x.chosen = kept
	}
}

// valueOf returns a value of a column of integers or texts.
func valueOf(b *relation.Batch, i int32) relation.Value {
	switch {
	case b.Null != nil && b.Null[i]:
		return relation.Value{Null: true}
	case b.Text != nil:
		return relation.Value{Type: relation.Text, Text: b.Text(b.Ints[i])}
	case b.Texts != nil:
		return relation.Value{Type: relation.Text, Text: b.Texts[i]}
	case b.Ints != nil:
		return relation.Value{Int: b.Ints[i]}
	}
	return relation.Value{Type: relation.Real, Real: b.Reals[i]}
}

// find finds the groups of the chosen rows.
func (x *groups) find(name string) {
	x.of = slices.Grow(x.of[:0], len(x.chosen))[:len(x.chosen)]
	clear(x.of)
	for k, column := range x.g.keys {
		d := &x.keys[k]
		var b *relation.Batch
		if column != allRecordings {
			b = x.batch(column)
		}
		lastGroup, last, found := int32(-1), int32(-1), int32(0)
		for r, row := range x.chosen {
			var i int32
			switch {
			case b == nil:
				i = d.text(name)
			case b.Null != nil && b.Null[row]:
				i = d.index(relation.Value{Null: true})
			case b.Text != nil:
				i = d.numbered(b.Ints[row], b.Text)
			case b.Ints != nil:
				i = d.int(b.Ints[row])
			default:
				i = d.index(valueOf(b, row))
			}
			if k > 0 {
				if x.of[r] != lastGroup || i != last {
					lastGroup, last, found = x.of[r], i, x.pair(k, x.of[r], i)
				}
				i = found
			}
			x.of[r] = i
		}
	}
	if len(x.of) > 0 {
		x.grow(slices.Max(x.of))
	}
}

// addColumn adds the values of column k of those that are added up.
func (x *groups) addColumn(k int, b *relation.Batch) {
	n := len(x.columns)
	if b.Null == nil && b.Ints != nil && b.Text == nil {
		for r, row := range x.chosen {
			x.sums[int(x.of[r])*n+k].addInt(b.Ints[row], &x.over)
		}
		return
	}
	for r, row := range x.chosen {
		if v := valueOf(b, row); !v.Null {
			x.sums[int(x.of[r])*n+k].add(&sum{1, v.Int, v.Int, v.Int, v.Text, v.Text}, &x.over)
		}
	}
}

// addInt is add for an integer.
func (s *sum) addInt(v int64, over *bool) {
	if s.n == 0 {
		s.min, s.max = v, v
	}
	total := s.sum + v
	if (total^s.sum)&(total^v) < 0 {
		*over = true
	}
	s.n, s.sum, s.min, s.max = s.n+1, total, min(s.min, v), max(s.max, v)
}

// batch returns the values of a column in the rows read.
func (x *groups) batch(column int) *relation.Batch {
	return &x.batches[slices.Index(x.read, column)]
}
