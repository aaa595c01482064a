package pprof

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"ashlar/ingest/model/pairmap"
)

// samples are the samples of a profile, parsed from its bytes a few at a time: parsing
// them takes most of the library's time, and its objects are twenty times as large.
// Samples of older formats come from the library.
type samples struct {
	all []*profile.Sample // from the library, if the file is not a profile.proto

	content []byte // bytes from the first sample to the last
	from    int    // offset of content in the file
	count   int
	fields  int      // number of fields in the profile
	texts   [][]byte // the string table
	names   []string // texts as strings, filled on demand
	roles   []role   // roles of texts as label keys, filled on demand
	// sets numbers distinct sets of labels from 1, keyed by their bytes in the file. It
	// is nil if samples have times, because then all sets differ.
	sets          map[string]int
	looked, found int // lookups and hits in sets

	byID  []uint32          // index of each location plus 1, by id; 0 for none
	large map[uint64]uint32 // the same for large ids
	lines []int32           // number of frames of each location
	hides []hidden          // by location: the frames to hide in its stacks; nil to show all
	// paths maps outer parts of stacks to their calls.
	paths *pairmap.Paths
}

// hidden is the effect of a profile's drop_frames on stacks with a location.
type hidden struct {
	on    bool  // hide the frames that the location called
	whole bool  // hide the location too
	shown int32 // number of its frames that are shown if it is not hidden
}

// find indexes locations by id.
func (s *samples) find(all []*profile.Location) {
	s.byID, s.lines, s.paths = make([]uint32, len(all)+1), make([]int32, len(all)), pairmap.NewPaths()
	for i, l := range all {
		s.lines[i] = int32(max(1, len(l.Line)))
		if l.ID < uint64(len(s.byID)) {
			s.byID[l.ID] = uint32(i + 1)
			continue
		}
		if s.large == nil {
			s.large = map[uint64]uint32{}
		}
		s.large[l.ID] = uint32(i + 1)
	}
}

func (s *samples) location(id uint64) uint32 {
	if id < uint64(len(s.byID)) {
		return s.byID[id]
	}
	return s.large[id]
}

// batch is a group of samples that are read and used together.
type batch struct {
	rows      []record
	locations []uint32       // locations of all stacks, leaf first: indices into Profile.Location
	paths     []pairmap.Path // for each location, the stack from the root down to it
	values    []int64
	said      []labelValue // label values of all rows; in a row by key, texts before numbers
	frames    int64        // number of frames in all stacks
	hidden    int64        // number of hidden frames
	end       bool         // no samples follow
}

// batchRows is the number of samples to read before they are used: enough that looking up
// their stacks together pays off, few enough that they stay in the cache.
const batchRows = 256

// record is a sample.
type record struct {
	n        int // number of the sample
	from, to int // range in batch.locations
	values   int // index of its first value in batch.values
	count    int // number of values
	missing  int // number of locations that the profile lacks
	damaged  int // file offset of a sample that cannot be read, else negative
	labels   []byte
	sample   *profile.Sample // the library's sample, for its labels
	set      int             // number of its set of labels, 0 if it has none
	said     span            // its label values in batch.said; empty if the set is known already
	lost     int             // number of labels whose texts the profile lacks

	known int    // number of its outer locations with known calls
	call  uint32 // call of the innermost of these
}

// span is a range of a slice of the batch.
type span struct{ from, to int }

func (b *batch) reset() {
	b.rows, b.locations, b.values = b.rows[:0], b.locations[:0], b.values[:0]
	b.paths, b.said = b.paths[:0], b.said[:0]
	b.frames, b.hidden = 0, 0
}

// reader parses samples in order.
type reader struct {
	*samples
	at int // index in content, or in all
	n  int
}

// read fills a batch and sets end on the last one.
func (r *reader) read(b *batch) {
	b.reset()
	if r.content == nil {
		r.convert(b)
		return
	}
	for len(b.rows) < batchRows && r.at < len(r.content) {
		f, next := nextField(r.content, r.at)
		if next < 0 {
			break // cannot happen: split read these bytes before
		}
		if f.num == fieldSample {
			one := record{n: r.n, damaged: -1, from: len(b.locations), values: len(b.values)}
			if f.typ != wireBytes || !r.sample(f.body, b, &one) {
				b.locations, b.values = b.locations[:one.from], b.values[:one.values]
				one = record{n: r.n, damaged: r.from + r.at, from: one.from, to: one.from}
			}
			r.add(b, &one)
		}
		r.at = next
	}
	b.end = r.at >= len(r.content)
}

