package perfetto

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/decode"
)

// Fields of a track event.
const (
	eventDelta       = 1
	eventThreadDelta = 2
	eventCategoryIDs = 3
	eventAnnotation  = 4
	eventLegacy      = 6
	eventType        = 9
	eventNameID      = 10
	eventTrack       = 11
	eventExtra       = 12
	eventAbsolute    = 16
	eventCategories  = 22
	eventName        = 23
	eventInteger     = 30
	eventCounters    = 31
	eventFlowsOld    = 36
	eventEndsOld     = 42
	eventDouble      = 44
	eventDoubles     = 45
	eventExtraDouble = 46
	eventFlows       = 47
	eventEnds        = 48
)

// Types of track events.
const (
	typeNone = iota
	typeBegin
	typeEnd
	typeInstant
	typeCounter
)

// trackEvent is one as it stands in a packet.
type trackEvent struct {
	kind               uint64
	category, name     string // unless named by number
	categoryID, nameID uint64
	byCategory, byName bool // they are named by number
	uuid               uint64
	hasUUID            bool
	args               []byte
	number             float64
	extra              []float64
	counters, doubles  []uint64
	extraDoubles       []float64
	flows, ends        []uint64
	delta, absolute    int64
	timed              int // 1 for a delta, 2 for an absolute time
	legacy             []byte
}

// word is a text, kept once.
func (d *decoder) word(b []byte) string {
	s, ok := d.words[string(b)]
	if !ok {
		s = string(b)
		d.words[s] = s
	}
	return s
}

// readEvent reads an event, which holds until the next one.
func (d *decoder) readEvent(s *sequence, b []byte) *trackEvent {
	e := &d.said
	*e = trackEvent{args: e.args[:0], extra: e.extra[:0], counters: e.counters[:0], doubles: e.doubles[:0],
		extraDoubles: e.extraDoubles[:0], flows: e.flows[:0], ends: e.ends[:0]}
	var few [4]string
	categories := few[:0]
	for num, v := range each(b) {
		switch num {
		case eventType:
			e.kind = v.n
		case eventCategories:
			categories = append(categories, d.word(v.b))
		case eventCategoryIDs:
			if v.b == nil && !e.byCategory && len(categories) == 0 {
				e.categoryID, e.byCategory = v.n, true
				break
			}
			if e.byCategory { // there are several
				categories, e.byCategory = append(categories, s.texts[internCategory].get(e.categoryID)), false
			}
			for _, n := range v.numbers(nil) {
				categories = append(categories, s.texts[internCategory].get(n))
			}
		case eventName:
			e.name, e.byName = d.word(v.b), false
		case eventNameID:
			e.nameID, e.byName = v.n, true
		case eventTrack:
			e.uuid, e.hasUUID = v.n, true
		case eventAnnotation:
			e.args = s.annotation(e.args, v.b, 0)
		case eventInteger:
			e.number = float64(int64(v.n))
		case eventDouble:
			e.number = math.Float64frombits(v.n)
		case eventCounters:
			e.counters = v.numbers(e.counters)
		case eventExtra:
			for _, n := range v.numbers(nil) {
				e.extra = append(e.extra, float64(int64(n)))
			}
		case eventDoubles:
			e.doubles = v.numbers(e.doubles)
		case eventExtraDouble:
			e.extraDoubles = v.floats(e.extraDoubles)
		case eventFlows, eventFlowsOld:
			e.flows = v.fixed(e.flows, num == eventFlows)
		case eventEnds, eventEndsOld:
			e.ends = v.fixed(e.ends, num == eventEnds)
		case eventDelta:
			e.delta, e.timed = int64(v.n), 1
		case eventAbsolute:
			e.absolute, e.timed = int64(v.n), 2
		case eventLegacy:
			e.legacy = v.b
		}
	}
	if e.byCategory && len(categories) > 0 {
		categories, e.byCategory = slices.Insert(categories, 0, s.texts[internCategory].get(e.categoryID)), false
	}
	e.category = strings.Join(categories, ",")
	return e
}

// fixed are the numbers of a repeated field of eight bytes each, or of any length.
func (v value) fixed(to []uint64, eight bool) []uint64 {
	if v.b == nil || !eight {
		return v.numbers(to)
	}
	for b := v.b; len(b) >= 8; b = b[8:] {
		n, _ := protowire.ConsumeFixed64(b)
		to = append(to, n)
	}
	return to
}

func (v value) floats(to []float64) []float64 {
	for _, n := range v.fixed(nil, true) {
		to = append(to, math.Float64frombits(n))
	}
	return to
}

// maxNested is how deep annotations may stand in annotations.
const maxNested = 32

