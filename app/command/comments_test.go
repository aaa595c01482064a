package command

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ashlar/app/agent/budget"
	"ashlar/testdata/rounds"
)

// TestFieldComments checks that help json describes each field by its comment in the source.
func TestFieldComments(t *testing.T) {
	rounds.Unraced(t)
	lines := map[string]bool{}
	types := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map || of.Kind() == reflect.Array {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || types[of] {
			return
		}
		types[of] = true
		for i := range of.NumField() {
			if f := of.Field(i); f.Anonymous || f.Tag.Get("json") != "" {
				visit(f.Type)
			}
		}
	}
	for _, a := range append(answers(), answer{of: reflect.TypeFor[budget.Cut]()}) {
		visit(a.of)
	}
	packages := map[string]map[string]*ast.StructType{}
	for of := range types {
		path := of.PkgPath()
		if packages[path] == nil {
			packages[path] = structs(t, filepath.Join("../..", strings.TrimPrefix(path, "ashlar/")))
		}
		known := packages[path][of.Name()]
		if known == nil {
			continue // a type of another module
		}
		for _, f := range known.Fields.List {
			for _, name := range f.Names {
				if text := strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " "); text != "" && f.Tag != nil {
					lines[fmt.Sprintf("%s.%s\t%s\n", of, name.Name, text)] = true
				}
			}
		}
	}
	var all []string
	for l := range lines {
		all = append(all, l)
	}
	slices.Sort(all)
	want := strings.Join(all, "")
	const name = "jsondoc/fields.txt"
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != want {
		t.Errorf("%s is not what the source says: go test ./app/command -run FieldComments -update (%v)", name, err)
	}
}

// structs returns the struct types of a package by name.
func structs(t *testing.T, dir string) map[string]*ast.StructType {
	t.Helper()
	all := map[string]*ast.StructType{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, s := range g.Specs {
				if x, ok := s.(*ast.TypeSpec).Type.(*ast.StructType); ok {
					all[s.(*ast.TypeSpec).Name.Name] = x
				}
			}
		}
	}
	return all
}
