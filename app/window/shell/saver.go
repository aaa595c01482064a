package shell

import (
	"os"
	"path/filepath"
	"sort"
	"strings"

	"ashlar/app/core/session"
	"ashlar/app/window/panel"
	"ashlar/render/widget"
)

// askSave asks for a path to save to, starting with name in the folder of the file
// dialogs. It calls save in the background and reports the result.
func (s *Shell) askSave(hint, name string, save func(path string) error) {
	const sep = string(filepath.Separator)
	var c *widget.Chooser
	c = widget.NewChooser(hint, filepath.Join(s.startDir(), name), func(text string) []widget.Line {
		path := expandHome(text)
		dir, base := filepath.Split(path)
		var ls []widget.Line
		if i, err := os.Stat(path); base != "" && (err != nil || !i.IsDir()) {
			verb := "Save as "
			if err == nil {
				verb = "Replace "
			}
			ls = append(ls, widget.Line{Title: verb + base, Detail: panel.ShortFolder(filepath.Clean(dir)), Take: func() {
				s.Chooser = nil
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
			l := widget.Line{Title: e.Name(), Dim: true, Tab: full, Take: func() { c.SetText(full) }}
			if e.IsDir() {
				l.Title += sep
				l.Tab += sep
				l.Take = func() { c.SetText(full + sep + base) }
			}
			ls = append(ls, l)
		}
		return ls
	})
	// Select the name, so that typing replaces it.
	n := len([]rune(c.Editor.Text()))
	c.Editor.SetCaret(n, n-len([]rune(name)))
	s.OpenChooser(c)
}

// save runs save in the background and reports the result.
func (s *Shell) save(path string, save func(path string) error) {
	s.Say("Saving " + filepath.Base(path) + " …")
	session.Go(func() {
		err := save(path)
		s.Later(func() {
			if err != nil {
				s.Say(err.Error())
			} else {
				s.Say("Saved " + path)
			}
		})
	})
}
