package units

import "ashlar/ingest/input/safetext"

// Plural formats a count with its noun: 1 span, 12 000 spans.
func Plural(n int64, one string) string { return Count(n) + " " + safetext.Noun(n, one) }
