package shell

import (
	"path/filepath"
	"slices"
	"strings"

	"ashlar/app/core/locate"
	"ashlar/app/core/series"
	"ashlar/app/core/view"
	"ashlar/app/window/workspace"
	"ashlar/ingest/fetch"
	"ashlar/ingest/query/join"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// chooseFor asks what to do with several files or folders, after it has read the folders
// in the background.
func (s *Shell) chooseFor(paths []string) {
	go func() {
		files, _, err := locate.Runs(paths)
		s.Later(func() {
			switch {
			case err != nil && len(paths) == 1:
				s.typeOpenIn(paths[0])
				s.Say(fileName(paths[0]) + " is a folder. Open a file in it")
			case err != nil:
				s.Say(err.Error())
			case len(files) == 1:
				s.Open(files[0])
			default:
				s.chooseAmong(paths, files)
			}
		})
	}()
}

// chooseAmong asks what to do with the files found in paths.
func (s *Shell) chooseAmong(paths, files []string) {
	take := func(do func()) func() {
		return func() {
			s.Chooser = nil
			do()
		}
	}
	n := units.Plural(int64(len(files)), "file")
	var lines []widget.Line
	if sides, ok := locate.Sides(files); ok {
		name := func(i int) string {
			return workspace.OneLine(sides[i].Name) + " (" + units.Plural(int64(len(sides[i].Files)), "run") + ")"
		}
		lines = append(lines, widget.Line{Title: "Compare A: " + name(0) + " with B: " + name(1), Take: take(func() { s.compareRuns(sides[0].Files, sides[1].Files) })})
	}
	lines = append(lines, widget.Line{Title: "Open as runs of A", Detail: n + "; then open B", Take: take(func() {
		s.Open(files[0])
		s.Say(s.AddFiles(0, files[1:]))
	})})
	lines = append(lines, widget.Line{Title: "Join on one timeline", Detail: n + ", such as the ranks of a job", Take: take(func() { s.Open(join.Compact(files)) })})
	lines = append(lines, widget.Line{Title: "Show trend", Detail: "cost over " + units.Plural(int64(len(files)), "run") + ", by name", Take: take(func() { s.ShowTrend(files) })})
	if dated := slices.Clone(files); series.ByTime(dated) == nil && !slices.Equal(dated, files) {
		lines = append(lines, widget.Line{Title: "Show trend by time", Detail: "runs in the order of their files' times", Take: take(func() { s.ShowTrend(dated) })})
	}
	if s.Pane != nil {
		lines = append(lines, widget.Line{Title: "Compare with " + workspace.OneLine(s.Pane.Doc.Name), Detail: n + " as runs of B", Take: take(func() { s.Say(s.AddFiles(1, files)) })})
	}
	if len(paths) == 1 {
		lines = append(lines, widget.Line{Title: "Open a file in " + fileName(paths[0]), Take: take(func() { s.typeOpenIn(paths[0]) })})
	}
	lines = append(lines, widget.Line{Title: "Open first file", Detail: workspace.OneLine(filepath.Base(files[0])), Take: take(func() { s.Open(files[0]) })})
	if s.Do.Other != nil {
		lines = append(lines, widget.Line{Title: "Open each in its own window", Detail: units.Plural(int64(min(len(files), mostWindows)), "window"), Take: take(func() {
			s.Open(files[0])
			s.others(files[1:])
		})})
	}
	s.OpenChooser(widget.NewChooser("Open or compare "+n, "", func(text string) (found []widget.Line) {
		for _, l := range lines {
			if widget.HasWords(l.Title, text) {
				found = append(found, l)
			}
		}
		return found
	}))
}

// compareRuns compares several runs with several others.
func (s *Shell) compareRuns(a, b []string) {
	s.Open(a[0])
	s.AddFiles(0, a[1:])
	s.OpenBeside(b[0])
	s.AddFiles(1, b[1:])
	s.Say(units.Plural(int64(len(a)), "run") + " of A, " + units.Plural(int64(len(b)), "run") + " of B")
}

// askRuns asks for recordings to add to a side.
func (s *Shell) askRuns(side int) {
	to := "AB"[side : side+1]
	typed := func(s *Shell) { s.typeRuns(side) }
	s.pick("Add runs to "+to, typed, func(s *Shell, paths []string) { s.AddRuns(side, paths) })
}

// typeRuns asks for a file, a folder or a pattern in a text field.
func (s *Shell) typeRuns(side int) {
	add := func(s *Shell, path string) { s.AddRuns(side, []string{path}) }
	s.typePath("File, folder or pattern to add to "+"AB"[side:side+1], s.startDir(), true, add)
	c := s.Chooser
	submit := c.Submit
	c.Submit = func(text string) bool {
		path := strings.TrimSuffix(expandHome(text), separator)
		if fetch.IsURL(text) || view.IsAddress(text) {
			return submit(text)
		}
		if files, _, err := locate.Runs([]string{path}); err != nil || len(files) == 1 && files[0] == path {
			return submit(text)
		}
		s.Chooser = nil
		add(s, path)
		return true
	}
}
