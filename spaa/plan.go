package spaa

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unsafe"
)

// A plan maps the keys of one kind of object to the fields of its struct.
type plan struct {
	id     int
	name   string // in sentences
	typ    reflect.Type
	record bool
	kind   Kind // kind of record
	fields []field
	byKey  map[string]*field
	extra  uintptr // offset of the struct's Extra

	required, needed fieldSet
}

// fieldSet has a bit for each field of a plan.
type fieldSet uint32

// A field is one key of an object.
type field struct {
	key    string
	text   string // as it is in a file: "key":
	index  uint8
	bit    fieldSet
	kind   fieldKind
	always bool
	offset uintptr // position of the value in the struct
	of     *plan   // plan of the object or the array's objects
	// The first 16 bytes of text as two words, and masks for those of them that belong to
	// the key.
	lo, hi, maskLo, maskHi uint64
}

// A fieldKind is the Go type of a field.
type fieldKind uint8

const (
	typeField      fieldKind = iota // the record's type, which is not in the struct
	textField                       // string
	numberField                     // Number
	intField                        // int64
	optIntField                     // Opt[int64]
	optBoolField                    // Opt[bool]
	idField                         // ID
	intsField                       // []int64
	idsField                        // []ID
	rawField                        // json.RawMessage: an object
	objectField                     // a struct
	pointerField                    // pointer to a struct
	exclusiveField                  // *Exclusive
	contextField                    // *Context
	eventsField                     // []Event
	weightsField                    // []Weight
	byStackField                    // []StackWeights
)

var fieldKinds = map[reflect.Type]fieldKind{
	reflect.TypeFor[string](): textField, reflect.TypeFor[Number](): numberField, reflect.TypeFor[int64](): intField,
	reflect.TypeFor[Opt[int64]](): optIntField, reflect.TypeFor[Opt[bool]](): optBoolField, reflect.TypeFor[ID](): idField,
	reflect.TypeFor[[]int64](): intsField, reflect.TypeFor[[]ID](): idsField, reflect.TypeFor[json.RawMessage](): rawField,
	reflect.TypeFor[*Context](): contextField, reflect.TypeFor[*Exclusive](): exclusiveField,
	reflect.TypeFor[[]Event]():  eventsField,
	reflect.TypeFor[[]Weight](): weightsField, reflect.TypeFor[[]StackWeights](): byStackField,
}

// The plans of all structs, and the plans of records by kind.
var (
	plans     = map[reflect.Type]*plan{}
	kindPlans [kindCount]*plan

	contextPlan *plan
)

// A struct must come after the structs that it contains.
func init() {
	describe[Probe]("probe")
	contextPlan = describe[Context]("context")
	describe[Weight]("weight")
	describe[Exclusive]("exclusive")
	describe[StackWeights]("by_stack entry")
	describe[Sampling]("sampling object")
	describe[AllocationTracking]("allocation_tracking object")
	describe[Event]("event")
	describe[TimeRange]("time_range object")
	describe[Source]("source object")
	describeRecord[Header](KindHeader)
	describeRecord[DSO](KindDSO)
	describeRecord[Frame](KindFrame)
	describeRecord[Thread](KindThread)
	describeRecord[Stack](KindStack)
	describeRecord[Sample](KindSample)
	describeRecord[Window](KindWindow)
	describeRecord[Unknown](KindUnknown)
}

// mostPlans and mostFields are the sizes of a parser's tables by plan and field.
const (
	mostPlans  = 18
	mostFields = 16
)

func describeRecord[T any](k Kind) {
	kindPlans[k] = describe[T](k.String()+" record", field{key: "type", kind: typeField})
	kindPlans[k].record, kindPlans[k].kind = true, k
}

// describe makes the plan of a struct. The given fields, which the struct does not have,
// come first.
func describe[T any](name string, fields ...field) *plan {
	t := reflect.TypeFor[T]()
	pl := &plan{id: len(plans), name: name, typ: t, fields: fields, byKey: map[string]*field{}}
	for i := range t.NumField() {
		sf := t.Field(i)
		key, options, _ := strings.Cut(sf.Tag.Get("spaa"), ",")
		if sf.Type == reflect.TypeFor[Extra]() {
			pl.extra = sf.Offset
		}
		if key == "" {
			continue
		}
		bit := fieldSet(1) << len(pl.fields)
		if strings.Contains(options, "needed") {
			pl.needed |= bit
		}
		if strings.Contains(options, "required") {
			pl.required |= bit
		}
		pl.fields = append(pl.fields, field{
			key: key, kind: kindOfField(sf.Type, key), always: strings.Contains(options, "always"),
			offset: sf.Offset, of: plans[pointedTo(sf.Type)],
		})
	}
	pl.required |= pl.needed
	for i := range pl.fields {
		pl.fields[i].settle(i)
		pl.byKey[pl.fields[i].key] = &pl.fields[i]
	}
	plans[t] = pl
	return pl
}

func pointedTo(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		return t.Elem()
	}
	return t
}

func kindOfField(t reflect.Type, key string) fieldKind {
	k, ok := fieldKinds[t]
	switch {
	case ok:
		return k
	case t.Kind() == reflect.Struct:
		return objectField
	case t.Kind() == reflect.Pointer:
		return pointerField
	}
	panic(fmt.Sprintf("key %s has type %v, which cannot be read or written", key, t))
}

// settle computes the values with which a field is recognized.
func (f *field) settle(i int) {
	f.index, f.bit = uint8(i), 1<<i
	f.text = `"` + f.key + `":`
	var b, mask [16]byte
	for n := range copy(b[:], f.text) {
		mask[n] = 0xff
	}
	f.lo, f.hi = binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])
	f.maskLo, f.maskHi = binary.LittleEndian.Uint64(mask[:]), binary.LittleEndian.Uint64(mask[8:])
}

// starts reports whether text whose first 16 bytes are lo and hi begins with the field's
// key.
func (f *field) starts(lo, hi uint64) bool {
	return (lo^f.lo)&f.maskLo|(hi^f.hi)&f.maskHi == 0
}

// names lists the fields of a set.
func (pl *plan) names(set fieldSet) (keys []string) {
	for i := range pl.fields {
		if set&pl.fields[i].bit != 0 {
			keys = append(keys, pl.fields[i].key)
		}
	}
	return keys
}

// at returns the address of a field in a struct.
func (f *field) at(obj unsafe.Pointer) unsafe.Pointer { return unsafe.Add(obj, f.offset) }

// extraOf returns the extras of an object.
func (pl *plan) extraOf(obj unsafe.Pointer) *Extra { return (*Extra)(unsafe.Add(obj, pl.extra)) }
