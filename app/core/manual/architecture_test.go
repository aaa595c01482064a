package manual_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ashlar/app/core/manual"
	"ashlar/app/core/manual/manualtest"
	"ashlar/app/core/view"
)

var update = flag.Bool("update", false, "write the tables of the pages anew")

// folders returns the module's folders with Go packages, relative to its root.
func folders(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, top := range []string{"app", "render", "ingest", "spaa", "assets", "testdata"} {
		err := filepath.WalkDir(filepath.Join("../../..", top), func(dir string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				if files, _ := filepath.Glob(filepath.Join(dir, "*.go")); len(files) > 0 {
					all = append(all, strings.TrimPrefix(filepath.ToSlash(dir), "../../../"))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestMapOfPackages checks that the architecture page lists every package with its synopsis.
func TestMapOfPackages(t *testing.T) {
	var b strings.Builder
	b.WriteString("| package | what it does |\n|---|---|\n")
	for _, dir := range folders(t) {
		if line := synopsis(t, dir); line != "" {
			b.WriteString("| `" + dir + "` | " + line + " |\n")
		}
	}
	manualtest.CheckTable(t, "assets/manual/architecture.md", "packages", b.String(), *update)
}

// storeys lists the layers of the code from the bottom up. A package may import packages of
// its own layer and of those below. A layer is a folder with all folders below it that are not
// layers themselves.
var storeys = []struct{ folder, holds string }{
	{"spaa", "the SPAA library, for any program"},
	{"ingest/input", "bytes, text, numbers and the memory there is"},
	{"ingest/model", "a recording in memory; knows no format and no question"},
	{"ingest/fetch", "recordings on servers and on other machines"},
	{"ingest/query", "questions asked of a recording; knows no format"},
	{"ingest/format", "a folder a format, both ways, and what formats share"},
	{"ingest", "Open, Load and the registry of formats"},
	{"render", "pictures and the parts of a window; knows no files"},
	{"app/desktop", "the system around the program: files, locks, dialogs, drops, installation"},
	{"app/core", "what window and commands share: the session, the view, settings, tables"},
	{"app/agent", "answers for programs and reports: server, MCP, findings, claims"},
	{"app/window", "the window: the shell, timelines and panels"},
	{"app/command", "the command line, a file or folder a command"},
	{"app", "the programs"},
}

// storey returns the index of a folder's layer in storeys, -1 for folders outside the layers.
func storey(folder string) int {
	best := -1
	for i, s := range storeys {
		if (folder == s.folder || strings.HasPrefix(folder, s.folder+"/")) && (best < 0 || len(s.folder) > len(storeys[best].folder)) {
			best = i
		}
	}
	return best
}

// TestImportsRunDown checks that packages import only from their own layer and below. It also
// checks four rules: package spaa imports nothing of this module, formats do not import
// queries except to write files, commands do not import the window except to draw pictures,
// and only tests import test helpers.
func TestImportsRunDown(t *testing.T) {
	seen := 0
	for _, dir := range folders(t) {
		context := build.Default
		context.UseAllFiles = true
		p, _ := context.ImportDir(filepath.Join("../../..", dir), 0)
		mine := storey(dir)
		for _, path := range p.Imports {
			of, ours := strings.CutPrefix(path, "ashlar/")
			if !ours || mine < 0 {
				continue
			}
			seen++
			name := storeys[mine].folder
			switch theirs := storey(of); {
			case theirs > mine:
				t.Errorf("%s imports %s, which is above it: %s lies below %s", dir, of, name, storeys[theirs].folder)
			case dir == "spaa":
				t.Errorf("the format library imports %s", of)
			case theirs < 0 && strings.HasPrefix(of, "testdata/") && !strings.HasSuffix(dir, "test"):
				t.Errorf("%s imports %s, which is for tests", dir, of)
			case name == "ingest/format" && dir != "ingest/format/encode/sums" && strings.HasPrefix(of, "ingest/query/"):
				t.Errorf("%s imports %s: a format asks no questions", dir, of)
			case name == "app/command" && dir != "app/command/picture" && strings.HasPrefix(of+"/", "app/window/"):
				t.Errorf("%s imports %s: commands work without the window", dir, of)
			}
		}
	}
	if seen < 500 {
		t.Errorf("only %d imports were seen", seen)
	}
}

// TestTreeOfFolders checks the folder tree on the architecture page.
func TestTreeOfFolders(t *testing.T) {
	var b strings.Builder
	b.WriteString("```\n")
	for i := len(storeys) - 1; i >= 0; i-- {
		s := storeys[i]
		fmt.Fprintf(&b, "%-15s %s\n", s.folder+"/", s.holds)
		line := ""
		for _, dir := range folders(t) {
			rest, below := strings.CutPrefix(dir, s.folder+"/")
			if !below || storey(dir) != i {
				continue
			}
			if len(line)+len(rest) > 76 {
				b.WriteString("    " + strings.TrimSpace(line) + "\n")
				line = ""
			}
			line += rest + "  "
		}
		if line != "" {
			b.WriteString("    " + strings.TrimSpace(line) + "\n")
		}
	}
	b.WriteString("```\n")
	manualtest.CheckTable(t, "assets/manual/architecture.md", "folders", b.String(), *update)
}

// synopsis returns the first sentence of a package's documentation, "" for a folder with only
// tests.
func synopsis(t *testing.T, dir string) string {
	t.Helper()
	// Include files for other systems, because their packages are listed, too.
	context := build.Default
	context.UseAllFiles = true
	p, _ := context.ImportDir(filepath.Join("../../..", dir), build.ImportComment)
	if len(p.GoFiles)+len(p.CgoFiles) == 0 {
		return ""
	}
	line := new(doc.Package).Synopsis(p.Doc)
	if line == "" {
		t.Errorf("%s: no file says what the package is for", dir)
	}
	line = strings.TrimRight(regexp.MustCompile(`^(Package|Command) \w+ `).ReplaceAllString(line, ""), ".:")
	return strings.NewReplacer("|", `\|`, "*", `\*`, "<", `\<`, "[", "", "]", "").Replace(line)
}

// TestPagesNameWhatThereIs checks that names in the pages for contributors exist in the code:
// `pkg.Name`, `pkg.Type.method`, and folders.
func TestPagesNameWhatThereIs(t *testing.T) {
	declared := map[string]bool{}
	for _, dir := range folders(t) {
		declare(t, dir, declared)
	}
	name := regexp.MustCompile(`^[a-z]+(\.[A-Z]\w*(\.\w+)?|\.[a-z]\w*\.[a-z]\w*)$`)
	folder := regexp.MustCompile(`^(app|render|ingest|spaa|assets|testdata)/[\w/]+$`)
	found := 0
	for _, topic := range []string{"architecture", "extending", "measuring"} {
		page, ok := manual.Find(topic)
		if !ok {
			t.Fatalf("there is no page %s", topic)
		}
		for _, b := range page.Blocks {
			texts := append([]manual.Text{b.Text}, flat(b.Rows)...)
			for _, text := range texts {
				for _, run := range text {
					switch {
					case !run.Code:
					case name.MatchString(run.Text):
						found++
						if !declared[run.Text] {
							t.Errorf("%s: there is no %s", topic, run.Text)
						}
					case folder.MatchString(run.Text):
						if files, _ := filepath.Glob("../../../" + run.Text + "*"); len(files) == 0 {
							t.Errorf("%s: there is no %s", topic, run.Text)
						}
					}
				}
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d names were found on the pages", found)
	}
}

func flat(rows [][]manual.Text) (all []manual.Text) {
	for _, row := range rows {
		all = append(all, row...)
	}
	return all
}

// declare adds the names declared in a folder: package.Name, and package.Type.Name for methods
// and fields.
func declare(t *testing.T, dir string, declared map[string]bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../../..", dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	pkg := path.Base(dir) + "."
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				of := ""
				if d.Recv != nil {
					of = typeName(d.Recv.List[0].Type) + "."
				}
				declared[pkg+of+d.Name.Name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						declared[pkg+s.Name.Name] = true
						if st, ok := s.Type.(*ast.StructType); ok {
							for _, field := range st.Fields.List {
								for _, n := range field.Names {
									declared[pkg+s.Name.Name+"."+n.Name] = true
								}
							}
						}
					case *ast.ValueSpec:
						for _, n := range s.Names {
							declared[pkg+n.Name] = true
						}
					}
				}
			}
		}
	}
}

// typeName returns the name of a receiver's type, without pointer and type parameters.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// TestAddressFields checks that the page on addresses lists every key with its description in
// package view.
func TestAddressFields(t *testing.T) {
	var b strings.Builder
	b.WriteString("| key | value |\n|---|---|\n")
	for _, f := range view.Fields {
		if !strings.HasSuffix(f.Key, ".b") {
			b.WriteString("| `" + f.Key + "` | " + f.Doc + " |\n")
		}
	}
	manualtest.CheckTable(t, "assets/manual/addresses.md", "fields", b.String(), *update)
}
