package shell

import (
	"os"
	"path/filepath"
	"sort"
	"strings"

	"ashlar/app/address"
)

// askOpen lets the person choose a file.
func (s *Shell) askOpen() {
	s.pick("Open a recording", (*Shell).typeOpen, func(s *Shell, paths []string) { s.Open(paths[0]) })
}

// typeOpen lets the person choose a file by a path to type and the list of what
// is there. It needs nothing of the desktop.
func (s *Shell) typeOpen() { s.typeOpenIn(s.startDir()) }

// typeOpenIn is typeOpen beginning with a folder.
func (s *Shell) typeOpenIn(dir string) {
	const sep = string(filepath.Separator)
	var c *chooser
	var read string
	var entries []os.DirEntry
	entry := func(path string) line {
		i, err := os.Stat(path)
		folder := err == nil && i.IsDir()
		l := line{title: filepath.Base(path), dim: folder, tab: path, take: func(s *Shell) {
			if folder {
				c.setText(path + sep)
				return
			}
			s.chooser = nil
			s.Open(path)
		}}
		if folder {
			l.title += sep
			l.tab += sep
		}
		return l
	}
	start := strings.TrimSuffix(dir, sep) + sep
	c = newChooser("A file to open", start, func(text string) []line {
		ls := s.recentLines(strings.TrimPrefix(text, start))
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
	c.submit = func(s *Shell, text string) bool {
		path := expandHome(text)
		if address.Is(text) {
			s.chooser = nil
			s.Open(text)
			return true
		}
		if i, err := os.Stat(path); err != nil || i.IsDir() {
			return false
		}
		s.chooser = nil
		s.Open(path)
		return true
	}
	s.choose(c)
}

// startDir is where choosing begins: beside the open file, else where one was
// opened last, else where the program was started.
func (s *Shell) startDir() string {
	if s.pane != nil {
		if p := s.pane.rec.Source.Path; p != "" && p != "-" {
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
