package pprof

import (
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"ashlar/ingest/model/pairmap"
)

// samples are a profile's, read from its bytes a few at a time: the library
// makes objects of them that take twenty times the room, and most of its time.
// Those of older formats are the library's.
type samples struct {
	all []*profile.Sample // the library's, where the file is not a profile.proto

	content []byte // from the first to the last
	from    int    // where that is in the file
	count   int
	fields  int      // of the whole profile
	texts   [][]byte // the string table
	names   []string // those of texts that were asked for
	roles   []role   // of texts as keys of labels, where they were asked for
	// sets numbers labels, by how they are in the file, from 1 on; nil if samples
	// are timed, when all differ.
	sets          map[string]int
	looked, found int // in sets

	byID  []uint32          // the index of a location by its id, and one more; 0 is none
	large map[uint64]uint32 // those with large ids
	lines []int32           // how many frames each location has
	hides []hidden          // what of stacks with it is not shown; nil if all is
	// paths has the calls of stacks\' outer locations.
	paths *pairmap.Paths
}

// hidden is the effect of a profile's drop_frames on stacks with a location.
type hidden struct {
	on    bool  // what the location called is not shown
	whole bool  // nor is the location
	shown int32 // how many of its frames are shown where it is
}

// find makes locations be found by their ids.
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

// batch is a number of samples.
type batch struct {
	rows      []record
	locations []uint32       // of their stacks, leaf first: indexes in Profile.Location
	paths     []pairmap.Path // of each location with all those outside it
	values    []int64
	said      []labelValue // by rows' labels, of each row by key, texts before numbers
	frames    int64        // in all stacks
	hidden    int64        // of them
	end       bool         // no samples follow
}

// batchRows is how many samples are read before they are used: enough that
// looking their stacks up together pays, few enough that they stay in the cache.
const batchRows = 256

// record is a sample.
type record struct {
	n        int // its number
	from, to int // its locations
	values   int // where they begin
	count    int // how many there are
	missing  int // locations that are not in the profile; the others are there
	damaged  int // where in the file it cannot be read, or negative
	labels   []byte
	sample   *profile.Sample // the library's, for its labels
	set      int             // the number of its labels; 0 is none
	said     span            // by them; empty if the set came before
	lost     int             // labels whose texts are not in the profile

	known int    // how many of its outer locations have calls
	call  uint32 // of the innermost one of these
}

// span is a range of a slice of the batch.
type span struct{ from, to int }

func (b *batch) reset() {
	b.rows, b.locations, b.values = b.rows[:0], b.locations[:0], b.values[:0]
	b.paths, b.said = b.paths[:0], b.said[:0]
	b.frames, b.hidden = 0, 0
}

// reader reads samples one after the other.
type reader struct {
	*samples
	at int // in content, or in total
	n  int
}

// read fills a batch; it is the last where end is set.
func (r *reader) read(b *batch) {
	b.reset()
	if r.content == nil {
		r.convert(b)
		return
	}
	for len(b.rows) < batchRows && r.at < len(r.content) {
		f, next := nextField(r.content, r.at)
		if next < 0 {
			break // it was looked through before
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

// convert takes the library's samples, and lets go of them.
func (r *reader) convert(b *batch) {
	for ; len(b.rows) < batchRows && r.at < len(r.all); r.at++ {
		s := r.all[r.at]
		one := record{n: r.n, damaged: -1, from: len(b.locations), values: len(b.values), count: len(s.Value)}
		for _, l := range s.Location {
			if l == nil {
				one.missing++
			} else {
				b.locations = append(b.locations, uint32(l.ID)) // which number has set
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

// add puts a row into the batch, without what is hidden of its stack.
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

// maxSets bounds how many labels are remembered: if there are more, they say
// what is of one sample only.
const maxSets = 1 << 16

// label reads a sample's labels, unless they have come before.
func (r *reader) label(b *batch, one *record) {
	if len(one.labels) == 0 && one.sample == nil {
		return
	}
	// Labels are not looked for where nearly all differ.
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

// hide takes what is hidden off a stack. Nothing is before the first frame that
// is not hidden, since all might be.
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

// walk has the paths of a stack's locations.
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
	first, last := -1, 0 // where labels are
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

// labelsOf appends what the labels of a sample say, by key, texts before numbers.
// lost counts those whose texts are not in the profile.
func (s *samples) labelsOf(one *record, out []labelValue) (all []labelValue, lost int) {
	if one.sample != nil {
		return libraryLabels(one.sample, out), 0
	}
	for i := 0; i < len(one.labels); {
		f, next := nextField(one.labels, i)
		if i = next; f.num != sampleLabel {
			continue
		}
		var l [5]int64 // key, text, number and unit from 1 on
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
		case !ok1 || !ok2 || !ok3:
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
	for key, texts := range s.Label {
		for _, t := range texts {
			out = append(out, labelValue{key: key, text: t, role: roleOf(key)})
		}
	}
	for key, numbers := range s.NumLabel {
		for i, n := range numbers {
			v := labelValue{key: key, number: n, numeric: true, role: roleOf(key)}
			if units := s.NumUnit[key]; i < len(units) {
				v.unit = units[i]
			}
			out = append(out, v)
		}
	}
	return out
}

// byKey orders what labels say; values of one key stay as they were.
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

// text is a string of the table.
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

// role finds out what a string of the table means as the key of a label.
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
