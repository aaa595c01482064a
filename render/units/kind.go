package units

import "ashlar/ingest/model/recording"

// KindText returns a short note about the meaning of a metric's sums; "" if they are
// plain sums.
func KindText(m *recording.Metric) string {
	switch m.Kind {
	case recording.Level:
		return "a level at one moment, not a sum"
	case recording.Peak:
		return "each stack's peak, so sums are upper bounds"
	}
	return ""
}

// Bound returns the prefix for a sum that is only an upper bound: "≤ ".
func Bound(m *recording.Metric) string {
	if m.Kind == recording.Peak {
		return "≤" + thin
	}
	return ""
}
