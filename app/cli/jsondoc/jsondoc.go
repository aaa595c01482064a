// Package jsondoc says what JSON a program writes: the names of fields as the types
// have them, and what they mean as comments in the source say.
package jsondoc

import (
	"embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"unicode"
)

// Docs are comments of fields, by PACKAGE.TYPE.FIELD, and of types, by PACKAGE.TYPE.
type Docs map[string]string

// Read reads the comments of Go files that a program carries with it.
func Read(sources ...embed.FS) Docs {
	docs := Docs{}
	for _, from := range sources {
		entries, err := from.ReadDir(".")
		if err != nil {
			panic(err) // what is embedded is there
		}
		for _, e := range entries {
			b, err := from.ReadFile(e.Name())
			if err != nil {
				panic(err)
			}
			f, err := parser.ParseFile(token.NewFileSet(), e.Name(), b, parser.ParseComments)
			if err != nil {
				panic(err)
			}
			for _, d := range f.Decls {
				if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
					typeDocs(docs, f.Name.Name+".", g)
				}
			}
		}
	}
	return docs
}

func typeDocs(docs Docs, pkg string, g *ast.GenDecl) {
	for _, s := range g.Specs {
		spec := s.(*ast.TypeSpec)
		fields, ok := spec.Type.(*ast.StructType)
		if !ok {
			continue
		}
		docs[pkg+spec.Name.Name] = oneLine(g.Doc)
		for _, f := range fields.Fields.List {
			for _, name := range f.Names {
				docs[pkg+spec.Name.Name+"."+name.Name] = strings.TrimSpace(oneLine(f.Doc) + " " + oneLine(f.Comment))
			}
		}
	}
}

func oneLine(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }

// Write writes a line for each field of a type and its comment below, in lines of at
// most width columns.
func (d Docs) Write(b *strings.Builder, t reflect.Type, width int) { d.fields(b, t, "", width, nil) }

// fields writes the fields of a type, whose names have a prefix; above are the types
// that it is in.
func (d Docs) fields(b *strings.Builder, t reflect.Type, prefix string, width int, above []reflect.Type) {
	t, list := element(t)
	if list != "" && prefix == "" {
		prefix = list + "."
	}
	for _, outer := range above {
		if outer == t {
			return
		}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner, list := element(f.Type)
		switch {
		case f.Anonymous && name == "":
			d.fields(b, inner, prefix, width, append(above, t))
			continue
		case !f.IsExported() || name == "" || name == "-":
			continue
		}
		path := prefix + name + list
		fmt.Fprintf(b, "  %-28s %s\n", path, kindOf(inner))
		Wrap(b, d[t.String()+"."+f.Name], "      ", width)
		if isObject(inner) {
			d.fields(b, inner, path+".", width, append(above, t))
		}
	}
}

// element takes lists and pointers off a type.
func element(t reflect.Type) (inner reflect.Type, list string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Kind() == reflect.Slice {
			list += "[]"
		}
		t = t.Elem()
	}
	return t, list
}

// isObject says that a type is written as an object of its fields, and not by
// itself as a text.
func isObject(t reflect.Type) bool {
	_, itself := reflect.New(t).Interface().(interface{ MarshalText() ([]byte, error) })
	return t.Kind() == reflect.Struct && !itself
}

func kindOf(t reflect.Type) string {
	switch {
	case t.String() == "json.Number" || t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64:
		return "number"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case isObject(t):
		return "object"
	case t.Kind() == reflect.Map:
		return "object by name"
	}
	return "text"
}

// Wrap writes a text in lines of at most width columns.
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
