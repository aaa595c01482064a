package shell

import (
	"cmp"
	"slices"
	"strings"

	"ashlar/app/panel"
	"ashlar/render/widget"
)

// openPalette shows all commands to choose from.
func (s *Shell) openPalette() {
	s.OpenChooser(widget.NewChooser("What to do", "", func(text string) []widget.Line {
		var ls []widget.Line
		for _, c := range Commands {
			if c.needs && s.Pane == nil || !widget.HasWords(c.Title, text) {
				continue
			}
			keys := ""
			if len(c.Keys) > 0 {
				keys = c.Keys[0].String()
			}
			ls = append(ls, widget.Line{Title: c.Title, Detail: keys, Take: func() {
				s.Chooser = nil
				s.ran(c.Title)
				c.do(s)
			}})
		}
		slices.SortStableFunc(ls, func(a, b widget.Line) int {
			return cmp.Or(cmp.Compare(titleRank(a.Title, text), titleRank(b.Title, text)), cmp.Compare(s.rankNow(a.Title), s.rankNow(b.Title)))
		})
		return ls
	}))
}

// titleRank is 0 for the very title that was typed, 1 for one that begins with
// that, and 2 for others.
func titleRank(title, text string) int {
	title, text = strings.ToLower(title), strings.ToLower(strings.TrimSpace(text))
	switch {
	case title == text:
		return 0
	case strings.HasPrefix(title, text):
		return 1
	}
	return 2
}

// subjects are what commands are about, by words of their titles, and whether there
// is such a thing now.
var subjects = []struct {
	words string
	is    func(s *Shell) bool
}{
	{"selected function", func(s *Shell) bool { _, ok := s.Pane.PickedFunction(); return ok }},
	{"selected bar", func(s *Shell) bool { return s.Pane.Pick.Is == panel.PickBar }},
	{"selected time", func(s *Shell) bool { return s.Pane.Scope.Ranged }},
	{"the selection", func(s *Shell) bool { return !s.Pane.Scope.IsWhole() }},
	{"the thread", func(s *Shell) bool { return s.Pane.Scope.Tracks != nil }},
	{"the comparison", (*Shell).Compares},
	{"both sides", (*Shell).Compares},
}

// mostRan is how many commands the palette remembers.
const mostRan = 8

// ran remembers a command that was chosen in the palette.
func (s *Shell) ran(title string) {
	s.chosen = slices.DeleteFunc(s.chosen, func(t string) bool { return t == title })
	s.chosen = append([]string{title}, s.chosen[:min(len(s.chosen), mostRan-1)]...)
}

// rankNow orders commands: those for what is selected, then those that were chosen
// last, then all others.
func (s *Shell) rankNow(title string) int {
	if s.Pane != nil {
		for _, x := range subjects {
			if strings.Contains(strings.ToLower(title), x.words) && x.is(s) {
				return -mostRan - 1
			}
		}
	}
	if i := slices.Index(s.chosen, title); i >= 0 {
		return i - mostRan
	}
	return 0
}
