package analyze

import (
	"fmt"
	"strings"

	"ashlar/ingest/model/recording"
)

// Choose finds an event and one of its metrics by name. Either name may be empty: the
// event is then the default one, or the first that has the metric, and the metric is the
// event's primary one. An event without a name (the spans of a trace) is found by its
// kind. Both results are -1 for a recording without events. The error is one sentence
// that lists the possible names.
func Choose(rec *recording.Recording, event, metric string) (e, m int, err error) {
	if event == "" && metric == "" {
		if len(rec.Events) == 0 {
			return -1, -1, nil
		}
		e = rec.DefaultEvent()
		return e, rec.Events[e].Primary, nil
	}
	if len(rec.Events) == 0 {
		return -1, -1, fmt.Errorf("the recording has no events")
	}
	if event != "" {
		if e = findEvent(rec, event); e < 0 {
			return -1, -1, fmt.Errorf("the recording has no event %q; it has %s", event, eventNames(rec))
		}
		ev := &rec.Events[e]
		if metric == "" {
			return e, ev.Primary, nil
		}
		if m = ev.Metric(metric); m < 0 {
			return -1, -1, fmt.Errorf("the event %s has no metric %q; it has %s", ev.NameOrKind(), metric, metricNames(ev))
		}
		return e, m, nil
	}
	e = rec.DefaultEvent()
	if m = rec.Events[e].Metric(metric); m >= 0 {
		return e, m, nil
	}
	var have []string
	for e = range rec.Events {
		ev := &rec.Events[e]
		if m = ev.Metric(metric); m >= 0 {
			return e, m, nil
		}
		have = append(have, fmt.Sprintf("%s (%s)", metricNames(ev), ev.NameOrKind()))
	}
	return -1, -1, fmt.Errorf("the recording has no metric %q; it has %s", metric, strings.Join(have, ", "))
}

func findEvent(rec *recording.Recording, name string) int {
	for i := range rec.Events {
		if rec.Events[i].Name == name {
			return i
		}
	}
	for i := range rec.Events {
		if e := &rec.Events[i]; e.NameOrKind() == name || e.Title() == name { // the name shown in the window
			return i
		}
	}
	return -1
}

func eventNames(rec *recording.Recording) string {
	names := make([]string, len(rec.Events))
	for i := range rec.Events {
		names[i] = rec.Events[i].NameOrKind()
	}
	return strings.Join(names, ", ")
}

func metricNames(e *recording.Event) string {
	if len(e.Metrics) == 0 {
		return "none"
	}
	names := make([]string, len(e.Metrics))
	for i := range e.Metrics {
		names[i] = e.Metrics[i].Name
	}
	return strings.Join(names, ", ")
}
