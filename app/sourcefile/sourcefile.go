// Package sourcefile finds the source files that a recording names, which often
// was made on another machine, and reads their lines.
package sourcefile

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Root says where source files lie: those whose path begins with From are below
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

// Find is the file on this machine that a recording calls name, "" when there
// is none. Looked at are, in this order: what roots with a From make of it; the
// path itself; below each other root the path with ever fewer of its leading
// folders, down to the name alone; and the same beside the recording.
func Find(name string, roots []Root, beside string) string {
	if name == "" || strings.ContainsRune(name, 0) {
		return ""
	}
	slashed := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	for _, r := range roots {
		if rest, ok := below(slashed, strings.ReplaceAll(r.From, `\`, "/")); ok {
			if p := filepath.Join(r.To, filepath.FromSlash(rest)); isFile(p) {
				return p
			}
		}
	}
	if filepath.IsAbs(name) && isFile(name) {
		return name
	}
	for _, r := range roots {
		if r.From == "" {
			if p := within(r.To, slashed); p != "" {
				return p
			}
		}
	}
	if beside != "" {
		return within(beside, slashed)
	}
	return ""
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

// within finds a path, or its end, in a folder. What leads out of the folder is
// not followed.
func within(folder, name string) string {
	parts := strings.Split(strings.TrimPrefix(path.Clean("/"+name), "/"), "/")
	for i := range parts {
		if p := filepath.Join(folder, filepath.Join(parts[i:]...)); isFile(p) {
			return p
		}
	}
	return ""
}

func isFile(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.Mode().IsRegular()
}

// mostBytes bounds a file that is shown.
const mostBytes = 16 << 20

// Lines reads a file's lines. What is no UTF-8 is replaced, tabs are made four
// blanks.
func Lines(file string) ([]string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.Size() > mostBytes {
		return nil, fmt.Errorf("%s is larger than %d MB", file, mostBytes>>20)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
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
