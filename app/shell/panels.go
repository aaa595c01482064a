package shell

import (
	"ashlar/app/panel"
	"ashlar/app/panel/about"
	"ashlar/app/panel/callers"
	"ashlar/app/panel/calltree"
	"ashlar/app/panel/flamegraph"
	"ashlar/app/panel/functions"
	"ashlar/app/panel/heatmap"
	"ashlar/app/panel/source"
	"ashlar/app/panel/statistics"
)

// panels are the views of one recording, in the order of their tabs.
var panels = []panel.Row[*panel.Side]{
	{Name: panel.Flamegraph, Title: "Flamegraph", Command: "Flamegraph", Doc: "where the cost went, by stacks", New: func() panel.Panel[*panel.Side] { return new(flamegraph.Panel) }},
	{Name: panel.Functions, Title: "Functions", Doc: "what each function, module, file or thread cost", New: func() panel.Panel[*panel.Side] { return functions.NewTablePart() }},
	{Name: panel.Callers, Title: "Callers & callees", Doc: "who calls the selected function, and whom it calls", New: func() panel.Panel[*panel.Side] { return new(callers.Panel) }},
	{Name: "calltree", Title: "Call tree", Command: "Call tree", Rare: true, Doc: "the calls as a table that unfolds", New: func() panel.Panel[*panel.Side] { return new(calltree.Panel) }},
	{Name: panel.Statistics, Title: "Statistics", Command: "Statistics", Doc: "how long the calls of the selected function took", New: func() panel.Panel[*panel.Side] { return new(statistics.Panel) }},
	{Name: panel.Heatmap, Title: "Heatmap", Command: "Heatmap", Doc: "when samples fell, or spans began", New: func() panel.Panel[*panel.Side] { return new(heatmap.Panel) }},
	{Name: panel.Source, Title: "Source", Command: "Source", Doc: "what the lines of the selected function's file cost", New: func() panel.Panel[*panel.Side] { return new(source.Panel) }},
	{Name: panel.About, Title: "About this file", Command: "About this file", Doc: "what the file is, what is in it and what was wrong with it", New: func() panel.Panel[*panel.Side] { return new(about.Panel) }},
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
func (p *pane) panel() panel.Panel[*panel.Side] { return p.panels[max(0, panelAt(p.Tab))] }

// panelCommands show panels.
func panelCommands() (all []Command) {
	for i := range panels {
		if r := &panels[i]; r.Command != "" {
			all = append(all, Command{r.Command, nil, true, func(s *Shell) { s.pane.Tab = r.Name }})
		}
	}
	return all
}
