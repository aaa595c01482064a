package shell

// panels are the views of one recording, in the order of their tabs.
var panels = []Row[*Side]{
	{Name: tabFlame, Title: "Flamegraph", Command: "Flamegraph", Doc: "where the cost went, by stacks", New: func() Panel[*Side] { return new(flamePart) }},
	{Name: tabTable, Title: "Functions", Doc: "what each function, module, file or thread cost", New: func() Panel[*Side] { return newTablePart() }},
	{Name: tabNear, Title: "Callers & callees", Doc: "who calls the selected function, and whom it calls", New: func() Panel[*Side] { return new(nearPart) }},
	{Name: tabStats, Title: "Statistics", Command: "Statistics", Doc: "how long the calls of the selected function took", New: func() Panel[*Side] { return new(statsPart) }},
	{Name: tabHeat, Title: "Heatmap", Command: "Heatmap", Doc: "when samples fell, or spans began", New: func() Panel[*Side] { return new(heatPart) }},
	{Name: tabSource, Title: "Source", Command: "Source", Doc: "what the lines of the selected function's file cost", New: func() Panel[*Side] { return new(sourcePart) }},
	{Name: tabAbout, Title: "About this file", Command: "About this file", Doc: "what the file is, what is in it and what was wrong with it", New: func() Panel[*Side] { return new(aboutPart) }},
}

// panelNames are what addresses call them.
func panelNames() (names []string) {
	for i := range panels {
		names = append(names, panels[i].Name)
	}
	return names
}

// panelAt is a panel's place among the others, -1 for none of that name.
func panelAt(name string) int {
	for i := range panels {
		if panels[i].Name == name {
			return i
		}
	}
	return -1
}

// panel is the one that is shown.
func (p *pane) panel() Panel[*Side] { return p.panels[max(0, panelAt(p.Tab))] }

// panelCommands show panels.
func panelCommands() (all []Command) {
	for i := range panels {
		if r := &panels[i]; r.Command != "" {
			all = append(all, Command{r.Command, nil, true, func(s *Shell) { s.pane.Tab = r.Name }})
		}
	}
	return all
}
