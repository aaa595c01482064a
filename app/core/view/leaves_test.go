package view

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// notWritten lists the parts of a State without a field, and the reasons.
var notWritten = map[string]string{
	"Unknown":       "what an address said that is not understood",
	"Marks.ID":      "marks are told by what they say where they are shared",
	"Marks.Created": "as above",
}

// leaves calls f for each part of a State that is not a struct.
func leaves(v reflect.Value, path string, f func(path string, leaf reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if path != "" {
				name = path + "." + name
			}
			if v.Type().Field(i).Anonymous {
				name = path
			}
			leaves(v.Field(i), name, f)
		}
	case reflect.Array:
		for i := range v.Len() {
			leaves(v.Index(i), path, f)
		}
	default:
		f(path, v)
	}
}

// TestEveryPartOfAStateIsAField sets one part of a State at a time. It must appear in the
// address, in exactly one field, and be restored from it.
func TestEveryPartOfAStateIsAField(t *testing.T) {
	full := anyFull()
	empty := new(State)
	said := map[string]string{} // part of the State by field
	n := 0
	leaves(reflect.ValueOf(full).Elem(), "", func(path string, leaf reflect.Value) {
		if _, ok := notWritten[path]; ok {
			return
		}
		if leaf.IsZero() {
			t.Errorf("the test's own State has no %s", path)
			return
		}
		n++
		was := reflect.ValueOf(leaf.Interface())
		leaf.SetZero()
		without := full.String()
		leaf.Set(was)
		if without == full.String() {
			t.Errorf("no field writes %s: add a row to Fields", path)
			return
		}
		var fields []string
		for i := range Fields {
			f := &Fields[i]
			leaf.SetZero()
			a := f.Text(full)
			leaf.Set(was)
			if f.Text(full) != a {
				fields = append(fields, f.Key)
			}
		}
		if len(fields) != 1 {
			t.Errorf("%s is in the fields %q, want one", path, fields)
		}
		for _, k := range fields {
			said[k] += path
		}
	})
	if n < 40 {
		t.Errorf("only %d parts were looked at", n)
	}
	for i := range Fields {
		f := &Fields[i]
		if said[f.Key] == "" {
			t.Errorf("the field %s says nothing of a State", f.Key)
		}
		if f.Doc == "" {
			t.Errorf("the field %s has no Doc", f.Key)
		}
		if f.Text(empty) != "" {
			t.Errorf("an empty window has %s=%s", f.Key, f.Text(empty))
		}
	}
	again, err := Parse(full.String())
	if err != nil || !reflect.DeepEqual(full, again) {
		t.Errorf("%+v became %+v, %v", full, again, err)
	}
}

// anyFull returns a State in which every part differs from the initial one.
func anyFull() *State {
	r := rand.New(rand.NewPCG(7, 7))
	st := anyView(r)
	for tries := 0; tries < 100_000; tries++ {
		next := anyView(r)
		// Fill empty parts from another random State.
		from := map[string][]reflect.Value{}
		leaves(reflect.ValueOf(next).Elem(), "", func(path string, leaf reflect.Value) { from[path] = append(from[path], leaf) })
		whole := true
		leaves(reflect.ValueOf(st).Elem(), "", func(path string, leaf reflect.Value) {
			other := from[path][0]
			from[path] = from[path][1:]
			if leaf.IsZero() && path != "Unknown" {
				leaf.Set(other)
				whole = whole && !leaf.IsZero()
			}
		})
		if whole {
			break
		}
	}
	st.Files = st.Files[:min(len(st.Files), 2)]
	st.Unknown = nil
	return st
}

func TestFieldsByKey(t *testing.T) {
	var keys []string
	for i := range Fields {
		if slices.Contains(keys, Fields[i].Key) {
			t.Errorf("there are two fields called %s", Fields[i].Key)
		}
		keys = append(keys, Fields[i].Key)
		if FieldOf(Fields[i].Key) != &Fields[i] {
			t.Errorf("%s is not found by its key", Fields[i].Key)
		}
	}
	if FieldOf("nothing") != nil {
		t.Error("there is a field called nothing")
	}
}