// annotation appends a member to a JSON object, without its brackets.
func (s *sequence) annotation(to, b []byte, depth int) []byte {
	if len(to) > 0 {
		to = append(to, ',')
	}
	name, numbered, number := "", false, uint64(0)
	for num, v := range each(b) {
		switch num {
		case 1:
			numbered, number = true, v.n
		case 10:
			numbered, name = false, v.text()
		}
	}
	if numbered {
		to = s.texts[internAnnotation].quote(to, number)
	} else {
		to = append(to, decode.Quoted(name)...)
	}
	return s.annotated(append(to, ':'), b, depth)
}

// annotated appends the value of an annotation as JSON.
func (s *sequence) annotated(to, b []byte, depth int) []byte {
	var dict, array []byte
	isDict, isArray := false, false
	from := len(to)
	to = append(to, "null"...)
	for num, v := range each(b) {
		out := to[:from]
		switch num {
		case 2:
			to = strconv.AppendBool(out, v.n != 0)
		case 3:
			to = strconv.AppendUint(out, v.n, 10)
		case 4:
			to = strconv.AppendInt(out, int64(v.n), 10)
		case 5:
			to = append(out, decode.Float(math.Float64frombits(v.n))...)
		case 6, 9:
			if num == 9 && json.Valid(v.b) {
				to = append(out, v.b...)
			} else {
				to = append(out, decode.Quoted(v.text())...)
			}
		case 7:
			to = append(strconv.AppendUint(append(out, "\"0x"...), v.n, 16), '"')
		case 8:
			to = append(out, nested(v.b, depth)...)
		case 17:
			to = s.texts[internString].quote(out, v.n)
		case 11:
			if isDict = true; depth < maxNested {
				dict = s.annotation(dict, v.b, depth+1)
			}
		case 12:
			if isArray = true; depth < maxNested {
				if len(array) > 0 {
					array = append(array, ',')
				}
				array = s.annotated(array, v.b, depth+1)
			}
		}
	}
	switch {
	case isDict:
		return append(append(append(to[:from], '{'), dict...), '}')
	case isArray:
		return append(append(append(to[:from], '['), array...), ']')
	}
	return to
}

// nested is the older kind of a value that has others in it.
func nested(b []byte, depth int) []byte {
	if depth >= maxNested {
		return []byte("null")
	}
	out, kind := []byte("null"), uint64(0)
	var keys []string
	var dict, array [][]byte
	for num, v := range each(b) {
		switch num {
		case 1:
			kind = v.n
		case 2:
			keys = append(keys, v.text())
		case 3:
			dict = append(dict, nested(v.b, depth+1))
		case 4:
			array = append(array, nested(v.b, depth+1))
		case 5:
			out = strconv.AppendInt(nil, int64(v.n), 10)
		case 6:
			out = decode.Float(math.Float64frombits(v.n))
		case 7:
			out = strconv.AppendBool(nil, v.n != 0)
		case 8:
			out = decode.Quoted(v.text())
		}
	}
	switch kind {
	case 1:
		out = []byte{'{'}
		for i, v := range dict[:min(len(dict), len(keys))] {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(append(out, decode.Quoted(keys[i])...), ':'), v...)
		}
		return append(out, '}')
	case 2:
		out = []byte{'['}
		for i, v := range array {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, v...)
		}
		return append(out, ']')
	}
	return out
}

// legacy has the fields of the older kind of events.
type legacy struct {
	phase               byte
	duration            int64
	id, bind            uint64
	scope               string
	hasID, local        bool
	flow                uint64
	instant             uint64
	pid, tid            int64
	hasPID, hasTID, any bool
}

func (s *sequence) readLegacy(e *trackEvent) legacy {
	var l legacy
	if e.legacy == nil {
		return l
	}
	l.any = true
	s.spell(e)
	for num, v := range each(e.legacy) {
		switch num {
		case 1:
			if e.name == "" {
				e.name = s.texts[internName].get(v.n)
			}
		case 2:
			l.phase = byte(v.n)
		case 3:
			l.duration = int64(v.n)
		case 6, 10, 11:
			l.id, l.hasID, l.local = v.n, true, num == 10
		case 7:
			l.scope = v.text()
		case 8:
			l.bind = v.n
		case 13:
			l.flow = v.n
		case 14:
			l.instant = v.n
		case 18:
			l.pid, l.hasPID = id(v.n), true
		case 19:
			l.tid, l.hasTID = id(v.n), true
		}
	}
	return l
}

