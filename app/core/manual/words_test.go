package manual_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// wordFolders are the folders with texts for users. mute are folders in them whose texts are
// for programs: shells, man, browsers, the system.
var (
	wordFolders = []string{"app", "render", "ingest", "spaa"}
	mute        = []string{"app/command/complete", "app/command/man", "app/core/manual/manualtest", "app/desktop/drop/native", "render/golden", "render/svg", "render/icon", "render/pixels"}
)

// Patterns of texts for users: two words with a blank between them or, in app and render, a
// single capitalized word such as a label.
var (
	sentence = regexp.MustCompile(`[\pL%][\pL'%]* +[\pL%(]|[\pL)] %|^ ?\pL[\pL ]+$`)
	label    = regexp.MustCompile(`^\p{Lu}\p{Ll}+$`)
	markup   = regexp.MustCompile(`^\s*<|://|^[A-Z0-9_]+$`)
)

// isText reports whether a string literal in a folder is a text for users.
func isText(folder, s string) bool {
	if markup.MatchString(s) || !strings.ContainsFunc(s, func(r rune) bool { return r >= 'a' && r <= 'z' }) {
		return false
	}
	return strings.Contains(s, " ") && sentence.MatchString(s) || !strings.HasPrefix(folder, "ingest") && !strings.HasPrefix(folder, "spaa") && label.MatchString(s)
}

// TestWords keeps all texts for users in testdata/words.txt, by folder and without duplicates,
// so that every changed text shows up in a diff.
func TestWords(t *testing.T) {
	const root = "../../.."
	texts := map[string]map[string]bool{}
	for _, top := range wordFolders {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(root, path)
			rel = filepath.ToSlash(rel)
			if d.IsDir() && (d.Name() == "testdata" || slices.Contains(mute, rel)) {
				return filepath.SkipDir
			}
			if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			folder := rel[:strings.LastIndex(rel, "/")]
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ImportSpec:
					return false
				case *ast.Field:
					n.Tag = nil
				case *ast.BasicLit:
					s, err := strconv.Unquote(n.Value)
					if n.Kind == token.STRING && err == nil && isText(folder, s) {
						if texts[folder] == nil {
							texts[folder] = map[string]bool{}
						}
						texts[folder][strings.ReplaceAll(s, "\n", "\n\t\t")] = true
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	for _, folder := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(&b, "%s\n", folder)
		for _, s := range slices.Sorted(maps.Keys(texts[folder])) {
			fmt.Fprintf(&b, "\t|%s|\n", s)
		}
	}
	name := filepath.Join(root, "testdata", "words.txt")
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	is, was := strings.Split(b.String(), "\n"), strings.Split(string(kept), "\n")
	var diff []string
	for sign, of := range map[string][2][]string{"+": {is, was}, "-": {was, is}} {
		others := map[string]bool{}
		for _, l := range of[1] {
			others[l] = true
		}
		for _, l := range of[0] {
			if !others[l] && len(diff) < 20 {
				diff = append(diff, sign+l)
			}
		}
	}
	if b.String() != string(kept) {
		t.Errorf("testdata/words.txt does not have the texts of the program:\n%s\nRead the changed texts, then write the list: go test ./app/core/manual -run Words -update", strings.Join(diff, "\n"))
	}
}
