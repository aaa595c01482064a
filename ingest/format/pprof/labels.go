package pprof

import (
	"math"
	"strconv"
	"strings"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
)

// labels converts the labels of samples to contexts, threads and times.
//
// Profiles have no fixed label names for threads and times; roleOf knows the usual ones.
type labels struct {
	b       *recording.Builder
	samples *samples
	attrs   []recording.Attr
	tracks  map[int]*recording.TrackBuilder
	timed   bool
	origin  int64           // start of the recording, in ns
	sets    []labelled      // indexed by record.set - 1
	changed map[string]bool // keys of labels whose kind a copy changes, as was said
}

// labelled is the result of resolving a set of labels.
type labelled struct {
	track int
	ctx   recording.ContextID
	at    int64 // when the sample was taken, in ns; valid if hasAt
	hasAt bool
}

// of returns the track, context and time of a sample's labels.
func (x *labels) of(b *batch, one *record) labelled {
	switch {
	case len(one.labels) == 0 && one.sample == nil:
		return labelled{track: recording.NoTrack}
	case one.set > 0 && one.set <= len(x.sets):
		return x.sets[one.set-1]
	case one.lost > 0:
		x.b.Warn("label-missing", place(one.n), "Labels of sample %d refer to missing texts; it is shown without them", one.n+1)
	}
	l := x.read(b.said[one.said.from:one.said.to], one.n)
	if one.set > 0 {
		x.sets = append(x.sets, l)
	}
	return l
}

// role is the special meaning of a label, if any.
type role uint8

const (
	noRole role = iota + 1
	tidRole
	pidRole
	threadRole // a thread's name
	timeRole   // when the sample was taken
)

func roleOf(key string) role {
	switch strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '.' {
			return '_'
		}
		return r
	}, strings.ToLower(key)) {
	case "tid", "thread_id", "os_thread_id":
		return tidRole
	case "pid", "process_id", "process_pid":
		return pidRole
	case "thread", "thread_name":
		return threadRole
	case "end_timestamp_ns", "timestamp_ns", "timestamp", "time_ns", "time_nanos":
		return timeRole
	}
	return noRole
}

// init looks for times. If any sample has one, the recording has a timeline that starts
// at the earliest.
func (x *labels) init(b *recording.Builder, all *samples) {
	x.b, x.samples = b, all
	x.tracks, x.changed = map[int]*recording.TrackBuilder{}, map[string]bool{}
	x.origin = math.MaxInt64
	if all.timed() {
		x.findOrigin()
	}
	if !x.timed {
		all.sets = map[string]int{}
		return
	}
	*b.Clock() = recording.Clock{Unit: "ns", PerUnit: 1000, Origin: recording.Decimal{Mantissa: x.origin}}
	ms := b.Event(0).Metrics
	for m := range ms {
		ms[m].PerSample = recording.SampleColumn
	}
}

func (x *labels) findOrigin() {
	var c batch
	for r := (&reader{samples: x.samples}); !c.end; {
		r.read(&c)
		for i := range c.rows {
			said := c.rows[i].said
			if at, ok := x.time(c.said[said.from:said.to]); ok {
				x.timed, x.origin = true, min(x.origin, at)
			}
		}
	}
}

// time returns when a sample was taken, in nanoseconds, from its first label with a time.
// Its clock is whatever that label uses.
func (x *labels) time(values []labelValue) (int64, bool) {
	for i := range values {
		v := &values[i]
		if !v.numeric || v.role != timeRole || i > 0 && values[i-1].numeric && values[i-1].key == v.key {
			continue
		}
		var ns int64
		switch v.unit {
		case "nanoseconds", "ns":
			ns = 1
		case "microseconds", "us":
			ns = 1e3
		case "milliseconds", "ms":
			ns = 1e6
		case "seconds", "s":
			ns = 1e9
		case "":
			if strings.HasSuffix(v.key, "_ns") || strings.HasSuffix(v.key, "_nanos") {
				ns = 1
			}
		}
		if ns != 0 && v.number >= 0 && v.number <= math.MaxInt64/ns {
			return v.number * ns, true
		}
	}
	return 0, false
}

