package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"ashlar/app/desktop/drop"
)

// TestSortDrop checks that folders are separated from files, that only the first of very
// many files are used, and that missing files are kept because opening them reports the
// error.
func TestSortDrop(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "folder.spaa")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	var files []string
	for i := range 10 {
		files = append(files, filepath.Join(dir, fmt.Sprint(i)))
		if i == 1 {
			continue // missing
		}
		if err := os.WriteFile(files[i], nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	many := make([]string, 100_000)
	for i := range many {
		many[i] = folder
	}
	for _, c := range []struct {
		name  string
		paths []string
		want  sorted
	}{
		{"nothing", nil, sorted{}},
		{"one", files[:1], sorted{files: files[:1]}},
		{"two, one gone", files[:2], sorted{files: files[:2]}},
		{"ten", files, sorted{files: files}},
		{"a folder", []string{folder}, sorted{folders: []string{folder}}},
		{"a folder among files", append([]string{folder}, files[2:6]...), sorted{files: files[2:6], folders: []string{folder}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := sortDrop(drop.Files{Paths: c.paths}, opens); !reflect.DeepEqual(got, c.want) {
				t.Errorf("sorted as %+v, want %+v", got, c.want)
			}
		})
	}
	if got := sortDrop(drop.Files{Paths: many}, opens); len(got.folders)+got.left != len(many) {
		t.Errorf("of %d folders %d are looked at and %d left", len(many), len(got.folders), got.left)
	}
}
