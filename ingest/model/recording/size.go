package recording

// Approximate bytes of memory per item, including detail levels.
const (
	spanBytes     = 8 + 4 + 4 + 2
	denseBytes    = 6 + 2
	looseBytes    = 24
	laneBytes     = 700     // with its first columns
	openBytes     = 24 + 40 // in the builder, and in decoders
	trackBytes    = 600     // with its builder
	sampleBytes   = 8 + 4 + 4
	sortBytes     = 8 + 8 + sampleBytes + 2*valueBytes
	valueBytes    = 8
	instantBytes  = 48
	pointBytes    = 8 + 8 + 1
	recordBytes   = 4 + 4 + 4
	callBytes     = 12 + 16 + 24 // its columns, its children and its sums
	frameBytes    = 96 + 2*110   // including maps
	functionBytes = 112 + 2*60
	askBytes      = 260 // per call, for a snapshot's sums and the first flamegraph
)

// held counts recorded items that are not in Counts.
type held struct {
	loose int64 // spans
	// unsorted is the largest number of unsorted samples of one thread: each thread's
	// samples are sorted in one step.
	unsorted int64
	open     int64 // spans
	lanes    int64
	values   int64 // values of samples, stacks and rows of windows
	rows     int64 // rows of windows
	points   int64 // points of counters
	symbols  int64 // bytes of names, files and contexts
}

// Size returns the approximate memory of the recorded data, and the additional memory that
// sorting and publishing it will need for a while. Both grow in proportion to the data
// read, and computing them costs nothing.
func (b *Builder) Size() (held, owed int64) {
	c, h := &b.rec.Counts, &b.held
	calls := int64(b.rec.Calls.Len())
	span := int64(spanBytes)
	if b.squeezed {
		span = denseBytes
	}
	held = (c.Spans-h.loose)*span + c.States*denseBytes + h.loose*looseBytes + h.lanes*laneBytes + c.Samples*sampleBytes + c.Instants*instantBytes
	held += h.values*valueBytes + (c.Stacks+h.rows)*recordBytes + h.points*pointBytes + int64(len(b.order))*trackBytes
	held += calls*callBytes + int64(b.rec.Frames.Len())*frameBytes + int64(b.rec.Functions.Len())*functionBytes + h.symbols
	held += h.open * openBytes
	return held, h.loose*spanBytes + h.unsorted*sortBytes + h.open*laneBytes + calls*askBytes
}
