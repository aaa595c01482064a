package shell

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"gioui.org/io/key"

	"ashlar/app/window/palette"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/funcname"
	"ashlar/render/timeline"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// openPalette lists the commands and, once something is typed, also the places to go to.
func (s *Shell) openPalette() {
	var c *widget.Chooser
	more := func() { // results from the background
		s.Later(func() {
			if s.Chooser == c {
				c.Filled, c.Keep = false, true
			}
		})
	}
	if s.Do.Wake == nil {
		more = nil
	}
	c = widget.NewChooser("Command", "", func(text string) []widget.Line { return s.paletteLines(text, more) })
	c.Submit = func(text string) bool { // act on the typed text, not on earlier results
		c.Lines = s.paletteLines(text, nil)
		return false
	}
	s.OpenChooser(c)
}

// paletteLines lists the items that match a text, best first.
func (s *Shell) paletteLines(text string, more func()) []widget.Line {
	var items []palette.Item
	add := func(i palette.Item, ok bool) {
		if ok {
			do := i.Take
			i.Take = func() {
				s.Chooser = nil
				do()
			}
			items = append(items, i)
		}
	}
	for _, c := range Commands {
		if c.needs && s.Pane == nil {
			continue
		}
		keys := ""
		if len(c.Keys) > 0 {
			keys = c.Keys[0].String()
		}
		add(palette.Command(palette.Item{Rank: s.rankNow(&c), Line: widget.Line{Title: c.Title, Detail: keys, Take: func() {
			s.ran(c.Title)
			c.do(s)
		}}}, text, otherWords[c.Title]))
	}
	if title := s.ElsewhereTitle(); title != "" {
		add(palette.Command(palette.Item{Line: widget.Line{Title: title, Take: s.CompareElsewhere}}, text, "diff baseline"))
	}
	if strings.TrimSpace(text) != "" {
		s.places(text, more, add)
	}
	if len(items) == 0 {
		s.instead(strings.TrimSpace(text), add)
	}
	return palette.Lines(items)
}

// instead adds items for a text that matches nothing.
func (s *Shell) instead(text string, add func(palette.Item, bool)) {
	if s.Pane != nil {
		add(palette.Item{Line: widget.Line{Title: "Search for " + strconv.Quote(text), Detail: "names and arguments", Take: func() {
			s.Pane.SearchFor(text)
			s.Pane.Finder.Focus()
		}}}, true)
	}
	add(palette.Item{Rank: 1, Line: widget.Line{Title: "Show all commands", Take: s.openPalette}}, true)
	add(palette.Item{Rank: 2, Line: widget.Line{Title: "Open the manual", Detail: keyOf("Manual"), Take: s.openManual}}, true)
}

// otherWords are synonyms for commands, by title.
var otherWords = map[string]string{
	"Save picture (PNG, SVG)":     "export screenshot picture image snapshot print",
	"Save table (CSV, JSON)":      "export spreadsheet download",
	"Save selection as recording": "export share cut trim crop",
	"Save marks (JSON)":           "export bookmarks notes share",
	"Add marks from file":         "import bookmarks notes",
	"Copy view address":           "share link url",
	"Copy as command":             "share script terminal",
	"Copy selection":              "clipboard",
	"Add mark":                    "bookmark note annotate comment",
	"Go to mark":                  "bookmark note",
	"Delete mark":                 "bookmark note remove",
	"Rename mark":                 "bookmark note edit",
	"Select its time range":       "measure duration",
	"Extend selected time":        "measure",
	"Switch dark or light":        "settings preferences options appearance mode",
	"System theme":                "settings preferences options appearance",
	"High contrast theme":         "settings preferences options accessibility",
	"Larger text":                 "settings preferences options font size zoom",
	"Smaller text":                "settings preferences options font size zoom",
	"Default text size":           "settings preferences options font reset",
	"Next colour mode":            "settings preferences options color",
	"Table columns":               "settings preferences options",
	"Compare with file":           "diff baseline",
	"Add runs to A":               "several files recordings folder",
	"Add runs to B":               "several files recordings folder",
	"Choose runs of A":            "outlier recordings",
	"Choose runs of B":            "outlier recordings",
	"Compare selection with rest": "diff",
	"Search":                      "find",
	"Help":                        "shortcuts keys",
	"Manual":                      "documentation docs guide",
	"Open file":                   "load import",
	"Quit":                        "exit close",
}