// read interns labels: the context holds all labels except the time, and a label with a
// thread id or name selects a track.
func (x *labels) read(values []labelValue, sample int) (l labelled) {
	x.attrs = x.attrs[:0]
	if x.timed {
		l.at, l.hasAt = x.time(values)
	}
	var pid, tid int64
	var hasTID bool
	var thread string
	for len(values) > 0 {
		v, n := &values[0], 1
		for n < len(values) && values[n].key == v.key && values[n].numeric == v.numeric {
			n++
		}
		same := values[:n]
		values = values[n:]
		role := v.role
		if x.timed && v.numeric && role == timeRole {
			continue
		}
		if n > 1 {
			x.b.Remark("label-values", place(sample), "Label %s of sample %d has %s, which are shown as one", safetext.Short(v.key), sample+1, safetext.Plural(n, "value"))
		}
		text, number, isNumber := textOf(same), v.number, n == 1
		if n == 1 && text != "" && text != "0" && !x.changed[v.key] && writtenAsNumber(v.key, text) != v.numeric {
			x.changed[v.key] = true
			is, becomes := "text", "number"
			if v.numeric {
				is, becomes = becomes, is
			}
			x.b.Remark("label-kind", place(sample), "Label %s of sample %d is the %s %s; copies have it as a %s", safetext.Short(v.key), sample+1, is, safetext.Short(text), becomes)
		}
		if !v.numeric && role != noRole {
			parsed, err := strconv.ParseInt(text, 10, 64)
			number, isNumber = parsed, err == nil
		}
		x.attrs = append(x.attrs, recording.Attr{Key: v.key, Value: text})
		switch {
		case role == tidRole && isNumber:
			tid, hasTID = number, true
		case role == pidRole && isNumber:
			pid = number
		case role == threadRole && !v.numeric:
			thread = text
		case role == threadRole && isNumber:
			thread = strconv.FormatInt(number, 10)
		}
	}
	l.track = recording.NoTrack
	switch {
	case hasTID:
		t := x.b.Track(recording.TrackKey{PID: pid, TID: tid})
		if thread != "" && t.Name() == "" {
			t.SetName(thread)
		}
		l.track = x.use(t)
	case thread != "":
		l.track = x.use(x.b.Track(recording.TrackKey{PID: pid, Name: thread}))
	}
	l.ctx = x.b.Context(x.attrs)
	return l
}

func (x *labels) use(t *recording.TrackBuilder) int {
	x.tracks[t.Index()] = t
	return t.Index()
}

// textOf writes the values of one key.
func textOf(values []labelValue) string {
	if v := &values[0]; len(values) == 1 && !v.numeric {
		return v.text
	}
	var b []byte
	for i := range values {
		v := &values[i]
		if i > 0 {
			b = append(b, ", "...)
		}
		if !v.numeric {
			b = append(b, v.text...)
			continue
		}
		b = strconv.AppendInt(b, v.number, 10)
		if unit := unitOf(v); unit != "" {
			b = append(append(b, ' '), unit...)
		}
	}
	return string(b)
}

// unitOf returns the unit of a number. If the file gives none, it is, as in pprof, bytes
// for allocation sizes and the label's key for other numbers; ids have none.
func unitOf(v *labelValue) string {
	switch {
	case v.unit != "" || v.role != noRole || plainNumber(v.key):
		return v.unit
	case v.key == "request" || v.key == "alignment":
		return "bytes"
	}
	return v.key
}

// plainNumber reports whether a label's numbers are ids, which have no unit.
func plainNumber(key string) bool {
	switch key {
	case "pid", "tid", "cpu", "uid":
		return true
	}
	return false
}

// sample adds a sample to the timeline if it has a time.
func (x *labels) sample(n int, l *labelled, event int, call recording.CallID, values []int64) {
	if !x.timed {
		return
	}
	if !l.hasAt {
		x.b.Warn("time-missing", place(n), "Sample %d has no time, unlike others; it is in the flamegraph but not on the timeline", n+1)
		return
	}
	if l.at-x.origin > math.MaxInt64/1000 {
		x.b.Warn("time-too-far", place(n), "Sample %d was taken more than a hundred days after the first; it is in the flamegraph but not on the timeline", n+1)
		return
	}
	t := x.tracks[l.track]
	if t == nil {
		t = x.b.Track(recording.TrackKey{})
	}
	t.Sample(event, (l.at-x.origin)*1000, call, -1, values)
}
