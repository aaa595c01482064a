// Package sourcefile finds the source files that a recording names, which may come from
// another machine, and reads their lines.
package sourcefile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"ashlar/ingest/input/source"
)

// Root is a place of source files: files whose path begins with From are below To. If
// From is "", any file may be there.
type Root struct{ From, To string }

// ParseRoot reads DIR or FROM=DIR.
func ParseRoot(s string) (Root, error) {
	from, to, ok := strings.Cut(s, "=")
	if !ok {
		from, to = "", s
	}
	if to == "" {
		return Root{}, fmt.Errorf("%q names no folder; write DIR or FROM=DIR", s)
	}
	return Root{from, to}, nil
}

// Outside is the error for a file that exists, but neither below a root nor beside the
// recording. A recording may name any of the user's files, so the user must permit a file
// before it is shown. A root above the file permits it.
type Outside struct {
	Path string
	// Root is the folder to permit: the known root that holds the file (see Known), else
	// the file's own folder.
	Root Root
}

func (e *Outside) Error() string {
	return e.Path + " is outside the source roots and not next to the recording; allow it with --source-root"
}

// Find returns the local path of the file that a recording calls name, "" if there is
// none. It tries, in this order: the paths from roots with a From; the path itself; below
// each other root, the path with fewer and fewer leading folders, down to the name alone;
// the same beside the recording; the known roots (see [Known]). The error is an [*Outside].
func Find(name string, roots []Root, beside string) (string, error) {
	if name == "" || strings.ContainsRune(name, 0) {
		return "", nil
	}
	var outside *Outside
	permitted := folders(roots, beside)
	for _, p := range candidates(name, roots, beside) {
		real, err := source.Ordinary(p)
		switch {
		case err != nil:
		case permitted.hold(real):
			return p, nil
		case outside == nil:
			outside = &Outside{p, Root{To: filepath.Dir(p)}}
		}
	}
	usual := known(Known(), name)
	switch {
	case outside == nil && usual == nil:
		return "", nil
	case outside == nil:
		if real, err := source.Ordinary(usual.Path); err == nil && permitted.hold(real) {
			return usual.Path, nil
		}
		return "", usual
	case usual != nil && usual.Path == outside.Path:
		return "", usual
	}
	return "", outside
}

// known returns the file that a recording calls name in one of the known roots, nil if
// there is none. The recording may come from another machine or name the file without its
// root, as -trimpath does.
func known(roots []string, name string) *Outside {
	slashed := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	for _, root := range roots {
		var rests []string
		if rest, ok := below(slashed, filepath.ToSlash(root)); ok {
			rests = append(rests, rest)
		}
		for _, mark := range []string{"/src/", "/pkg/mod/"} {
			if i := strings.LastIndex(slashed, mark); i >= 0 {
				rests = append(rests, slashed[i+len(mark):])
			}
		}
		if !path.IsAbs(slashed) {
			rests = append(rests, slashed)
		}
		for _, rest := range rests {
			p := filepath.Join(root, filepath.FromSlash(rest))
			if real, err := source.Ordinary(p); err == nil && filepath.IsLocal(filepath.FromSlash(rest)) && folders([]Root{{To: root}}, "").hold(real) {
				return &Outside{p, Root{strings.TrimRight(strings.TrimSuffix(slashed, rest), "/"), root}}
			}
		}
	}
	return nil
}

// Known returns the folders on this machine that usually hold sources of libraries: those
// of Go's standard library, Go's module cache and Cargo's registry.
func Known() (roots []string) {
	add := func(parts ...string) {
		dir := filepath.Join(parts...)
		if i, err := os.Stat(dir); parts[0] != "" && err == nil && i.IsDir() && !slices.Contains(roots, dir) {
			roots = append(roots, dir)
		}
	}
	add(os.Getenv("GOROOT"), "src")
	if tool, err := exec.LookPath("go"); err == nil {
		if tool, err = filepath.EvalSymlinks(tool); err == nil {
			add(filepath.Dir(filepath.Dir(tool)), "src")
		}
	}
	add("/usr/local/go", "src")
	add(os.Getenv("GOMODCACHE"))
	for _, dir := range filepath.SplitList(os.Getenv("GOPATH")) {
		add(dir, "pkg", "mod")
	}
	if home, err := os.UserHomeDir(); err == nil {
		add(home, "go", "pkg", "mod")
		add(home, ".cargo", "registry", "src")
	}
	return roots
}

