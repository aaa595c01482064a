package shell

import (
	"os"
	"path/filepath"
	"sort"
	"strings"

	"ashlar/app/view"
	"ashlar/ingest"
	"ashlar/ingest/fetch"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// askOpen lets the person choose a file.
func (s *Shell) askOpen() {
	s.pick("Open a recording", (*Shell).typeOpen, func(s *Shell, paths []string) { s.Open(paths[0]) })
}

// askCompare lets the person choose a file to compare with.
func (s *Shell) askCompare() {
	typed := func(s *Shell) { s.typePath("A file to compare with", s.startDir(), true, (*Shell).OpenBeside) }
	s.pick("Compare with a recording", typed, func(s *Shell, paths []string) { s.OpenBeside(paths[0]) })
}

// typeOpen lets the person choose a file by a path to type and the list of what
// is there. It needs nothing of the desktop.
func (s *Shell) typeOpen() { s.typeOpenIn(s.startDir()) }

// typeOpenIn is typeOpen beginning with a folder.
func (s *Shell) typeOpenIn(dir string) { s.typePath("A file to open", dir, true, (*Shell).Open) }

// typePath lets a path be typed for something; recents offers the files that
// were opened before too.
func (s *Shell) typePath(what, dir string, recents bool, then func(s *Shell, path string)) {
	const sep = string(filepath.Separator)
	var c *widget.Chooser
	var read string
	var entries []os.DirEntry
	var formats map[string]string
	entry := func(path string) widget.Line {
		i, err := os.Stat(path)
		folder := err == nil && i.IsDir()
		l := widget.Line{Title: filepath.Base(path), Detail: fileDetail(i, formats[path]), Dim: folder, Tab: path, Take: func() {
			if folder {
				c.SetText(path + sep)
				return
			}
			s.Chooser = nil
			then(s, path)
		}}
		if folder {
			l.Title += sep
			l.Tab += sep
		}
		return l
	}
	start := strings.TrimSuffix(dir, sep) + sep
	c = widget.NewChooser(what, start, func(text string) []widget.Line {
		var ls []widget.Line
		if recents {
			ls = s.recentLines(strings.TrimPrefix(text, start), then)
		}
		dir, prefix := filepath.Split(expandHome(text))
		if dir == "" {
			dir = "."
		}
		if dir != read {
			read = dir
			entries, _ = os.ReadDir(dir)
			formats = nil
			go s.lookInto(dir, entries, func(found map[string]string) {
				if dir == read {
					formats, c.Filled, c.Keep = found, false, true
				}
			})
			sort.SliceStable(entries, func(i, j int) bool { return entries[i].IsDir() && !entries[j].IsDir() })
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(prefix, ".") {
				continue
			}
			if strings.Contains(strings.ToLower(e.Name()), strings.ToLower(prefix)) && len(ls) < 500 {
				ls = append(ls, entry(filepath.Join(dir, e.Name())))
			}
		}
		return ls
	})
	c.Submit = func(text string) bool {
		path := expandHome(text)
		if fetch.IsURL(text) {
			s.Chooser = nil
			then(s, text)
			return true
		}
		if view.Is(text) {
			s.Chooser = nil
			s.Open(text)
			return true
		}
		if i, err := os.Stat(path); err != nil || i.IsDir() {
			return false
		}
		s.Chooser = nil
		then(s, path)
		return true
	}
	s.OpenChooser(c)
}

// mostLooks is how many files of a folder are looked into for their format.
const mostLooks = 200

// lookInto finds out the formats of files, and says them on the window's
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

// fileDetail says how large a file is, when it was changed and, where that is
// known, what it is.
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

// startDir is where choosing begins: beside the open file, else where one was
// opened last, else where the program was started.
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

// expandHome makes a path of what was typed: ~ is the person's own folder, and
// an absolute path typed behind the folder that stood there (as /a/b//c/d)
// counts from its second slash.
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
