package workspace

import (
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/about"
	"ashlar/app/window/panel/callers"
	"ashlar/app/window/panel/calls"
	"ashlar/app/window/panel/calltree"
	"ashlar/app/window/panel/critical"
	"ashlar/app/window/panel/difference"
	"ashlar/app/window/panel/difftable"
	"ashlar/app/window/panel/distribution"
	"ashlar/app/window/panel/flamegraph"
	"ashlar/app/window/panel/functions"
	"ashlar/app/window/panel/heatmap"
	"ashlar/app/window/panel/pairing"
	"ashlar/app/window/panel/sidebyside"
	"ashlar/app/window/panel/source"
)

// Panels are the views of one recording, in the order of their tabs.
var Panels = []panel.Row[*panel.Side]{
	{Name: panel.Flamegraph, Title: "Flamegraph", Command: "Flamegraph", Doc: "where the cost went, by stacks", New: func() panel.Panel[*panel.Side] { return new(flamegraph.Panel) }},
	{Name: panel.Functions, Title: "Functions", Doc: "what each function, module, file or thread cost", New: func() panel.Panel[*panel.Side] { return functions.NewTablePart() }},
	{Name: panel.Callers, Title: "Callers & callees", Doc: "who calls the selected function, and whom it calls", New: func() panel.Panel[*panel.Side] { return new(callers.Panel) }},
	{Name: panel.CallTree, Title: "Call tree", Command: "Call tree", Rare: always[*panel.Side], Doc: "the calls as a table that unfolds", New: func() panel.Panel[*panel.Side] { return new(calltree.Panel) }},
	{Name: panel.Calls, Title: "Calls", Command: "Calls", Doc: "the calls of the selected function: how long they took, one by one, and sets of them", New: func() panel.Panel[*panel.Side] { return new(calls.Panel) }},
	{Name: panel.Path, Title: "Critical path", Command: "Critical path", Rare: always[*panel.Side], Doc: "what all else had to wait for, moment by moment", New: func() panel.Panel[*panel.Side] { return new(critical.Panel) }},
	{Name: panel.Heatmap, Title: "Heatmap", Command: "Heatmap", Doc: "when samples fell, or spans began", New: func() panel.Panel[*panel.Side] { return new(heatmap.Panel) }},
	{Name: panel.Source, Title: "Source", Command: "Source", Doc: "what the lines of the selected function's file cost", New: func() panel.Panel[*panel.Side] { return new(source.Panel) }},
	{Name: panel.About, Title: "About this file", Command: "About this file", Doc: "what the file is, what is in it and what was wrong with it", New: func() panel.Panel[*panel.Side] { return new(about.Panel) }},
}

func always[S any](S) bool { return true }

// PairPanels are the views of two recordings that are compared.
var PairPanels = []panel.Row[*comparison.Comparison]{
	{Name: comparison.Difference, Title: "Difference", Doc: "where B costs more or less, by stacks", New: func() panel.Panel[*comparison.Comparison] { return difference.New() }},
	{Name: comparison.Two, Title: "Two flamegraphs", Doc: "where the cost went in each", New: func() panel.Panel[*comparison.Comparison] {
		return sidebyside.New(false, func() panel.Panel[*panel.Side] { return new(flamegraph.Panel) })
	}},
	{Name: comparison.Table, Title: "Table of differences", Doc: "what each function, module, file, thread or stack costs in both", New: func() panel.Panel[*comparison.Comparison] { return new(difftable.Panel) }},
	{Name: comparison.CallTree, Title: "Call tree", Rare: always[*comparison.Comparison], Doc: "what each call costs in both, as a table that unfolds", New: func() panel.Panel[*comparison.Comparison] { return new(calltree.OfTwo) }},
	{Name: comparison.Distribution, Title: "Distribution", Doc: "how long the calls of the selected function took in both", New: func() panel.Panel[*comparison.Comparison] { return new(distribution.Panel) }},
	{Name: comparison.Pairing, Title: "How it was compared", Doc: "what was matched with what, and how sure the differences are", New: func() panel.Panel[*comparison.Comparison] { return new(pairing.Panel) }},
	{Name: comparison.About, Title: "About the files", Doc: "what the files are", New: func() panel.Panel[*comparison.Comparison] {
		return sidebyside.New(true, func() panel.Panel[*panel.Side] { return new(about.Panel) })
	}},
}

// PanelNames lists the panels of one recording and of two as addresses name them.
func PanelNames() (one, two []string) {
	for i := range Panels {
		one = append(one, Panels[i].Name)
	}
	for i := range PairPanels {
		two = append(two, PairPanels[i].Name)
	}
	return one, two
}

// below returns the lower half of one recording: its own panels, or those of
// what is compared in place.
func (p *Pane) below() panel.Half {
	if w := p.ScopeComparison; w != nil && w.shows(p) {
		return w.Deck.Of(&p.Tab, &w.Comparison)
	}
	return p.Deck.Of(&p.Tab, &p.Side)
}

// below returns the lower half of two.
func (c *Comparison) below() panel.Half { return c.Deck.Of(&c.Tab, &c.Comparison) }

// below returns the lower half.
func (d *Workspace) below() panel.Half { return d.scene().below() }

// TabTitle reads what stands on the tab that is shown.
func (p *Pane) TabTitle() string { return p.below().Title() }

// panel is the one of the recording's own that is shown.
func (p *Pane) panel() panel.Panel[*panel.Side] { return p.Deck.Shown(p.Tab) }
