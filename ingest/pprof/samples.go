package pprof

import (
	"encoding/binary"

	"github.com/google/pprof/profile"
)

// samples are a profile's, read from its bytes one at a time: the library makes
// objects of them that take twenty times the room, and most of its time. All
// else is the library's. A profile in which anything is not as expected has
// samples from the library too.
type samples struct {
	all []*profile.Sample // the library's, unless content is set

	content []byte // the whole profile
	count   int
	frames  int64    // in all stacks
	missing bool     // some locations are not in the profile
	texts   [][2]int // of the string table: where they are in content
	at      []*profile.Location
	more    map[uint64]*profile.Location // those with large ids
}

// Numbers of fields in profile.proto.
const (
	fieldSample  = 2
	fieldStrings = 6

	sampleLocation = 1
	sampleValue    = 2
	sampleLabel    = 3
)

// Wire types.
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5
)

// wireField is one field of a message.
type wireField struct {
	num, typ int
	number   uint64 // of a varint
	body     []byte // of bytes
	from     int    // where body is in the message
}

// nextField reads the field at b[i:]; next is negative when there is none that
// can be read.
func nextField(b []byte, i int) (f wireField, next int) {
	tag, n := binary.Uvarint(b[i:])
	if n <= 0 || tag>>3 == 0 || tag>>32 != 0 {
		return f, -1
	}
	i += n
	f.num, f.typ = int(tag>>3), int(tag&7)
	switch f.typ {
	case wireVarint:
		f.number, n = binary.Uvarint(b[i:])
		if n <= 0 {
			return f, -1
		}
		return f, i + n
	case wire64:
		i += 8
	case wire32:
		i += 4
	case wireBytes:
		size, n := binary.Uvarint(b[i:])
		if n <= 0 || size > uint64(len(b)-i-n) {
			return f, -1
		}
		f.from = i + n
		i = f.from + int(size)
		f.body = b[f.from:i]
	default:
		return f, -1
	}
	if i > len(b) {
		return f, -1
	}
	return f, i
}

// parseApart reads a profile without its samples with the library, and the
// samples apart. It reports false where that cannot be done.
func parseApart(content []byte) (*profile.Profile, *samples, bool) {
	s := &samples{content: content}
	var rest []byte
	kept := 0 // up to where rest has the fields
	for i := 0; i < len(content); {
		f, next := nextField(content, i)
		if next < 0 {
			return nil, nil, false
		}
		switch f.num {
		case fieldSample:
			rest = append(rest, content[kept:i]...)
			kept = next
			s.count++
		case fieldStrings:
			s.texts = append(s.texts, [2]int{f.from, len(f.body)})
		}
		i = next
	}
	if kept == 0 {
		rest = content
	} else {
		rest = append(rest, content[kept:]...)
	}
	p, err := guarded(func() (*profile.Profile, error) { return profile.ParseUncompressed(rest) })
	if err != nil || p.DropFrames != "" { // which changes samples
		return nil, nil, false
	}
	s.find(p.Location)
	return p, s, s.valid()
}

// find makes locations be found by their ids.
func (s *samples) find(all []*profile.Location) {
	s.at = make([]*profile.Location, len(all)+1)
	for _, l := range all {
		if l.ID < uint64(len(s.at)) {
			s.at[l.ID] = l
			continue
		}
		if s.more == nil {
			s.more = map[uint64]*profile.Location{}
		}
		s.more[l.ID] = l
	}
}

// valid reports whether all samples can be read, and counts what is in them.
func (s *samples) valid() bool {
	var one oneSample
	for i := 0; i < len(s.content); {
		f, next := nextField(s.content, i)
		i = next
		if f.num != fieldSample {
			continue
		}
		if f.typ != wireBytes || !s.read(f.body, &one) || !s.readLabels(&one, nil) {
			return false
		}
		for _, l := range one.Location {
			s.frames += int64(max(1, len(l.Line)))
		}
		s.missing = s.missing || one.missing > 0
	}
	return true
}

// oneSample is a sample that the next one is read over.
type oneSample struct {
	profile.Sample
	missing int    // locations that are not in the profile; Location is without them
	labels  []byte // the messages, one behind the other, each with its length before it
}

// each visits all samples in order, until visit returns false. The sample is
// only good until then, and its labels are only there after label.
func (s *samples) each(visit func(i int, one *oneSample) bool) {
	var one oneSample
	if s.content == nil {
		for i, x := range s.all {
			one.Sample = *x
			if !visit(i, &one) {
				return
			}
		}
		return
	}
	n := 0
	for i := 0; i < len(s.content); {
		f, next := nextField(s.content, i)
		i = next
		if f.num == fieldSample {
			s.read(f.body, &one)
			if !visit(n, &one) {
				return
			}
			n++
		}
	}
}

