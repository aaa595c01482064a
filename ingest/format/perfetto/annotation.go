package perfetto

import (
	"encoding/json"
	"math"
	"strconv"

	"ashlar/ingest/format/decode"
)

// maxNested is the maximum nesting depth of annotations.
const maxNested = 32

// namer holds the texts that annotations refer to by number. It keeps the quoted form of
// a text for reuse if only one goroutine uses the namer.
type namer struct {
	names, strings *words
	alone          bool
}

func (t *namer) quote(w *words, to []byte, n uint64) []byte {
	if t.alone {
		return w.quote(to, n)
	}
	return append(to, decode.Quoted(w.get(n))...)
}

// object appends a JSON object of the annotations of an event.
func (t *namer) object(to, event []byte) []byte {
	to = append(to, '{')
	for num, v := range each(event) {
		if num == eventAnnotation {
			if to[len(to)-1] != '{' {
				to = append(to, ',')
			}
			to = t.annotation(to, v.b, 0)
		}
	}
	return append(to, '}')
}

// annotation appends a member to a JSON object, without its brackets.
func (t *namer) annotation(to, b []byte, depth int) []byte {
	name, numbered, number := "", false, uint64(0)
	for num, v := range each(b) {
		switch num {
		case 1:
			numbered, number = true, v.n
		case 10:
			numbered, name = false, v.text()
		}
	}
	if numbered {
		to = t.quote(t.names, to, number)
	} else {
		to = append(to, decode.Quoted(name)...)
	}
	return t.annotated(append(to, ':'), b, depth)
}

// annotated appends the value of an annotation as JSON.
func (t *namer) annotated(to, b []byte, depth int) []byte {
	var dict, array []byte
	isDict, isArray := false, false
	from := len(to)
	to = append(to, "null"...)
	for num, v := range each(b) {
		out := to[:from]
		switch num {
		case 2:
			to = strconv.AppendBool(out, v.n != 0)
		case 3:
			to = strconv.AppendUint(out, v.n, 10)
		case 4:
			to = strconv.AppendInt(out, int64(v.n), 10)
		case 5:
			to = append(out, decode.Float(math.Float64frombits(v.n))...)
		case 6, 9:
			if num == 9 && json.Valid(v.b) {
				to = append(out, v.b...)
			} else {
				to = append(out, decode.Quoted(v.text())...)
			}
		case 7:
			to = append(strconv.AppendUint(append(out, "\"0x"...), v.n, 16), '"')
		case 8:
			to = append(out, nested(v.b, depth)...)
		case 17:
			to = t.quote(t.strings, out, v.n)
		case 11:
			if isDict = true; depth < maxNested {
				if len(dict) > 0 {
					dict = append(dict, ',')
				}
				dict = t.annotation(dict, v.b, depth+1)
			}
		case 12:
			if isArray = true; depth < maxNested {
				if len(array) > 0 {
					array = append(array, ',')
				}
				array = t.annotated(array, v.b, depth+1)
			}
		}
	}
	switch {
	case isDict:
		return append(append(append(to[:from], '{'), dict...), '}')
	case isArray:
		return append(append(append(to[:from], '['), array...), ']')
	}
	return to
}

// nested returns the JSON of a nested value in its older encoding.
func nested(b []byte, depth int) []byte {
	if depth >= maxNested {
		return []byte("null")
	}
	out, kind := []byte("null"), uint64(0)
	var keys []string
	var dict, array [][]byte
	for num, v := range each(b) {
		switch num {
		case 1:
			kind = v.n
		case 2:
			keys = append(keys, v.text())
		case 3:
			dict = append(dict, nested(v.b, depth+1))
		case 4:
			array = append(array, nested(v.b, depth+1))
		case 5:
			out = strconv.AppendInt(nil, int64(v.n), 10)
		case 6:
			out = decode.Float(math.Float64frombits(v.n))
		case 7:
			out = strconv.AppendBool(nil, v.n != 0)
		case 8:
			out = decode.Quoted(v.text())
		}
	}
	switch kind {
	case 1:
		out = []byte{'{'}
		for i, v := range dict[:min(len(dict), len(keys))] {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(append(out, decode.Quoted(keys[i])...), ':'), v...)
		}
		return append(out, '}')
	case 2:
		out = []byte{'['}
		for i, v := range array {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, v...)
		}
		return append(out, ']')
	}
	return out
}
