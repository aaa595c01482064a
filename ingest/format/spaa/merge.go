package spaa

import (
	"context"
	"fmt"
	"strconv"

	"ashlar/ingest/model/recording"
	format "ashlar/spaa"
)

// merger puts batches into the builder, in file order. It belongs to the
// goroutine that owns the builder.
type merger struct {
	b   *recording.Builder
	ctx context.Context

	line     int64 // lines merged so far
	shown    int64 // stacks, samples and windows in the recording
	firstBad string

	anyRecord  bool // a line with a record was merged
	headerSeen bool
	headerLine int64
	tallies    [kindBad + 1]*recording.Tally

	warned  [codeCount]bool
	pending [codeCount]int64

	mirrors []mirror
	names   names
	dsos    map[int64]dsoInfo
	frames  frameTable
	// files are the source files of functions, by FuncID.
	files []string
	// mappings are the recording's numbers of the header's mappings.
	mappings []uint16
	// noModules are the ids of the dsos that stand for no module.
	noModules map[int64]bool
	path      []uint32 // buffer of call
	late      late

	events  []eventState
	eventOf []int32 // index of an event plus one, by number of its name
	values  []int64 // buffer of placeSample

	tracks  map[owner]*trackState // by pid and tid
	byIndex []*trackState
	byTID   map[int64]int64 // pid of a tid
	recent  [recentTracks]*trackState
	ids     idTable
	related []relatedRef
	halves  halves
	clock   *clock
	rng     timeRange
	latest  int64 // time of the latest sample
	// earliest is the time of the earliest sample before the start, and earliestLine its line.
	earliest, earliestLine int64
	deferred               deferredSamples
	windows                windowState
	strict                 strictText
	exceeds                map[string]bool // whether samples or windows exceed their stacks
}

// Kinds of tally beyond the format's record kinds.
const (
	kindBad = int(format.KindWindow) + 1
)

// relatedRef is a reference to a stack that is not defined yet, and may never be.
type relatedRef struct {
	id   uint32
	line int64
}

func newMerger(ctx context.Context, b *recording.Builder) *merger {
	m := &merger{
		b: b, ctx: ctx,
		names:   newNames(),
		dsos:    map[int64]dsoInfo{},
		tracks:  map[owner]*trackState{},
		byTID:   map[int64]int64{},
		exceeds: map[string]bool{},
	}
	m.ids.process = func(track int32) int32 { return m.byIndex[track].process }
	return m
}

// tally returns the ledger's counters of a kind of record.
func (m *merger) tally(kind int) *recording.Tally {
	t := m.tallies[kind]
	if t == nil {
		name := "bad line"
		if kind != kindBad {
			name = format.Kind(kind).String()
		}
		t = m.b.Tally(name)
		m.tallies[kind] = t
	}
	return t
}

func place(line int64) string { return "line " + strconv.FormatInt(line, 10) }

// leaveOut counts a record that is not in the recording.
func (m *merger) leaveOut(kind int, line int64) {
	t := m.tally(kind)
	t.Read++
	t.LeftOut++
	if t.FirstLeftOut == "" {
		t.FirstLeftOut = place(line)
	}
}

// repair counts a kept record that is shown differently from the file.
func (m *merger) repair(kind format.Kind, line int64) {
	t := m.tally(int(kind))
	t.Repaired++
	if t.FirstRepaired == "" {
		t.FirstRepaired = place(line)
	}
}

func (m *merger) keep(kind format.Kind) {
	t := m.tally(int(kind))
	t.Read++
	t.Kept++
}

// merge adds one batch. Batches of a worker come in the order it made them.
func (m *merger) merge(b *batch) {
	mi := &m.mirrors[b.worker]
	mi.learn(b, &m.names)
	for i := range b.items {
		it := &b.items[i]
		line := m.line + int64(it.line) + 1
		switch it.kind {
		case itemRecord:
			m.record(mi, b, it, line)
			m.anyRecord = true
		case itemLeftOut:
			m.leaveOut(int(it.rec), line)
		case itemWarning:
			m.warn(it.code, line, b.note(it))
		case itemBad:
			m.leaveOut(kindBad, line)
			m.warn(it.code, line, b.note(it))
			if m.firstBad == "" {
				m.firstBad = place(line) + ": " + b.note(it)
			}
		}
	}
	m.line += int64(b.lines)
	m.flushWarnings()
}

func (b *batch) note(it *item) string {
	if it.at == 0 {
		return ""
	}
	return b.notes[it.at-1]
}

func (m *merger) record(mi *mirror, b *batch, it *item, line int64) {
	switch it.rec {
	case format.KindSample:
		m.sample(mi, b, &b.samples[it.at], line)
	case format.KindStack:
		m.stack(mi, b, &b.stacks[it.at], line)
	case format.KindFrame:
		m.frame(mi, &b.frames[it.at], line)
	case format.KindDSO:
		m.dso(mi, &b.dsos[it.at], line)
	case format.KindThread:
		m.thread(mi, &b.threads[it.at], line)
	case format.KindWindow:
		m.window(mi, b, &b.windows[it.at], line)
	case format.KindHeader:
		m.headerRecord(b.headers[it.at], line)
	}
}

