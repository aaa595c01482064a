package workspace

import (
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/about"
	"ashlar/app/window/panel/blocked"
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
	"ashlar/app/window/panel/query"
	"ashlar/app/window/panel/sidebyside"
	"ashlar/app/window/panel/source"
	"ashlar/app/window/panel/trend"
)

// Panels are the views of one recording, in the order of their tabs.
var Panels = []panel.Row[*panel.Side]{
	{Name: panel.Flamegraph, Title: "Flamegraph", Doc: "cost by stack", New: func() panel.Panel[*panel.Side] { return new(flamegraph.Panel) }},
	{Name: panel.Functions, Title: "Functions", OwnCommands: true, Doc: "cost by function, module, file or thread", New: func() panel.Panel[*panel.Side] { return functions.NewTablePart() }},
	{Name: panel.Callers, Title: "Callers & callees", OwnCommands: true, Doc: "callers and callees of the selected function", New: func() panel.Panel[*panel.Side] { return new(callers.Panel) }},
	{Name: panel.CallTree, Title: "Call tree", Rare: always[*panel.Side], Doc: "call tree as a table", New: func() panel.Panel[*panel.Side] { return new(calltree.Panel) }},
	{Name: panel.Calls, Title: "Calls", NoData: noCalls, Doc: "durations of the selected function's calls, one by one", New: func() panel.Panel[*panel.Side] { return new(calls.Panel) }},
	{Name: panel.Path, Title: "Critical path", Rare: always[*panel.Side], Doc: "the chain of work that set the duration", New: func() panel.Panel[*panel.Side] { return new(critical.Panel) }},
	{Name: panel.Blocked, Title: "Blocked by", Rare: stateless, Doc: "locks and channels: who held them, who waited", New: func() panel.Panel[*panel.Side] { return new(blocked.Panel) }},
	{Name: panel.Trend, Title: "Trend", Rare: trend.OneRun, Doc: "costs over a series of runs, and their changes", New: func() panel.Panel[*panel.Side] { return trend.New() }},
	{Name: panel.Heatmap, Title: "Heatmap", NoData: noTimes, Doc: "samples or span starts over time", New: func() panel.Panel[*panel.Side] { return new(heatmap.Panel) }},
	{Name: panel.Source, Title: "Source", Doc: "cost by source line", New: func() panel.Panel[*panel.Side] { return new(source.Panel) }},
	{Name: panel.Query, Title: "Query", Rare: always[*panel.Side], Doc: "any question, in SQL", New: func() panel.Panel[*panel.Side] { return new(query.Panel) }},
	{Name: panel.About, Title: "About this file", Doc: "format, contents and warnings", New: func() panel.Panel[*panel.Side] { return new(about.Panel) }},
}

func always[S any](S) bool { return true }

// stateless reports whether a recording has no states of threads.
func stateless(p *panel.Side) bool { return p.Rec.Counts.States == 0 }

// PairPanels lists the views of a comparison of two recordings.
var PairPanels = []panel.Row[*comparison.Comparison]{
	{Name: comparison.Difference, Title: "Difference", Doc: "cost change by stack", New: func() panel.Panel[*comparison.Comparison] { return difference.New() }},
	{Name: comparison.Two, Title: "Two flamegraphs", Doc: "both flamegraphs side by side", New: func() panel.Panel[*comparison.Comparison] {
		return sidebyside.New(false, func() panel.Panel[*panel.Side] { return new(flamegraph.Panel) })
	}},
	{Name: comparison.Table, Title: "Difference table", Doc: "cost change by function, module, file, thread or stack", New: func() panel.Panel[*comparison.Comparison] { return new(difftable.Panel) }},
	{Name: comparison.CallTree, Title: "Call tree", Rare: always[*comparison.Comparison], Doc: "call tree of both sides as a table", New: func() panel.Panel[*comparison.Comparison] { return new(calltree.OfTwo) }},
	{Name: comparison.Distribution, Title: "Distribution", Doc: "call durations of the selected function on both sides", New: func() panel.Panel[*comparison.Comparison] { return new(distribution.Panel) }},
	{Name: comparison.Assembly, Title: "Assembly", Rare: source.NoBuilds, Doc: "instructions of the selected function in both builds, aligned", New: func() panel.Panel[*comparison.Comparison] { return new(source.Builds) }},
	{Name: comparison.Trend, Title: "Trend", Rare: trend.FewRuns, Doc: "costs over the runs of both sides, A before B", New: func() panel.Panel[*comparison.Comparison] { return trend.NewOfTwo() }},
	{Name: comparison.Pairing, Title: "Matching", Doc: "matched functions and confidence", New: func() panel.Panel[*comparison.Comparison] { return new(pairing.Panel) }},
	{Name: comparison.About, Title: "About the files", Doc: "format, contents and warnings of both files", New: func() panel.Panel[*comparison.Comparison] {
		return sidebyside.New(true, func() panel.Panel[*panel.Side] { return new(about.Panel) })
	}},
}

// PanelNames returns the panels of one recording and of a comparison: the name used in
// addresses, and a short description.
func PanelNames() (one, two [][2]string) { return named(Panels), named(PairPanels) }

func named[S any](rows []panel.Row[S]) (names [][2]string) {
	for i := range rows {
		names = append(names, [2]string{rows[i].Name, rows[i].Doc})
	}
	return names
}

// below returns the lower half of one recording: its own panels, or those of the
// comparison in place.
func (p *Pane) below() panel.Half {
	if w := p.ScopeComparison; w != nil && w.shows(p) {
		return w.Deck.Of(&p.Tab, &w.Comparison)
	}
	return p.Deck.Of(&p.Tab, &p.Side)
}

// below returns the lower half of the comparison.
func (c *Comparison) below() panel.Half { return c.Deck.Of(&c.Tab, &c.Comparison) }

func (d *Workspace) below() panel.Half { return d.scene().below() }

// TabTitle returns the title of the current tab.
func (p *Pane) TabTitle() string { return p.below().Title() }

// panel returns the current panel of the recording's own panels.
func (p *Pane) panel() panel.Panel[*panel.Side] { return p.Deck.Shown(p.Tab) }

// noCalls reports whether a recording has neither spans nor states, noTimes whether it
// has no times.
func noCalls(p *panel.Side) bool {
	return p.Rec.Done && p.Rec.Counts.Spans == 0 && stateless(p)
}

func noTimes(p *panel.Side) bool { return p.Rec.Done && !p.Rec.HasTime }
