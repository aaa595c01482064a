package chrome

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

// problem is something that can be wrong with a file.
type problem uint8

const (
	noTime problem = iota
	noName
	noPhase
	emptyEvent
	notEvent
	badEvent
	cut
	unclosedFile
	missingComma
	stray
	unknownPhase
	noPicture
	timeFar
	timeBackward
	negativeDur
	noDur
	badDur
	cpuDur
	mismatchedEnd
	crossedEnd
	crossedID
	unmatchedEnd
	unclosed
	idSpelling
	noID
	loneFlow
	noSeries
	otherMetadata
	longMember
	systemEvents
	noFrame
	noProfile
	rounded
	argsDropped
	manyEvents
	sampleAgain
	asyncAgain
	problemCount
)

// problems holds the code and the sentence of each problem; %s stands for the detail of
// its first occurrence.
var problems = [problemCount]struct{ code, text string }{
	noTime:        {"no-time", "An event has no usable time (ts) and is left out."},
	noName:        {"nameless", "An event has no name; it is shown as " + nameless + "."},
	noPhase:       {"no-phase", "An element of the trace has no phase (ph) and is left out."},
	emptyEvent:    {"empty-event", "An empty element of the trace ({}) is left out."},
	notEvent:      {"not-event", "An element of the trace is not an object and is left out."},
	badEvent:      {"bad-event", "Invalid JSON is left out, up to the next event."},
	cut:           {"cut", "The file ends in the middle of an element, which is left out; everything before it is shown."},
	unclosedFile:  {"unclosed-file", "The outermost bracket is not closed; everything up to the end is shown."},
	missingComma:  {"missing-comma", "There is no comma between two events; both are read."},
	stray:         {"stray", "Bytes between events are skipped."},
	unknownPhase:  {"unknown-phase", "The phase %s is unknown; its events are left out."},
	noPicture:     {"no-picture", "Unsupported kinds of events are left out: %s."},
	timeFar:       {"time-range", "%s is more than 53 days from the others. It is shown at the edge of the recording."},
	timeBackward:  {"time-backward", "A span ends before it starts; it is shown without length."},
	negativeDur:   {"negative-duration", "A span has a negative length; it is shown without length."},
	noDur:         {"no-duration", "A complete event (X) has no duration; it is shown as unfinished."},
	badDur:        {"bad-duration", "A complete event (X) has a duration (dur) that is not a number; it is shown as unfinished."},
	cpuDur:        {"cpu-duration", "A complete event (X) has no duration (dur); its CPU time (tdur) is used."},
	mismatchedEnd: {"mismatched-end", "An end event (E) has the name %s, but no such span is open on its thread; it closes the innermost span."},
	crossedEnd:    {"crossed-end", "An end event (E) closes %s while spans inside it are still open."},
	crossedID:     {"crossed-end-by-id", "An end event (E) closes %s, which has the same id, while spans inside it are still open."},
	unmatchedEnd:  {"unmatched-end", "An end event has no open span to close and is left out."},
	unclosed:      {"unclosed", "A span is never closed; it is shown as unfinished."},
	idSpelling:    {"id-spelling", "The ids %s are the same number in two spellings. Ids are compared as text, so the begin and end events do not match."},
	noID:          {"no-id", "An asynchronous event or flow has no id and is left out."},
	loneFlow:      {"lone-flow", "A flow has only one end and is left out."},
	noSeries:      {"no-series", "A counter event has no numbers and is left out."},
	otherMetadata: {"other-metadata", "The metadata %s cannot be shown and is left out."},
	longMember:    {"long-member", "The top-level member %s is damaged or too long for metadata and is left out."},
	systemEvents:  {"system-events", "The kernel trace (systemTraceEvents) is left out, except for the names of threads: %s."},
	noFrame:       {"no-frame", "A sample refers to the stack frame %s, which is missing in stackFrames; the known part of its stack is shown."},
	noProfile:     {"bad-profile", "A CPU profile has no valid nodes and samples and is left out."},
	rounded:       {"rounded", "Sample weights have too many digits and are rounded."},
	argsDropped:   {"args-dropped", "A compressed file or a pipe has too many arguments to keep; decompress it to see all of them."},
	manyEvents:    {"many-events", "Samples have more than 64 names; the rest are shown as one."},
	sampleAgain:   {"sample-repeated", "A sample is both an event (P) and in the top-level samples; it is counted once."},
	asyncAgain:    {"async-repeated", "An asynchronous span is in the file twice, once with the phases b and e and once with S and F; it is counted once."},
}

