// Package jsondoc documents the program's JSON output as schemas and as text. Field names
// come from Go types, descriptions from their comments.
package jsondoc

import (
	_ "embed"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"

	"ashlar/app/agent/budget"
)

// comments holds the comments of fields, one per line: PACKAGE.TYPE.FIELD, a tab, the comment.
// A test writes it from the source (go test ./app/command -run FieldComments -update), because
// a Go parser would add half a megabyte to the program.
//
//go:embed fields.txt
var comments string

var docs = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(comments) {
		if name, text, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			all[name] = text
		}
	}
	return all
})

// Schema returns the JSON schema (2020-12) of a type. Only pointers, and numbers whose
// comment mentions null, may be null: empty lists are written as [].
func Schema(t reflect.Type) *jsonschema.Schema { return of(t, nil) }

// Answer returns the schema of an answer, which may also have the fields of [budget.Cut].
func Answer(t reflect.Type) *jsonschema.Schema {
	s := Schema(t)
	if s.Schema = "https://json-schema.org/draft/2020-12/schema"; s.Type == "object" {
		fields(s, reflect.TypeFor[budget.Cut](), nil)
	}
	return s
}

func number() *jsonschema.Schema { return &jsonschema.Schema{Type: "number"} }

// of returns the schema of a type nested in the types above.
func of(t reflect.Type, above []reflect.Type) *jsonschema.Schema {
	if slices.Contains(above, t) {
		return &jsonschema.Schema{}
	}
	switch {
	case t.Kind() == reflect.Pointer:
		return nullable(of(t.Elem(), above))
	case t == reflect.TypeFor[json.Number]():
		return number()
	case t.Implements(reflect.TypeFor[json.Marshaler]()):
		return nullable(number()) // an id; some recordings have none
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return &jsonschema.Schema{Type: "string"}
	}
	switch k := t.Kind(); {
	case k == reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case k >= reflect.Int && k <= reflect.Uint64:
		return &jsonschema.Schema{Type: "integer"}
	case k == reflect.Float32 || k == reflect.Float64:
		return number()
	case k == reflect.Slice || k == reflect.Array:
		s := &jsonschema.Schema{Type: "array", Items: of(t.Elem(), above)}
		if k == reflect.Array {
			n := t.Len()
			s.MinItems, s.MaxItems = &n, &n
		}
		return s
	case k == reflect.Map:
		return &jsonschema.Schema{Type: "object", AdditionalProperties: of(t.Elem(), above)}
	case k == reflect.Struct:
		s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: nothing()}
		fields(s, t, append(above[:len(above):len(above)], t))
		return s
	case k == reflect.Interface:
		return &jsonschema.Schema{}
	}
	return &jsonschema.Schema{Type: "string"}
}

// nothing returns the schema that no value satisfies.
func nothing() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

func nullable(s *jsonschema.Schema) *jsonschema.Schema {
	if s.Type != "" {
		s.Types, s.Type = []string{s.Type, "null"}, ""
	}
	return s
}

// fields adds the fields of a struct to a schema.
func fields(s *jsonschema.Schema, t reflect.Type, above []reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			fields(s, inner, above)
			continue
		case !f.IsExported() || name == "" || name == "-":
			continue
		}
		x := of(f.Type, above)
		if x.Description = docs()[t.String()+"."+f.Name]; f.Type == reflect.TypeFor[json.Number]() && strings.Contains(x.Description, "null") {
			nullable(x)
		}
		s.Properties[name] = x
		s.PropertyOrder = append(s.PropertyOrder, name)
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			s.Required = append(s.Required, name)
		}
	}
}

// Write writes each field of a schema on a line, with its comment below, in lines of at
// most width columns.
func Write(b *strings.Builder, s *jsonschema.Schema, width int) {
	s, list := element(s)
	if list != "" {
		list += "."
	}
	write(b, s, list, width)
}

func write(b *strings.Builder, s *jsonschema.Schema, prefix string, width int) {
	for _, name := range s.PropertyOrder {
		x := s.Properties[name]
		inner, list := element(x)
		fmt.Fprintf(b, "  %-28s %s\n", prefix+name+list, kindOf(inner))
		Wrap(b, x.Description, "      ", width)
		write(b, inner, prefix+name+list+".", width)
	}
}

// element removes list types from a schema.
func element(s *jsonschema.Schema) (inner *jsonschema.Schema, list string) {
	for s.Items != nil {
		s, list = s.Items, list+"[]"
	}
	return s, list
}

func kindOf(s *jsonschema.Schema) string {
	is := s.Type
	if len(s.Types) > 0 {
		is = s.Types[0]
	}
	switch {
	case is == "number" || is == "integer":
		return "number"
	case is == "boolean":
		return "true or false"
	case is == "object" && s.Properties == nil:
		return "object by name"
	case is == "object":
		return "object"
	}
	return "text"
}

// Wrap writes a text, wrapped to at most width columns.
func Wrap(b *strings.Builder, text, indent string, width int) {
	line := ""
	for _, word := range strings.FieldsFunc(text, unicode.IsSpace) {
		if line != "" && len([]rune(indent+line+" "+word)) > width {
			b.WriteString(indent + line + "\n")
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	if line != "" {
		b.WriteString(indent + line + "\n")
	}
}