// read reads all of a sample but its labels.
func (s *samples) read(b []byte, one *oneSample) bool {
	one.Location, one.Value, one.labels, one.missing = one.Location[:0], one.Value[:0], one.labels[:0], 0
	one.Label, one.NumLabel, one.NumUnit = nil, nil, nil
	for i := 0; i < len(b); {
		f, next := nextField(b, i)
		if next < 0 {
			return false
		}
		i = next
		switch f.num {
		case sampleLocation:
			if !numbersIn(&f, func(id uint64) {
				if l := s.location(id); l != nil {
					one.Location = append(one.Location, l)
				} else {
					one.missing++
				}
			}) {
				return false
			}
		case sampleValue:
			if !numbersIn(&f, func(v uint64) { one.Value = append(one.Value, int64(v)) }) {
				return false
			}
		case sampleLabel:
			if f.typ != wireBytes {
				return false
			}
			one.labels = binary.AppendUvarint(one.labels, uint64(len(f.body)))
			one.labels = append(one.labels, f.body...)
		}
	}
	return true
}

func (s *samples) location(id uint64) *profile.Location {
	if id < uint64(len(s.at)) {
		return s.at[id]
	}
	return s.more[id]
}

// numbersIn visits the numbers of a repeated field, packed or not.
func numbersIn(f *wireField, visit func(uint64)) bool {
	switch f.typ {
	case wireVarint:
		visit(f.number)
		return true
	case wireBytes:
		for b := f.body; len(b) > 0; {
			v, n := uint64(b[0]), 1
			if v >= 0x80 {
				if v, n = binary.Uvarint(b); n <= 0 {
					return false
				}
			}
			visit(v)
			b = b[n:]
		}
		return true
	}
	return false
}

// wireLabel is a label: indexes in the string table, and a number.
type wireLabel struct{ key, text, number, unit int64 }

// readLabels visits a sample's labels (visit may be nil); it reports false when
// there is one that cannot be read.
func (s *samples) readLabels(one *oneSample, visit func(*wireLabel)) bool {
	for b := one.labels; len(b) > 0; {
		size, n := binary.Uvarint(b)
		body := b[n : n+int(size)]
		b = b[n+int(size):]
		var l wireLabel
		for i := 0; i < len(body); {
			f, next := nextField(body, i)
			if next < 0 {
				return false
			}
			i = next
			if f.num > 4 {
				continue
			}
			if f.typ != wireVarint {
				return false
			}
			*[...]*int64{&l.key, &l.text, &l.number, &l.unit}[f.num-1] = int64(f.number)
		}
		for _, k := range []int64{l.key, l.text, l.unit} {
			if k < 0 || k >= int64(len(s.texts)) {
				return false
			}
		}
		if visit != nil {
			visit(&l)
		}
	}
	return true
}

// label fills in a sample's labels as the library does.
func (s *samples) label(one *oneSample) {
	if len(one.labels) == 0 {
		return
	}
	texts, numbers, units := map[string][]string{}, map[string][]int64{}, map[string][]string{}
	pad := func(a []string, n int) []string {
		for len(a) < n {
			a = append(a, "")
		}
		return a
	}
	s.readLabels(one, func(l *wireLabel) {
		key := s.text(l.key)
		switch {
		case l.text != 0:
			texts[key] = append(texts[key], s.text(l.text))
		case l.number != 0 || l.unit != 0:
			if l.unit != 0 {
				units[key] = append(pad(units[key], len(numbers[key])), s.text(l.unit))
			}
			numbers[key] = append(numbers[key], l.number)
		}
	})
	if len(texts) > 0 {
		one.Label = texts
	}
	if len(numbers) > 0 {
		for key, u := range units {
			units[key] = pad(u, len(numbers[key]))
		}
		one.NumLabel, one.NumUnit = numbers, units
	}
}

// text is a string of the table.
func (s *samples) text(i int64) string {
	t := s.texts[i]
	return string(s.content[t[0]:][:t[1]])
}

// timed reports whether some labels may be times, so that they are worth
// looking at.
func (s *samples) timed() bool {
	if s.content == nil {
		return true
	}
	for i := range s.texts {
		if roleOf(s.text(int64(i))) == timeRole {
			return true
		}
	}
	return false
}
