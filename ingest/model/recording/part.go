package recording

import (
	"fmt"
	"strconv"
	"strings"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/lanes"
)

// Part is the part of a recording to keep, for recordings larger than memory. The zero
// value keeps everything.
type Part struct {
	// Range is the time that is kept; spans and other items that overlap it are kept
	// whole.
	Range
	// Threads are ids, names or parts of names; empty stands for all.
	Threads []string
}

// IsSet reports whether anything is left out.
func (p *Part) IsSet() bool { return p.Range.IsSet() || len(p.Threads) > 0 }

// takes reports whether a track is one of the part's threads. sure is false while the
// track has no name.
func (p *Part) takes(t *Track) (ok, sure bool) {
	if len(p.Threads) == 0 {
		return true, true
	}
	for _, text := range p.Threads {
		if t.Kind == ThreadTrack && strconv.FormatInt(t.TID, 10) == text || t.Name != "" && strings.Contains(t.Name, text) {
			return true, true
		}
	}
	return false, t.Name != ""
}

// Takes reports whether a track of a recording is one of the part's threads.
func (p *Part) Takes(t *Track) bool {
	ok, _ := p.takes(t)
	return ok
}

// WarnPart is the code of the warning about records left out of a part.
const WarnPart = "part"

// parting is the builder's state for the part it keeps.
type parting struct {
	Part
	left int64 // spans, samples, … that were left out
	last int64 // the latest end of records left out
	base int64 // largest b.start, so far, at which the range left something out
	any  bool
	skip bool // the window that is being added is outside
}

// Only limits the recording to a part. It must be called before anything is added.
//
// The part's range counts from the earliest time read so far, because the start of the
// recording is not known until the whole file has been read; see also tellPart.
func (b *Builder) Only(p Part) {
	if p.IsSet() {
		b.part = &parting{Part: p}
	}
}

// outside reports whether a record is outside the part, and if so counts it.
func (b *Builder) outside(out bool, start, end int64) bool {
	p := b.part
	if p == nil {
		return false
	}
	if !out && !(p.HasFrom && end < b.start+p.From) && !(p.HasTo && start > b.start+p.To) {
		return false
	}
	if p.last = max(p.last, end); p.left == 0 {
		p.last = end
	}
	p.left++
	if !out && (!p.any || b.start > p.base) {
		p.any, p.base = true, b.start
	}
	return true
}

// tellPart warns about the records left out. If the range begins beyond the recording's
// end, so that nothing is left, tellPart sets Behind.
func (b *Builder) tellPart() {
	p := b.part
	if p == nil || p.left == 0 {
		return
	}
	c := &b.rec.Counts
	if nothing := c.Spans+c.Samples+c.Instants+c.States == 0; nothing && p.HasFrom && p.last < b.start+p.From && len(p.Threads) == 0 {
		b.rec.Behind = &BehindEnd{p.Range, p.last - b.start}
		b.Warn(WarnPart+"-behind", "", "%v; nothing is shown", b.rec.Behind)
	}
	b.Usual(WarnPart, "", "only part of the file was opened; left out: %s outside of it (spans, samples and others)", safetext.Plural(p.left, "record"))
	if p.any && p.base > b.start {
		b.Usual(WarnPart+"-start", "", "the times of the opened range count from %s, the earliest time known while reading; the file has earlier times further down", b.rec.Clock.Text(p.base))
	}
}

// thread decides about a track that was added or named: if it turns out to be outside the
// part, its contents are discarded.
func (t *TrackBuilder) thread() {
	p := t.b.part
	if p == nil || len(p.Threads) == 0 {
		return
	}
	ok, sure := p.takes(t.track)
	if t.out = !ok && sure; t.out {
		t.discard()
	}
}

// discard removes everything that was added to the track except open spans.
func (t *TrackBuilder) discard() {
	c := &t.b.rec.Counts
	p := t.b.part
	all := t.lanes
	if t.loose != nil {
		all = t.loose.nests.lanes()
	}
	for i := range all {
		t.b.uncount(&all[i], 0)
	}
	if t.loose != nil {
		t.b.held.loose -= int64(t.loose.runs.Len())
	}
	t.b.held.lanes -= int64(len(all))
	t.own()
	c.States -= int64(t.track.States.Len())
	p.left += int64(t.track.States.Len())
	for s, ps := range t.track.InState {
		Add(&t.b.inState[s], -ps)
	}
	t.track.States, t.track.InState = lanes.NewStates(t.b.shelf), [states]int64{}
	c.Spans -= t.spans
	c.Unfinished -= t.late
	p.left += t.spans + int64(len(t.track.Instants))
	c.Instants -= int64(len(t.track.Instants))
	for _, s := range t.samples {
		c.Samples -= int64(s.Len())
		for _, v := range s.values {
			if v != nil {
				t.b.held.values -= int64(v.Len())
			}
		}
		p.left += int64(s.Len())
	}
	t.lanes, t.loose, t.samples, t.track.Instants, t.spans, t.late = nil, nil, nil, nil, 0, 0
	t.cached = nil
}

// String returns the part as flags of a command.
func (p *Part) String() string {
	var s []string
	if p.Range.IsSet() {
		s = append(s, "--range "+p.Range.String())
	}
	for _, t := range p.Threads {
		s = append(s, fmt.Sprintf("--thread %q", t))
	}
	return strings.Join(s, " ")
}
