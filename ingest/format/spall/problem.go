package spall

import "fmt"

// recordKind is a kind of record in the tallies.
type recordKind int

const (
	recBegin recordKind = iota
	recEnd
	recComplete
	recInstant
	recName
	recPad
	recUnreadable
	recordKinds
)

var recordNames = [recordKinds]string{"begin", "end", "complete", "instant", "name", "padding", "unreadable"}

// tally counts records of a kind since the last batch.
type tally struct {
	read, leftOut, repaired     int64
	firstLeftOut, firstRepaired string
}

// problem is a kind of warning.
type problem int

const (
	badUnit problem = iota
	wrongVersion
	timeBackward
	badTime
	unmatchedEnd
	negativeDuration
	damaged
	unknownRecord
	damagedBuffer
	cutShort
	unresolved
	noLines
	problems
)

// problemCodes are the codes of the warnings.
var problemCodes = [problems]string{
	badUnit:          "bad-unit",
	wrongVersion:     "wrong-version",
	timeBackward:     "time-backward",
	badTime:          "bad-time",
	unmatchedEnd:     "unmatched-end",
	negativeDuration: "negative-duration",
	damaged:          "damaged",
	unknownRecord:    "unknown-record",
	damagedBuffer:    "damaged-buffer",
	cutShort:         "truncated",
	unresolved:       "unresolved",
	noLines:          "no-source-files",
}

// note counts a problem at an offset in the content. Only the first of a kind gets a
// text.
func (p *parser) note(code problem, at int64, format string, args ...any) {
	if i := p.inBatch[code]; i > 0 {
		p.cur.notes[i-1].n++
		return
	}
	n := note{code: code, n: 1}
	if !p.seen[code] {
		p.seen[code] = true
		n.place, n.text = place(at), fmt.Sprintf(format, args...)
	}
	p.cur.notes = append(p.cur.notes, n)
	p.inBatch[code] = len(p.cur.notes)
}

func place(at int64) string { return fmt.Sprintf("byte %d", at) }

// count counts a record of an infrequent kind. It also keeps the order in which kinds
// first appear.
func (p *parser) count(k recordKind) {
	if !p.anyRead[k] {
		p.anyRead[k] = true
		p.cur.kinds = append(p.cur.kinds, k)
	}
	p.cur.tallies[k].read++
}

// repaired counts a record that was kept with a change.
func (p *parser) repaired(k recordKind, at int64) {
	t := &p.cur.tallies[k]
	t.repaired++
	if !p.anyRepaired[k] {
		p.anyRepaired[k] = true
		t.firstRepaired = place(at)
	}
}

// leftOut counts a record, already counted as read, that is not shown.
func (p *parser) leftOut(k recordKind, at int64) {
	t := &p.cur.tallies[k]
	t.leftOut++
	if !p.anyLeftOut[k] {
		p.anyLeftOut[k] = true
		t.firstLeftOut = place(at)
	}
}
