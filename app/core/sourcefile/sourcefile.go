// Package sourcefile finds the source files that a recording names, which may come from
// another machine, and reads their lines.
package sourcefile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"ashlar/ingest/input/source"
)

// Root says where source files are: those whose path begins with From are below
// To; any file may be there when From is "".
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

// Outside is the error for a file that is here, but neither below a root nor
// beside the recording: a recording may name any file of the person's, so they
// are asked before it is shown. A root that it is below permits it.
type Outside struct{ Path string }

func (e *Outside) Error() string {
	return e.Path + " is outside the source roots and not next to the recording; allow it with --source-root"
}

// Find is the file on this machine that a recording calls name, "" when there
// is none. Looked at are, in this order: what roots with a From make of it; the
// path itself; below each other root the path with ever fewer of its leading
// folders, down to the name alone; and the same beside the recording. The error
// is an [*Outside].
func Find(name string, roots []Root, beside string) (string, error) {
	if name == "" || strings.ContainsRune(name, 0) {
		return "", nil
	}
	var outside error
	permitted := folders(roots, beside)
	for _, p := range candidates(name, roots, beside) {
		real, err := source.Ordinary(p)
		switch {
		case err != nil:
		case permitted.hold(real):
			return p, nil
		case outside == nil:
			outside = &Outside{p}
		}
	}
	return "", outside
}

// candidates are the paths that Find looks at.
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

// permitted are the folders whose files may be shown, without links.
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

// below takes a folder off a path.
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

// inFolder are a path, and its ends, in a folder. What leads out of the folder is
// not followed.
func inFolder(folder, name string) (paths []string) {
	parts := strings.Split(strings.TrimPrefix(path.Clean("/"+name), "/"), "/")
	for i := range parts {
		paths = append(paths, filepath.Join(folder, filepath.Join(parts[i:]...)))
	}
	return paths
}

// mostBytes bounds a file that is shown.
const mostBytes = 16 << 20

// Lines reads a file's lines. What is no UTF-8 is replaced, tabs are made four
// blanks.
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
	b, err := io.ReadAll(io.LimitReader(f, mostBytes+1)) // a file's size need not be what it says
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

// tabWidth is how many blanks a tab reaches to.
const tabWidth = 4

// expand puts blanks in place of tabs and of other characters that would move
// the pen.
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
