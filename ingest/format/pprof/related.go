package pprof

import (
	"math"
	"slices"

	"github.com/google/pprof/profile"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
)

// related holds the metrics of a profile that must agree with each other, by index.
type related struct {
	held []held
	// samples and cpu are set if CPU time must be the number of samples times the period.
	samples, cpu int
	period       int64 // in nanoseconds; 0 if it says nothing about samples
}

// held is a pair of metrics of a heap profile: what is in use was allocated.
type held struct {
	of          string
	used, given int
}

func relatedOf(metrics []recording.Metric, p *profile.Profile) (r related) {
	index := func(name, unit string) int {
		return slices.IndexFunc(metrics, func(m recording.Metric) bool { return m.Name == name && (unit == "" || m.Unit == unit) })
	}
	for _, of := range []string{"space", "objects"} {
		h := held{of, index("inuse_"+of, ""), index("alloc_"+of, "")}
		if h.used >= 0 && h.given >= 0 {
			r.held = append(r.held, h)
		}
	}
	r.samples, r.cpu = index("samples", "count"), index("cpu", "nanoseconds")
	if pt := p.PeriodType; pt != nil && pt.Type == "cpu" && pt.Unit == "nanoseconds" && r.samples >= 0 && r.cpu >= 0 {
		r.period = max(p.Period, 0)
	}
	return r
}

// contradictions warns about values of a sample that contradict each other.
func (c *converter) contradictions(i int, values []int64) {
	for _, h := range c.related.held {
		used, given := values[h.used], values[h.given]
		if given > 0 && used > given { // 0 allocated: not recorded
			c.b.Warn("more-than-allocated", place(i), "Sample %d has %d of inuse_%s but only %d of alloc_%s", i+1, used, h.of, given, h.of)
		}
	}
	period := c.related.period
	if period == 0 {
		return
	}
	n, cpu := values[c.related.samples], values[c.related.cpu]
	if n == recording.Missing || cpu == recording.Missing {
		return
	}
	want := float64(n) * float64(period)
	if math.Abs(float64(cpu)-want) > math.Abs(want)/100+math.Abs(float64(n)) { // a hundredth for rounding
		c.b.Warn("period-differs", place(i), "Sample %d has %d ns of CPU time, but its %s with the profile's period of %d ns make %.0f ns; one of them is wrong", i+1, cpu, safetext.Plural(n, "sample"), period, want)
	}
}
