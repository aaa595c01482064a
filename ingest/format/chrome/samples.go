package chrome

import (
	"cmp"
	"math"
	"slices"

	"ashlar/ingest/format/v8"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/model/recording"
)

// Samples come in three forms: P events, which name a frame of stackFrames (sf) or list a
// stack; objects in the top-level samples; and V8's CPU profiles (see package v8).
// Samples of the first two forms have the name of their event and perhaps a weight. They
// are kept until the end of the file, where stackFrames usually is.

// maxEvents is the maximum number of sample names that become separate events.
const maxEvents = 64

type samplers struct {
	d        *decoder
	waiting  []waitingSample
	weights  []jsonscan.Decimal
	events   map[uint32]int // index of the recording's event, by sample name
	profiles *v8.Profiles
}

// waitingSample is a sample whose stack is not known yet.
type waitingSample struct {
	ts     jsonscan.Micros
	off    int64
	thread *thread // nil when only tid is known
	tid    int64
	name   uint32
	frame  uint32           // interned sf; 0 for none
	call   recording.CallID // the stack, if the sample lists it
	weight int32            // index in weights plus 1; 0 for none
	cpu    int32
	top    bool // from the top-level samples
}

func (s *samplers) init(d *decoder) {
	s.d, s.events, s.profiles = d, map[uint32]int{}, v8.NewProfiles(d.b, d.at)
}

// event adds a P event; it reports whether it is kept.
func (s *samplers) event(it *item) bool {
	switch s.d.textOf(it.name) {
	case "Profile":
		return s.begin(it)
	case "ProfileChunk":
		return s.chunk(it)
	}
	w := waitingSample{ts: it.ts, off: it.off, thread: s.d.use(it), name: it.name, cpu: -1}
	s.d.at(it.ts, it.off) // counts towards the extent of the recording
	s.add(it.text(), w)
	return true
}

// top adds an object of the top level's samples.
func (s *samplers) top(it *item) {
	k := s.d.kind("samples")
	k.Read++
	w := waitingSample{off: it.off, cpu: -1, top: true}
	timed := false
	var pid, tid ident
	var hasPID bool
	for key, v := range jsonscan.Object(it.text()).All {
		switch string(key) {
		case "ts":
			w.ts, timed = jsonscan.ParseMicros(jsonscan.Unquoted(v))
		case "tid":
			tid = parseIdent(v)
		case "pid":
			pid, hasPID = parseIdent(v), true
		case "name":
			if q := jsonscan.Unquoted(v); len(q) > 0 {
				w.name = s.d.name(q)
			}
		}
	}
	if w.tid = s.d.number(tid); hasPID {
		w.thread = s.d.thread(threadKey{pid, tid})
	}
	if !timed {
		s.d.left(k, it.off)
		s.d.warn(noTime, it.off, "")
		return
	}
	k.Kept++
	s.add(it.text(), w)
}

// add reads the stack and weight of a P event or of an object in the top-level samples.
func (s *samplers) add(text []byte, w waitingSample) {
	for k, v := range jsonscan.Object(text).All {
		switch string(k) {
		case "sf":
			if q := jsonscan.Unquoted(v); len(q) > 0 && string(v) != "null" {
				w.frame = s.d.ids.id(q)
			}
		case "stack":
			w.call = s.listed(v)
		case "cpu":
			if n, ok := jsonscan.ParseInt(jsonscan.Unquoted(v)); ok && n >= 0 && n <= math.MaxInt16 {
				w.cpu = int32(n)
			}
		case "weight":
			if d, ok := jsonscan.ParseDecimal(jsonscan.Unquoted(v)); ok {
				d.Digits = slices.Clone(d.Digits)
				s.weights = append(s.weights, d)
				w.weight = int32(len(s.weights))
			}
		}
	}
	s.waiting = append(s.waiting, w)
}

// listed returns the call of a stack listed in full, innermost frame first. A frame is
// the id of an already read entry of stackFrames, or just a name.
func (s *samplers) listed(text []byte) recording.CallID {
	var frames []recording.FrameID
	for v := range jsonscan.Array(text).All {
		if n := s.d.stacks.nodes[s.d.ids.id(jsonscan.Unquoted(v))]; n != nil {
			frames = append(frames, n.frame)
			continue
		}
		frames = append(frames, s.d.b.FunctionFrame(s.d.b.Function(recording.Function{Name: jsonscan.Plain(v)})))
	}
	slices.Reverse(frames)
	return s.d.b.Stack(frames)
}

