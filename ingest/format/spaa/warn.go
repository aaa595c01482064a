package spaa

import (
	"fmt"
	"strings"

	"ashlar/ingest/model/recording"
)

// code is a kind of warning.
type code uint8

const (
	warnNoHeader code = iota
	warnLateHeader
	warnHeaderPlace
	warnDuplicateHeader
	warnBadHeader
	warnHeaderContent
	warnHeaderValue
	warnFrameKind
	warnVersion
	warnFrameOrder
	warnBadLine
	warnCutLine
	warnLongLine
	warnUnknownRecord
	warnUnknownKey
	warnMistypedKey
	warnDuplicateKey
	warnMissingKey
	warnAddress
	warnDuplicateDSO
	warnDuplicateFrame
	warnDuplicateThread
	warnMissingDSO
	warnMissingFrame
	warnLateFrame
	warnLateDSO
	warnEventUndeclared
	warnEventMissing
	warnEventLimit
	warnPrimaryMissing
	warnWeight
	warnDuplicateMetric
	warnUnit
	warnMetricLimit
	warnRounded
	warnSaturated
	warnExclusiveFrame
	warnWrongEnd
	warnExclusiveWeight
	warnRelated
	warnStackID
	warnSampleStack
	warnSamplePeriod
	warnNoPeriod
	warnSampleContext
	warnTimeUnit
	warnNoTimeRange
	warnTimeRange
	warnTimeClamped
	warnTimeFar
	warnBefore
	warnWindowEnd
	warnWindowPlace
	warnWindowStack
	warnWindowEmpty
	codeCount
)

