package locate

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestRuns checks that a folder yields its recordings ordered by name, with numbers by value,
// and that other files are listed as skipped.
func TestRuns(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"run-10.folded": "main;f 3\n", "run-9.folded": "main;f 3\n", "run-009b.folded": "main;f 3\n", ".hidden.folded": "main;f 3\n", "notes.txt": "nothing of the kind\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "more"), 0o700); err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) (paths []string) {
		for _, n := range names {
			paths = append(paths, filepath.Join(dir, n))
		}
		return paths
	}
	files, skipped, err := Runs([]string{dir})
	if want := in("run-9.folded", "run-009b.folded", "run-10.folded"); err != nil || !reflect.DeepEqual(files, want) || !reflect.DeepEqual(skipped, in("notes.txt")) {
		t.Errorf("the folder has %q, without %q, %v; want %q", files, skipped, err, want)
	}
	files, _, err = Runs([]string{filepath.Join(dir, "run-1*"), filepath.Join(dir, "run-9.folded")})
	if want := in("run-10.folded", "run-9.folded"); err != nil || !reflect.DeepEqual(files, want) {
		t.Errorf("the pattern and the file are %q, %v", files, err)
	}
	for _, arg := range []string{filepath.Join(dir, "more"), filepath.Join(dir, "none-*")} {
		if _, _, err := Runs([]string{arg}); err == nil {
			t.Errorf("%s names recordings", arg)
		}
	}
}