// name interns raw text that did not come from a scanner.
func (d *decoder) name(raw []byte) uint32 {
	id := d.raw.id(raw)
	d.named(id)
	return id
}

// thread returns the thread with a key, and creates it if needed.
func (d *decoder) thread(k threadKey) *thread {
	t := d.threadFor[k]
	if t == nil {
		t = &thread{key: k, pid: d.number(k.pid), tid: d.number(k.tid), nested: true}
		d.threadFor[k] = t
	}
	return t
}

// finish adds the kept samples, and the last samples of profiles.
func (s *samplers) finish() {
	d := s.d
	decimals := s.decimals()
	byTID := map[int64]*thread{}
	for _, t := range d.threads {
		if _, twice := byTID[t.tid]; twice {
			byTID[t.tid] = nil
			continue
		}
		byTID[t.tid] = t
	}
	for i := range s.waiting {
		w := &s.waiting[i]
		if w.thread == nil {
			// The sample names only a thread: use the thread with that id if there is
			// exactly one.
			if w.thread = byTID[w.tid]; w.thread == nil {
				w.thread = d.thread(threadKey{ident{}, ident{n: w.tid}})
			}
		}
		if w.frame != 0 {
			var known bool
			if w.call, known = d.stacks.call(w.frame); !known {
				d.warn(noFrame, w.off, decoded(d.ids.raw[w.frame-1]))
			}
		}
	}
	again := s.again(decimals)
	for i := range s.waiting {
		if again[i] {
			continue
		}
		w := &s.waiting[i]
		t := w.thread
		if t.track == nil {
			d.open(t)
		}
		ev := s.of(w, decimals)
		values := []int64{1}
		if len(d.b.Event(ev).Metrics) > 1 {
			values = append(values, recording.Missing)
			if w.weight != 0 {
				v, _ := s.weights[w.weight-1].Units(decimals)
				values[1] = v
			}
		}
		t.track.Sample(ev, d.at(w.ts, w.off), w.call, int(w.cpu), values)
	}
	s.waiting, s.weights = nil, nil
	s.profiles.End()
}

// mostAlike is the number of P events of one thread, time and stack that a sample is compared
// with, so that a file of many such samples takes no longer than others.
const mostAlike = 64

// again returns the indexes of the top-level samples that P events repeat: same thread,
// time, stack, and name and weight unless one of the two has none.
func (s *samplers) again(decimals int) map[int]bool {
	tops := 0
	for i := range s.waiting {
		if s.waiting[i].top {
			tops++
		}
	}
	if tops == 0 || tops == len(s.waiting) {
		return nil
	}
	type place struct {
		thread *thread
		ts     jsonscan.Micros
		call   recording.CallID
	}
	events := make(map[place][]*waitingSample, len(s.waiting)-tops)
	for i := range s.waiting {
		if w := &s.waiting[i]; !w.top {
			at := place{w.thread, w.ts, w.call}
			events[at] = append(events[at], w)
		}
	}
	units := func(w *waitingSample) int64 {
		v, _ := s.weights[w.weight-1].Units(decimals)
		return v
	}
	again := map[int]bool{}
	for i := range s.waiting {
		w := &s.waiting[i]
		if !w.top {
			continue
		}
		at := place{w.thread, w.ts, w.call}
		j := slices.IndexFunc(events[at][:min(len(events[at]), mostAlike)], func(e *waitingSample) bool {
			return (w.name == e.name || w.name == 0 || e.name == 0) && (w.cpu == e.cpu || w.cpu < 0 || e.cpu < 0) &&
				(w.weight == 0 || e.weight == 0 || units(w) == units(e))
		})
		if j < 0 {
			continue
		}
		e := events[at][j]
		events[at][j] = events[at][0]
		events[at] = events[at][1:]
		e.name, e.cpu, e.weight = cmp.Or(e.name, w.name), max(e.cpu, w.cpu), cmp.Or(e.weight, w.weight)
		again[i] = true
		k := s.d.kind("samples")
		k.Kept--
		s.d.left(k, w.off)
		s.d.warn(sampleAgain, w.off, "")
	}
	return again
}

