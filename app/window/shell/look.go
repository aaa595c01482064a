package shell

import (
	"fmt"
	"slices"
	"strings"

	"gioui.org/io/key"

	"ashlar/app/window/panel"
	"ashlar/app/window/panel/functions"
	"ashlar/render/theme"
	"ashlar/render/widget"
)

// lookCommands returns the commands for appearance and tables.
func lookCommands() []Command {
	return append([]Command{
		{"Larger text", []Chord{chord("+", key.ModCtrl)}, false, func(s *Shell) { s.scaleBy(1) }},
		{"Smaller text", []Chord{chord("-", key.ModCtrl)}, false, func(s *Shell) { s.scaleBy(-1) }},
		{"Default text size", []Chord{chord("0", key.ModCtrl)}, false, func(s *Shell) { s.scaleTo(1) }},
		{"Dark theme", nil, false, func(s *Shell) { s.SetTheme("dark") }},
		{"Light theme", nil, false, func(s *Shell) { s.SetTheme("light") }},
		{"High contrast theme", nil, false, func(s *Shell) { s.SetTheme("contrast") }},
		{"System theme", nil, false, func(s *Shell) { s.SetTheme("system") }},
		{"Zoom to selected function", nil, true, func(s *Shell) { s.Pane.ZoomToPicked() }},
		{"Callers and callees as lists", nil, true, func(s *Shell) { s.Pane.Lists = !s.Pane.Lists }},
	}, append(panelCommands(), append(tableCommands(), append([]Command{
		{"Table by label or argument", nil, true, func(s *Shell) { s.Pane.Table.ChooseGroup(&s.Host, &s.Pane.Side) }},
		{"Table columns", nil, true, func(s *Shell) { s.Pane.Tabulate(s.Pane.Table.Group); s.Pane.Table.AskColumns = true }},
		{"Copy table as text", nil, true, func(s *Shell) { s.CopyTable(false) }},
		{"Copy table as CSV", nil, true, func(s *Shell) { s.CopyTable(true) }},
	}, colourCommands()...)...)...)...)
}

// tableCommands returns the commands that show the table by the groupings of every
// recording.
func tableCommands() (all []Command) {
	for _, g := range functions.Groups {
		all = append(all, Command{"Table of " + strings.ToLower(g.Title), nil, true, func(s *Shell) { s.Pane.Tabulate(g.By) }})
	}
	return all
}

// colourCommands returns a command for each colour mode.
func colourCommands() (all []Command) {
	for _, m := range theme.Modes {
		all = append(all, Command{"Colour by " + string(m), nil, false, func(s *Shell) { s.Mode = m }})
	}
	return all
}

// Run runs a command by its title; it returns false if there is none.
func (s *Shell) Run(title string) bool {
	for i := range Commands {
		if c := &Commands[i]; c.Title == title && (!c.needs || s.Pane != nil) {
			c.do(s)
			return true
		}
	}
	return false
}

func (s *Shell) nextMode() {
	i := slices.Index(theme.Modes, s.Mode)
	s.Mode = theme.Modes[(i+1)%len(theme.Modes)]
}

// SetTheme sets a theme by name; "system" follows the system's theme.
func (s *Shell) SetTheme(name string) {
	if name == "system" && s.System != nil {
		s.follows, s.Theme = true, s.System
	} else if t, ok := theme.ByName(name); ok {
		s.follows, s.Theme = false, t
	}
	s.Wake()
}

// themeName returns the name with which SetTheme restores the current theme.
func (s *Shell) themeName() string {
	if s.follows {
		return "system"
	}
	return s.Theme.Name
}

// Follow sets the theme that the system prefers now.
func (s *Shell) Follow(t *theme.Theme) {
	if s.System = t; s.follows {
		s.Theme = t
	}
}

// toggleTheme changes between the dark and the light theme.
func (s *Shell) toggleTheme() {
	if s.Theme.Dark {
		s.SetTheme("light")
	} else {
		s.SetTheme("dark")
	}
}

func (s *Shell) themeItems() []widget.Item {
	titles := map[string]string{"contrast": "High contrast", "system": "System"}
	var items []widget.Item
	names := []string{}
	for _, t := range theme.All {
		names = append(names, t.Name)
	}
	if s.System != nil {
		names = append(names, "system")
	}
	for _, n := range names {
		title := titles[n]
		if title == "" {
			title = panel.Title1(n)
		}
		items = append(items, widget.Item{Title: title, On: n == s.themeName(), Do: func() { s.SetTheme(n) }})
	}
	return items
}

// scales are the sizes that Ctrl-+ and Ctrl-− step through.
var scales = []float32{.7, .8, .9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3}

// scaleBy increases or decreases the text size by a number of steps.
func (s *Shell) scaleBy(steps int) {
	at := 0
	for i, x := range scales {
		if x <= s.EffectiveScale()+.01 {
			at = i
		}
	}
	s.scaleTo(scales[max(0, min(len(scales)-1, at+steps))])
}

func (s *Shell) scaleTo(scale float32) {
	s.Scale = scale
	s.Say(fmt.Sprintf("Scale: %d %%", int(s.Scale*100+.5)))
}
