package install

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// Prefix is an installation folder for all users of a system, such as /usr/local.
type Prefix struct {
	// Root is the prefix, absolute. For packages being built, Dest is put before it: the
	// files go below Dest but refer to Root.
	Root, Dest string
}

func (p Prefix) in(path string) string { return filepath.Join(p.Dest, p.Root, path) }

func (p Prefix) check() error {
	if runtime.GOOS == "windows" {
		return fmt.Errorf("--prefix is not supported on Windows; leave it out to install for yourself")
	}
	if !filepath.IsAbs(p.Root) || p.Dest != "" && !filepath.IsAbs(p.Dest) {
		return fmt.Errorf("the prefix %s%s is not an absolute path", p.Dest, p.Root)
	}
	return nil
}

// Install copies a program to the prefix's bin and the desktop's files to its
// share.
func (p Prefix) Install(program string) ([]Line, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	data := p.in("share")
	r, err := load(data)
	if err != nil {
		return nil, err
	}
	r.staged = p.Dest != ""
	b, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	bin := p.in("bin/ashlar")
	if err := r.mkdir(filepath.Dir(bin)); err != nil {
		return nil, err
	}
	if err := write(bin, b, 0o755); err != nil {
		return nil, err
	}
	lines, err := put(data, p.command(), r)
	if p.Dest != "" {
		if err == nil {
			lines = append(lines, ok("%s; run update-mime-database and update-desktop-database after unpacking", bin))
		}
		return lines, err // no record: the package manager has its own
	}
	if serr := r.save(data); err == nil {
		err = serr
	}
	if err != nil {
		return lines, err
	}
	return append(append(lines, ok("%s", bin)), refresh(data)...), nil
}

// command returns the program as the desktop entry starts it: only its name if the folder
// is on every session's PATH.
func (p Prefix) command() string {
	root := filepath.Clean(p.Root)
	if slices.Contains([]string{"/usr", "/usr/local"}, root) {
		return "ashlar"
	}
	return filepath.Join(root, "bin/ashlar")
}

// Remove undoes Install.
func (p Prefix) Remove() ([]Line, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	data := p.in("share")
	r, err := load(data)
	if err != nil {
		return nil, err
	}
	r.staged = p.Dest != ""
	if err := remove(p.in("bin/ashlar")); err != nil {
		return nil, err
	}
	lines, err := take(data, r)
	if err != nil {
		return lines, err
	}
	if p.Dest == "" {
		lines = append(lines, refresh(data)...)
		sweep(data)
	}
	if err := remove(filepath.Join(data, filepath.FromSlash(recordPath))); err != nil {
		return lines, err
	}
	r.prune()
	return lines, nil
}
