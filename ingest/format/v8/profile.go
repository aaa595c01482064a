// Package v8 reads V8's CPU profiles: a tree of nodes, each a function called by its
// parent, and for each sample its leaf node and the microseconds since the sample before
// (for the first, since startTime). In traces, both Chrome's JSON and Perfetto's, profiles
// come in chunks: a Profile event starts one and, by its thread, tells which thread is
// sampled; ProfileChunk events, possibly from another thread, carry nodes and samples. A
// .cpuprofile file holds one whole profile. See
// https://chromedevtools.github.io/devtools-protocol/tot/Profiler/ (Profile, ProfileNode).
//
// A sample lasts until the next one, as in DevTools, and the last one until endTime.
// Samples from several V8 threads are slightly out of order (negative timeDeltas), so the
// newest few are held back and sorted.
package v8

import (
	"hash/maphash"
	"maps"
	"slices"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

// Profiles are the CPU profiles of a recording.
type Profiles struct {
	b     *recording.Builder
	time  func(at jsonscan.Micros, place int64) int64
	event int // event of the samples, -1 before the first
	keyed map[Key]*Profile
	all   []*Profile
	read  *recording.Tally // nil before the first sample
	repeats
}

// A Key identifies a profile that comes in chunks, by process and by an id within it.
type Key struct {
	PID int64
	ID  uint64
}

// NewProfiles returns Profiles that add to b. time converts a time in a profile to
// picoseconds in the recording; place is its byte offset in the file.
func NewProfiles(b *recording.Builder, time func(at jsonscan.Micros, place int64) int64) *Profiles {
	return &Profiles{b: b, time: time, event: -1, keyed: map[Key]*Profile{}, repeats: repeats{seed: maphash.MakeSeed()}}
}

// New adds a separate profile of a thread. track is called when the first samples are
// added.
func (s *Profiles) New(track func() *recording.TrackBuilder) *Profile {
	p := &Profile{of: s, nodes: map[int64]*node{}, parent: map[int64]int64{}, track: track}
	s.all = append(s.all, p)
	return p
}

// Begin handles a Profile event, which is on the sampled thread. It starts a new profile
// if another event has begun the profile with its key. It reports whether the event is
// kept: a repeated one is not.
func (s *Profiles) Begin(k Key, track func() *recording.TrackBuilder, e Event) bool {
	p := s.keyed[k]
	begin := s.sum(e)
	if p != nil && p.begun && p.begin == begin {
		s.repeated(e.Place)
		return false
	}
	if p == nil || p.begun {
		p = s.New(track)
		p.chunked = true
		s.keyed[k] = p
	}
	p.begun, p.begin, p.track = true, begin, track
	if start, ok := number(e.Start); ok {
		p.Start(start.Plus(e.Shift))
	} else {
		p.Start(e.At)
	}
	p.Read(e)
	return true
}

// Of returns the profile that a ProfileChunk belongs to. If there was no Profile event
// before, SetTrack must set its thread.
func (s *Profiles) Of(k Key) *Profile {
	p := s.keyed[k]
	if p == nil {
		p = s.New(nil)
		p.chunked = true
		s.keyed[k] = p
	}
	return p
}

// End adds the samples that were held back.
func (s *Profiles) End() {
	for _, p := range s.all {
		if !p.whole {
			p.flush(0)
			p.compareHits()
		}
	}
	s.markRepeats()
	for _, p := range s.all {
		if p.whole {
			p.flush(0)
			p.compareHits()
		}
	}
}

// compareHits notes hit counts that add up to far more than the number of samples: a
// profiler that has no room for more samples still counts hits.
func (p *Profile) compareHits() {
	var hits int64
	for _, n := range p.nodes {
		recording.Add(&hits, max(n.hits, 0))
	}
	if hits/2 > p.samples && p.samples > 0 { // a few more or less are usual
		p.of.b.Remark("hits-differ", "", "The nodes of a CPU profile have %s, but it has %s; the samples are shown", safetext.Plural(hits, "hit"), safetext.Plural(p.samples, "sample"))
	}
}

// Profile is one CPU profile while it is read.
type Profile struct {
	of      *Profiles
	track   func() *recording.TrackBuilder
	begun   bool   // Begin was called, so the thread is known
	begin   uint64 // sum of the Profile event
	whole   bool   // one event has the whole profile; its samples are held until the end
	chunked bool
	parts   map[uint64]bool // sums of the chunks
	now     jsonscan.Micros
	timed   bool            // now is set: the time of the last sample, or the start
	start   jsonscan.Micros // initial value of now
	end     jsonscan.Micros
	ended   bool

	nodes  map[int64]*node
	parent map[int64]int64 // parents according to other nodes' children, for nodes that name none

	ids    []int64 // buffer for the samples of a chunk
	deltas []jsonscan.Micros

	held    []held
	samples int64
	last    jsonscan.Micros // time of the last sample added
	any     bool
}

type held struct {
	at    jsonscan.Micros
	call  recording.CallID
	place int64
	lost  bool // its node is missing
	again bool // another profile has it
}

// holdBack is the number of samples that are held back to be sorted.
const holdBack = 64

// HasTrack reports whether the profile's thread is known.
func (p *Profile) HasTrack() bool { return p.track != nil }

// SetTrack sets the profile's thread.
func (p *Profile) SetTrack(track func() *recording.TrackBuilder) { p.track = track }

// Start sets the start time of the profile.
func (p *Profile) Start(at jsonscan.Micros) { p.now, p.start, p.timed = at, at, true }

// Finish sets the end time of the profile.
func (p *Profile) Finish(at jsonscan.Micros) { p.end, p.ended = at, true }

// An Event holds the parts of a CPU profile that one trace event carries.
type Event struct {
	// Profile, Deltas, Start and End are the JSON values of cpuProfile, timeDeltas,
	// startTime and endTime in the argument data, nil if absent.
	Profile, Deltas, Start, End []byte
	At                          jsonscan.Micros // time at which the event was written
	Shift                       jsonscan.Micros // how far At's clock is ahead of the clock of Start and End
	Place                       int64           // byte offset of the event in the file, -1 if unknown
}

// EventOf returns the Event with the given argument data.
func EventOf(data jsonscan.Members) (e Event) {
	for {
		key, v, more := data.Next()
		if !more {
			return e
		}
		var to *[]byte
		switch string(key) {
		case "cpuProfile":
			to = &e.Profile
		case "timeDeltas":
			to = &e.Deltas
		case "startTime":
			to = &e.Start
		case "endTime":
			to = &e.End
		}
		if to != nil && *to == nil { // the first one counts
			*to = v
		}
	}
}

// Read adds the nodes and samples of an event. It reports whether the event is kept: a
// repeated one is not.
func (p *Profile) Read(e Event) bool {
	if p.chunked && e.Profile != nil {
		sum := p.of.sum(e)
		if p.parts[sum] {
			p.of.repeated(e.Place)
			return false
		}
		if p.parts == nil {
			p.parts = map[uint64]bool{}
		}
		p.parts[sum] = true
	}
	p.chunk(e)
	if end, ok := number(e.End); ok {
		p.Finish(end.Plus(e.Shift))
	}
	return true
}

func number(text []byte) (jsonscan.Micros, bool) {
	return jsonscan.ParseMicros(jsonscan.Unquoted(text))
}

// chunk adds nodes and samples; timeDeltas may be in the profile or beside it.
func (p *Profile) chunk(e Event) {
	m := jsonscan.Object(e.Profile)
	var samples []byte
	var start, end jsonscan.Micros
	var starts, ends bool
	for {
		k, v, ok := m.Next()
		if !ok {
			break
		}
		switch string(k) {
		case "nodes":
			for n := range jsonscan.Array(v).All {
				p.Node(n)
			}
		case "samples":
			samples = v
		case "timeDeltas":
			e.Deltas = v
		case "startTime":
			start, starts = number(v)
		case "endTime":
			end, ends = number(v)
		}
	}
	if starts && !p.timed {
		p.Start(start.Plus(e.Shift))
	}
	switch {
	case ends && starts && p.timed:
		// The profile's clock may differ from the trace's.
		p.Finish(end.Plus(start.Negated()).Plus(p.start))
	case ends:
		p.Finish(end.Plus(e.Shift))
	}
	ids, deltas := p.columns(samples, e.Deltas)
	if !p.timed {
		at := e.At
		for _, d := range deltas { // the chunk was written after its last sample
			at = at.Plus(d.Negated())
		}
		p.Start(at)
	}
	p.Samples(ids, deltas, e.Place)
	if !p.whole {
		p.flush(holdBack)
	}
}

// columns parses the samples' nodes, with -1 for an invalid one, and their time
// differences.
func (p *Profile) columns(samples, deltas []byte) ([]int64, []jsonscan.Micros) {
	p.ids, p.deltas = p.ids[:0], p.deltas[:0]
	for a := jsonscan.Array(samples); ; {
		v, ok := a.Next()
		if !ok {
			break
		}
		id, ok := jsonscan.ParseInt(jsonscan.Unquoted(v))
		if !ok {
			id = -1
		}
		p.ids = append(p.ids, id)
	}
	for v := range jsonscan.Array(deltas).All {
		d, _ := number(v)
		p.deltas = append(p.deltas, d)
	}
	return p.ids, p.deltas
}

// Samples adds samples: the node of each, and the time since the previous sample.
func (p *Profile) Samples(ids []int64, deltas []jsonscan.Micros, place int64) {
	for i, id := range ids {
		var d jsonscan.Micros
		if i < len(deltas) {
			d = deltas[i]
		}
		p.sample(id, d, place)
	}
}

func (p *Profile) sample(id int64, delta jsonscan.Micros, place int64) {
	s := p.of
	if s.read == nil {
		s.read = s.b.Tally("profile samples")
	}
	s.read.Read++
	s.read.Kept++
	call, known := p.call(id)
	if !known {
		s.warn(place, "no-node", "A sample of a CPU profile refers to a missing node; it is shown without a stack.")
	}
	p.now = p.now.Plus(delta)
	p.samples++
	p.held = append(p.held, held{at: p.now, call: call, place: place, lost: !known})
	if len(p.held) >= 4*holdBack && !p.whole {
		p.flush(holdBack)
	}
}

// warn warns that a sample is not shown as the file has it.
func (s *Profiles) warn(place int64, code, text string) {
	s.b.Warn(code, byteOf(place), "%s", text)
}

func byteOf(place int64) string {
	if place < 0 {
		return ""
	}
	return decode.Byte(place)
}

// label is the label of V8's profiles of JavaScript, which V8 calls cpu-profile.
const label = "JS samples"

// flush adds the held-back samples except the newest keep.
func (p *Profile) flush(keep int) {
	order.By(p.held, func(a, b held) int { return a.at.Compare(b.at) })
	n := len(p.held) - keep
	if n <= 0 {
		return
	}
	s := p.of
	if s.event < 0 {
		// Besides the count, keep the time of each sample: on a busy machine, samples are
		// late, and a count alone would understate the time.
		s.event = s.b.AddEvent(recording.Event{Name: "cpu-profile", Label: label, Kind: "timer", Basis: recording.FromSamples, Primary: 1, Metrics: []recording.Metric{
			{Name: "samples", Unit: "count", PerSample: recording.SampleOne},
			{Name: "time", Unit: "ns", Decimals: 3, PerSample: recording.SampleColumn},
		}})
	}
	track := p.track()
	for i := range n {
		h := p.held[i]
		if h.again {
			continue
		}
		if p.chunked {
			s.chunks = append(s.chunks, s.sample(track, h))
		}
		until := p.end
		switch {
		case i+1 < len(p.held):
			until = p.held[i+1].at
		case !p.ended:
			until = h.at
		}
		lasts, _ := until.Plus(h.at.Negated()).Picos()
		lasts = max(lasts, 0)
		late := p.any && h.at.Compare(p.last) < 0
		if late {
			s.warn(h.place, "sample-backward", "A sample is far older than the one before; it is shown without a time.")
			lasts = 0
		}
		if late || h.lost {
			s.read.Mend(byteOf(h.place))
		}
		track.Sample(s.event, s.time(h.at, h.place), h.call, -1, []int64{1, lasts})
		if !p.any || h.at.Compare(p.last) > 0 {
			p.last, p.any = h.at, true
		}
	}
	p.held = append(p.held[:0], p.held[n:]...)
}

// CountHits adds the hit counts of the nodes, for a profile without samples.
func (p *Profile) CountHits() {
	event := -1
	b := p.of.b
	for _, id := range slices.Sorted(maps.Keys(p.nodes)) {
		hits := p.nodes[id].hits
		if hits <= 0 {
			continue
		}
		if event < 0 {
			event = b.AddEvent(recording.Event{Name: "cpu-profile", Label: label, Kind: "timer", Metrics: []recording.Metric{{Name: "samples", Unit: "count"}}})
		}
		call, _ := p.call(id)
		b.AddStack(event, call, recording.NoTrack, 0, []int64{hits})
	}
}
