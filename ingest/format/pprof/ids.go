package pprof

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
)

// references counts a profile's function ids, which should be unique and nonzero, and the
// lines that refer to them.
type references struct {
	functions map[uint64]int // number of functions by id
	count     int
	locations int
	single    int // locations with one line
	lines     int
	zero      int    // lines that name function 0
	largest   uint64 // largest function id that a line refers to
	lost      int    // lines that refer to missing functions
}

// eachField visits the fields of a message up to the first unreadable one.
func eachField(b []byte, visit func(f *wireField)) {
	for i := 0; i < len(b); {
		f, next := nextField(b, i)
		if next < 0 {
			return
		}
		visit(&f)
		i = next
	}
}

// numberIn returns the last varint with field number num in a message, 0 if there is
// none.
func numberIn(b []byte, num int) (n uint64) {
	eachField(b, func(f *wireField) {
		if f.num == num && f.typ == wireVarint {
			n = f.number
		}
	})
	return n
}

// eachLine visits the lines of a location.
func eachLine(location []byte, visit func(line []byte)) {
	eachField(location, func(f *wireField) {
		if f.num == locationLine && f.typ == wireBytes {
			visit(f.body)
		}
	})
}

func countReferences(content []byte) references {
	r := references{functions: map[uint64]int{}}
	eachField(content, func(f *wireField) {
		if f.num == fieldFunction && f.typ == wireBytes {
			r.count++
			r.functions[numberIn(f.body, messageID)]++
		}
	})
	eachField(content, func(f *wireField) {
		if f.num != fieldLocation || f.typ != wireBytes {
			return
		}
		r.locations++
		before := r.lines
		eachLine(f.body, func(line []byte) {
			r.lines++
			id := numberIn(line, lineFunction)
			r.largest = max(r.largest, id)
			switch {
			case id == 0:
				r.zero++
			case r.functions[id] == 0:
				r.lost++
			}
		})
		if r.lines == before+1 {
			r.single++
		}
	})
	return r
}

// giveIDs returns a profile whose functions have ids; some writers leave all ids 0. Lines
// then refer to functions by position, from 1 or from 0, or not at all. In the last case,
// if each location has one line and there are as many functions as locations, functions and
// locations are matched in order. Names that cannot be found cause a warning.
func giveIDs(content []byte, b *recording.Builder) []byte {
	r := countReferences(content)
	none := r.count > 0 && r.functions[0] == r.count
	switch {
	case !none:
		if r.lost > 0 {
			b.Warn("function-missing", "", "Functions of source lines are missing from the profile (%s); they are shown as addresses", safetext.Plural(r.lost, "line"))
		}
		twice := uint64(math.MaxUint64) // the smallest such id, so that the warning is always the same
		for id, n := range r.functions {
			if n > 1 {
				twice = min(twice, id)
			}
		}
		if twice < math.MaxUint64 {
			b.Warn("function-ids", "", "Several functions have the id %d; some names may be wrong", twice)
		}
		return content
	case r.lines == 0:
		return content
	case r.zero == 0 && r.largest <= uint64(r.count):
		return renumber(content, func(_ int, id uint64) uint64 { return id }, b, r.count)
	case r.largest > 0 && r.largest < uint64(r.count):
		return renumber(content, func(_ int, id uint64) uint64 { return id + 1 }, b, r.count)
	case r.largest == 0 && r.single == r.locations && r.count == r.locations:
		return renumber(content, func(location int, _ uint64) uint64 { return uint64(location) + 1 }, b, r.count)
	}
	b.Warn("function-ids", "", "None of the profile's %s has an id, and source lines do not refer to them; their names cannot be shown", safetext.Plural(r.count, "function"))
	return content
}

// renumber makes the position of each function, from 1, its id. In each line it sets the
// function id that of returns for the position of the line's location and the function
// that the line refers to.
func renumber(content []byte, of func(location int, function uint64) uint64, b *recording.Builder, count int) []byte {
	b.Warn("function-ids", "", "None of the profile's %s has an id; their position is used", safetext.Plural(count, "function"))
	out := make([]byte, 0, len(content)+len(content)/8)
	field := func(num int, body []byte) {
		out = protowire.AppendTag(out, protowire.Number(num), protowire.BytesType)
		out = protowire.AppendBytes(out, body)
	}
	withID := func(body []byte, num protowire.Number, id uint64) []byte {
		body = protowire.AppendTag(append([]byte(nil), body...), num, protowire.VarintType)
		return protowire.AppendVarint(body, id) // if a field occurs twice, the last one counts
	}
	functions, locations := 0, 0
	for i := 0; i < len(content); {
		f, next := nextField(content, i)
		if next < 0 {
			return append(out, content[i:]...)
		}
		switch {
		case f.num == fieldFunction && f.typ == wireBytes:
			functions++
			field(f.num, withID(f.body, messageID, uint64(functions)))
		case f.num == fieldLocation && f.typ == wireBytes:
			var body []byte
			for k := 0; k < len(f.body); {
				g, after := nextField(f.body, k)
				if after < 0 {
					body = append(body, f.body[k:]...)
					break
				}
				if g.num == locationLine && g.typ == wireBytes {
					id := of(locations, numberIn(g.body, lineFunction))
					body = protowire.AppendTag(body, locationLine, protowire.BytesType)
					body = protowire.AppendBytes(body, withID(g.body, lineFunction, id))
				} else {
					body = append(body, f.body[k:after]...)
				}
				k = after
			}
			locations++
			field(f.num, body)
		default:
			out = append(out, content[i:next]...)
		}
		i = next
	}
	return out
}
