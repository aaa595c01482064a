// Package outfile writes files atomically: a file appears under its name once it is
// complete. A full disk, an error, a signal or a killed program leaves the old file in
// place.
//
// A file is written next to its place under another name, synced to disk and renamed. A
// signal that ends the program removes the unfinished file; files left by a killed program
// are removed by the next program that writes into the same folder.
package outfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"ashlar/app/desktop/filelock"
)

// Options control how a file is written. With the zero value, the file must not exist
// yet.
type Options struct {
	// Replace allows replacing an existing file, whose mode is kept.
	Replace bool
	// Only limits Replace: an existing file that is not empty is replaced only if Only
	// returns nil for its first bytes.
	Only func(head []byte) error
	// Mode is the mode of a new file; 0 is 0666 less the user's umask.
	Mode fs.FileMode
	// Not lists files that are being read. They are never replaced, even if the file to
	// write names them by another path. Names that are not paths are allowed.
	Not []string
}

// File is a file being written.
type File struct {
	*os.File
	name string // final path
	Options
	done bool
}

// ErrExists is the cause of the error if the file already exists.
var ErrExists = errors.New("the file already exists")

// Create begins to write the named file. If the file exists and may not be replaced, the
// error's cause is [ErrExists]. The caller must call Close.
func Create(name string, o Options) (*File, error) {
	name, err := place(name, o)
	if err != nil {
		return nil, err
	}
	dir, base := filepath.Split(name)
	sweep(dir)
	out := &File{name: name, Options: o}
	if out.File, err = open.begin(out, dir, base); err != nil {
		return nil, Cannot(name, err)
	}
	if o.Mode != 0 {
		_ = out.Chmod(o.Mode) // has an effect only on systems with file modes
	}
	return out, nil
}

// Write writes a whole file. Its errors name the file.
func Write(name string, o Options, write func(io.Writer) error) error {
	f, err := Create(name, o)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := write(f); err != nil {
		return Cannot(name, err)
	}
	return f.Commit()
}

// Free returns the bytes that the user may still write to the file's disk, -1 if that is
// unknown.
func (f *File) Free() int64 { return free(filepath.Dir(f.Name())) }

// Apart returns an error if the file to write is one of the files being read, by whatever
// path.
func Apart(name string, read []string) error {
	info, err := os.Stat(name)
	if err != nil {
		return nil // the file is new
	}
	for _, path := range read {
		if other, err := os.Stat(path); err == nil && os.SameFile(other, info) {
			return fmt.Errorf("%s is the input recording; name another file", name)
		}
	}
	return nil
}

// place returns the final path of a file: the target of a symbolic link is replaced, not
// the link.
func place(name string, o Options) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		if to, err := os.Readlink(name); err == nil {
			return "", fmt.Errorf("%s is a link to %s, which does not exist. Name another file", name, to)
		}
		return name, nil
	}
	if info.IsDir() {
		return "", fmt.Errorf("%s is a folder. Name a file in it", name)
	}
	if err := Apart(name, o.Not); err != nil {
		return "", err
	}
	switch {
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a regular file", name)
	case !o.Replace:
		return "", fmt.Errorf("%s: %w; --force replaces it", name, ErrExists)
	}
	if o.Only != nil && info.Size() > 0 {
		head, err := beginning(name)
		if err == nil {
			err = o.Only(head)
		}
		if err != nil {
			return "", fmt.Errorf("%s %w. Name another file", name, err)
		}
	}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	return name, nil
}

