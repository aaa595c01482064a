package panel

import (
	"testing"

	"ashlar/ingest/model/recording"
)

// TestNothing checks that an empty panel suggests another metric only if the recording
// has one with data.
func TestNothing(t *testing.T) {
	metric := func(name string, total int64) recording.Metric {
		return recording.Metric{Name: name, Total: total}
	}
	for _, x := range []struct {
		events [][]recording.Metric
		hint   string
	}{
		{[][]recording.Metric{{metric("time", 0)}}, "This recording has no other metric"},
		{[][]recording.Metric{{metric("time", 0), metric("calls", 0)}}, "The other metrics have no data either"},
		{[][]recording.Metric{{metric("time", 0), metric("calls", 7)}}, "Choose another metric in the toolbar"},
		{[][]recording.Metric{{metric("time", 0), metric("calls", recording.Missing)}}, "Choose another metric in the toolbar"},
		{[][]recording.Metric{{metric("time", 0)}, {metric("time", 7)}}, "Choose another metric in the toolbar"},
	} {
		p := &Side{Rec: new(recording.Recording)}
		for _, ms := range x.events {
			p.Rec.Events = append(p.Rec.Events, recording.Event{Metrics: ms})
		}
		if said, hint := p.nothing(); said != "No data for time" || hint != x.hint {
			t.Errorf("%+v: %s, %s", x.events, said, hint)
		}
	}
	p := &Side{Rec: new(recording.Recording)}
	if said, hint := p.nothing(); said != "This recording is empty" || hint != "" {
		t.Errorf("without an event: %s, %s", said, hint)
	}
}
