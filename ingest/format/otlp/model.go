package otlp

import "strings"

// The contents of one message (ProfilesData or ExportProfilesServiceRequest) in any
// encoding and era. Indices refer to the dictionary; entry 0 is its zero value.
type (
	message struct {
		dict      dictionary
		resources []resource
	}
	dictionary struct {
		mappings  []mapping
		locations []location
		functions []function
		links     []link
		strings   []string
		attrs     []attribute
		stacks    [][]int32
	}
	mapping struct {
		start, limit, offset uint64
		file                 int32
		attrs                []int32
	}
	location struct {
		mapping int32
		addr    uint64
		lines   []line
		attrs   []int32
	}
	line struct {
		function  int32
		line, col int64
	}
	function struct {
		name, system, file int32
		start              int64
	}
	link struct{ trace, span []byte }
	// attribute is a key and its value as text. A key or value in the string table stays
	// an index until it is resolved.
	attribute struct {
		key     string
		keyIdx  int32
		value   value
		unitIdx int32
	}
	resource struct {
		attrs  []attribute
		scopes []scope
	}
	scope struct {
		name, version string
		attrs         []attribute
		profiles      []profile
	}
	profile struct {
		sampleType, sampleUnit int32
		samples                []sample
		time, duration         uint64 // ns
		periodType, periodUnit int32
		period                 int64
		attrs                  []int32
		comments               []int32
		droppedAttrs           uint64
		payload                int  // size of the profile's original form in bytes
		cumulative             bool // values are sums since the start of the program
	}
	sample struct {
		stack, link int32
		attrs       []int32
		values      []int64
		times       []uint64 // ns since 1970
	}
)

// value is an AnyValue as text; idx is an index in the string table, if the value is one.
type value struct {
	text string
	idx  int32
	list []value // elements of an array
}

// str returns entry i of the string table, "" if there is none.
func (d *dictionary) str(i int32) string {
	if i < 0 || int(i) >= len(d.strings) {
		return ""
	}
	return d.strings[i]
}

// name returns an attribute's key.
func (a *attribute) name(d *dictionary) string {
	if a.key != "" {
		return a.key
	}
	return d.str(a.keyIdx)
}

// string returns a value as text; the elements of a list follow one another.
func (v *value) string(d *dictionary) string {
	if v.list == nil {
		if v.idx != 0 {
			return d.str(v.idx)
		}
		return v.text
	}
	var s strings.Builder
	for i := range v.list {
		if i > 0 {
			s.WriteString(", ")
		}
		s.WriteString(v.list[i].string(d))
	}
	return s.String()
}
