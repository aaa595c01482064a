package perfdata

import (
	"bytes"
	"fmt"
	"strings"

	"ashlar/ingest/format/perfscript"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
)

// Bits of an event's sample_type, and of its read_format.
const (
	hasIP = 1 << iota
	hasTID
	hasTime
	hasAddr
	hasRead
	hasCallchain
	hasID
	hasCPU
	hasPeriod
	hasStreamID
	hasRaw
	hasBranches
	hasRegs
	hasUserStack
	hasIdentifier = 1 << 16

	readEnabled = 1 << 0
	readRunning = 1 << 1
	readID      = 1 << 2
	readGroup   = 1 << 3
	readLost    = 1 << 4
)

// attr describes a recorded event.
type attr struct {
	kind                 uint32
	config, every        uint64
	sampleType, readBits uint64
	freq, idsAll         bool

	// Used only by the decoder.
	name  string
	event int // index in the recording, -1 before the first sample
}

// Bits of attr's flags.
const (
	flagFreq    = 1 << 10
	flagIDsAll  = 1 << 18
	mostAttrs   = 4096
	leastFields = 48
)

// events are the recorded events in file order. The reader and the decoder each have
// their own lists.
type events struct {
	attrs []*attr
	byID  map[uint64]*attr
}

func newEvents() events { return events{byID: map[uint64]*attr{}} }

// add adds an event with its ids.
func (e *events) add(a *attr, ids []byte) {
	e.attrs = append(e.attrs, a)
	for ; len(ids) >= 8; ids = ids[8:] {
		e.byID[le.Uint64(ids)] = a
	}
}

// addAttr adds an event with its ids.
func (r *reader) addAttr(b, ids []byte) {
	if len(b) < leastFields || len(r.attrs) >= mostAttrs {
		r.sendAction(func(d *decoder) {
			d.b.Warn("event-short", "", "An event description has only %s; its samples cannot be read", safetext.Plural(len(b), "byte"))
		})
		return
	}
	flags := le.Uint64(b[40:])
	a := &attr{kind: le.Uint32(b), config: le.Uint64(b[8:]), every: le.Uint64(b[16:]), sampleType: le.Uint64(b[24:]),
		readBits: le.Uint64(b[32:]), freq: flags&flagFreq != 0, idsAll: flags&flagIDsAll != 0, event: -1}
	a.name = a.known()
	r.add(a, ids)
	r.sendAction(func(d *decoder) { d.events.add(a, ids) })
}

// perf's names for the events that the kernel numbers.
var (
	hardware = []string{"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"}
	software = []string{"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy", "bpf-output", "cgroup-switches"}
)

// known returns the name of an event that has no name in the file.
func (a *attr) known() string {
	var list []string
	switch a.kind {
	case 0:
		list = hardware
	case 1:
		list = software
	}
	if a.config < uint64(len(list)) {
		return list[a.config]
	}
	return fmt.Sprintf("event %d:%#x", a.kind, a.config)
}

// eventOf returns the recording's event of an attr, and adds it on the first call.
func (d *decoder) eventOf(a *attr) int {
	if a.event < 0 {
		if d.onlySched() {
			d.states.Begin()
		}
		for _, a := range d.attrs { // in file order
			if a.event < 0 && a.name != "dummy" {
				d.addEvent(a)
			}
		}
	}
	if a.event < 0 {
		d.addEvent(a)
	}
	return a.event
}

func (d *decoder) addEvent(a *attr) {
	e := recording.Event{Name: a.name, Basis: recording.FromSamples, Metrics: []recording.Metric{
		{Name: "samples", Unit: "count", PerSample: recording.SampleOne},
		{Name: "period", Unit: "events", PerSample: recording.SampleColumn},
	}, Primary: 1}
	if a.sampleType&hasTime == 0 {
		e.Basis = recording.FromStacks
	}
	a.event = d.b.AddEvent(e)
	d.named(a)
}

