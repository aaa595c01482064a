package pprof

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"ashlar/ingest/recording"
)

// labels turns samples' labels into contexts, threads and times.
//
// A profile has no fixed names for these; role knows the usual ones.
type labels struct {
	b        *recording.Builder
	contexts map[string]recording.ContextID
	attrs    []recording.Attr
	key      []byte
	tracks   map[int]*recording.TrackBuilder
	timed    bool
	origin   int64 // of the recording, in ns
	// known are labels that have been read before, by how they stand in the
	// file; unless samples are timed, when all differ.
	known map[string]labelled
}

// labelled is the context that labels make.
type labelled struct {
	track int
	ctx   recording.ContextID
}

// of reads a sample's labels, or knows them.
func (x *labels) of(all *samples, s *oneSample) (track int, ctx recording.ContextID) {
	if len(s.labels) == 0 && s.Label == nil && s.NumLabel == nil {
		return recording.NoTrack, 0
	}
	if s.labels != nil && !x.timed {
		if k, ok := x.known[string(s.labels)]; ok {
			return k.track, k.ctx
		}
	}
	all.label(s)
	if s.Label == nil && s.NumLabel == nil {
		track = recording.NoTrack
	} else {
		track, ctx = x.read(&s.Sample)
	}
	if s.labels != nil && !x.timed {
		x.known[string(s.labels)] = labelled{track, ctx}
	}
	return track, ctx
}

// role is the meaning of a label beyond its text.
type role uint8

const (
	noRole role = iota
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

// init looks for times: with any, the recording has a timeline, whose origin
// is the earliest.
func (x *labels) init(b *recording.Builder, all *samples) {
	x.b = b
	x.tracks = map[int]*recording.TrackBuilder{}
	x.contexts = map[string]recording.ContextID{}
	x.origin = math.MaxInt64
	x.known = map[string]labelled{}
	if all.timed() {
		all.each(func(_ int, s *oneSample) bool {
			all.label(s)
			if at, ok := sampleTime(&s.Sample); ok {
				x.timed, x.origin = true, min(x.origin, at)
			}
			return true
		})
	}
	if !x.timed {
		return
	}
	*b.Clock() = recording.Clock{Unit: "ns", PerUnit: 1000, Origin: recording.Decimal{Mantissa: x.origin}}
	ms := b.Event(0).Metrics
	for m := range ms {
		ms[m].PerSample = recording.SampleColumn
	}
}

// sampleTime is when a sample was taken, in nanoseconds as its label counts
// them.
func sampleTime(s *profile.Sample) (int64, bool) {
	for key, values := range s.NumLabel {
		if len(values) == 0 || roleOf(key) != timeRole {
			continue
		}
		unit := ""
		if units := s.NumUnit[key]; len(units) > 0 {
			unit = units[0]
		}
		var ns int64
		switch unit {
		case "nanoseconds", "ns":
			ns = 1
		case "microseconds", "us":
			ns = 1e3
		case "milliseconds", "ms":
			ns = 1e6
		case "seconds", "s":
			ns = 1e9
		case "":
			if strings.HasSuffix(key, "_ns") || strings.HasSuffix(key, "_nanos") {
				ns = 1
			}
		}
		if v := values[0]; ns != 0 && v >= 0 && v <= math.MaxInt64/ns {
			return v * ns, true
		}
	}
	return 0, false
}

// read interns a sample's labels: the context holds all but the time, and a
// label with a thread's id or name makes a track.
func (x *labels) read(s *profile.Sample) (track int, ctx recording.ContextID) {
	x.attrs = x.attrs[:0]
	var pid, tid int64
	var hasTID bool
	var thread string
	note := func(key, text string) {
		switch roleOf(key) {
		case tidRole:
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				tid, hasTID = n, true
			}
		case pidRole:
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				pid = n
			}
		case threadRole:
			thread = text
		}
	}
	for key, values := range s.Label {
		text := strings.Join(values, ", ")
		note(key, text)
		x.attrs = append(x.attrs, recording.Attr{Key: key, Value: text})
	}
	for key, values := range s.NumLabel {
		if x.timed && roleOf(key) == timeRole {
			continue
		}
		if len(values) == 1 {
			note(key, strconv.FormatInt(values[0], 10))
		}
		x.attrs = append(x.attrs, recording.Attr{Key: key, Value: numbers(values, s.NumUnit[key])})
	}
	track = recording.NoTrack
	switch {
	case hasTID:
		t := x.b.Track(recording.TrackKey{PID: pid, TID: tid})
		if thread != "" && t.Name() == "" {
			t.SetName(thread)
		}
		track = x.use(t)
	case thread != "":
		track = x.use(x.b.Track(recording.TrackKey{PID: pid, Name: thread}))
	}
	return track, x.context()
}

func (x *labels) use(t *recording.TrackBuilder) int {
	x.tracks[t.Index()] = t
	return t.Index()
}

// context interns the collected attributes.
func (x *labels) context() recording.ContextID {
	slices.SortFunc(x.attrs, func(a, b recording.Attr) int {
		if c := strings.Compare(a.Key, b.Key); c != 0 {
			return c
		}
		return strings.Compare(a.Value, b.Value)
	})
	x.key = x.key[:0]
	for _, a := range x.attrs {
		x.key = strconv.AppendInt(x.key, int64(len(a.Key)), 10)
		x.key = append(append(append(x.key, ':'), a.Key...), a.Value...)
		x.key = append(x.key, 0)
	}
	id, ok := x.contexts[string(x.key)]
	if !ok {
		id = x.b.Context(x.attrs)
		x.contexts[string(x.key)] = id
	}
	return id
}

// numbers writes a numeric label with its units.
func numbers(values []int64, units []string) string {
	var s strings.Builder
	for i, v := range values {
		if i > 0 {
			s.WriteString(", ")
		}
		s.WriteString(strconv.FormatInt(v, 10))
		if i < len(units) && units[i] != "" {
			s.WriteString(" " + units[i])
		}
	}
	return s.String()
}

// sample puts a sample on the timeline when it says when it was taken.
func (x *labels) sample(i int, s *profile.Sample, event int, call recording.CallID, track int, values []int64) {
	if !x.timed {
		return
	}
	at, ok := sampleTime(s)
	if !ok {
		x.b.Warn("time-missing", place(i), "Sample %d has no time where others have one; it is in the flamegraph but not on the timeline", i+1)
		return
	}
	if at-x.origin > math.MaxInt64/1000 {
		x.b.Warn("time-too-far", place(i), "Sample %d was taken more than a hundred days after the first; it is in the flamegraph but not on the timeline", i+1)
		return
	}
	t := x.tracks[track]
	if t == nil {
		t = x.b.Track(recording.TrackKey{})
	}
	t.Sample(event, (at-x.origin)*1000, call, -1, values)
}
