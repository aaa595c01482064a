package shell

import (
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// askSave lets the person say where a file goes: name is offered, in the folder
// that files are opened from. save does it, in the background; what it returns
// is told.
func (s *Shell) askSave(hint, name string, save func(path string) error) {
	const sep = string(filepath.Separator)
	var c *chooser
	c = newChooser(hint, filepath.Join(s.startDir(), name), func(text string) []line {
		path := expandHome(text)
		dir, base := filepath.Split(path)
		var ls []line
		if i, err := os.Stat(path); base != "" && (err != nil || !i.IsDir()) {
			verb := "Save as "
			if err == nil {
				verb = "Replace "
			}
			ls = append(ls, line{title: verb + base, detail: shortFolder(filepath.Clean(dir)), take: func(s *Shell) {
				s.chooser = nil
				s.save(path, save)
			}})
		}
		entries, _ := os.ReadDir(dir)
		sort.SliceStable(entries, func(i, j int) bool { return entries[i].IsDir() && !entries[j].IsDir() })
		for _, e := range entries {
			if len(ls) > 200 || strings.HasPrefix(e.Name(), ".") {
				continue
			}
			full := filepath.Join(dir, e.Name())
			l := line{title: e.Name(), dim: true, tab: full, take: func(*Shell) { c.setText(full) }}
			if e.IsDir() {
				l.title += sep
				l.tab += sep
				l.take = func(*Shell) { c.setText(full + sep + base) }
			}
			ls = append(ls, l)
		}
		return ls
	})
	// What is typed takes the name's place.
	n := len([]rune(c.editor.Text()))
	c.editor.SetCaret(n, n-len([]rune(name)))
	s.choose(c)
}

// save runs in the background and says how it went.
func (s *Shell) save(path string, save func(path string) error) {
	s.Say("Saving " + filepath.Base(path) + " …")
	go func() {
		err := save(path)
		s.later(func(s *Shell) {
			if err != nil {
				s.Say(err.Error())
			} else {
				s.Say("Saved " + path)
			}
		})
	}()
}