// warnings holds the code and the sentence of each kind. %s stands for the detail of the
// first warning.
var warnings = [codeCount]struct{ word, text string }{
	warnNoHeader:        {"no-header", "the file has no SPAA header: leaf-first frames are assumed, and events and times are taken from the records"},
	warnLateHeader:      {"late-header", "the header comes after %s, which were read without it"},
	warnHeaderPlace:     {"header-not-first", "the header is not the first line"},
	warnDuplicateHeader: {"duplicate-header", "there is a second header; the first one counts"},
	warnBadHeader:       {"bad-header", "the header cannot be read: %s"},
	warnHeaderContent:   {"header-content", "the header is incomplete: %s"},
	warnHeaderValue:     {"header-value", "the header has a value that is not in the specification: %s"},
	warnFrameKind:       {"frame-kind", "a frame has the kind %s instead of user, kernel or unknown"},
	warnVersion:         {"version", "the file says version %s; it is read as version 1.0"},
	warnFrameOrder:      {"frame-order", "the header's frame_order is %s; stacks are read as leaf_to_root"},
	warnBadLine:         {"bad-line", "the line is not a SPAA record and was left out: %s"},
	warnCutLine:         {"cut-line", "the file ends in the middle of this record; everything before it is shown"},
	warnLongLine:        {"long-line", "the line %s and was left out"},
	warnUnknownRecord:   {"unknown-record", "unknown record type %s; such records are not shown"},
	warnUnknownKey:      {"unknown-key", "unknown key %s in this kind of record; it is not shown"},
	warnMistypedKey:     {"mistyped-key", "the value of %s has the wrong JSON type and is not used"},
	warnDuplicateKey:    {"duplicate-key", "a key occurs twice in one record; the last one counts"},
	warnMissingKey:      {"missing-key", "the %s"},
	warnAddress:         {"bad-address", "%s is not a hexadecimal address"},
	warnDuplicateDSO:    {"duplicate-dso", "dso %s is defined twice; the first one counts"},
	warnDuplicateFrame:  {"duplicate-frame", "frame %s is defined twice; the first one counts"},
	warnDuplicateThread: {"duplicate-thread", "thread %s is defined twice; the first one counts"},
	warnMissingDSO:      {"missing-dso", "a frame refers to dso %s, which is not in the file; shown as [missing dso]"},
	warnMissingFrame:    {"missing-frame", "a stack refers to frame %s, which is not in the file; shown as [missing frame]"},
	warnLateFrame:       {"late-frame", "frame %s is defined after a stack that refers to it; it is used anyway"},
	warnLateDSO:         {"late-dso", "dso %s is defined after a frame that refers to it; it is used anyway"},
	warnEventUndeclared: {"event-undeclared", "event %s is not in the header; it is shown anyway"},
	warnEventMissing:    {"event-missing", "the record names no event; it is added to %s"},
	warnEventLimit:      {"too-many-events", "too many events; %s and all others count for the last one"},
	warnPrimaryMissing:  {"primary-missing", "a stack of event %s has no value of its primary metric; it is missing from that metric's totals"},
	warnWeight:          {"bad-weight", "a weight has no metric or no numeric value and is left out"},
	warnDuplicateMetric: {"duplicate-metric", "metric %s occurs twice in one list of weights; the first one counts"},
	warnUnit:            {recording.WarnUnits, "metric %s has two units; the first one is used"},
	warnMetricLimit:     {"too-many-metrics", "an event has too many metrics; %s and others are left out"},
	warnRounded:         {"rounded", "a value of metric %s has too many decimals and was rounded"},
	warnSaturated:       {"saturated", "a value of metric %s is beyond ±(2^63 − 1) and was limited"},
	warnExclusiveFrame:  {"exclusive-frame", "the exclusive frame of a stack is not its leaf; self weight is counted at the leaf"},
	warnWrongEnd:        {"wrong-end", "the exclusive frame is the outermost frame of its stack, not the leaf; frame_order in the header may be wrong, but stacks are read by it"},
	warnExclusiveWeight: {"exclusive-differs", "the exclusive %s of a stack differs from the stack's weight; the stack's weight counts as self of its leaf"},
	warnRelated:         {"related-missing", "related_stacks refers to stack %s, which is not in the file"},
	warnStackID:         {"stack-id-content", "stack id %s belongs to stacks with different frames; samples and windows with this id count for the stack of their thread, or otherwise for the first stack"},
	warnSampleStack:     {"sample-stack-missing", "a sample refers to a stack that is not in the file (%s); it is shown without a stack"},
	warnSamplePeriod:    {"sample-period", "samples of event %s have a period that matches no metric; it is not shown"},
	warnNoPeriod:        {recording.WarnPeriod, "%s"},
	warnSampleContext:   {"sample-context", "a sample's context has keys other than thread, cpu and event; those are not shown"},
	warnTimeUnit:        {"time-unit", "the time unit %s is not known; times are taken as seconds"},
	warnNoTimeRange:     {"no-time-range", "the header has no time range; times are relative to the first sample, in seconds"},
	warnTimeRange:       {"time-range", "the time range %s"},
	warnTimeClamped:     {"time-clamped", "a time is too far from the start (about 106 days) and was moved"},
	warnTimeFar:         {"time-far", "the time of a sample is too far from the start (about 106 days); the sample is left out of the timeline and of ranges"},
	warnBefore:          {recording.WarnBefore, "the first sample is %s before the start of the header's time range; times and ranges count from that sample"},
	warnWindowEnd:       {"window-end", "a window ends before it starts; it is shown as empty"},
	warnWindowPlace:     {"window-place", "the first window lies outside the time range; windows are taken as %s"},
	warnWindowStack:     {"window-stack-missing", "a window refers to a stack that is not in the file (%s); its weight is shown without a stack"},
	warnWindowEmpty:     {"window-empty", "a window in a file without events is left out"},
}

// warn adds a warning for a line of the file. If detail is a name from the file, the
// caller must quote it.
func (m *merger) warn(c code, line int64, detail string) {
	if m.warned[c] {
		m.pending[c]++
		return
	}
	m.warned[c] = true
	w := &warnings[c]
	text := w.text
	if strings.Contains(text, "%s") {
		text = fmt.Sprintf(w.text, detail)
	}
	at := ""
	if line > 0 {
		at = place(line)
	}
	say := m.b.Warn
	switch c {
	case warnUnknownKey, warnSampleContext, warnSamplePeriod:
		say = m.b.Remark
	case warnHeaderPlace, warnLateFrame, warnLateDSO, warnDuplicateThread, warnRelated, warnExclusiveFrame, warnHeaderValue, warnFrameKind:
		say = m.b.Mended
	case warnVersion, warnUnknownRecord, warnDuplicateKey, warnAddress, warnUnit, warnRounded, warnExclusiveWeight, warnTimeUnit, warnNoTimeRange, warnWindowPlace, warnNoPeriod, warnBefore:
		say = m.b.Usual
	}
	say(w.word, at, "%s", text)
}

// flushWarnings passes on the counted warnings.
func (m *merger) flushWarnings() {
	for c, n := range m.pending {
		if n > 0 {
			m.b.WarnMore(warnings[c].word, n)
			m.pending[c] = 0
		}
	}
}
