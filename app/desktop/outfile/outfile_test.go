package outfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var replace = Options{Replace: true}

// names returns the names of a folder's entries.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.spaa")
	f, err := Create(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("half"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is there before it is whole")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != "" {
		t.Fatalf("what was given up leaves %s", got)
	}

	f, _ = Create(path, Options{})
	if _, err := f.WriteString("whole"); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if names(t, dir) != "out.spaa" || content(t, path) != "whole" {
		t.Errorf("there is %s with %q", names(t, dir), content(t, path))
	}

	if _, err := Create(path, Options{}); !errors.Is(err, ErrExists) {
		t.Errorf("error %v for a file that is there", err)
	}
	f, err = Create(path, replace)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil || content(t, path) != "whole" {
		t.Errorf("given up, the file is %q (%v)", content(t, path), err)
	}
}

// TestCreateRace checks that Commit does not replace a file that appeared during writing.
func TestCreateRace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.spaa")
	f, err := Create(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("theirs"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); !errors.Is(err, ErrExists) {
		t.Errorf("error %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if names(t, dir) != "out.spaa" || content(t, path) != "theirs" {
		t.Errorf("there is %s with %q", names(t, dir), content(t, path))
	}
}

// symlink makes a symbolic link, and skips the test if that fails or, as under Wine, makes
// something that does not look like a link.
func symlink(t *testing.T, to, link string) {
	t.Helper()
	if err := os.Symlink(to, link); err != nil {
		t.Skip(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Skip("symbolic links do not look like links here")
	}
}

func TestCreateForce(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "real.spaa"), filepath.Join(dir, "link.spaa")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	symlink(t, "real.spaa", link)
	f, err := Create(link, replace)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("new"); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 || content(t, path) != "new" {
		t.Errorf("the link is %v and the file %q (%v)", info.Mode(), content(t, path), err)
	}
	if info, err := os.Stat(path); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o640) {
		t.Errorf("the file's mode is %v (%v)", info.Mode(), err)
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		dir:                                  "is a folder. Name a file in it",
		filepath.Join(dir, "none", "x.spaa"): "cannot be written (",
	} {
		if _, err := Create(path, replace); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

// TestNot checks that a file being read is never replaced, by whatever path it is named.
func TestNot(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "run.json"), filepath.Join(dir, "link.json")
	if err := os.WriteFile(path, []byte("a recording"), 0o600); err != nil {
		t.Fatal(err)
	}
	symlink(t, path, link)
	o := Options{Replace: true, Not: []string{"-", "http://localhost/run", "", path}}
	for _, name := range []string{path, link, dir + "/./run.json"} {
		if err := Write(name, o, func(io.Writer) error { return nil }); err == nil || !strings.Contains(err.Error(), "is the input recording; name another file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if content(t, path) != "a recording" {
		t.Error("it was replaced")
	}
}