// ledger counts what happens to the records, and reports problems.
type ledger struct {
	b      *recording.Builder
	phases [256]*recording.Tally
	warned [problemCount]bool
	notes  map[note]noted
}

// note is a problem found only at the end of the file, for example a span that never
// ended. Notes are reported in file order. There may be as many as spans, so equal notes
// are combined.
type note struct {
	what problem
	kind string
	left bool // left out rather than repaired
}

type noted struct{ first, n int64 }

// later notes a problem of a record, to be reported at the end.
func (l *ledger) later(what problem, kind string, off int64, left bool) {
	if l.notes == nil {
		l.notes = map[note]noted{}
	}
	k := note{what, kind, left}
	was, ok := l.notes[k]
	if ok {
		off = min(off, was.first)
	}
	l.notes[k] = noted{off, was.n + 1}
}

// report reports the notes and counts their records.
func (l *ledger) report() {
	notes := slices.Collect(maps.Keys(l.notes))
	order.By(notes, func(a, b note) int {
		return cmp.Or(cmp.Compare(l.notes[a].first, l.notes[b].first), cmp.Compare(a.what, b.what), cmp.Compare(a.kind, b.kind))
	})
	for _, n := range notes {
		k, at := l.kind(n.kind), l.notes[n]
		if n.left {
			k.Kept -= at.n // they counted as kept so far
			l.left(k, at.first)
			k.LeftOut += at.n - 1
		} else {
			l.repaired(k, at.first)
			k.Repaired += at.n - 1
		}
		l.warn(n.what, at.first, "")
		l.b.WarnMore(problems[n.what].code, at.n-1)
	}
	l.notes = nil
}

// place describes a position in the file.
func place(off int64) string { return fmt.Sprintf("byte %d", off) }

// kind returns the ledger's tally for a kind of record.
func (l *ledger) kind(name string) *recording.Tally { return l.b.Tally(name) }

// read counts an event of a phase as read and returns its tally.
func (l *ledger) read(ph byte) *recording.Tally {
	k := l.phases[ph]
	if k == nil {
		k = l.b.Tally(string(rune(ph)))
		l.phases[ph] = k
	}
	k.Read++
	return k
}

// left counts a record that is left out.
func (l *ledger) left(k *recording.Tally, off int64) {
	if k.LeftOut == 0 {
		k.FirstLeftOut = place(off)
	}
	k.LeftOut++
}

// repaired counts a record that is kept with changes.
func (l *ledger) repaired(k *recording.Tally, off int64) {
	if k.Repaired == 0 {
		k.FirstRepaired = place(off)
	}
	k.Repaired++
}

// lost counts an element that is not a record.
func (l *ledger) lost(kind string, p problem, off int64, detail string) {
	k := l.kind(kind)
	k.Read++
	l.left(k, off)
	l.warn(p, off, detail)
}

// warn reports a problem.
func (l *ledger) warn(p problem, off int64, detail string) {
	t := &problems[p]
	if l.warned[p] {
		l.b.WarnMore(t.code, 1)
		return
	}
	l.warned[p] = true
	text := t.text
	if i := strings.Index(text, "%s"); i >= 0 {
		text = text[:i] + quoted(detail) + text[i+2:]
	}
	say := l.b.Warn
	switch p {
	case noPicture, otherMetadata, longMember, systemEvents, argsDropped, missingComma, loneFlow, emptyEvent, idSpelling, crossedID:
		say = l.b.Remark
	case sampleAgain, asyncAgain:
		say = l.b.Mended
	case unmatchedEnd, unclosed, noDur, cpuDur:
		say = l.b.Usual
	}
	say(t.code, place(off), "%s", text)
}

// quoted shortens a detail that comes from the file.
func quoted(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
