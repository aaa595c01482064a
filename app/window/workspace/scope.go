package workspace

import (
	"image"
	"slices"
	"strings"

	"ashlar/app/core/verdict"
	"ashlar/app/window/comparison"
	"ashlar/app/window/scopebar"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare/match"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// scopeRow returns the position of the scope bar, below the tabs.
func scopeRow(u *ui.UI, tabs image.Rectangle) image.Rectangle {
	return image.Rect(tabs.Min.X, tabs.Max.Y, tabs.Max.X, tabs.Max.Y+u.Px(scopebar.Height))
}

// verdictRow returns the position of a comparison's verdict, below the scope bar.
func (o *ofTwo) verdictRow(d *Workspace, u *ui.UI, tabs image.Rectangle) image.Rectangle {
	r := scopeRow(u, tabs)
	return image.Rect(r.Min.X, r.Max.Y, r.Max.X, r.Max.Y+o.Verdict.Height(&d.Host, u, &o.Comparison, r.Dx()))
}

// renamed returns the chips for renamed functions that were matched.
func (o *ofTwo) renamed() (cs []scopebar.Chip) {
	a := o.Answer()
	if a == nil {
		return nil
	}
	const most = 4
	for i, r := range a.Compared.Renames {
		if i == most {
			cs = append(cs, scopebar.Chip{Kind: "renamed", Text: "and " + units.Count(int64(len(a.Compared.Renames)-i)) + " more", Go: func() { o.Tab = comparison.Pairing },
				Off: func() { o.Options.Match.NoRenamed = true }})
			break
		}
		pair := match.Pair{A: r.A.String(), B: r.B.String()}
		cs = append(cs, scopebar.Chip{Kind: "renamed", Text: safetext.Short(r.A.Name) + " → " + safetext.Short(r.B.Name), More: []string{verdict.Likeness(r.Likeness) + " alike in callers, callees, cost and name", "Remove to unpair them"},
			Go:  func() { o.Choose(a, r.Func) },
			Off: func() { o.Options.Match.Apart = append(slices.Clone(o.Options.Match.Apart), pair) }})
	}
	return cs
}

// Scoped returns the groups of chips of the scope bar.
func (p *Pane) Scoped(d *Workspace) []scopebar.Group {
	own := scopebar.Group{Chips: scopebar.Of(&p.Timeline, p.Scope, p.setScope)}
	all := scopebar.Group{}
	if first := p.Rec.DefaultEvent(); p.Event != first && p.Event < len(p.Rec.Events) {
		all.Chips = append(all.Chips, scopebar.Chip{Kind: "event", Text: p.Rec.Events[p.Event].Title(), More: []string{"Click to change"},
			Go:  func() { d.Menu = widget.NewMenu(p.Bounds.Tabs.Min, p.EventItems()) },
			Off: func() { p.SetEvent(first) }})
	}
	all.Chips = append(all.Chips, p.transformChips(d)...)
	all.Chips = append(all.Chips, p.numberedChips(d)...)
	all.Chips = append(all.Chips, p.strayChips()...)
	if p.Against == nil {
		if a := p.Doc.Answer(); p.Counts(a) && a.Tree.Weights != nil {
			all.Chips = append(all.Chips, scopebar.LeftOut(a.Tree.Weights.Left, p.Scope, p.setScope)...)
		}
		own.Chips = append(append(own.Chips, all.Chips...), d.elsewhere()...)
		own.Chips = append(own.Chips, p.waiting()...)
		return []scopebar.Group{own}
	}
	if p.ScopeComparison != nil {
		all.Chips = append(p.ScopeComparison.renamed(), all.Chips...)
	}
	b := scopebar.Group{Chips: scopebar.Of(&p.Timeline, *p.Against, func(in recording.Scope) {
		if p.Against = &in; in.IsWhole() {
			p.EndScopeComparison()
		}
	})}
	groups := []scopebar.Group{own, b, all}
	if p.AgainstIsA {
		groups[0], groups[1] = b, own
	}
	groups[0].Side, groups[1].Side = comparison.SideName(0), comparison.SideName(1)
	return groups
}

func (p *Pane) setScope(in recording.Scope) { p.Scope = in }

// transformChips returns the chips for transforms of stacks and for the search.
func (p *Pane) transformChips(d *Workspace) []scopebar.Chip {
	cs := scopebar.Stacks(&d.Host, &p.Side)
	if p.Find != "" {
		cs = append(cs, scopebar.Chip{Kind: "search", Text: p.Find, More: []string{"Highlights matches; totals include everything", "Click to edit"},
			Go: p.Finder.Focus, Off: func() { p.SearchFor("") }})
	}
	return cs
}

// Scoped returns the groups of chips for both sides.
func (c *Comparison) Scoped(d *Workspace) (gs []scopebar.Group) {
	for i, p := range c.Panes {
		chips := scopebar.Of(&p.Timeline, p.Scope, func(in recording.Scope) {
			c.FocusOn(d, i) // the other side follows the focus
			p.Scope = in
		})
		gs = append(gs, scopebar.Group{Side: comparison.SideName(i), Chips: slices.Concat(chips, p.runsChip(func() { d.ChooseRuns(i) }), p.strayChips())})
	}
	all := scopebar.Group{}
	if c.Options.Event != "" {
		all.Chips = append(all.Chips, scopebar.Chip{Kind: "event", Text: c.MetricName(), Off: func() { c.Options.Event, c.Options.Metric = "", "" }})
	}
	all.Chips = append(all.Chips, c.renamed()...)
	all.Chips = append(all.Chips, c.Panes[c.Focus].transformChips(d)...)
	return append(gs, all)
}

// Scoped returns the groups of chips for the scope of the lower half, none if nothing is
// open.
func (d *Workspace) Scoped() []scopebar.Group {
	if s := d.scene(); s != nil {
		return s.Scoped(d)
	}
	return nil
}

// EventItems returns the events to choose from.
func (p *Pane) EventItems() (items []widget.Item) {
	for i := range p.Rec.Events {
		items = append(items, widget.Item{Title: p.Rec.Events[i].Title(), Detail: p.Rec.Events[i].Kind, On: i == p.Event, Do: func() { p.SetEvent(i) }})
	}
	return items
}

// basis names the kind of records behind the numbers, and the questions they cannot
// answer.
func (p *Pane) basis() (text string) {
	if a := p.Doc.Answer(); a != nil {
		text = basisText(a.Tree.Weights)
		if p.Scope.Ranged && !a.Tree.Weights.Ranged && a.Scope.Ranged {
			text = "No data for a time range; showing the whole recording · " + text
		}
		if p.Scope.Calls != nil && !a.Tree.Weights.Called && a.Scope.Calls != nil {
			text = "No data for single calls; showing the whole recording · " + text
		}
	}
	if soon := p.Doc.Preview(); soon != nil {
		text = basisText(soon.Tree.Weights) + " · computing…"
	} else if p.Late {
		text = strings.TrimPrefix(text+" · computing…", " · ")
	}
	if p.Plan != nil && p.Plan.Unseen > 0 && text != "" && p.Scope.Tracks == nil {
		text += " · includes " + units.Plural(int64(p.Plan.Unseen), "hidden "+p.Rec.ThreadWord(recording.NoTrack))
	}
	return text
}

// basisText names the kind of records behind the weights.
func basisText(w *analyze.Weights) string {
	if w == nil {
		return ""
	}
	text := "Based on " + string(w.Basis)
	if w.Ranged && w.Basis == analyze.Windows {
		text = "Based on " + units.Plural(int64(w.WindowCount), "window")
	}
	if w.Pairs > 0 {
		text += " · " + units.Plural(w.Pairs, "stack pair") + " joined"
	}
	return text
}