// convert fills a batch with the library's samples.
func (r *reader) convert(b *batch) {
	for ; len(b.rows) < batchRows && r.at < len(r.all); r.at++ {
		s := r.all[r.at]
		one := record{n: r.n, damaged: -1, from: len(b.locations), values: len(b.values), count: len(s.Value)}
		for _, l := range s.Location {
			if l == nil {
				one.missing++
			} else {
				b.locations = append(b.locations, uint32(l.ID)) // converter.number made the ID an index
			}
		}
		one.to = len(b.locations)
		b.values = append(b.values, s.Value...)
		if len(s.Label) > 0 || len(s.NumLabel) > 0 {
			one.sample = s
		}
		r.add(b, &one)
	}
	b.end = r.at == len(r.all)
}

// add adds a row to the batch, with the hidden part of its stack removed.
func (r *reader) add(b *batch, one *record) {
	r.n++
	for _, l := range b.locations[one.from:one.to] {
		b.frames += int64(r.lines[l])
	}
	if r.hides != nil {
		r.hide(b, one)
	}
	r.walk(b, one)
	r.label(b, one)
	b.rows = append(b.rows, *one)
}

// maxSets limits the number of remembered sets of labels. In files with more, nearly
// every sample has its own set.
const maxSets = 1 << 16

// label reads a sample's labels, unless the same set is known already.
func (r *reader) label(b *batch, one *record) {
	if len(one.labels) == 0 && one.sample == nil {
		return
	}
	// Do not look labels up if nearly all differ.
	remember := one.sample == nil && r.sets != nil && (r.looked < maxSets || 8*r.found > r.looked)
	if remember {
		r.looked++
		if one.set = r.sets[string(one.labels)]; one.set != 0 {
			r.found++
			return
		}
	}
	one.said.from = len(b.said)
	b.said, one.lost = r.labelsOf(one, b.said)
	one.said.to = len(b.said)
	slices.SortStableFunc(b.said[one.said.from:], byKey)
	if remember && one.lost == 0 && len(r.sets) < maxSets {
		one.set = len(r.sets) + 1
		r.sets[string(one.labels)] = one.set
	}
}

// hide removes the hidden part of a stack. Hidden frames stay if no visible frame is
// outside them, because otherwise the whole stack might go.
func (r *reader) hide(b *batch, one *record) {
	stack := b.locations[one.from:one.to]
	cut, own := -1, false
	shown := int32(0)
	for i := len(stack) - 1; i >= 0 && cut < 0; i-- {
		h := &r.hides[stack[i]]
		if h.on && own {
			if cut = i; h.whole {
				cut++
				break
			}
		}
		own = own || !h.on
		shown += h.shown
	}
	if cut > 0 {
		one.from += cut
	}
	for _, l := range stack {
		b.hidden += int64(r.lines[l])
	}
	b.hidden -= int64(shown)
}

// walk computes the paths of a stack's locations.
func (r *reader) walk(b *batch, one *record) {
	n := len(b.locations)
	b.paths = slices.Grow(b.paths, n-len(b.paths))[:n]
	at := r.paths.Root()
	for i := one.to - 1; i >= one.from; i-- {
		at = at.Step(b.locations[i])
		b.paths[i] = at
	}
}

// sample reads a sample; false if it cannot be read.
func (r *reader) sample(body []byte, b *batch, one *record) bool {
	first, last := -1, 0 // range of the labels
	for i := 0; i < len(body); {
		g, next := nextField(body, i)
		if next < 0 {
			return false
		}
		switch g.num {
		case sampleLocation:
			if !r.locations(&g, b, one) {
				return false
			}
		case sampleValue:
			if !r.values(&g, b) {
				return false
			}
		case sampleLabel:
			if g.typ != wireBytes || !validLabel(g.body) {
				return false
			}
			if first < 0 {
				first = i
			}
			last = next
		}
		i = next
	}
	one.to, one.count = len(b.locations), len(b.values)-one.values
	if first >= 0 {
		one.labels = body[first:last]
	}
	return true
}

func (r *reader) locations(f *wireField, b *batch, one *record) bool {
	if f.typ == wireVarint {
		r.locate(f.number, b, one)
		return true
	}
	if f.typ != wireBytes {
		return false
	}
	out, byID := b.locations, r.byID
	for body, i := f.body, 0; i < len(body); {
		id := uint64(body[i])
		switch {
		case id < 0x80:
			i++
		case i+1 < len(body) && body[i+1] < 0x80:
			id = id&0x7F | uint64(body[i+1])<<7
			i += 2
		default:
			if id, i = varint(body, i); i < 0 {
				b.locations = out
				return false
			}
		}
		if id < uint64(len(byID)) && byID[id] != 0 {
			out = append(out, byID[id]-1)
			continue
		}
		b.locations = out
		r.locate(id, b, one)
		out = b.locations
	}
	b.locations = out
	return true
}

