package recording

// Forget drops the open spans without recording them. It is for decoders that find that
// spans do not nest, and from then on add each span with Span once its end is known.
func (t *TrackBuilder) Forget() {
	t.cached = nil
	t.open = t.open[:0]
}

// SetArgs replaces the arguments of the innermost open span, for formats in which end
// events carry arguments too.
func (t *TrackBuilder) SetArgs(args uint64) {
	t.cached = nil
	t.open[len(t.open)-1].args = args
}
