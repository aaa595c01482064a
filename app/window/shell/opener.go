package shell

import (
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"ashlar/app/core/view"
	"ashlar/ingest"
	"ashlar/ingest/fetch"
	"ashlar/ingest/query/join"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// askOpen asks for a file to open.
func (s *Shell) askOpen() {
	s.pick("Open recording", (*Shell).typeOpen, (*Shell).OpenSeveral)
}

// mostWindows is the maximum number of windows that are opened at once.
const mostWindows = 12

// OpenSeveral opens files in place of the open recordings. Two files of one format open
// side by side; for more than two of one format, and for folders, it asks the user. Files
// of different formats open in a window each, the first in this one.
func (s *Shell) OpenSeveral(paths []string) {
	if slices.ContainsFunc(paths, IsFolder) {
		s.chooseFor(paths)
		return
	}
	if len(paths) < 2 {
		for _, p := range paths {
			s.Open(p)
		}
		return
	}
	go func() {
		alike := true
		for _, p := range paths[1:] {
			alike = alike && sameFormat(paths[0], p)
		}
		s.Later(func() {
			switch {
			case !alike:
				s.Open(paths[0])
				s.others(paths[1:])
			case len(paths) == 2:
				s.Open(paths[0])
				s.OpenBeside(paths[1])
			default:
				s.chooseFor(paths)
			}
		})
	}()
}

// IsFolder reports whether a path is that of a folder.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// sameFormat reports whether two files have the same format.
func sameFormat(a, b string) bool {
	x, errA := ingest.Recognise(a)
	y, errB := ingest.Recognise(b)
	return errA == nil && errB == nil && x.Name == y.Name
}

// others opens each of the files in a window of its own.
func (s *Shell) others(paths []string) {
	if s.Do.Other == nil {
		s.Say(units.Plural(int64(len(paths)), "more file") + " not opened: no other window can be opened")
		return
	}
	text := units.Plural(int64(min(len(paths), mostWindows)), "other window") + " opened. To compare two files of different formats, use Compare"
	if n := len(paths) - mostWindows; n > 0 {
		text = units.Plural(int64(n), "file") + " not opened: " + units.Count(mostWindows) + " at a time"
	}
	for _, p := range paths[:min(len(paths), mostWindows)] {
		if abs, err := filepath.Abs(p); err == nil && !fetch.IsURL(p) && !view.IsAddress(p) {
			p = abs
		}
		if err := s.Do.Other(p); err != nil {
			text = "No other window can be opened: " + err.Error()
			break
		}
	}
	s.Say(text)
}

// AskCompare asks for a file to compare with.
func (s *Shell) AskCompare() {
	if s.Pane == nil {
		s.askOpen()
		return
	}
	typed := func(s *Shell) { s.typePath("File to compare with", s.startDir(), true, (*Shell).OpenBeside) }
	s.pick("Compare with recording", typed, func(s *Shell, paths []string) { s.OpenBeside(paths[0]) })
}

// typeOpen asks for a file with a text field and a list of the folder's files. It needs
// no support from the desktop.
func (s *Shell) typeOpen() { s.typeOpenIn(s.startDir()) }

// typeOpenIn is typeOpen beginning with a folder.
func (s *Shell) typeOpenIn(dir string) { s.typePath("File to open", dir, true, (*Shell).Open) }

// typePath asks for a path in a text field and calls then with it; with recents it also
// lists recently opened files.
func (s *Shell) typePath(what, dir string, recents bool, then func(s *Shell, path string)) {
	f := &typedPath{shell: s, start: strings.TrimSuffix(dir, separator) + separator, recents: recents, then: then}
	f.chooser = widget.NewChooser(what, f.start, f.lines)
	f.chooser.Submit = f.submit
	s.OpenChooser(f.chooser)
}

const separator = string(filepath.Separator)

// mostTyped is the maximum number of files of a folder that are listed.
const mostTyped = 500

// typedPath is the state of a path being typed.
type typedPath struct {
	shell   *Shell
	chooser *widget.Chooser
	start   string // the folder that typing begins with
	recents bool
	then    func(s *Shell, path string)

	read    string // the folder of entries
	entries []os.DirEntry
	formats map[string]string // format of each file, once known
}

// lines returns the possible completions of a text.
func (f *typedPath) lines(text string) (ls []widget.Line) {
	if f.recents {
		ls = f.shell.recentLines(strings.TrimPrefix(text, f.start), f.then)
	}
	dir, prefix := filepath.Split(expandHome(text))
	if dir == "" {
		dir = "."
	}
	if dir != f.read {
		f.list(dir)
	}
	for _, e := range f.entries {
		if strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(prefix, ".") {
			continue
		}
		if strings.Contains(strings.ToLower(e.Name()), strings.ToLower(prefix)) && len(ls) < mostTyped {
			ls = append(ls, f.line(filepath.Join(dir, e.Name())))
		}
	}
	return ls
}

// list reads a folder, subfolders first, and starts detecting the formats of its files.
func (f *typedPath) list(dir string) {
	f.read, f.formats = dir, nil
	f.entries, _ = os.ReadDir(dir)
	go f.shell.lookInto(dir, f.entries, func(found map[string]string) {
		if dir == f.read {
			f.formats, f.chooser.Filled, f.chooser.Keep = found, false, true
		}
	})
	sort.SliceStable(f.entries, func(i, j int) bool { return f.entries[i].IsDir() && !f.entries[j].IsDir() })
}

// line returns the line of a file or a folder.
func (f *typedPath) line(path string) widget.Line {
	i, err := os.Stat(path)
	name := filepath.Base(path)
	if err == nil && i.IsDir() {
		return widget.Line{Title: name + separator, Detail: fileDetail(i, ""), Dim: true, Tab: path + separator, Take: func() {
			f.chooser.SetText(path + separator)
		}}
	}
	return widget.Line{Title: name, Detail: fileDetail(i, f.formats[path]), Tab: path, Take: func() { f.take(path) }}
}

// take closes the chooser and uses a path.
func (f *typedPath) take(path string) {
	f.shell.Chooser = nil
	f.then(f.shell, path)
}

// submit takes the typed text if it can be opened.
func (f *typedPath) submit(text string) bool {
	if fetch.IsURL(text) {
		f.take(text)
		return true
	}
	if view.IsAddress(text) {
		f.shell.Chooser = nil
		f.shell.Open(text)
		return true
	}
	if join.IsName(text) {
		f.take(join.Each(text, expandHome))
		return true
	}
	path := expandHome(text)
	if i, err := os.Stat(path); err != nil || i.IsDir() {
		return false
	}
	f.take(path)
	return true
}

// mostLooks is the maximum number of files of a folder whose formats are detected.
const mostLooks = 200

// lookInto detects the formats of files, and calls then with them on the window's
// goroutine.
func (s *Shell) lookInto(dir string, entries []os.DirEntry, then func(map[string]string)) {
	found := map[string]string{}
	for _, e := range entries[:min(len(entries), mostLooks)] {
		if path := filepath.Join(dir, e.Name()); e.Type().IsRegular() {
			if f, err := ingest.Recognise(path); err == nil {
				found[path] = f.Title
			}
		}
	}
	s.Later(func() { then(found) })
}

// fileDetail describes a file: its size, when it was changed and, if known, its format.
func fileDetail(i os.FileInfo, format string) string {
	if i == nil || !i.Mode().IsRegular() {
		return ""
	}
	text := units.Bytes(i.Size()) + " · " + i.ModTime().Format("2006-01-02 15:04")
	if format != "" {
		text = format + " · " + text
	}
	return text
}

// startDir returns the folder in which a file dialog starts: that of the open file, else of
// the last opened file, else the working directory.
func (s *Shell) startDir() string {
	if s.Pane != nil {
		if p := s.Pane.Rec.Source.Path; p != "" && p != "-" {
			if abs, err := filepath.Abs(p); err == nil {
				return filepath.Dir(abs)
			}
		}
	}
	if s.Keep != nil {
		if dir := s.Keep.Folder(); dir != "" {
			if i, err := os.Stat(dir); err == nil && i.IsDir() {
				return dir
			}
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return string(filepath.Separator)
	}
	return dir
}

// expandHome returns the path for a typed text: ~ is the user's home folder, and an
// absolute path typed after the initial folder (as in /a/b//c/d) starts at the second
// slash.
func expandHome(path string) string {
	if i := strings.LastIndex(path, "//"); i >= 0 && filepath.Separator == '/' {
		path = path[i+1:]
	}
	if i := strings.LastIndex(path, "/~/"); i >= 0 && filepath.Separator == '/' {
		path = path[i+1:]
	}
	if rest, ok := strings.CutPrefix(path, "~"+string(filepath.Separator)); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return path
}
