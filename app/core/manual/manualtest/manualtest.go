// Package manualtest checks tables in the manual and the README against the code they
// describe.
package manualtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// CheckTable compares the text between two marks of a Markdown file, named from the root
// of the module, with want, which is generated from the code:
//
//	<!-- MARK: this table is checked against the code by a test -->
//	<!-- end of MARK -->
//
// If update is true, it writes want to the file instead.
func CheckTable(t *testing.T, file, mark, want string, update bool) {
	t.Helper()
	name := filepath.Join(root(t), file)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+mark+": this table is checked against the code by a test -->\n", "<!-- end of "+mark+" -->"
	head, rest, ok := strings.Cut(string(b), begin)
	have, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no table after %s", file, begin)
	}
	if update {
		if err := os.WriteFile(name, []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have != want {
		t.Errorf("the table %s in %s differs from the code: it has\n%sand lacks\n%sTo update it, run in this folder: go test -run '^%s$' -update", mark, file, onlyIn(have, want), onlyIn(want, have), t.Name())
	}
}

// onlyIn returns the lines of a that are not in b.
func onlyIn(a, b string) string {
	var only strings.Builder
	for line := range strings.Lines(a) {
		if !strings.Contains(b, line) {
			only.WriteString("\t" + line)
		}
	}
	return only.String()
}

// root returns the module's folder.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod in any folder above")
		}
		dir = up
	}
}
