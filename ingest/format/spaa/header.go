package spaa

import (
	"maps"
	"slices"
	"strings"

	decimals "ashlar/ingest/input/decimal"
	"ashlar/ingest/model/recording"
	format "ashlar/spaa"
)

// timeRange is the header's time range, in picoseconds since its start.
type timeRange struct {
	set      bool
	duration int64
	unit     string
}

// headerRecord handles a header in file order. The header that findHeader found was
// processed before.
func (m *merger) headerRecord(h *format.Header, line int64) {
	switch {
	case line == m.headerLine:
		if m.anyRecord {
			m.warn(warnHeaderPlace, line, "")
		}
	case !m.headerSeen:
		m.header(h, line)
		m.warn(warnLateHeader, line, "a megabyte of other records")
		if h.FrameOrder == format.RootToLeaf {
			m.warn(warnFrameOrder, line, "root_to_leaf but comes too late")
		}
	default:
		m.warn(warnDuplicateHeader, line, "")
		m.leaveOut(int(format.KindHeader), line)
		return
	}
	m.keep(format.KindHeader)
}

// header processes the file's header.
func (m *merger) header(h *format.Header, line int64) {
	m.headerSeen, m.headerLine = true, line
	src := m.b.Source()
	src.Format, src.Version, src.Tool = "spaa", h.Version, h.SourceTool
	if s := h.Source; s != nil {
		if s.Tool != "" {
			src.Tool = s.Tool
		}
		if s.ToolVersion != "" {
			src.Tool = strings.TrimSpace(src.Tool + " " + s.ToolVersion)
		}
		src.Command = s.Command
	}
	if h.Version != "1.0" {
		m.warn(warnVersion, line, quote(h.Version))
	}
	if h.FrameOrder != format.LeafToRoot && h.FrameOrder != format.RootToLeaf {
		m.warn(warnFrameOrder, line, quote(h.FrameOrder))
	}
	if h.StackIDMode != format.ContentAddressable && h.StackIDMode != format.Local {
		m.warn(warnHeaderValue, line, "stack_id_mode "+quote(h.StackIDMode))
	}
	m.notes(h)
	m.readMappings(h)
	m.readNoModules(h)
	for _, key := range slices.Sorted(maps.Keys(h.Extra)) {
		if !isNull(h.Extra[key]) && !strings.HasPrefix(key, "x_") {
			m.warn(warnUnknownKey, line, quote(key))
		}
	}
	if len(h.Events) == 0 {
		m.warn(warnHeaderContent, line, "it lists no events")
	}
	for i := range h.Events {
		m.headerEvent(&h.Events[i], line)
	}
	m.headerTime(h.TimeRange, line)
}

func (m *merger) headerEvent(e *format.Event, line int64) {
	name := m.names.id(e.Name)
	s := &e.Sampling
	at := m.known(name)
	switch {
	case at >= 0 && m.events[at].declared:
		m.warn(warnHeaderContent, line, "it lists event "+quote(e.Name)+" twice")
		return
	case at < 0 && len(m.events) >= maxEvents:
		m.warn(warnEventLimit, line, quote(e.Name))
		return
	case at < 0:
		at = m.addEvent(name, recording.Event{Name: e.Name})
	}
	m.events[at].declared = true
	ev := m.b.Event(int(at))
	ev.Kind, ev.Mode = e.Kind, s.Mode
	switch s.Mode {
	case "", "period", "frequency", "event":
	default:
		m.warn(warnHeaderValue, line, "mode "+quote(s.Mode))
	}
	ev.Period, _ = s.SamplePeriod.Int64()
	ev.Frequency = s.FrequencyHz.Float64()
	readPeriod(ev, s)
	ev.Note = trackingNote(e.AllocationTracking)
	m.readMetrics(at, e, line)
	if s.PrimaryMetric == "" {
		m.warn(warnHeaderContent, line, "event "+quote(e.Name)+" has no primary metric")
		return
	}
	k := m.metric(at, m.names.id(s.PrimaryMetric), 0, line)
	if k < 0 {
		return
	}
	m.events[at].primary = k
	m.b.Event(int(at)).Primary = k
}

func (m *merger) headerTime(r *format.TimeRange, line int64) {
	if r == nil || m.clock != nil {
		return
	}
	if r.Start.IsZero() {
		m.warn(warnTimeRange, line, "has no start; times are relative to the first sample")
		return
	}
	mant, dec, _ := r.Start.Decimal()
	m.setClock(r.Unit, decimal{mant, dec}, line)
	m.rng.set = true
	if r.End.IsZero() {
		m.warn(warnTimeRange, line, "has no end")
		m.b.Cover(0, 0)
		return
	}
	end, dec, exact := r.End.Decimal()
	text := ""
	if !exact {
		text = string(r.End)
	}
	d, exact := m.clock.at(end, dec, text)
	if !exact {
		m.warn(warnTimeClamped, line, "")
	}
	if d < 0 {
		m.warn(warnTimeRange, line, "ends before it starts")
		d = 0
	}
	m.rng.duration = d
	m.b.Cover(0, d)
}

// setClock sets the unit and origin of the file's times.
func (m *merger) setClock(unit string, origin decimal, line int64) {
	if unit == "" {
		unit = "seconds"
	}
	size, ok := unitSize(unit)
	if !ok {
		m.warn(warnTimeUnit, line, quote(unit))
	}
	m.rng.unit = unit
	m.clock = newClock(size, origin)
	*m.b.Clock() = recording.Clock{
		Unit: unit, PerUnit: size,
		Origin: recording.Decimal{Mantissa: m.clock.origin.mant, Scale: m.clock.origin.dec},
	}
}

// checkStart warns of samples before the start of the header's time range: the recording, and
// ranges of it, then begin there.
func (m *merger) checkStart() {
	if m.rng.set && m.earliest < 0 {
		m.warn(warnBefore, m.earliestLine, decimals.Length(-m.earliest))
	}
}
