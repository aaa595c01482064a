package otlp

import "google.golang.org/protobuf/encoding/protowire"

// era is a range of proto versions with the same wire layout.
type era uint8

const (
	unknownEra era = iota
	era17          // 1.7 and older: tables elsewhere, stacks as ranges
	era18          // 1.8 and 1.9
	era110         // 1.10 and later
)

func (e era) String() string {
	switch e {
	case era17:
		return "proto 1.7 or older"
	case era18:
		return "proto 1.8 or 1.9"
	case era110:
		return "proto 1.10 or later"
	}
	return ""
}

// evidence counts the tags that reveal a file's era. The layout changed under one package
// name, so there is no other sign: Sample has
//
//	1.7:   start 1, length 2, values 3, attributes 4, link 5
//	1.8:   stack 1, values 2, attributes 3, link 4, times 5
//	1.10:  stack 1, attributes 2, link 3, values 4, times 5
type evidence struct {
	e17, e18, e110 int
	// undecided is the number of samples with only fields that 1.8 and 1.10 share;
	// largest is the largest number in their field 2.
	undecided int
	largest   uint64
	attrs     int // entries of the attribute table
}

// look collects evidence from one message.
func (e *evidence) look(r *reader, b []byte) {
	each := func(b []byte, at protowire.Number, f func([]byte)) {
		r.fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, body []byte) {
			if num == at && typ == protowire.BytesType {
				f(body)
			}
		})
	}
	each(b, 2, func(dict []byte) { each(dict, 6, func([]byte) { e.attrs++ }) })
	each(b, 1, func(res []byte) {
		each(res, 2, func(scope []byte) {
			each(scope, 2, func(p []byte) {
				r.fields(p, func(num protowire.Number, typ protowire.Type, _ uint64, body []byte) {
					switch {
					case num == 2 && typ == protowire.BytesType:
						e.sample(r, body)
					case num == 3 && typ == protowire.BytesType:
						e.e17++ // location_indices; later versions have the time here
					}
				})
			})
		})
	})
}

func (e *evidence) sample(r *reader, b []byte) {
	decided := false
	var largest uint64
	r.fields(b, func(num protowire.Number, typ protowire.Type, n uint64, body []byte) {
		isBytes := typ == protowire.BytesType
		count := &e.e18
		switch {
		case num == 2 && !isBytes:
			count = &e.e17
		case num == 2:
			for _, v := range numbers[uint64](nil, typ, n, body) {
				largest = max(largest, v)
			}
			return
		case num == 3 && isBytes, num == 4 && !isBytes:
		case num == 3, num == 4:
			count = &e.e110
		default:
			return
		}
		decided = true
		*count++
	})
	if !decided {
		e.undecided++
		e.largest = max(e.largest, largest)
	}
}

// era returns the era. mixed reports evidence for more than one.
func (e *evidence) era() (x era, mixed bool) {
	switch {
	case e.e17 > 0 && e.e17 >= e.undecided:
		return era17, false
	case e.e18 > e.e110:
		return era18, e.e110 > 0
	case e.e110 > 0:
		return era110, e.e18 > 0
	case e.undecided > 0 && e.largest > 0 && e.largest >= uint64(e.attrs):
		return era18, false // numbers in field 2 are too large for attribute indices
	}
	return era110, false
}

// profile reads a Profile. In 1.8 field 7 holds the comments, and the numbers of later
// fields are one higher; a profile_id has 16 bytes.
func (r *reader) profile(b []byte) (p profile) {
	var seven, eleven, twelve []byte
	var eightIsID bool
	r.fields(b, func(num protowire.Number, typ protowire.Type, n uint64, body []byte) {
		switch num {
		case 1:
			p.sampleType, p.sampleUnit, p.cumulative = r.valueType(body)
		case 2:
			p.samples = append(p.samples, r.sample(body))
		case 3:
			p.time = n
		case 4:
			p.duration = n
		case 5:
			p.periodType, p.periodUnit, _ = r.valueType(body)
		case 6:
			p.period = int64(n)
		case 7:
			seven = body
			if typ == protowire.VarintType {
				p.comments = append(p.comments, int32(n))
			}
		case 8:
			if eightIsID = typ == protowire.BytesType; !eightIsID {
				p.droppedAttrs = n
			}
		case 9:
			if typ == protowire.VarintType {
				p.droppedAttrs = n
			}
		case 11:
			eleven = append(eleven, body...)
		case 12:
			twelve = append(twelve, body...)
		}
	})
	attrs, payload := eleven, []byte(nil)
	if eightIsID || r.era == era18 && len(seven) != 16 && len(seven) > 0 || len(twelve) > 0 {
		attrs, payload = twelve, eleven
		p.comments = numbers(p.comments, protowire.BytesType, 0, seven)
	}
	p.attrs = numbers(p.attrs, protowire.BytesType, 0, attrs)
	p.payload = len(payload)
	return p
}

// valueType reads a ValueType. Until 1.8 it also says whether values are sums since the
// start of the program.
func (r *reader) valueType(b []byte) (typ, unit int32, cumulative bool) {
	r.fields(b, func(num protowire.Number, _ protowire.Type, n uint64, _ []byte) {
		switch num {
		case 1:
			typ = int32(n)
		case 2:
			unit = int32(n)
		case 3:
			cumulative = n == 2
		}
	})
	return typ, unit, cumulative
}

// sample reads a Sample of the file's era.
func (r *reader) sample(b []byte) (s sample) {
	attrs, link, values := protowire.Number(2), protowire.Number(3), protowire.Number(4)
	if r.era == era18 {
		values, attrs, link = 2, 3, 4
	}
	r.fields(b, func(num protowire.Number, typ protowire.Type, n uint64, body []byte) {
		switch num {
		case 1:
			s.stack = int32(n)
		case attrs:
			s.attrs = numbers(s.attrs, typ, n, body)
		case link:
			s.link = int32(n)
		case values:
			s.values = numbers(s.values, typ, n, body)
		case 5:
			s.times = fixed(s.times, typ, n, body)
		}
	})
	return s
}
