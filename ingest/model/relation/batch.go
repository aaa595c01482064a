package relation

// Batch holds the values of a column in consecutive rows: in Ints, Reals or Texts, by the type
// of the column.
type Batch struct {
	Ints  []int64
	Reals []float64
	Texts []string
	// Text, if set, returns the texts, and Ints holds their numbers instead of Texts. They are
	// small, and different numbers may stand for equal texts.
	Text func(number int64) string
	// Null marks the rows without a value. It is empty if the column always has one.
	Null []bool
}

// NewBatch returns a batch for n rows of a column.
func (t *Table) NewBatch(column, n int) (b Batch) {
	c := &t.Columns[column]
	switch {
	case c.Type == Real:
		b.Reals = make([]float64, n)
	case c.Type == Text && !c.numbered:
		b.Texts = make([]string, n)
	default:
		b.Ints = make([]int64, n)
	}
	if c.Null {
		b.Null = make([]bool, n)
	}
	return b
}

// Part returns rows from..to of a batch.
func (b *Batch) Part(from, to int) Batch {
	p := Batch{Text: b.Text}
	if b.Ints != nil {
		p.Ints = b.Ints[from:to]
	}
	if b.Reals != nil {
		p.Reals = b.Reals[from:to]
	}
	if b.Texts != nil {
		p.Texts = b.Texts[from:to]
	}
	if b.Null != nil {
		p.Null = b.Null[from:to]
	}
	return p
}

// set sets the value of row i.
func (b *Batch) set(i int, v Value) {
	switch {
	case b.Ints != nil:
		b.Ints[i] = v.Int
	case b.Reals != nil:
		b.Reals[i] = v.Real
	default:
		b.Texts[i] = v.Text
	}
	if b.Null != nil {
		b.Null[i] = v.Null
	}
}

// ints sets the values of all rows.
func (b *Batch) ints(value func(k int) int64) {
	for k := range b.Ints {
		b.Ints[k] = value(k)
	}
}

// Read implements Rows.
func (r *rows[T]) Read(row int64, n int, columns []int, into []Batch) {
	for at := 0; at < n; {
		r.find(row + int64(at))
		p, i := &r.parts[r.at], int(row+int64(at)-r.first[r.at])
		rest := min(n-at, p.rows-i)
		if p.block == nil {
			for k := range rest {
				p.move(&r.row, i+k)
				for c, column := range columns {
					into[c].set(at+k, r.columns[column].get(&r.row))
				}
			}
			at += rest
			continue
		}
		size := p.block(&r.row, i, rest)
		for c, column := range columns {
			r.batch = into[c].Part(at, at+size)
			r.columns[column].all(&r.row, &r.batch)
			into[c].Text = r.batch.Text
		}
		at += size
	}
}
