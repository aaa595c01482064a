// Package samples finds test recordings outside this repository: files of other programs,
// sorted by format, in the folder named by ASHLAR_SAMPLES. Without that folder, tests
// that need a certain file are skipped, and lists of files are empty.
package samples

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func folder() string { return os.Getenv("ASHLAR_SAMPLES") }

// Need skips a test that uses only samples, if there are none.
func Need(t testing.TB) {
	t.Helper()
	if folder() == "" {
		t.Skip("ASHLAR_SAMPLES names no folder of recordings")
	}
}

// Path returns the path of a sample by its name, such as "spall/v0.spall"; INDEX.md
// describes the samples.
func Path(t testing.TB, name string) string {
	t.Helper()
	Need(t)
	return filepath.Join(folder(), filepath.FromSlash(name))
}

// Read returns the content of a sample by its name.
func Read(t testing.TB, name string) []byte {
	t.Helper()
	return content(t, Path(t, name))
}

// Files returns, in order, the paths of the samples whose names match a pattern of
// path/filepath.Match, or of all samples if there are no patterns. A pattern without a
// match fails the test.
func Files(t testing.TB, patterns ...string) (paths []string) {
	t.Helper()
	dir := folder()
	if dir == "" {
		return nil
	}
	if len(patterns) == 0 {
		return Below(t, dir)
	}
	for _, p := range patterns {
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(p)))
		if err != nil || len(found) == 0 {
			t.Fatalf("ASHLAR_SAMPLES=%s has no %s (%v)", dir, p, err)
		}
		paths = append(paths, found...)
	}
	return paths
}

// Each yields the names and contents of the samples that Files lists.
func Each(t testing.TB, patterns ...string) iter.Seq2[string, []byte] {
	t.Helper()
	return func(yield func(string, []byte) bool) {
		for _, path := range Files(t, patterns...) {
			if !yield(Name(path), content(t, path)) {
				return
			}
		}
	}
}

// Name returns the name of the sample at a path.
func Name(path string) string {
	name, err := filepath.Rel(folder(), path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(name)
}

// Below lists all files in folders, except for descriptions (*.md). A folder without
// files fails the test.
func Below(t testing.TB, dirs ...string) (paths []string) {
	t.Helper()
	for _, dir := range dirs {
		before := len(paths)
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && filepath.Ext(path) != ".md" {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil || len(paths) == before {
			t.Fatalf("there are no recordings in %s (%v)", dir, err)
		}
	}
	return paths
}

// Small keeps the paths of files of at most the given number of bytes.
func Small(most int64, paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool {
		st, err := os.Stat(path)
		return err != nil || st.Size() > most
	})
}

// Unpack returns the content, decompressed if it is gzip.
func Unpack(t testing.TB, content []byte) []byte {
	t.Helper()
	if !bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
		return content
	}
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if content, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return content
}

func content(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
