package units

import "ashlar/ingest/input/safetext"

// Plural counts things: 1 span, 12 000 spans.
func Plural(n int64, one string) string { return Count(n) + " " + safetext.Noun(n, one) }
