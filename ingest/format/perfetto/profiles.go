package perfetto

import (
	"bytes"

	"ashlar/ingest/format/v8"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/model/recording"
)

// profileEvent is an event of V8's profiler: a Profile, which is on the sampled thread,
// or a ProfileChunk. These events are queued by time, because another thread writes the
// chunks and sequences are in no particular order.
type profileEvent struct {
	key    v8.Key
	on     *track
	data   []byte // the argument data as JSON, nil for none
	begins bool
	shift  int64 // how far the trace's clock is ahead of V8's, in nanoseconds
}

// waits returns the weight of the item in the queue, as a number of events.
func (e *profileEvent) waits() int { return 1 + len(e.data)/64 }

// profile handles an event of phase P; it returns false if it is not one of V8's
// profiler.
func (r *reader) profile(s *sequence, e *trackEvent, l *legacy, t *track, at int64) bool {
	name := string(e.name)
	if name != "Profile" && name != "ProfileChunk" {
		return false
	}
	x := profileEvent{key: v8.Key{PID: t.pid, ID: l.id}, on: t, begins: name == "Profile", shift: r.clocks.ahead(monotonic)}
	names := namer{s.texts[internAnnotation], s.texts[internString], true}
	for num, v := range each(r.batch.body(e.packet)) {
		if num == eventAnnotation && names.named(v.b, "data") {
			x.data = names.json(v.b)
		}
	}
	if x.data == nil && !x.begins {
		r.next.slices.left++
		r.note("bad-profile", "", false, "V8 CPU profiles without valid nodes and samples are left out")
		return true
	}
	r.profileCount++
	r.profiles[r.profileCount] = x
	r.wide = append(r.wide, wide{at: at, kind: profiled, value: r.profileCount})
	r.waiting += x.waits()
	return true
}

// named reports whether an annotation has a name.
func (t *namer) named(b []byte, name string) (is bool) {
	for num, v := range each(b) {
		switch num {
		case 1:
			is = t.names.get(v.n) == name
		case 10:
			is = string(v.b) == name
		}
	}
	return is
}

// json returns the value of an annotation as JSON. A value stored as JSON may be damaged;
// a profile is read up to the damage.
func (t *namer) json(b []byte) []byte {
	for num, v := range each(b) {
		if num == 9 {
			return bytes.Clone(v.b) // a copy, so as not to keep the packet in memory
		}
	}
	return t.annotated(nil, b, 0)
}

// takeProfile passes on an event of V8's profiler. A chunk belongs to the thread of the
// Profile with the same key, if there was one.
func (r *reader) takeProfile(w *window, x *wide) {
	e := r.profiles[x.value]
	delete(r.profiles, x.value)
	r.waiting -= e.waits() - 1
	t := r.profiled[e.key]
	if t == nil || e.begins {
		pid, thread := r.above(e.on)
		if t = thread; t == nil {
			t = r.threadTrack(pid, 0)
		}
		r.profiled[e.key] = t
	}
	r.onThread(w, x, t)
	x.value = int64(len(w.profiles))
	w.profiles = append(w.profiles, e)
}

// profile adds an event of V8's profiler.
func (m *maker) profile(x *wide, e *profileEvent) {
	is := v8.EventOf(jsonscan.Object(e.data))
	is.At, is.Shift, is.Place = micros(x.at), micros(e.shift), -1
	builder := m.places[x.group].builder
	track := func() *recording.TrackBuilder { return builder }
	if e.begins {
		m.profiles.Begin(e.key, track, is)
		return
	}
	p := m.profiles.Of(e.key)
	if !p.HasTrack() {
		p.SetTrack(track)
	}
	p.Read(is)
}

// micros converts nanoseconds to microseconds.
func micros(ns int64) jsonscan.Micros {
	us := ns / 1000
	if ns%1000 < 0 {
		us--
	}
	return jsonscan.Micros{US: us, PS: int32(ns-us*1000) * 1000}
}

// profileTime converts a time of V8 to picoseconds since the first time.
func (m *maker) profileTime(at jsonscan.Micros, _ int64) int64 {
	const most = 1 << 62 / 1000
	return m.time(min(max(at.US, -most), most)*1000 + int64(at.PS/1000))
}
