package units

import "ashlar/ingest/input/plain"

// Plural counts things: 1 span, 12 000 spans.
func Plural(n int64, one string) string { return Count(n) + " " + plain.Noun(n, one) }
