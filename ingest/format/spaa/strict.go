package spaa

import (
	"bytes"
	"strconv"
	"sync/atomic"

	format "ashlar/spaa"
)

// strictLimit is the maximum size of a file that is also checked strictly when it is opened:
// the check takes as long as reading, on one core.
const strictLimit = 4 << 20

// strictText collects the text of a small file for the strict check.
type strictText struct {
	text []byte
	off  atomic.Bool // the file is too large, or was not read as it is
}

// add adds a piece, in file order.
func (s *strictText) add(data []byte) {
	if s.off.Load() {
		return
	}
	if len(s.text)+len(data) > strictLimit {
		s.text = nil
		s.off.Store(true)
		return
	}
	s.text = append(s.text, data...)
}

// lenient lists the warnings that stand for the errors of a rule.
var lenient = map[string][]code{
	"json-object": {warnBadLine}, "type": {warnBadLine}, "line-length": {warnLongLine}, "cut-line": {warnCutLine},
	"required-key": {warnMissingKey, warnWeight, warnPrimaryMissing, warnTimeRange, warnNoTimeRange},
	"key-type":     {warnMistypedKey}, "dictionary-first": {warnLateFrame, warnLateDSO},
	"header-first": {warnHeaderPlace, warnNoHeader, warnLateHeader}, "header-once": {warnDuplicateHeader, warnNoHeader},
	"frame-order": {warnFrameOrder}, "stack-id-mode": {warnHeaderValue}, "sampling-mode": {warnHeaderValue},
	"event-name": {warnHeaderContent}, "sampling-primary": {warnHeaderContent}, "event-sampling": {warnHeaderContent},
	"dso-id-unique": {warnDuplicateDSO}, "frame-id-unique": {warnDuplicateFrame}, "thread-tid-unique": {warnDuplicateThread},
	"frame-dso": {warnMissingDSO, warnMissingKey}, "frame-kind": {warnFrameKind},
	"stack-id-content": {warnStackID}, "stack-frame": {warnMissingFrame},
	"context-event": {warnEventUndeclared, warnEventMissing}, "primary-metric": {warnPrimaryMissing, warnWeight},
	"exclusive-leaf": {warnExclusiveFrame}, "frame-order-match": {warnWrongEnd}, "sample-stack": {warnSampleStack},
}

// harmless are the rules whose errors change no number or name of an answer.
var harmless = map[string]bool{
	"build-id-format": true, "event-kind": true, "dictionary-first": true, "thread-tid-unique": true,
	"header-first": true, "stack-id-mode": true, "sampling-mode": true, "frame-kind": true,
	"native-metric": true, "format": true, "exclusive-leaf": true, "primary-metric": true,
}

// checkStrictly adds the errors of the strict check that reading did not notice, and the
// number of all.
func (m *merger) checkStrictly() {
	if m.strict.off.Load() || m.ctx.Err() != nil {
		return
	}
	report, err := format.Validate(bytes.NewReader(m.strict.text), format.ValidateOptions{MaxPerRule: 1, MaxLine: maxLine})
	m.strict.text = nil
	if err != nil {
		return
	}
	src := m.b.Source()
	src.Checked, src.Errors = true, report.Errors
	for i := range report.Findings {
		f := &report.Findings[i]
		if f.Severity != format.Error || m.noticed(f.Rule) {
			continue
		}
		say, at := m.b.Warn, ""
		if harmless[f.Rule] {
			say = m.b.Mended
		}
		if f.Line > 0 {
			at = "line " + strconv.FormatInt(f.Line, 10)
		}
		say(f.Rule, at, "%s", f.Message)
		m.b.WarnMore(f.Rule, report.Counts[f.Rule]-1)
	}
}

// noticed reports whether a warning stands for the errors of a rule.
func (m *merger) noticed(rule string) bool {
	if rule == "samples-sum" || rule == "windows-sum" {
		return m.exceeds[rule[:len(rule)-len("-sum")]]
	}
	for _, c := range lenient[rule] {
		if m.warned[c] {
			return true
		}
	}
	return false
}
