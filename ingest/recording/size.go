package recording

// About how many bytes of memory things take, detail levels included.
const (
	spanBytes    = 8 + 4 + 4 + 2
	looseBytes   = 24
	sampleBytes  = 8 + 4 + 4
	instantBytes = 48
	recordBytes  = 4 + 4 + 4
	valueBytes   = 8
)

// Size is about how many bytes of memory what has been recorded takes, and how
// many more it will take for a while to lay out what came in no order. It grows
// in proportion to what has been read.
func (b *Builder) Size() (held, owed int64) {
	c := &b.rec.Counts
	var loose, values int64
	for _, t := range b.order {
		if t.loose != nil {
			loose += int64(t.loose.len())
		}
		held += int64(len(t.track.Instants)) * instantBytes
		for _, s := range t.samples {
			for _, v := range s.values {
				if v != nil {
					values += int64(v.Len())
				}
			}
		}
	}
	for _, s := range b.rec.Stacks {
		if s != nil {
			held += int64(s.Len()) * recordBytes
			values += int64(s.Len()) * int64(len(s.values))
		}
	}
	for _, w := range b.rec.Windows {
		held += int64(w.Rows.Len()) * recordBytes
		values += int64(w.Rows.Len()) * int64(len(w.Rows.values))
	}
	held += (c.Spans-loose)*spanBytes + loose*looseBytes + c.Samples*sampleBytes + values*valueBytes
	return held, loose * spanBytes
}
