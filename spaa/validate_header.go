package spaa

import (
	"slices"
	"strings"
)

// knownTools lists the source tools that the spec names, those of its public converters,
// and those that ashlar convert writes if it knows only the format of a recording. Case
// is ignored.
var knownTools = []string{
	"perf", "dtrace", "heaptrack", "tcmalloc", "jemalloc", "pprof", "chrome-cpuprofile",
	"ashlar", "perf-script", "folded", "spall", "chrome", "cpuprofile", "otlp",
}

var (
	eventKinds    = in("hardware", "software", "allocation", "deallocation", "timer", "probe")
	samplingModes = in("period", "frequency", "event")
	timeUnits     = in("seconds", "milliseconds", "microseconds", "nanoseconds", "picoseconds", "s", "ms", "us", "ns", "ps")
)

func (v *validator) checkHeader(h *Header) {
	if v.headers++; v.headers > 1 {
		v.add("header-once", "this is header number %d, but a file must have exactly one", v.headers)
		return
	}
	v.header = h
	if err := h.OtherFormat(); err != nil {
		v.add("format", "%v", err)
		v.refused = h.Format != ""
	}
	if !v.refused {
		v.checkValues(h)
	}
}

// checkValues checks the values in the header.
func (v *validator) checkValues(h *Header) {
	if h.Version != "1.0" {
		v.add("version", "the version is %q, but 1.0 is supported", h.Version)
	}
	if !slices.Contains(knownTools, strings.ToLower(h.SourceTool)) {
		v.add("source-tool", "the source tool %q is unknown", h.SourceTool)
	}
	if h.FrameOrder != LeafToRoot && h.FrameOrder != RootToLeaf {
		v.add("frame-order", "frame_order is %q, but must be %q or %q", h.FrameOrder, LeafToRoot, RootToLeaf)
	}
	if h.StackIDMode != ContentAddressable && h.StackIDMode != Local {
		v.add("stack-id-mode", "stack_id_mode is %q, but must be %q or %q", h.StackIDMode, ContentAddressable, Local)
	}
	v.events = make(map[string]*Event, len(h.Events))
	for i := range h.Events {
		v.checkEvent(&h.Events[i], i)
	}
	if t := h.TimeRange; t != nil {
		v.start, v.end = decimal(t.Start.Decimal()), decimal(t.End.Decimal())
		if t.Start == "" || t.End == "" || compareDecimals(v.start, v.end) > 0 {
			v.add("time-range", "the time range goes from %q to %q", string(t.Start), string(t.End))
		}
		if !timeUnits(t.Unit) {
			v.add("time-unit", "the time range has the unknown unit %q", t.Unit)
		}
	}
}

func (v *validator) checkEvent(e *Event, i int) {
	if e.Name == "" {
		v.add("event-name", "event %d has no name", i+1)
	} else if v.events[e.Name] != nil {
		v.add("event-name-unique", "two events are named %q", e.Name)
	} else {
		v.events[e.Name] = e
	}
	if !eventKinds(e.Kind) {
		v.add("event-kind", "event %q has the kind %q, which is not one of the spec's", e.Name, e.Kind)
	}
	s := &e.Sampling
	if !e.HasSampling() {
		v.add("event-sampling", "event %q has no sampling object", e.Name)
		return
	}
	if !samplingModes(s.Mode) {
		v.add("sampling-mode", "event %q has the sampling mode %q, but must have period, frequency or event", e.Name, s.Mode)
	}
	if s.PrimaryMetric == "" {
		v.add("sampling-primary", "event %q names no primary metric", e.Name)
	}
	if hz, _, _ := s.FrequencyHz.Decimal(); s.Mode == "frequency" && hz <= 0 {
		v.add("wall-clock", "event %q is sampled by frequency, but has no frequency_hz: the time per sample is unknown", e.Name)
	}
	if _, ok := memoryUnits[s.PrimaryMetric]; ok && !e.isMemory() {
		v.add("memory-kind", "event %q has the primary metric %s, but the kind %q", e.Name, s.PrimaryMetric, e.Kind)
	}
}

// isMemory reports whether the event is about the heap.
func (e *Event) isMemory() bool { return e.Kind == "allocation" || e.Kind == "deallocation" }

// HasSampling reports whether the event has a non-empty sampling object.
func (e *Event) HasSampling() bool {
	s := &e.Sampling
	return s.Mode != "" || s.PrimaryMetric != "" || s.SamplePeriod != "" || s.FrequencyHz != "" || s.Extra != nil
}
