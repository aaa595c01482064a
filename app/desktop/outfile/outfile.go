// Package outfile writes files atomically: a file appears under its name once it is
// complete. A full disk, an error, a signal or a killed program leaves the old file in
// place.
//
// A file is written next to its place under another name, synced to disk and renamed. A
// signal that ends the program removes the unfinished file; files left by a killed program
// are removed by the next program that writes into the same folder.
package outfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"ashlar/app/desktop/filelock"
)

// Options say how a file is written. Without any it must not be there yet.
type Options struct {
	// Replace lets it take the place of a file, whose mode it keeps.
	Replace bool
	// Mode is that of a file that is new; 0 is 0666 without what the user's mask
	// takes away.
	Mode fs.FileMode
	// Not are files that are being read, by any path to them: they are never
	// replaced. What is not a file's path may be among them.
	Not []string
}

// File is one that is being written.
type File struct {
	*os.File
	name string // where it goes
	Options
	done bool
}

// ErrExists is the cause of the error for a file that is there already.
var ErrExists = errors.New("the file already exists")

// Create begins the named file. One that is there already is an error with the
// cause [ErrExists] where it is not to be replaced. The caller must Close.
func Create(name string, o Options) (*File, error) {
	name, err := place(name, o)
	if err != nil {
		return nil, err
	}
	dir, base := filepath.Split(name)
	sweep(dir)
	out := &File{name: name, Options: o}
	if out.File, err = open.begin(out, dir, base); err != nil {
		return nil, cannot(name, err)
	}
	if o.Mode != 0 {
		_ = out.Chmod(o.Mode) // where files have modes
	}
	return out, nil
}

// Write writes a whole file. Errors name it.
func Write(name string, o Options, write func(io.Writer) error) error {
	f, err := Create(name, o)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := write(f); err != nil {
		return cannot(name, err)
	}
	return f.Commit()
}

// Apart is an error where a file that is to be written is one of those that are
// read, by whatever path.
func Apart(name string, read []string) error {
	info, err := os.Stat(name)
	if err != nil {
		return nil // it is new
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
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	return name, nil
}

// Files that are being written are called PREFIX, a number, the end of their
// name and SUFFIX, and are locked by who writes them.
const prefix, suffix = ".ashlar-", ".tmp"

var errTaken = errors.New("the name is taken")

// try makes the file that is written beside its place.
func try(dir, base string) (*os.File, error) {
	// No more than 100 bytes of the name, since names have a longest.
	temp := filepath.Join(dir, fmt.Sprintf("%s%08x-%s%s", prefix, rand.Uint32(), base[:min(len(base), 100)], suffix))
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, errTaken
	}
	if err != nil {
		return nil, err
	}
	held, err := filelock.Try(f)
	if err != nil {
		return f, nil // there are no locks: nobody sweeps here
	}
	// Before it was locked another program may have swept it away.
	here, herr := f.Stat()
	there, terr := os.Stat(temp)
	if !held || herr != nil || terr != nil || !os.SameFile(here, there) {
		f.Close()
		return nil, errTaken
	}
	return f, nil
}

// sweep removes from a folder what programs left behind that were killed: files
// that nobody has locked.
func sweep(dir string) {
	left, err := filepath.Glob(filepath.Join(escapeGlob(dir), prefix+"????????-*"+suffix))
	if err != nil {
		return
	}
	for _, path := range left {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || renamedUnlocked && time.Since(info.ModTime()) < time.Minute {
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

// Commit puts the file in its place. Nothing may be written behind it.
func (f *File) Commit() error {
	err := f.File.Sync()
	if err == nil || errors.Is(err, errors.ErrUnsupported) {
		err = f.put()
	}
	if err != nil {
		return cannot(f.name, err)
	}
	syncDir(filepath.Dir(f.name))
	return nil
}

// renamedUnlocked says that a file is closed, and its lock gone, before it has
// its name: Windows renames no open file.
const renamedUnlocked = runtime.GOOS == "windows"

// put gives the file its name and closes it.
func (f *File) put() (err error) {
	if renamedUnlocked {
		err = f.File.Close()
	}
	if err == nil {
		err = f.rename()
	}
	if err != nil {
		return err
	}
	f.done = true
	open.remove(f)
	_ = f.File.Close() // what is in it is on the disk already
	return nil
}

func (f *File) rename() error {
	if info, err := os.Stat(f.name); err == nil && f.Replace && f.Mode == 0 {
		_ = os.Chmod(f.File.Name(), info.Mode().Perm()) // as the one it replaces, where that may be
	}
	if !f.Replace {
		// A link, unlike a rename, does not replace what has appeared
		// meanwhile.
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

// Close takes away what was not committed.
func (f *File) Close() error {
	if f.done {
		return nil
	}
	f.done = true
	open.remove(f)
	_ = f.File.Close() // a second time where Commit failed
	return os.Remove(f.File.Name())
}

// syncDir forces a rename to the disk where folders can be forced; where they
// cannot, the file is whole anyway.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// cannot is the error of a file that cannot be written.
func cannot(name string, err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch { // which name the file that nobody knows
	case errors.As(err, &p):
		err = p.Err
	case errors.As(err, &l):
		err = l.Err
	}
	return fmt.Errorf("%s cannot be written (%w)", name, err)
}

// escapeGlob makes of a path a pattern that only it matches.
func escapeGlob(path string) string {
	if os.PathSeparator == '\\' {
		return path // where patterns have no escapes
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