// beginning reads the first bytes of a file.
func beginning(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	defer f.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if n == 0 {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	return head[:n], nil
}

// Unused returns an error if a file exists that is not to be replaced.
func Unused(name string, o Options) error {
	_, err := place(name, o)
	return err
}

// Picture returns a value for [Options.Only] that replaces only pictures of the type that
// the file name calls for: SVG or, for all other names, PNG.
func Picture(name string) func(head []byte) error {
	return func(head []byte) error {
		switch svg := strings.EqualFold(filepath.Ext(name), ".svg"); {
		case svg && !bytes.Contains(head, []byte("<svg")):
			return errors.New("exists and is not an SVG file")
		case !svg && !bytes.HasPrefix(head, []byte("\x89PNG\r\n")):
			return errors.New("exists and is not a PNG file")
		}
		return nil
	}
}

// Unfinished files are named PREFIX, a number, the final file name and SUFFIX. The
// writing program holds their lock.
const prefix, suffix = ".ashlar-", ".tmp"

var errTaken = errors.New("the name is taken")

// try creates the temporary file beside its final place.
func try(dir, base string) (*os.File, error) {
	// At most 100 bytes of the name, because file systems limit the length.
	temp := filepath.Join(dir, fmt.Sprintf("%s%08x-%s%s", prefix, rand.Uint32(), base[:min(len(base), 100)], suffix))
	f, err := createTemp(temp)
	if errors.Is(err, fs.ErrExist) {
		return nil, errTaken
	}
	if err != nil {
		return nil, err
	}
	held, err := filelock.Try(f)
	if err != nil {
		return f, nil // this system has no locks, so no other program sweeps
	}
	// Another program may have swept the file away before it was locked.
	here, herr := f.Stat()
	there, terr := os.Stat(temp)
	if !held || herr != nil || terr != nil || !os.SameFile(here, there) {
		f.Close()
		return nil, errTaken
	}
	return f, nil
}

// sweep removes the unfinished files that killed programs left in a folder. Files of
// running programs are locked and stay.
func sweep(dir string) {
	left, err := filepath.Glob(filepath.Join(escapeGlob(dir), prefix+"????????-*"+suffix))
	if err != nil {
		return
	}
	for _, path := range left {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		held, _ := filelock.Try(f)
		f.Close()
		if held {
			_ = os.Remove(path)
		}
	}
}

// Commit moves the file to its final path. Nothing may be written afterwards.
func (f *File) Commit() error {
	err := f.File.Sync()
	if err == nil || errors.Is(err, errors.ErrUnsupported) {
		err = f.put()
	}
	if err != nil {
		return Cannot(f.name, err)
	}
	syncDir(filepath.Dir(f.name))
	return nil
}

// put renames the file to its final path and closes it.
func (f *File) put() error {
	if err := f.rename(); err != nil {
		return err
	}
	f.done = true
	open.remove(f)
	_ = f.File.Close() // its contents are on the disk already
	return nil
}

func (f *File) rename() error {
	if info, err := os.Stat(f.name); err == nil && f.Replace && f.Mode == 0 {
		_ = os.Chmod(f.File.Name(), info.Mode().Perm()) // the mode of the file it replaces, if permitted
	}
	if !f.Replace {
		// A link, unlike a rename, does not replace a file that has appeared meanwhile.
		err := os.Link(f.File.Name(), f.name)
		if err == nil {
			return os.Remove(f.File.Name())
		}
		if errors.Is(err, fs.ErrExist) {
			return ErrExists
		}
		if _, err := os.Lstat(f.name); err == nil {
			return ErrExists
		}
	}
	return os.Rename(f.File.Name(), f.name)
}

// Close removes the file unless it was committed.
func (f *File) Close() error {
	if f.done {
		return nil
	}
	f.done = true
	open.remove(f)
	_ = f.File.Close() // for the second time if Commit failed
	return os.Remove(f.File.Name())
}

// syncDir flushes a rename to the disk if the system can sync folders; otherwise the file
// is complete anyway.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// Cannot returns the error for an output that cannot be written; name "-" is standard
// output.
func Cannot(name string, err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch { // these errors name the temporary file, which the user does not know
	case errors.As(err, &p):
		err = p.Err
	case errors.As(err, &l):
		err = l.Err
	}
	if name == "-" {
		name = "standard output"
	}
	advice := ""
	switch {
	case errors.Is(err, syscall.ENOSPC):
		advice = ". Make room on that disk, or write to another one"
	case errors.Is(err, syscall.EIO):
		advice = ". The disk is failing; write to another one"
	}
	return fmt.Errorf("%s cannot be written (%w)%s", name, err, advice)
}

// escapeGlob returns a pattern that matches only the path.
func escapeGlob(path string) string {
	if os.PathSeparator == '\\' {
		return path // patterns have no escapes on Windows
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
