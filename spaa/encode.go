package spaa

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// AppendRecord appends the canonical JSON of r to dst, without a line end: no white
// space, "type" first, then the record's known keys in the order of the struct's fields,
// then its extras sorted by name, and the same in every nested object. It returns an
// error if a number, an id or an extra is not valid JSON.
func AppendRecord(dst []byte, r Record) ([]byte, error) {
	e := encoder{b: dst}
	e.record(r)
	if e.err != nil {
		return dst, e.err
	}
	return e.b, nil
}

// JSON returns the context as it is written in a record.
func (c *Context) JSON() []byte {
	var e encoder
	e.object(contextPlan, unsafe.Pointer(c), "")
	return e.b
}

// encoder appends objects to b; err is the first error.
type encoder struct {
	b     []byte
	err   error
	check Parser
}

func (e *encoder) record(r Record) {
	v := reflect.ValueOf(r)
	if v.Kind() != reflect.Pointer || plans[v.Type().Elem()] == nil {
		e.fail("cannot write a record of Go type %T", r)
		return
	}
	if u, ok := r.(*Unknown); ok && kindOf(u.Type) != KindUnknown {
		e.fail("a record of the known type %q must not be written as Unknown", u.Type)
		return
	}
	e.object(plans[v.Type().Elem()], v.UnsafePointer(), r.RecordType())
}

// object appends an object; typ is the type of a record.
func (e *encoder) object(pl *plan, obj unsafe.Pointer, typ string) {
	from := len(e.b)
	extra := *pl.extraOf(obj)
	var written fieldSet
	for i := range pl.fields {
		f := &pl.fields[i]
		if f.absent(obj) && (!f.always || extra[f.key] != nil) {
			continue
		}
		written |= f.bit
		e.b = append(e.b, ',')
		e.b = append(e.b, f.text...)
		if f.kind == typeField {
			e.string(typ)
		} else {
			e.value(f, f.at(obj))
		}
	}
	if len(extra) > 0 {
		e.extras(pl, extra, written)
	}
	e.enclose(from, '{', '}')
}

// extras appends the extras of an object, except those whose fields were written.
func (e *encoder) extras(pl *plan, extra Extra, written fieldSet) {
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		if f := pl.byKey[key]; f != nil && written&f.bit != 0 {
			continue
		}
		e.b = append(e.b, ',')
		e.string(key)
		e.b = append(e.b, ':')
		e.raw(key, extra[key])
	}
}

// enclose puts brackets around everything appended since from. Each element starts with a
// comma; the first comma becomes the opening bracket.
func (e *encoder) enclose(from int, open, closing byte) {
	if from == len(e.b) {
		e.b = append(e.b, open)
	}
	e.b[from] = open
	e.b = append(e.b, closing)
}

// absent reports whether a field has its zero value.
func (f *field) absent(obj unsafe.Pointer) bool {
	src := f.at(obj)
	switch f.kind {
	case textField, numberField:
		return *(*string)(src) == ""
	case optIntField:
		return !(*Opt[int64])(src).OK
	case optBoolField:
		return !(*Opt[bool])(src).OK
	case idField:
		return (*ID)(src).IsZero()
	case intsField, idsField, rawField, eventsField, weightsField, byStackField:
		s := *(*[]struct{})(src)
		return s == nil || f.always && len(s) == 0
	case pointerField, exclusiveField, contextField:
		return *(*unsafe.Pointer)(src) == nil
	case objectField:
		return reflect.NewAt(f.of.typ, src).Elem().IsZero()
	}
	return false // the record's type and required numbers
}

func (e *encoder) value(f *field, src unsafe.Pointer) {
	switch f.kind {
	case textField:
		e.string(*(*string)(src))
	case numberField:
		e.number(f.key, *(*Number)(src))
	case intField, optIntField: // Opt begins with its value
		e.b = strconv.AppendInt(e.b, *(*int64)(src), 10)
	case optBoolField:
		e.b = strconv.AppendBool(e.b, (*Opt[bool])(src).V)
	case idField:
		e.id(f.key, *(*ID)(src))
	case intsField:
		writeList(e, *(*[]int64)(src), func(v *int64) { e.b = strconv.AppendInt(e.b, *v, 10) })
	case idsField:
		writeList(e, *(*[]ID)(src), func(v *ID) { e.id(f.key, *v) })
	case rawField:
		e.raw(f.key, *(*json.RawMessage)(src))
	case objectField:
		e.object(f.of, src, "")
	case pointerField, exclusiveField, contextField:
		e.object(f.of, *(*unsafe.Pointer)(src), "")
	case weightsField:
		writeList(e, *(*[]Weight)(src), func(v *Weight) { e.object(f.of, unsafe.Pointer(v), "") })
	case byStackField:
		writeList(e, *(*[]StackWeights)(src), func(v *StackWeights) { e.object(f.of, unsafe.Pointer(v), "") })
	case eventsField:
		writeList(e, *(*[]Event)(src), func(v *Event) { e.object(f.of, unsafe.Pointer(v), "") })
	}
}

func writeList[T any](e *encoder, list []T, write func(v *T)) {
	from := len(e.b)
	for i := range list {
		e.b = append(e.b, ',')
		write(&list[i])
	}
	e.enclose(from, '[', ']')
}

func (e *encoder) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf(format, args...)
	}
}

// string appends a JSON string. Invalid UTF-8 becomes U+FFFD, because a SPAA file is
// UTF-8.
func (e *encoder) string(s string) {
	const hexDigits = "0123456789abcdef"
	b := append(e.b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(b, s[from:i]...)
				b = append(b, "\uFFFD"...)
				from = i + 1
			}
			i += n
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	b = append(b, s[from:]...)
	e.b = append(b, '"')
}

func (e *encoder) number(k string, n Number) {
	e.b = append(e.b, n...)
	p := &e.check
	p.b = string(n)
	if !p.isNumber(0) || p.num(0) != len(n) {
		e.fail("%s: %q is not a JSON number", k, string(n))
	}
}

func (e *encoder) id(k string, id ID) {
	if id.number {
		e.number(k, Number(id.text))
		return
	}
	e.string(id.text)
}

// raw appends JSON text supplied by the caller, after checking and compacting it.
func (e *encoder) raw(k string, text []byte) {
	p := &e.check
	p.b = string(text)
	end := p.skip(0, 1)
	if end >= 0 {
		_, end = peek(p.b, end)
	}
	if end != len(p.b) {
		e.fail("%s: the extra value %.40q is not JSON", k, text)
		return
	}
	e.b = appendCompact(e.b, validText(p.b))
}
