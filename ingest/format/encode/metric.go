package encode

import (
	"math"

	"ashlar/ingest/model/recording"
)

// HeapMetrics maps names of heap metrics in runtimes and pprof's tools to those of
// section 9.2 of the SPAA specification.
var HeapMetrics = map[string]string{
	"alloc_space": "alloc_bytes", "alloc_objects": "alloc_count",
	"inuse_space": "live_bytes", "inuse_objects": "live_count",
}

// PprofMetric returns the name that pprof's tools use for a metric.
func PprofMetric(name string) string {
	for theirs, ours := range HeapMetrics {
		if name == ours {
			return theirs
		}
	}
	return name
}

// PprofUnit returns the name that pprof's tools use for a unit.
func PprofUnit(unit string) string {
	switch unit {
	case "ns":
		return "nanoseconds"
	case "us":
		return "microseconds"
	case "ms":
		return "milliseconds"
	case "s":
		return "seconds"
	}
	return unit
}

// SamplingPeriod returns the period of an event's samples, with its type and unit, as far
// as a profile can hold them.
func SamplingPeriod(e *recording.Event) (typ, unit string, period int64) {
	switch {
	case e.PeriodType != "" || e.PeriodUnit != "":
		return e.PeriodType, e.PeriodUnit, e.Period
	case e.Kind == "timer" && e.Frequency > 0 && e.Period != 0:
		return "cpu", "nanoseconds", e.Period
	case e.Frequency > 0:
		return "cpu", "nanoseconds", int64(math.Round(1e9 / e.Frequency))
	case e.Kind == "allocation":
		return "space", "bytes", e.Period
	}
	typ, unit = e.Name, "count"
	if len(e.Metrics) > 0 {
		unit = PprofUnit(e.Metrics[e.Primary].Unit)
		if typ == "" {
			typ = PprofMetric(e.Metrics[e.Primary].Name)
		}
	}
	return typ, unit, e.Period
}