// places adds the threads, marks, files and functions that match a text.
func (s *Shell) places(text string, more func(), add func(palette.Item, bool)) {
	if p := s.Pane; p != nil {
		of, why := strings.CutPrefix(strings.ToLower(strings.TrimSpace(text)), "why ")
		found := s.finder.Find(p.Rec, p.Doc.Answer(), of, more)
		for _, i := range found.Tracks {
			t := p.Rec.Tracks[i]
			add(palette.Other(palette.Item{Rank: 1, Line: widget.Line{Title: timeline.NameAndID(t), Detail: p.Rec.ThreadWord(i), Take: func() { p.GoToTrack(i) }}}, text, t.Name))
		}
		for _, m := range p.MarkList.Sorted() {
			add(palette.Other(palette.Item{Rank: 2, Line: widget.Line{Title: cmp.Or(m.Text, m.Place.String()), Detail: "mark " + m.Place.String(), Take: func() { p.MarkList.GoTo(&s.Host, m) }}}, text, m.Place.String()))
		}
		for k, f := range found.Functions {
			fn := p.Rec.Functions.At(int(f.ID))
			line, also := widget.Line{Title: fn.Name, Detail: s.functionDetail(f), Take: func() { s.GoToFunction(f.ID) }}, funcname.Short(fn.Name)
			if why {
				line.Title, also = "Why are calls of "+fn.Name+" slow?", "why "+fn.Name
				line.Take = func() { s.WhySlow(fn, s.Pane.Scope) }
			}
			add(palette.Other(palette.Item{Rank: 100 + k, Line: line}, text, also))
		}
	}
	for k, l := range s.recentLines(text, (*Shell).Open) {
		l.Detail = "file in " + l.Detail
		add(palette.Other(palette.Item{Rank: 10 + k, Line: l}, text))
	}
}

// functionDetail returns what distinguishes a function from others of its name, and its
// cost.
func (s *Shell) functionDetail(f palette.Function) string {
	var parts []string
	if m := s.Pane.Rec.Functions.At(int(f.ID)).Module; m != "" && m != "function" { // a common category of traces
		parts = append(parts, panel.ShortModule(m))
	}
	if a := s.Pane.Doc.Answer(); a != nil && f.Total != 0 && s.Versus == nil {
		parts = append(parts, units.Value(f.Total, a.Metric()))
	}
	return strings.Join(append(parts, "function"), " · ")
}

// subjects lists phrases in the titles of commands, each with a function that reports
// whether the named object exists now.
var subjects = []struct {
	words string
	is    func(s *Shell) bool
}{
	{"selected function", func(s *Shell) bool { _, ok := s.Pane.PickedFunction(); return ok }},
	{"selected bar", func(s *Shell) bool { return s.Pane.Pick.Kind == panel.PickBar }},
	{"selected time", func(s *Shell) bool { return s.Pane.Scope.Ranged }},
	{"the selection", func(s *Shell) bool { return !s.Pane.Scope.IsWhole() }},
	{"the thread", func(s *Shell) bool { return s.Pane.Scope.Tracks != nil }},
	{"the comparison", (*Shell).Compares},
	{"both sides", (*Shell).Compares},
}

// mostRan is the maximum number of commands that the palette remembers.
const mostRan = 8

// ran remembers a command that was chosen in the palette.
func (s *Shell) ran(title string) {
	s.chosen = slices.DeleteFunc(s.chosen, func(t string) bool { return t == title })
	s.chosen = append([]string{title}, s.chosen[:min(len(s.chosen), mostRan-1)]...)
}

// held are keys for single steps, which are pressed repeatedly. Nobody looks for their
// commands in a list.
var held = []key.Name{"W", "A", "S", "D", key.NameUpArrow, key.NameDownArrow, key.NameLeftArrow, key.NameRightArrow, key.NamePageUp, key.NamePageDown}

// rankNow orders commands: those for the selection, then the last used ones, then all
// others, with single steps at the end.
func (s *Shell) rankNow(c *Command) int {
	if s.Pane != nil {
		for _, x := range subjects {
			if strings.Contains(strings.ToLower(c.Title), x.words) && x.is(s) {
				return -mostRan - 1
			}
		}
	}
	if i := slices.Index(s.chosen, c.Title); i >= 0 {
		return i - mostRan
	}
	if len(c.Keys) > 0 && slices.Contains(held, c.Keys[0].Name) && (c.Keys[0].Mods == 0 || len(c.Keys[0].Name) > 1) {
		return 1
	}
	return 0
}
