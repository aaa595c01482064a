package shell

import (
	"os"
	"path/filepath"
	"sort"
	"strings"

	"ashlar/app/view"
	"ashlar/ingest/fetch"
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
	entry := func(path string) widget.Line {
		i, err := os.Stat(path)
		folder := err == nil && i.IsDir()
		l := widget.Line{Title: filepath.Base(path), Dim: folder, Tab: path, Take: func() {
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

// startDir is where choosing begins: beside the open file, else where one was
// opened last, else where the program was started.
func (s *Shell) startDir() string {
	if s.pane != nil {
		if p := s.pane.Rec.Source.Path; p != "" && p != "-" {
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
