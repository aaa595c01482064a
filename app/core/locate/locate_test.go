package locate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ashlar/app/core/view"
	stored "ashlar/ingest/format/store"
)

// put writes files and returns their paths by name.
func put(t *testing.T, dir string, texts map[string]string) map[string]string {
	t.Helper()
	at := map[string]string{}
	for name, text := range texts {
		at[name] = filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(at[name]), 0o755)
		if err == nil {
			err = os.WriteFile(at[name], []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return at
}

// addressed returns an address of files with their content digests, after writing and parsing
// it.
func addressed(t *testing.T, files ...string) *view.State {
	t.Helper()
	v := &view.State{Files: files}
	Name(v)
	v, err := view.Parse(v.String())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestFiles checks that moved files are found by their content only, and that a different file
// at the old path is reported.
func TestFiles(t *testing.T) {
	dir, far, here := t.TempDir(), t.TempDir(), t.TempDir()
	at := put(t, dir, map[string]string{"a": "main;f 1\n", "b": "main;f 2\n", "sub/c": "main;g 1\n"})
	both := addressed(t, at["a"], at["b"])
	is := func(what string, v *view.State, near []string, want, note string) {
		t.Helper()
		now := *v
		now.Files = slices.Clone(v.Files)
		notes, err := Files(&now, here, near)
		said := strings.Join(notes, "\n")
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, note) || note == "" && said != "" {
			t.Errorf("%s: it says %q, want %q", what, said, note)
		}
		if got := strings.Join(now.Files, " "); err == nil && (got != want || now.Contents != nil) {
			t.Errorf("%s: the files are %s with %v, want %s", what, got, now.Contents, want)
		}
	}
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	is("where they were", both, nil, at["a"]+" "+at["b"], "")
	to := filepath.Join(dir, "renamed")
	move(at["a"], to)
	is("renamed beside", both, nil, to+" "+at["b"], "does not exist. Opened "+to)
	put(t, dir, map[string]string{"a": "main;x 1\n"}) // with the same size
	is("beside another of its name", both, nil, to+" "+at["b"], "is not the recording that the address was copied from. Opened "+to)
	there := filepath.Join(here, "z")
	move(to, there)
	is("in the folder of the program", both, nil, there+" "+at["b"], there)
	move(there, filepath.Join(far, "z"))
	is("nowhere near", both, nil, at["a"]+" "+at["b"], "differs from the recording of the address")
	is("among recent files", both, []string{filepath.Join(far, "z")}, filepath.Join(far, "z")+" "+at["b"], "z instead")
	is("beside a recent file", both, []string{filepath.Join(far, "gone")}, filepath.Join(far, "z")+" "+at["b"], "z instead")
	if err := os.Remove(at["a"]); err != nil {
		t.Fatal(err)
	}
	is("gone", both, nil, "", "No file with the same contents")
	is("without a content", &view.State{Files: []string{at["a"]}}, []string{filepath.Join(far, "z")}, "", "there is no such file")
	is("no files", &view.State{Files: []string{"-", view.Demo, "http://h/x"}}, nil, "- demo: http://h/x", "")
	put(t, here, map[string]string{"rel": "main 1\n"})
	is("a path from the folder", &view.State{Files: []string{"rel"}}, nil, filepath.Join(here, "rel"), "")
}

// TestSecondMoves checks that the second recording of a bundle is found together with the
// bundle.
func TestSecondMoves(t *testing.T) {
	dir := t.TempDir()
	at := put(t, dir, map[string]string{"x.ashlar": "not looked into"})["x.ashlar"]
	v := addressed(t, at, stored.SecondOf(at))
	if notes, err := Files(v, "", nil); err != nil || notes != nil || v.Files[1] != at+"#b" {
		t.Errorf("%q, %v, %q", v.Files, err, notes)
	}
	v = addressed(t, at, stored.SecondOf(at))
	to := filepath.Join(dir, "y.ashlar")
	if err := os.Rename(at, to); err != nil {
		t.Fatal(err)
	}
	if _, err := Files(v, "", nil); err != nil || v.Files[0] != to || v.Files[1] != to+"#b" {
		t.Errorf("%q, %v", v.Files, err)
	}
}

// TestLarge checks that the digest of a large file covers chunks of it, including its
// beginning and end.
func TestLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	b := make([]byte, 6<<20)
	write := func() {
		t.Helper()
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write()
	is := addressed(t, path).Contents[0]
	if !HasContent(path, is) {
		t.Error("it does not hold what it holds")
	}
	for _, i := range []int{0, len(b) - 1} {
		b[i] = 1
		if write(); HasContent(path, is) {
			t.Errorf("with another byte %d it holds the same", i)
		}
		b[i] = 0
	}
	b = append(b, 0)
	if write(); HasContent(path, is) {
		t.Error("with another byte behind it holds the same")
	}
}
