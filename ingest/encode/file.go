package encode

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// File is a file that appears under its name when it is whole, or never. It is
// written beside its place under another name.
type File struct {
	*os.File
	name  string // where it goes
	force bool
	done  bool
}

// ErrExists is the cause of [Create]'s error for a file that is there already.
var ErrExists = errors.New("the file exists already")

// Create begins the named file. One that is there already is an error with the
// cause [ErrExists], unless force is set: then Commit replaces it. The caller
// must Close.
func Create(name string, force bool) (*File, error) {
	if info, err := os.Stat(name); err == nil {
		switch {
		case info.IsDir():
			return nil, fmt.Errorf("%s: is a directory; name a file in it", name)
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s: is no ordinary file", name)
		case !force:
			return nil, fmt.Errorf("%s: %w; --force replaces it", name, ErrExists)
		}
		// What a link leads to is replaced, not the link.
		if real, err := filepath.EvalSymlinks(name); err == nil {
			name = real
		}
	}
	dir, base := filepath.Split(name)
	for {
		// No more than 100 bytes of the name, since names have a longest.
		temp := filepath.Join(dir, fmt.Sprintf(".%s.%08x.tmp", base[:min(len(base), 100)], rand.Uint32()))
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: it cannot be written (%w)", name, cause(err))
		}
		return &File{File: f, name: name, force: force}, nil
	}
}

// cause is the part of an error behind its path.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}

// Commit puts the file in its place. Nothing may be written behind it.
func (f *File) Commit() error {
	err := f.File.Sync()
	if err == nil || errors.Is(err, errors.ErrUnsupported) {
		err = f.File.Close()
	}
	if err == nil {
		err = f.place()
	}
	if err != nil {
		return fmt.Errorf("%s: it cannot be written (%w)", f.name, cause(err))
	}
	f.done = true
	return nil
}

func (f *File) place() error {
	if info, err := os.Stat(f.name); err == nil && f.force {
		_ = os.Chmod(f.File.Name(), info.Mode().Perm()) // as the one it replaces, where that may be
	}
	if !f.force {
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
	_ = f.File.Close() // a second time where Commit failed
	return os.Remove(f.File.Name())
}
