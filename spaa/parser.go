package spaa

import (
	"errors"
	"reflect"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// ErrNoType is the error of a line that is a JSON object without a type.
var ErrNoType = errors.New(`the record has no "type" that is a string`)

// ErrNotObject is the error of a line that does not begin with a JSON object.
var ErrNotObject = errors.New("the line is not a JSON object")

// DefaultMaxDepth is the maximum nesting of values if a [Parser] sets none. The records
// of the spec need five levels.
const DefaultMaxDepth = 256

// A Parser parses single lines without allocating. The zero value is ready to use. A
// Parser must not be used by several goroutines at once, but several Parsers may work on
// the lines of one file.
type Parser struct {
	// MaxDepth is the maximum nesting of JSON values; 0 means [DefaultMaxDepth].
	MaxDepth int
	// Extras fills the [Extra] of every object, which takes additional memory; without it
	// only headers and contexts get theirs.
	Extras bool

	// Problems are the problems of the keys of the last record.
	Problems []Problem
	// Duplicates counts keys that occurred twice in an object of the last record: known
	// keys and, with Extras, also others. The last occurrence counts.
	Duplicates int

	own bool // the caller keeps the records, so no memory is reused

	b       string // the line
	err     error
	kind    Kind   // kind of the record, as far as known
	early   bool   // stop reading at once if the record is of another kind
	typ     string // type of the record, valid if hasType
	hasType bool
	lacks   fieldSet // required keys that the object last read lacks

	follows  [kindCount]Kind // for each kind, the kind of the record that followed it last time
	after    [mostPlans][mostFields + 1]uint8
	contexts contextCache

	dso       DSO
	frame     Frame
	thread    Thread
	stack     Stack
	sample    Sample
	window    Window
	unknown   Unknown
	exclusive Exclusive
	ints      []int64
	ids       []ID
	weights   []Weight
	byStack   []StackWeights
}

// A Problem is a key that breaks the spec.
type Problem struct {
	Kind   ProblemKind
	Object string // "stack record", "weight", …
	Key    string
	Value  string // JSON text, "" for Lacking
}

// ProblemKind is the kind of problem of a key.
type ProblemKind uint8

// A known key with the value null counts as absent.
const (
	UnknownKey  ProblemKind = iota
	MistypedKey             // a known key with a value of the wrong JSON type
	LackingKey              // the object is useless without this key; see also [Parser.Missing]
)

// Parse reads the one JSON object in line, with or without the line end. It checks that
// the line is strict JSON and that it has a type, and nothing else: a record may lack
// keys that the spec requires (see [Parser.Missing]), and a known key whose value has the
// wrong JSON type is listed in Problems.
//
// Keys may be in any order. The next Parse reuses the memory of the record, except for
// headers and contexts; the record's strings are parts of line. The error is a
// *[SyntaxError], [ErrNotObject] or [ErrNoType].
func (p *Parser) Parse(line string) (Record, error) {
	before := p.kind
	kind := p.follows[before]
	// The type may be the last key, so the kind is certain only at the end. The record is
	// first read as a guessed kind, the one that last followed a record like the previous
	// one, and is read again if that is wrong.
	for first := true; ; first = false {
		rec, end := p.parseAs(kind, line, first)
		if end < 0 && end != otherKind {
			return nil, p.err
		}
		if end != otherKind && !p.hasType {
			return nil, ErrNoType
		}
		if p.kind == kind {
			p.follows[before] = kind
			if u, ok := rec.(*Unknown); ok {
				u.Type = p.typ
			}
			return rec, nil
		}
		kind = p.kind
	}
}

// parseAs reads the line as a record of a kind. If the line turns out to be of another
// kind, p.kind is set to that kind and the result is invalid; with early, reading stops
// at once.
func (p *Parser) parseAs(kind Kind, line string, early bool) (Record, int) {
	own, extras := p.own, p.Extras
	if kind == KindHeader {
		line, p.own, p.Extras = strings.Clone(line), true, true
		defer func() { p.own, p.Extras = own, extras }()
	}
	p.b, p.err, p.kind, p.early, p.hasType = line, nil, kind, early, false
	p.Problems, p.Duplicates = p.Problems[:0], 0
	p.ints, p.ids, p.weights, p.byStack = p.ints[:0], p.ids[:0], p.weights[:0], p.byStack[:0]
	rec := p.fresh(kind)
	c, i := peek(line, 0)
	if c != '{' {
		p.err = ErrNotObject
		return nil, syntaxErr
	}
	i = p.object(i, kindPlans[kind], reflect.ValueOf(rec).UnsafePointer(), 1)
	if i < 0 {
		return nil, i
	}
	if _, i = peek(line, i); i < len(line) {
		i = p.fail(i, "more text after the record")
	}
	return rec, i
}

// fresh returns an empty record.
func (p *Parser) fresh(k Kind) Record {
	switch k {
	case KindHeader:
		return new(Header)
	case KindDSO:
		return empty(p, &p.dso)
	case KindFrame:
		return empty(p, &p.frame)
	case KindThread:
		return empty(p, &p.thread)
	case KindStack:
		return empty(p, &p.stack)
	case KindSample:
		return empty(p, &p.sample)
	case KindWindow:
		return empty(p, &p.window)
	}
	return empty(p, &p.unknown)
}

// empty clears mine and returns it or, if the caller owns the records, returns a new T.
func empty[T any](p *Parser, mine *T) *T {
	if p.own {
		return new(T)
	}
	*mine = *new(T)
	return mine
}

// Missing returns the required keys that the last record lacks or that have a value of
// the wrong JSON type; usually nil.
func (p *Parser) Missing() []string {
	if p.lacks == 0 {
		return nil
	}
	return kindPlans[p.kind].names(p.lacks)
}

// Kind returns the kind of the last record.
func (p *Parser) Kind() Kind { return p.kind }

// Lacks reports whether a required key is [Parser.Missing].
func (p *Parser) Lacks(key string) bool {
	return p.lacks != 0 && p.lacks&kindPlans[p.kind].byKey[key].bit != 0
}

// LacksIn reports whether an object within the last record lacks a required key.
func (p *Parser) LacksIn(object, key string) bool {
	for i := range p.Problems {
		if pr := &p.Problems[i]; pr.Kind == LackingKey && pr.Object == object && pr.Key == key {
			return true
		}
	}
	return false
}

// object reads the object at i into its struct. It sets p.lacks to the required keys that
// are missing.
func (p *Parser) object(i int, pl *plan, obj unsafe.Pointer, depth int) int {
	if i >= len(p.b) || p.b[i] != '{' {
		return mismatch
	}
	var seen, good fieldSet
	problems := len(p.Problems)
	c, i := peek(p.b, i+1)
	more := c != '}'
	if !more {
		i++
	}
	for last := uint8(0); more; {
		f, v := p.expected(pl, last, i)
		key := ""
		if f == nil {
			if key, v = p.key(i); v < 0 {
				return v
			}
			if f = pl.byKey[key]; f != nil {
				p.after[pl.id][last] = f.index
			}
		}
		next := mismatch
		if f != nil {
			last, key = f.index+1, f.key
			if seen&f.bit != 0 {
				p.again(pl, f, obj, problems)
			}
			seen |= f.bit
			good |= f.bit
			next = p.value(f, v, obj, depth)
			if p.Extras && next >= 0 && f.kind == textField && !f.always && *(*string)(f.at(obj)) == "" {
				pl.extraOf(obj).set(key, `""`) // an empty text is not an absent one
			}
		}
		if next == mismatch {
			if f != nil {
				good &^= f.bit
			}
			next = p.other(pl, f, key, v, obj, depth)
		}
		if next < 0 {
			return next
		}
		more, i = p.more(next, '}')
	}
	p.lacks = pl.required &^ good
	if p.lacks != 0 && !pl.record {
		for _, key := range pl.names(p.lacks) {
			p.Problems = append(p.Problems, Problem{LackingKey, pl.name, key, ""})
		}
	}
	return i
}

// expected reads the key at i if it is a known key without white space or escapes;
// otherwise f is nil. Objects of one kind mostly have the same keys in the same order, so
// it first tries the key that followed the previous key last time. last is 1 + the index
// of the previous key.
func (p *Parser) expected(pl *plan, last uint8, i int) (f *field, v int) {
	if i+16 > len(p.b) {
		return nil, 0
	}
	lo, hi := word(p.b, i), word(p.b, i+8)
	f = &pl.fields[p.after[pl.id][last]]
	if !f.starts(lo, hi) {
		k := 0
		for ; ; k++ {
			if k == len(pl.fields) {
				return nil, 0
			}
			if f = &pl.fields[k]; f.starts(lo, hi) {
				break
			}
		}
		p.after[pl.id][last] = uint8(k)
	}
	v = i + len(f.text)
	if v >= len(p.b) || p.b[v] <= ' ' || len(f.text) > 16 && p.b[i+16:v] != f.text[16:] {
		return nil, 0
	}
	return f, v
}

// again discards what was recorded for an earlier occurrence of a key.
func (p *Parser) again(pl *plan, f *field, obj unsafe.Pointer, problems int) {
	p.Duplicates++
	x := pl.extraOf(obj)
	if delete(*x, f.key); len(*x) == 0 {
		*x = nil // nil, as in an object without extras
	}
	kept := p.Problems[:problems]
	for _, pr := range p.Problems[problems:] {
		if pr.Object != pl.name || pr.Key != f.key {
			kept = append(kept, pr)
		}
	}
	p.Problems = kept
}

// other reads a value that fits no field; f is nil for an unknown key.
func (p *Parser) other(pl *plan, f *field, key string, v int, obj unsafe.Pointer, depth int) int {
	end := p.skip(v, depth)
	if end < 0 {
		return end
	}
	value := p.b[v:end]
	switch {
	case pl.record && pl.kind == KindUnknown: // records of unknown type may have any key
	case f == nil:
		p.Problems = append(p.Problems, Problem{UnknownKey, pl.name, key, value})
	case value != "null":
		p.Problems = append(p.Problems, Problem{MistypedKey, pl.name, key, value})
	}
	if p.Extras {
		x := pl.extraOf(obj)
		if _, twice := (*x)[key]; twice {
			p.Duplicates++
		}
		x.set(key, value)
	}
	return end
}

// set keeps the JSON text of a value.
func (x *Extra) set(key, value string) {
	if *x == nil {
		*x = make(Extra)
	}
	(*x)[key] = appendCompact(nil, value)
}

// appendCompact appends checked JSON without the white space between tokens.
func appendCompact(dst []byte, src string) []byte {
	inString := false
	for i := 0; i < len(src); i++ {
		b := src[i]
		switch {
		case inString && b == '\\':
			dst = append(dst, b)
			i++
			b = src[i]
		case b == '"':
			inString = !inString
		case !inString && (b == ' ' || b == '\t' || b == '\n' || b == '\r'):
			continue
		}
		dst = append(dst, b)
	}
	return dst
}

// validText replaces each byte that is not valid UTF-8 with U+FFFD, as encoding/json
// does.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
