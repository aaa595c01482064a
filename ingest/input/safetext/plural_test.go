package safetext

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestPlural(t *testing.T) {
	for want, got := range map[string]string{
		"1 span": Plural(1, "span"), "0 spans": Plural(0, "span"), "12000 spans": Plural(12000, "span"), "-1 spans": Plural(-1, "span"),
		"1 row of windows": Plural(1, "row of windows"), "2 rows of windows": Plural(2, "row of windows"),
		"3 categories": Plural(3, "category"), "1 category": Plural(uint64(1), "category"), "2 days": Plural(2, "day"),
		"2 processes": Plural(2, "process"), "4 light branches": Plural(4, "light branch"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// counted matches a plural noun after a formatted number: wrong if the number may be 1.
var counted = regexp.MustCompile(`%(\[\d\])?[dvs] (more |other |source )?(samples|records|spans|threads|calls|events|stacks|functions|frames|files|lines|rows|warnings|processes|marks|columns|lanes|values|counters|flows|packets|findings|arguments|bytes|locations|weights|keys)\b`)

// TestNumbersAreWorded checks that no string of the program formats a number before a
// plural noun. Plural and Noun choose the right form.
func TestNumbersAreWorded(t *testing.T) {
	right := []string{
		"at most %d", "more than %d", "longer than %d", "too long (%d", "calls itself", "supported are 1 to %d", "once every %d bytes", "names %d files; at most",
		"%s lists functions", "%d threads match", "zip archive of %d files",
		"%s files always hold all events", "%s files still open with", // %s is a format
	}
	root := filepath.Join("..", "..", "..")
	for _, dir := range []string{"app", "ingest", "render"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				text, _ := strconv.Unquote(lit.Value)
				if m := counted.FindString(text); m != "" {
					for _, r := range right {
						if strings.Contains(text, r) {
							return true
						}
					}
					t.Errorf("%s: %q of %q is wrong for 1; count by Plural", path, m, text)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
