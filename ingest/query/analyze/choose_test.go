package analyze

import (
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

func TestChoose(t *testing.T) {
	rec := &recording.Recording{Events: []recording.Event{
		{Name: "cycles", Metrics: []recording.Metric{{Name: "samples"}, {Name: "period"}}, Primary: 1},
		{Name: "malloc", Metrics: []recording.Metric{{Name: "bytes"}, {Name: "samples"}}},
		recording.SpanEvent(),
	}}
	for _, c := range []struct {
		event, metric string
		e, m          int
		err           string // a part of the error's text
	}{
		{"", "", 0, 1, ""},
		{"malloc", "", 1, 0, ""},
		{"cycles", "samples", 0, 0, ""},
		{"malloc", "samples", 1, 1, ""},
		{"", "samples", 0, 0, ""},
		{"", "bytes", 1, 0, ""},
		{"", "time", 2, 0, ""},
		{"trace", "", 2, 0, ""},
		{"trace", "count", 2, 1, ""},
		{"cache", "", -1, -1, `no event "cache"; it has cycles, malloc, trace`},
		{"malloc", "period", -1, -1, `malloc has no metric "period"; it has bytes, samples`},
		{"", "misses", -1, -1, `no metric "misses"; it has samples, period (cycles), bytes, samples (malloc), time, count (trace)`},
	} {
		e, m, err := Choose(rec, c.event, c.metric)
		if e != c.e || m != c.m || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("event %q, metric %q: %d, %d, %v; want %d, %d, %q", c.event, c.metric, e, m, err, c.e, c.m, c.err)
		}
	}
	if e, m, err := Choose(new(recording.Recording), "", ""); e != -1 || m != -1 || err != nil {
		t.Errorf("without events: %d, %d, %v", e, m, err)
	}
	if _, _, err := Choose(new(recording.Recording), "", "time"); err == nil {
		t.Error("without events, a metric by name should be an error")
	}
}