// of returns the index of a sample's event.
func (s *samplers) of(w *waitingSample, decimals int) int {
	ev, ok := s.events[w.name]
	if ok {
		return ev
	}
	if len(s.events) >= maxEvents {
		s.d.warn(manyEvents, w.off, "")
		w.name = 0
		if ev, ok = s.events[0]; ok {
			return ev
		}
	}
	e := recording.Event{Name: s.d.textOf(w.name), Kind: "sample", Basis: recording.FromSamples, Metrics: []recording.Metric{
		{Name: "samples", Unit: "count", PerSample: recording.SampleOne},
	}}
	if e.Name == "" {
		e.Name = "samples"
	}
	if len(s.weights) > 0 {
		e.Metrics = append(e.Metrics, recording.Metric{Name: "weight", Decimals: decimals, PerSample: recording.SampleColumn})
	}
	ev = s.d.b.AddEvent(e)
	s.events[w.name] = ev
	return ev
}

// decimals returns the number of decimals of the weights, reduced until their sum fits.
func (s *samplers) decimals() int {
	most := 0
	for i := range s.weights {
		most = max(most, s.weights[i].Scale)
	}
	for n := min(most, 18); n > 0; n-- {
		var sum int64
		fits := true
		for i := range s.weights {
			v, ok := s.weights[i].Units(n)
			if v < 0 {
				v = -v
			}
			if !ok || v > math.MaxInt64/2-sum {
				fits = false
				break
			}
			sum += v
		}
		if fits {
			if n < most {
				s.d.warn(rounded, 0, "")
			}
			return n
		}
	}
	return 0
}

// begin adds a Profile event, which gives the start time of a profile. The event's thread
// is the sampled thread.
func (s *samplers) begin(it *item) bool {
	e, _ := profileEvent(it)
	s.d.at(it.ts, it.off) // counts towards the extent of the recording
	return s.profiles.Begin(s.profileKey(it), s.d.trackOf(s.d.use(it)), e)
}

// profileEvent returns the profile data of an event; ok is false if it has no args.data.
func profileEvent(it *item) (e v8.Event, ok bool) {
	m, ok := jsonscan.Object(it.text()).Inside("args")
	if ok {
		m, ok = m.Inside("data")
	}
	if ok {
		e = v8.EventOf(m)
	}
	e.At, e.Place = it.ts, it.off
	return e, ok
}

// chunk adds a ProfileChunk event.
func (s *samplers) chunk(it *item) bool {
	e, ok := profileEvent(it)
	if !ok {
		s.d.warn(noProfile, it.off, "")
		return false
	}
	p := s.profiles.Of(s.profileKey(it))
	if !p.HasTrack() {
		p.SetTrack(s.d.trackOf(s.d.use(it)))
	}
	return p.Read(e)
}

func (s *samplers) profileKey(it *item) v8.Key {
	key := v8.Key{PID: s.d.threadOf(it).pid}
	switch {
	case it.id != 0 && it.flags&oddID == 0:
		key.ID = uint64(s.d.ids.id(it.bt.id(it.event)))
	case it.id != 0:
		key.ID = uint64(s.d.ids.id(jsonscan.Unquoted(jsonscan.Member(it.text(), "id"))))
	}
	return key
}

// trackOf returns a function that returns the track of a thread, creating it on demand.
func (d *decoder) trackOf(t *thread) func() *recording.TrackBuilder {
	return func() *recording.TrackBuilder {
		if t.track == nil {
			d.open(t)
		}
		return t.track
	}
}

// whole adds the profile that older DevTools write as one instant.
func (s *samplers) whole(it *item, t *thread) {
	cpu := jsonscan.Member(jsonscan.Member(jsonscan.Member(it.text(), "args"), "data"), "cpuProfile")
	if cpu != nil {
		s.profiles.Whole(s.d.trackOf(t), v8.Event{Profile: cpu, At: it.ts, Place: it.off})
	}
}
