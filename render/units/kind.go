package units

import "ashlar/ingest/model/recording"

// KindText says in half a sentence what the sums of a metric mean; "" if they
// are just sums.
func KindText(m *recording.Metric) string {
	switch m.Kind {
	case recording.Level:
		return "a level at one time, not a sum"
	case recording.Peak:
		return "each stack's peak, so sums are upper bounds"
	}
	return ""
}

// Bound is before a sum that is only known to be no more than that: "≤ ".
func Bound(m *recording.Metric) string {
	if m.Kind == recording.Peak {
		return "≤" + thin
	}
	return ""
}