// stack adds a stack record, or keeps it until its frames are known.
func (m *merger) stack(mi *mirror, b *batch, s *stackRec, line int64) {
	c := m.context(mi, s.context, line)
	st := stackIn{event: c.event, track: recording.NoTrack, context: c.id, comm: mi.name(c.rec.who.comm), half: s.half, line: line}
	if c.rec.who.hasTID {
		ts := c.track
		if ts == nil {
			ts = m.track(c.rec.who)
			if c.rec.who.hasPID { // otherwise a later thread record may give the process
				c.track = ts
			}
		}
		st.track = ts.index
		if st.comm != 0 {
			m.seen(ts, st.comm)
		}
	}
	if st.hasID = s.id.form != formNone; st.hasID {
		st.id = m.id(mi, s.id)
	}
	st.weights = mi.resolve(b.weights[s.weights.from:s.weights.to])
	st.related = m.late.related[:0]
	for _, r := range b.related[s.related.from:s.related.to] {
		if r.form != formNone {
			st.related = append(st.related, m.id(mi, r))
		}
	}
	m.late.related = st.related
	call, ok := m.call(mi, s.leaf)
	if !ok {
		m.late.addStack(&st, m.framesOf(mi, s.leaf))
		return
	}
	m.addStack(&st, call)
}

// stackIn is a stack record without its frames, in the merger's numbers.
type stackIn struct {
	event, track int32
	context      recording.ContextID
	comm         uint32
	id           uint32 // index in the id table
	hasID        bool
	half         half
	line         int64
	weights      []weightRec
	related      []uint32 // indices in the id table
}

// addStack adds a stack record whose call is known.
func (m *merger) addStack(s *stackIn, call recording.CallID) {
	ev := &m.events[s.event]
	values := m.weights(s.event, s.weights, s.line)
	if len(s.weights) == 0 {
		if ev.bare == 0 {
			ev.bareLine = s.line
		}
		ev.bare++
	} else {
		ev.weighed = true
		if ev.primary >= 0 && values[ev.primary] == recording.Missing {
			m.warn(warnPrimaryMissing, s.line, quote(m.names.text[ev.name]))
		}
	}
	row := m.b.AddStack(int(s.event), call, int(s.track), s.context, values)
	m.shown++
	m.keep(format.KindStack)
	if s.hasID {
		k, other := m.ids.add(s.id, idRecord{event: s.event, track: s.track, call: call, context: s.context, comm: s.comm})
		if other {
			m.warn(warnStackID, s.line, m.idText(s.id))
		}
		m.halves.add(k, row, s.half)
	}
	for _, id := range s.related {
		if m.ids.entries[id].first < 0 {
			m.related = append(m.related, relatedRef{id, s.line})
		}
		if s.half != whole {
			m.halves.link(link{id: id, event: s.event, track: s.track, context: s.context, row: row, half: s.half})
		}
	}
}

// id returns the index of a stack id.
func (m *merger) id(mi *mirror, r idRef) uint32 {
	r = mi.ref(r)
	return m.ids.index(r.word, r.form)
}

// missingID formats an id that no stack has, for messages. If a stack's id is the same
// number in another spelling, the text mentions that spelling.
func (m *merger) missingID(id uint32) string {
	text := m.idText(id)
	var x format.ID
	if n, err := strconv.Unquote(text); err == nil {
		x = format.StringID(n)
	} else {
		x = format.NumberID(format.Number(text))
	}
	for _, o := range x.Spellings() {
		if k, ok := m.ids.lookup(m.refOf(o)); ok && m.ids.entries[k].first >= 0 {
			return text + "; the file has " + m.idText(k) + ", the same number in another spelling"
		}
	}
	return text
}

// refOf converts a stack id to an idRef with the merger's numbers.
func (m *merger) refOf(id format.ID) idRef {
	switch word, packed := id.Key(); {
	case packed != format.IDText:
		return idRef{word, uint8(packed)}
	case id.IsNumber():
		return idRef{uint64(m.names.ids[id.String()]), formNumberText}
	}
	return idRef{uint64(m.names.ids[id.String()]), formText}
}

// idText formats an id for messages.
func (m *merger) idText(id uint32) string {
	e := &m.ids.entries[id]
	switch e.form {
	case formText:
		return quote(m.names.text[e.word])
	case formNumberText:
		return m.names.text[e.word]
	case uint8(format.IDInt):
		return strconv.FormatUint(e.word, 10)
	}
	return fmt.Sprintf(`"0x%0*x"`, int(e.form), e.word)
}

// call returns the call of a node in a worker's call tree; ok is false if one of its
// frames is not defined yet. Calls are interned in the order in which records refer to
// them, independent of the workers.
func (m *merger) call(mi *mirror, n uint32) (call recording.CallID, ok bool) {
	path := m.path[:0]
	for n != 0 && mi.nodes[n-1].call == recording.NoCall {
		path = append(path, n)
		n = mi.nodes[n-1].parent
	}
	m.path = path
	for _, n := range path {
		if m.frames.get(mi.frameID(mi.nodes[n-1].frame)) == 0 {
			return recording.NoCall, false
		}
	}
	call = recording.NoCall
	if n != 0 {
		call = mi.nodes[n-1].call
	}
	for i := len(path) - 1; i >= 0; i-- {
		nd := &mi.nodes[path[i]-1]
		call = m.b.Call(call, recording.FrameID(m.frames.get(mi.frameID(nd.frame))-1))
		nd.call = call
	}
	return call, true
}

// finish adds what had to wait for the end of the file.
func (m *merger) finish() error {
	m.addLate()
	for _, r := range m.related {
		if m.ids.entries[r.id].first < 0 {
			m.warn(warnRelated, r.line, m.idText(r.id))
		}
	}
	m.joinHalves()
	if err := m.flushSamples(); err != nil {
		return err
	}
	m.flushWindows()
	m.checkStart()
	m.finishEvents()
	m.compareParts()
	m.finishNames()
	if !m.headerSeen && m.shown > 0 {
		m.warn(warnNoHeader, 0, "")
	}
	m.flushWarnings()
	m.checkStrictly()
	return nil
}
