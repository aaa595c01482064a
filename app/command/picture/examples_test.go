package picture

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"ashlar/app/command"
)

// TestExamplesNameViews checks that every --view in the manual, the README and the help of
// render exists.
func TestExamplesNameViews(t *testing.T) {
	pages, err := filepath.Glob("../../../assets/manual/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, "../../../README.md", "../render.go")
	known := slices.Concat(command.Views, command.CompareViews)
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`ashlar render [^\n]*--view ([a-z]+)`).FindAllStringSubmatch(string(text), -1) {
			found++
			if !slices.Contains(known, m[1]) {
				t.Errorf("%s: render has no view %s", page, m[1])
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d views were found", found)
	}
}
