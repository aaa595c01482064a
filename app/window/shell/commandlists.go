package shell

import (
	"image"

	"gioui.org/io/key"

	"ashlar/app/window/workspace"
	"ashlar/ingest/query/analyze"
	"ashlar/render/icon"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// compareCommands returns the commands for two recordings.
func compareCommands() []Command {
	return []Command{
		{"Compare with file", nil, true, func(s *Shell) { s.AskCompare() }},
		{"Add runs to A", nil, true, func(s *Shell) { s.askRuns(0) }},
		{"Add runs to B", nil, true, func(s *Shell) { s.askRuns(1) }},
		{"Choose runs of A", nil, true, comparing(func(s *Shell, _ *workspace.Comparison) { s.ChooseRuns(0) })},
		{"Choose runs of B", nil, true, comparing(func(s *Shell, _ *workspace.Comparison) { s.ChooseRuns(1) })},
		{"Compare selection with rest", nil, true, func(s *Shell) { s.CompareSelected() }},
		{"Compare selection with next window", nil, true, func(s *Shell) { s.CompareNext() }},
		{"Set selection as A", nil, true, func(s *Shell) { s.SetSelectionAs(0) }},
		{"Set selection as B", nil, true, func(s *Shell) { s.SetSelectionAs(1) }},
		{"Compare slow calls of selected function", nil, true, func(s *Shell) { s.CompareCalls() }},
		{"Swap A and B", []Chord{chord("X")}, true, func(s *Shell) { s.Swap() }},
		{"A above or beside B", []Chord{chord("X", key.ModShift)}, true, comparing(func(_ *Shell, c *workspace.Comparison) { c.Above = !c.Above })},
		{"Close comparison", nil, true, func(s *Shell) { s.EndComparison() }},
		{"Close A", nil, true, comparing(func(s *Shell, _ *workspace.Comparison) { s.CloseSide(0) })},
		{"Close B", nil, true, comparing(func(s *Shell, _ *workspace.Comparison) { s.CloseSide(1) })},
		{"Switch side", []Chord{chord(key.NameTab, key.ModCtrl)}, true, comparing(func(s *Shell, c *workspace.Comparison) {
			c.FocusOn(&s.Workspace, 1-c.Focus)
			s.Focus.Give(&s.Pane.Lanes, true)
		})},
		{"Link or unlink sides", []Chord{chord("K")}, true, comparing(func(_ *Shell, c *workspace.Comparison) { c.Linked = !c.Linked })},
		{"Link by time or by calls", nil, true, comparing(func(s *Shell, c *workspace.Comparison) { c.ToggleByCall(&s.Workspace) })},
		{"Set anchor here", []Chord{chord("J")}, true, comparing(func(s *Shell, c *workspace.Comparison) { c.AnchorHere(&s.Workspace) })},
		{"Align at selected call", []Chord{chord("J", key.ModShift)}, true, comparing(func(s *Shell, c *workspace.Comparison) { c.AnchorBoth(&s.Workspace) })},
		{"Align at start", nil, true, comparing(func(_ *Shell, c *workspace.Comparison) { c.Panes[0].Anchor, c.Panes[1].Anchor = 0, 0 })},
		{"Pair selected function by hand", nil, true, comparing(func(s *Shell, c *workspace.Comparison) { c.PairByHand(&s.Host) })},
		{"Next normalisation", nil, true, comparing(func(_ *Shell, c *workspace.Comparison) { c.NextNormalize() })},
	}
}

// comparing returns the action of a command that needs a comparison.
func comparing(do func(s *Shell, c *workspace.Comparison)) func(s *Shell) {
	return func(s *Shell) {
		if s.Versus == nil {
			s.Say("This needs a comparison: open a second file first")
			return
		}
		do(s, s.Versus)
	}
}

// compareButton draws the button that opens a second file; it is highlighted during a
// comparison.
func (s *Shell) compareButton(u *ui.UI, x, y int) int {
	b := &s.compareButtonClick
	x += s.iconButton(u, b, x, y, icon.Compare, "Compare", "Compare with file", s.Versus != nil) + u.Px(10)
	if b.Clicked(u.Context) {
		if title := s.ElsewhereTitle(); title != "" {
			s.Menu = widget.NewMenu(image.Pt(x-u.Px(90), y+u.Px(30)), []widget.Item{{Title: title, Do: s.CompareElsewhere}, {Title: "Compare with file", Do: s.AskCompare}})
		} else if s.Versus == nil {
			s.AskCompare()
		} else {
			s.Menu = widget.NewMenu(image.Pt(x-u.Px(90), y+u.Px(30)), []widget.Item{
				{Title: "Compare with file", Do: s.AskCompare},
				{Title: "Add runs to A", Do: func() { s.askRuns(0) }},
				{Title: "Add runs to B", Do: func() { s.askRuns(1) }},
				{Title: "Choose runs of A", Do: func() { s.ChooseRuns(0) }},
				{Title: "Choose runs of B", Do: func() { s.ChooseRuns(1) }},
				{Title: "Swap A and B", Detail: "X", Do: s.Swap},
				{Title: "A above B", Detail: "Shift-X", On: s.Versus.Above, Do: func() { s.Versus.Above = !s.Versus.Above }},
				{Title: "Close comparison", Do: s.EndComparison},
				{Title: "Close A", Do: func() { s.CloseSide(0) }},
				{Title: "Close B", Do: func() { s.CloseSide(1) }},
			})
		}
	}
	return x
}

// transformCommands returns the commands for the kinds of transforms.
func transformCommands() (all []Command) {
	for i := range analyze.Transforms {
		k := &analyze.Transforms[i]
		if k.Title == "" {
			continue
		}
		var keys []Chord
		if k.Key != "" {
			keys = []Chord{chord(key.Name(k.Key))}
		}
		all = append(all, Command{k.Title, keys, true, func(s *Shell) { s.Pane.Apply(&s.Workspace, k) }})
	}
	return all
}

func panelCommands() (all []Command) {
	for i := range workspace.Panels {
		if r := &workspace.Panels[i]; !r.OwnCommands {
			all = append(all, Command{r.Title, nil, true, func(s *Shell) { s.ShowPanel(r.Name) }})
		}
	}
	return all
}

// copyCommands returns the commands that copy the command line of a panel without the
// keyboard focus.
func copyCommands() []Command {
	return []Command{
		{"Copy timeline as command", nil, true, func(s *Shell) { s.CopyCommandOf(workspace.OfTimeline) }},
		{"Copy details as command", nil, true, func(s *Shell) { s.CopyCommandOf(workspace.OfDetails) }},
		{"Copy matches as command", nil, true, func(s *Shell) { s.CopyCommandOf(workspace.OfFound) }},
	}
}

// AsCommand returns the command line of the panel with the keyboard focus. If no panel
// has the focus, it takes the current tab, or the timeline if only that is visible. rest
// names the settings that the command line cannot express.
func (s *Shell) AsCommand() (line, rest string) { return s.CommandOf(s.keyPanel()) }

func (s *Shell) copyCommand() { s.CopyCommandOf(s.keyPanel()) }

func (s *Shell) keyPanel() workspace.Area {
	switch s.focused() {
	case "timeline", "filter":
		return workspace.OfTimeline
	case "details":
		return workspace.OfDetails
	}
	if s.View == workspace.Upper {
		return workspace.OfTimeline
	}
	return workspace.OfLower
}
