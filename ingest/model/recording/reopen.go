package recording

// Forget drops the open spans without recording them: for a decoder that finds
// them not to nest and adds each with Span once it knows its end.
func (t *TrackBuilder) Forget() {
	t.cached = nil
	t.open = t.open[:0]
}

// SetArgs replaces the arguments of the innermost open span, for formats whose
// ends bring some too.
func (t *TrackBuilder) SetArgs(args uint64) {
	t.cached = nil
	t.open[len(t.open)-1].args = args
}
