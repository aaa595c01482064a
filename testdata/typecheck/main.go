// Command typecheck type-checks packages and their tests for other systems from source.
// go vet would first compile everything for the other system, which takes ten times as
// long.
//
//	go run ./testdata/typecheck windows/arm64 darwin/arm64 -- ./...
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	i := slices.Index(os.Args, "--")
	if i < 0 {
		fmt.Fprintln(os.Stderr, "usage: typecheck SYSTEM/PROCESSOR… -- PACKAGE…")
		os.Exit(2)
	}
	foreign, err := folders()
	if err != nil {
		fmt.Fprintln(os.Stderr, "typecheck:", err)
		os.Exit(1)
	}
	failed := false
	for _, system := range os.Args[1:i] {
		wrong, err := check(system, os.Args[i+1:], foreign)
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		for _, text := range wrong {
			fmt.Fprintf(os.Stderr, "%s: %s\n", system, text)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// folders returns the folders of foreign packages: the standard library and modules.
func folders() ([]string, error) {
	out, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("asking go where packages are: %w", err)
	}
	var all []string
	for line := range strings.Lines(string(out)) {
		all = append(all, strings.TrimSpace(line)+string(os.PathSeparator))
	}
	return all, nil
}

// check returns the type errors on a system such as windows/arm64, each only once. It does not check function
// bodies in foreign folders, because our code depends only on the declarations there.
func check(system string, patterns, foreign []string) (wrong []string, err error) {
	system, arch, _ := strings.Cut(system, "/")
	cfg := &packages.Config{Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps, Env: append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")}
	all, err := packages.Load(cfg, patterns...)
	if err != nil {
		return nil, err
	}
	names := compiled(all, system)
	cfg.Mode |= packages.NeedTypes | packages.NeedSyntax
	cfg.Tests = true
	cfg.ParseFile = func(set *token.FileSet, name string, content []byte) (*ast.File, error) {
		file, err := parser.ParseFile(set, name, content, parser.AllErrors|parser.SkipObjectResolution)
		if file != nil && slices.ContainsFunc(foreign, func(dir string) bool { return strings.HasPrefix(name, dir) }) {
			withoutBodies(file)
		}
		return file, err
	}
	if all, err = packages.Load(cfg, names...); err != nil {
		return nil, err
	}
	for _, p := range all {
		for _, e := range p.Errors {
			if text := e.Error(); !slices.Contains(wrong, text) {
				wrong = append(wrong, text)
			}
		}
	}
	return wrong, nil
}

// withoutBodies removes the bodies of all functions.
func withoutBodies(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}

// compiled names the packages that can be compiled without cgo. On a Mac, packages that
// draw in a window cannot.
func compiled(all []*packages.Package, system string) (names []string) {
	draws := map[*packages.Package]bool{}
	packages.Visit(all, nil, func(p *packages.Package) {
		draws[p] = p.PkgPath == "gioui.org/internal/gl"
		for _, q := range p.Imports {
			draws[p] = draws[p] || draws[q]
		}
	})
	for _, p := range all {
		if system != "darwin" || !draws[p] {
			names = append(names, p.PkgPath)
		}
	}
	return names
}