// candidates returns the paths that Find tries, in order.
func candidates(name string, roots []Root, beside string) (paths []string) {
	slashed := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	for _, r := range roots {
		if rest, ok := below(slashed, strings.ReplaceAll(r.From, `\`, "/")); ok {
			paths = append(paths, filepath.Join(r.To, filepath.FromSlash(rest)))
		}
	}
	if filepath.IsAbs(name) {
		paths = append(paths, name)
	}
	for _, r := range roots {
		if r.From == "" {
			paths = append(paths, inFolder(r.To, slashed)...)
		}
	}
	if beside != "" {
		paths = append(paths, inFolder(beside, slashed)...)
	}
	return paths
}

// permitted lists the folders whose files may be shown, with links resolved.
type permitted []string

func folders(roots []Root, beside string) (p permitted) {
	add := func(dir string) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			if real, err = filepath.Abs(real); err == nil {
				p = append(p, real)
			}
		}
	}
	for _, r := range roots {
		add(r.To)
	}
	if beside != "" {
		add(beside)
	}
	return p
}

func (p permitted) hold(real string) bool {
	for _, dir := range p {
		if rest, err := filepath.Rel(dir, real); err == nil && filepath.IsLocal(rest) {
			return true
		}
	}
	return false
}

// below removes a leading folder from a path.
func below(name, folder string) (rest string, ok bool) {
	if folder == "" {
		return "", false
	}
	rest, ok = strings.CutPrefix(name, strings.TrimSuffix(folder, "/"))
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return strings.TrimPrefix(rest, "/"), true
}

// inFolder joins a folder with a path, and with the path without its first element, its
// first two elements and so on. The results stay inside the folder, even if the path has
// "..".
func inFolder(folder, name string) (paths []string) {
	parts := strings.Split(strings.TrimPrefix(path.Clean("/"+name), "/"), "/")
	for i := range parts {
		paths = append(paths, filepath.Join(folder, filepath.Join(parts[i:]...)))
	}
	return paths
}

// mostBytes is the maximum size of a file that is shown.
const mostBytes = 16 << 20

// Lines returns the lines of a file. Invalid UTF-8 is replaced, and tabs are expanded to
// multiples of four columns.
func Lines(file string) ([]string, error) {
	real, err := source.Ordinary(file)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostBytes+1)) // the file may be larger than its reported size
	switch {
	case err != nil:
		return nil, err
	case len(b) > mostBytes:
		return nil, fmt.Errorf("%s is larger than %d MB", file, mostBytes>>20)
	}
	b = bytes.TrimSuffix(b, []byte("\n"))
	lines := strings.Split(string(b), "\n")
	for i, l := range lines {
		l = strings.TrimSuffix(l, "\r")
		if !utf8.ValidString(l) {
			l = strings.ToValidUTF8(l, "\uFFFD")
		}
		lines[i] = expand(l)
	}
	return lines, nil
}

// tabWidth is the distance between tab stops, in columns.
const tabWidth = 4

// expand replaces tabs and other control characters by blanks.
func expand(l string) string {
	if strings.IndexFunc(l, func(r rune) bool { return r < ' ' }) < 0 {
		return l
	}
	var b strings.Builder
	n := 0
	for _, r := range l {
		switch {
		case r == '\t':
			k := tabWidth - n%tabWidth
			b.WriteString(strings.Repeat(" ", k))
			n += k
			continue
		case r < ' ':
			r = ' '
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
