package shell

import (
	"cmp"
	"slices"
	"strings"

	"ashlar/render/widget"
)

// openPalette shows all commands to choose from.
func (s *Shell) openPalette() {
	s.OpenChooser(widget.NewChooser("What to do", "", func(text string) []widget.Line {
		var ls []widget.Line
		for _, c := range Commands {
			if c.needs && s.pane == nil || !widget.HasWords(c.Title, text) {
				continue
			}
			keys := ""
			if len(c.Keys) > 0 {
				keys = c.Keys[0].String()
			}
			ls = append(ls, widget.Line{Title: c.Title, Detail: keys, Take: func() {
				s.Chooser = nil
				c.do(s)
			}})
		}
		slices.SortStableFunc(ls, func(a, b widget.Line) int { return cmp.Compare(titleRank(a.Title, text), titleRank(b.Title, text)) })
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