// named sets the properties of an event that depend on its name. The name may come after
// the event's samples.
func (d *decoder) named(a *attr) {
	if a.event < 0 {
		return
	}
	e := d.b.Event(a.event)
	e.Name, e.Kind, e.Metrics[1].Unit = a.name, perfscript.EventKind(a.name), perfscript.PeriodUnit(a.name)
	switch {
	case a.freq:
		e.Mode, e.Frequency = "frequency", float64(a.every)
	case e.Kind == "probe":
		e.Mode = "event"
	default:
		e.Mode, e.Period = "period", int64(min(a.every, 1<<62))
	}
}

// Features that are read, by bit.
const (
	featureTracing   = 1
	featureBuildID   = 2
	featureHost      = 3
	featureRelease   = 4
	featureVersion   = 5
	featureArch      = 6
	featureCPUs      = 7
	featureCPU       = 8
	featureMemory    = 10
	featureCommand   = 11
	featureEventDesc = 12
)

// text reads a string of a feature: a length and bytes up to a zero.
func text(b *[]byte) string {
	if len(*b) < 4 {
		*b = nil
		return ""
	}
	n := int(le.Uint32(*b))
	if n > len(*b)-4 {
		n = len(*b) - 4
	}
	s := (*b)[4 : 4+n]
	*b = (*b)[4+n:]
	s, _, _ = bytes.Cut(s, []byte{0})
	return string(s)
}

// feature reads one optional header section.
func (d *decoder) feature(bit int, b []byte) {
	src := d.b.Source()
	switch bit {
	case featureTracing:
		d.tracing(b)
	case featureBuildID:
		d.buildIDs(b)
	case featureHost:
		src.Note(recording.NoteHost, text(&b))
	case featureRelease:
		src.Note("os release", text(&b))
	case featureVersion:
		src.Tool = "perf " + text(&b)
	case featureArch:
		src.Note("arch", text(&b))
	case featureCPUs:
		if len(b) >= 8 {
			src.Note("nrcpus online", fmt.Sprint(le.Uint32(b)))
		}
	case featureCPU:
		src.Note("cpudesc", text(&b))
	case featureMemory:
		if len(b) >= 8 {
			src.Note("total memory", fmt.Sprintf("%d kB", le.Uint64(b)))
		}
	case featureCommand:
		if len(b) < 4 {
			return
		}
		var words []string
		for b = b[4:]; len(b) >= 4; {
			words = append(words, text(&b))
		}
		src.Command = strings.Join(words, " ")
	case featureEventDesc:
		d.eventNames(b)
	}
}

// eventNames reads the names of events, by id or, without ids, by order.
func (d *decoder) eventNames(b []byte) {
	if len(b) < 8 {
		return
	}
	n, size := le.Uint32(b), int(le.Uint32(b[4:]))
	b = b[8:]
	for i := uint32(0); i < n && size >= 0 && len(b) >= size+4; i++ {
		ids := int(le.Uint32(b[size:]))
		b = b[size+4:]
		name := strings.TrimRight(text(&b), ", ")
		var a *attr
		if int(i) < len(d.attrs) {
			a = d.attrs[i]
		}
		for ; ids > 0 && len(b) >= 8; ids-- {
			if x := d.byID[le.Uint64(b)]; x != nil {
				a = x
			}
			b = b[8:]
		}
		if a != nil && name != "" {
			a.name = name
			d.named(a)
		}
	}
}

// buildIDs reads the build ids of binaries, which are a list of records.
func (d *decoder) buildIDs(b []byte) {
	for len(b) >= recordHead {
		n := int(le.Uint16(b[6:]))
		if n < recordHead || n > len(b) {
			return
		}
		d.buildID(le.Uint16(b[4:]), b[recordHead:n])
		b = b[n:]
	}
}

// hasSize is the misc bit of a build id record that includes the size of its id.
const hasSize = 1 << 15

func (d *decoder) buildID(misc uint16, b []byte) {
	if len(b) < 4+24 {
		return
	}
	id, size := b[4:24], 20
	if misc&hasSize != 0 {
		size = min(int(b[24]), 20)
	}
	name, _, _ := bytes.Cut(b[28:], []byte{0})
	d.ids[string(name)] = bytes.Clone(id[:size])
}