// trackEvent takes an event of a sequence.
func (d *decoder) trackEvent(s *sequence, p *packet) {
	e := d.readEvent(s, p.body)
	l := s.readLegacy(e)
	d.slices.Read++
	at := d.clocks.time(s, p)
	if e.timed != 0 && !p.timed {
		if e.timed == 1 {
			s.time += e.delta
			at = s.time * 1000
		} else {
			at = e.absolute * 1000
		}
	}
	t := d.trackOf(s, e, &l)
	ev := event{at: at, track: t, label: d.labelOf(s, e)}
	if len(e.flows)+len(e.ends) > 0 {
		ev.more = &links{slices.Clone(e.flows), slices.Clone(e.ends)}
	}
	if len(e.args) > 0 {
		d.object = append(append(append(d.object[:0], '{'), e.args...), '}')
		ev.args = d.texts.Add(d.object)
	}
	d.counters(s, e, at)
	switch e.kind {
	case typeBegin:
		ev.kind = begin
	case typeEnd:
		ev.kind = end
	case typeInstant:
		ev.kind = instant
	case typeCounter:
		ev.kind, ev.bits = count, math.Float64bits(s.valueOf(t, e.number))
	default:
		if !l.any || !l.read(d, s, e, &ev) {
			d.slices.Leave("")
			d.b.Remark("event-unknown", "", "Track events of a type that is none of slice, instant and counter are left out")
			return
		}
	}
	d.slices.Kept++
	d.enqueue(ev)
}

// trackOf is the track that an event lies on.
func (d *decoder) trackOf(s *sequence, e *trackEvent, l *legacy) *track {
	old := e.kind == typeNone && l.any && (!e.hasUUID || e.uuid == 0)
	switch {
	case l.hasPID || l.hasTID || old:
		pid, tid := s.pid, s.tid
		if base := d.tracks[s.track]; s.hasTrack && base != nil && base.thread {
			pid, tid = base.pid, base.tid
		}
		if l.hasPID {
			pid = l.pid
		}
		if l.hasTID {
			tid = l.tid
		}
		if l.instant == 2 && old {
			return d.asyncTrack(&track{process: true, pid: pid}, pid, "")
		}
		return d.threadTrack(pid, tid)
	case e.hasUUID:
		return d.trackIn(s, e.uuid)
	case s.hasTrack:
		return d.trackIn(s, s.track)
	case s.hasThread:
		return d.threadTrack(s.pid, s.tid)
	case s.own != nil:
		return s.own
	}
	return d.track(0)
}

// trackIn is a track by its number, which is mostly that of the event before.
func (d *decoder) trackIn(s *sequence, uuid uint64) *track {
	if s.on == nil || s.on.uuid != uuid {
		s.on = d.track(uuid)
	}
	return s.on
}

// asyncTrack is one that is known by what it is of.
func (d *decoder) asyncTrack(t *track, pid int64, key string) *track {
	key = strconv.FormatInt(pid, 10) + "\x00" + key
	if x := d.asyncs[key]; x != nil {
		return x
	}
	d.groups++
	t.group, t.factor = d.groups, 1
	d.asyncs[key] = t
	return t
}

// read turns an event of the older kind into one of today's; it reports whether
// there is one.
func (l *legacy) read(d *decoder, s *sequence, e *trackEvent, ev *event) bool {
	switch l.phase {
	case 'B':
		ev.kind = begin
	case 'E':
		ev.kind = end
	case 'X':
		ev.kind, ev.bits = whole, uint64(ev.at+l.duration*1000)
	case 'I', 'i', 'n', 'T', 'p', 'R':
		ev.kind = instant
	case 'b', 'S':
		ev.kind = begin
	case 'e', 'F':
		ev.kind = end
	default:
		return false
	}
	if strings.IndexByte("bSeFnTp", l.phase) >= 0 && l.hasID {
		pid := ev.track.pid
		key := l.scope + "\x00" + e.category + "\x00" + strconv.FormatUint(l.id, 16)
		under := pid
		if !l.local {
			under = 0
		}
		ev.track = d.asyncTrack(&track{name: e.name, process: false, pid: pid}, under, key)
	}
	if l.flow != 0 && l.bind != 0 {
		passes, ok := ev.more.(*links)
		if !ok {
			passes = new(links)
			ev.more = passes
		}
		if l.flow == 1 {
			passes.ends = append(passes.ends, l.bind)
		} else {
			passes.flows = append(passes.flows, l.bind)
		}
	}
	return true
}

// valueOf works out what a counter has come to.
func (s *sequence) valueOf(t *track, v float64) float64 {
	v *= t.factor
	if t.incremental {
		v += s.sums[t]
		s.sums[t] = v
	}
	return v
}

// counters takes what an event says of counters besides.
func (d *decoder) counters(s *sequence, e *trackEvent, at int64) {
	add := func(list, fallback []uint64, values []float64) {
		if len(list) == 0 {
			list = fallback
		}
		for i, v := range values[:min(len(values), len(list))] {
			t := d.track(list[i])
			d.enqueue(event{at: at, track: t, kind: count, bits: math.Float64bits(s.valueOf(t, v))})
		}
	}
	add(e.counters, s.counters, e.extra)
	add(e.doubles, s.doubles, e.extraDoubles)
}
