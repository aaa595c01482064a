package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ashlar/app/desktop/outfile"
	"ashlar/assets/desktop"
)

// record lists what was created, so that it can be removed. It is the file
// ashlar/installed.json in the data folder, beside the other files.
type record struct {
	// Files are relative to the data folder, with slashes. Dirs are the
	// folders that were not there before, absolute, outermost first.
	Files []string `json:"files"`
	Dirs  []string `json:"dirs"`
	// Sums are the SHA-256 digests of the files as they were written, in hexadecimal.
	Sums map[string]string `json:"sums,omitempty"`
	// Pinned maps a type to the program that opened it before. Ashlar was added behind
	// that program in the list of added associations.
	Pinned map[string]string `json:"pinned,omitempty"`
	// Section and List report whether the section of added associations, or all of
	// mimeapps.list, was created by Ashlar.
	Section bool `json:"section,omitempty"`
	List    bool `json:"list,omitempty"`

	// staged marks a folder of a package that is being built: all its files are Ashlar's.
	staged bool
}

const recordPath = "ashlar/installed.json"

// load reads the record below a data folder; a missing record is empty.
func load(data string) (*record, error) {
	r := &record{}
	b, err := os.ReadFile(filepath.Join(data, filepath.FromSlash(recordPath)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, nil
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s: the list of installed files cannot be read: %w", filepath.Join(data, recordPath), err)
	}
	for _, f := range r.Files {
		if !filepath.IsLocal(filepath.FromSlash(f)) {
			return nil, fmt.Errorf("%s: the list names a file outside the data folder: %s", filepath.Join(data, recordPath), f)
		}
	}
	return r, nil
}

// save writes the record.
func (r *record) save(data string) error {
	path := filepath.Join(data, filepath.FromSlash(recordPath))
	if err := r.mkdir(filepath.Dir(path)); err != nil {
		return err
	}
	b, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return write(path, append(b, '\n'), 0o644)
}

// mkdir creates a folder and its parents, and records the new ones.
func (r *record) mkdir(dir string) error {
	var fresh []string
	for d := dir; ; d = filepath.Dir(d) {
		_, err := os.Stat(d)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		fresh = append(fresh, d)
		if d == filepath.Dir(d) {
			break
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	slices.Reverse(fresh)
	for _, d := range fresh {
		if !slices.Contains(r.Dirs, d) {
			r.Dirs = append(r.Dirs, d)
		}
	}
	return nil
}

// prune removes the created folders, innermost first, unless they hold other files.
func (r *record) prune() {
	dirs := slices.Clone(r.Dirs)
	slices.SortFunc(dirs, func(a, b string) int { return len(b) - len(a) })
	for _, d := range dirs {
		_ = os.Remove(d) // fails if it is not empty
	}
}

// wrote records a file that was written.
func (r *record) wrote(f desktop.File) {
	if !slices.Contains(r.Files, f.Path) {
		r.Files = append(r.Files, f.Path)
	}
	if r.Sums == nil {
		r.Sums = map[string]string{}
	}
	r.Sums[f.Path] = digest(f.Data)
}

func digest(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// own reports whether the file at a path may be replaced or removed: it is missing, or its
// content is what Ashlar wrote there or would write now, perhaps for another program.
func (r *record) own(path string, f desktop.File) (bool, error) {
	if r.staged {
		return true, nil
	}
	i, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	case !i.Mode().IsRegular():
		return false, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	if bytes.Equal(b, f.Data) || digest(b) == r.Sums[f.Path] {
		return true, nil
	}
	if filepath.Base(path) != entryName {
		return false, nil
	}
	for line := range strings.Lines(string(b)) {
		if program, ok := strings.CutPrefix(line, "TryExec="); ok {
			entry, err := desktop.Entry(desktop.Unescape(strings.TrimSuffix(program, "\n")))
			return err == nil && bytes.Equal(b, entry), nil
		}
	}
	return false, nil
}

// write replaces a file atomically.
func write(path string, b []byte, mode fs.FileMode) error {
	return outfile.Write(path, outfile.Options{Replace: true, Mode: mode}, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// remove removes a file; a missing file is not an error.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