func (r *reader) locate(id uint64, b *batch, one *record) {
	if l := r.location(id); l != 0 {
		b.locations = append(b.locations, l-1)
	} else {
		one.missing++
	}
}

func (r *reader) values(f *wireField, b *batch) bool {
	switch f.typ {
	case wireVarint:
		b.values = append(b.values, int64(f.number))
		return true
	case wireBytes:
		for i := 0; i < len(f.body); {
			var v uint64
			if v, i = varint(f.body, i); i < 0 {
				return false
			}
			b.values = append(b.values, int64(v))
		}
		return true
	}
	return false
}

// validLabel reports whether a label can be read.
func validLabel(b []byte) bool {
	for i := 0; i < len(b); {
		f, next := nextField(b, i)
		if next < 0 || f.num >= 1 && f.num <= 4 && f.typ != wireVarint {
			return false
		}
		i = next
	}
	return true
}

// labelValue is a value of a label.
type labelValue struct {
	key, text, unit string
	number          int64
	numeric         bool
	role            role
}

// labelsOf appends the values of a sample's labels. lost counts labels whose texts the
// profile lacks.
func (s *samples) labelsOf(one *record, out []labelValue) (all []labelValue, lost int) {
	if one.sample != nil {
		return libraryLabels(one.sample, out), 0
	}
	for i := 0; i < len(one.labels); {
		f, next := nextField(one.labels, i)
		if i = next; f.num != sampleLabel {
			continue
		}
		var l [5]int64 // by field number: key, text, number and unit
		for k := 0; k < len(f.body); {
			g, after := nextField(f.body, k)
			if g.num >= 1 && g.num <= 4 {
				l[g.num] = int64(g.number)
			}
			k = after
		}
		key, ok1 := s.text(l[1])
		text, ok2 := s.text(l[2])
		unit, ok3 := s.text(l[4])
		switch {
		case !ok1 || !ok2 || !ok3 && l[2] == 0: // a text has no unit
			lost++
		case l[2] != 0:
			out = append(out, labelValue{key: key, text: text, role: s.role(l[1])})
		case l[3] != 0 || l[4] != 0:
			out = append(out, labelValue{key: key, unit: unit, number: l[3], numeric: true, role: s.role(l[1])})
		}
	}
	return out, lost
}

func libraryLabels(s *profile.Sample, out []labelValue) []labelValue {
	for _, key := range slices.Sorted(maps.Keys(s.Label)) {
		for _, t := range s.Label[key] {
			out = append(out, labelValue{key: key, text: t, role: roleOf(key)})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.NumLabel)) {
		for i, n := range s.NumLabel[key] {
			v := labelValue{key: key, number: n, numeric: true, role: roleOf(key)}
			if units := s.NumUnit[key]; i < len(units) {
				v.unit = units[i]
			}
			out = append(out, v)
		}
	}
	return out
}

// byKey orders label values by key, texts before numbers.
func byKey(a, b labelValue) int {
	switch c := strings.Compare(a.key, b.key); {
	case c != 0:
		return c
	case a.numeric == b.numeric:
		return 0
	case b.numeric:
		return -1
	}
	return 1
}

// text returns a string of the string table.
func (s *samples) text(i int64) (string, bool) {
	if i < 0 || i >= int64(len(s.texts)) {
		return "", false
	}
	if s.names == nil {
		s.names = make([]string, len(s.texts))
	}
	if s.names[i] == "" {
		s.names[i] = string(s.texts[i])
	}
	return s.names[i], true
}

// role returns the meaning of a string of the table as a label key.
func (s *samples) role(i int64) role {
	if s.roles == nil {
		s.roles = make([]role, len(s.texts))
	}
	r := s.roles[i]
	if r == 0 {
		name, _ := s.text(i)
		r = roleOf(name)
		s.roles[i] = r
	}
	return r
}

// timed reports whether some labels may be times, so that they are worth
// looking at.
func (s *samples) timed() bool {
	if s.content == nil {
		return len(s.all) > 0
	}
	for _, t := range s.texts {
		if roleOf(string(t)) == timeRole {
			return true
		}
	}
	return false
}
