package functions

import (
	"slices"
	"strings"

	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/search"
	"ashlar/render/widget"
)

// A Group is a grouping of the rows; Title is the plural name of the rows.
type Group struct {
	By    analyze.By
	Title string
}

// Groups are the groupings that every recording supports.
var Groups = []Group{
	{analyze.ByFunction, "Functions"},
	{analyze.ByPackage, "Packages"},
	{analyze.ByName, "Names"},
	{analyze.ByModule, "Modules"},
	{analyze.ByFile, "Files"},
	{analyze.ByThread, "Threads"},
}

// titlesOf returns the titles of Groups, and the index of by among them, -1 for none.
func titlesOf(by analyze.By, categories bool) (titles []string, on int) {
	on = -1
	for i, g := range Groups {
		if g.By == by {
			on = i
		}
		if g.By == analyze.ByModule && categories {
			g.Title = "Categories"
		}
		titles = append(titles, g.Title)
	}
	return titles, on
}

// keyOf returns the key of the label or argument that rows are grouped by, "" for other
// groupings.
func keyOf(by analyze.By) string {
	if key, ok := by.ContextKey(); ok {
		return key
	}
	if key, ok := by.ArgumentKey(); ok {
		return key
	}
	return ""
}

// otherTitle returns the title of a grouping that only some recordings support; "" for
// the others.
func otherTitle(by analyze.By) string {
	switch _, on := titlesOf(by, false); {
	case on >= 0:
		return ""
	case keyOf(by) != "":
		return "by " + keyOf(by)
	}
	return "by " + string(by)
}

// ChooseGroup lists all groupings of the recording, including its labels and the
// arguments of its spans.
func (t *Panel) ChooseGroup(s *panel.Host, p *panel.Side) {
	ChooseGroup(s, append(slices.Clone(Groups), OtherGroups(p.Rec)...), t.Group, func(by analyze.By) {
		p.Tab = panel.Functions
		t.group(by)
	})
}

// ChooseGroup lists groups, marks the chosen one, and calls take with the new choice.
func ChooseGroup(s *panel.Host, groups []Group, chosen analyze.By, take func(analyze.By)) {
	s.OpenChooser(widget.NewChooser("Group rows by…", "", func(text string) (lines []widget.Line) {
		for _, g := range groups {
			if !widget.HasWords(g.Title, text) {
				continue
			}
			l := widget.Line{Title: g.Title, Detail: "--by " + string(g.By), Mark: widget.MarkOff, Take: func() {
				s.Chooser = nil
				take(g.By)
			}}
			if g.By == chosen {
				l.Mark = widget.MarkOn
			}
			lines = append(lines, l)
		}
		return lines
	}))
}

// OtherGroups returns the groupings, besides Groups, that at least one of the recordings
// supports: thread states, labels, arguments of spans.
func OtherGroups(recs ...*recording.Recording) (all []Group) {
	add := func(by, title string) {
		if !slices.ContainsFunc(all, func(g Group) bool { return g.By == analyze.By(by) }) {
			all = append(all, Group{analyze.By(by), title})
		}
	}
	for _, rec := range recs {
		if rec.Counts.States > 0 {
			add(string(analyze.ByState), "Thread states")
			add(string(analyze.ByWaker), "Waker (blocked)")
			add(string(analyze.ByWakerStack), "Waker's stack (blocked)")
		}
		for _, key := range analyze.ContextKeys(rec) {
			add("context:"+key, "Label "+key)
		}
		for _, key := range calls.ArgumentKeys(rec) {
			add("arg:"+key, "Argument "+key)
		}
	}
	return all
}

// group changes the grouping of the rows.
func (t *Panel) group(by analyze.By) { t.Group, t.Down, t.Marked = by, 0, "" }

// valueItems returns the menu items for a row that is not a function: select the calls with
// an argument, or keep the stacks with a label.
func valueItems(p *panel.Side, by analyze.By, value string) (items []widget.Item) {
	if key, ok := by.ArgumentKey(); ok {
		if value == analyze.WithoutArgument(key) {
			return nil
		}
		q := calls.Query{Args: []calls.Arg{{Key: key, Is: "=", Value: value}}}
		set := q.String()
		return []widget.Item{
			{Title: "Select these calls", Do: func() { p.OnlyCalls(set) }},
			{Title: "Compare with other calls", Do: func() { p.CompareWithRest(set) }},
			{Title: "Set calls as A", Do: func() { p.SetCallsAs(0, set) }},
			{Title: "Set calls as B", Do: func() { p.SetCallsAs(1, set) }},
		}
	}
	if key, ok := by.ContextKey(); ok {
		t := analyze.Where(key + "=" + value)
		if t.Check() == nil && analyze.CheckWhere(p.Rec, t) == nil {
			items = append(items, widget.Item{Title: "Keep only this label", On: p.HasTransform(t), Do: func() { p.Transform(t) }})
		}
		return items
	}
	only := analyze.Only(value)
	items = append(items, widget.Item{Title: "Keep only these stacks", On: p.HasTransform(only), Do: func() { p.Transform(only) }})
	switch by {
	case analyze.ByModule:
		items = append(items, p.OwnCodeItem("Treat as own code", search.InModule.Of(value)))
	case analyze.ByFile:
		items = append(items, p.OwnCodeItem("Treat as own code", search.InFile.Of(value)))
	case analyze.ByPackage:
		items = append(items, p.OwnCodeItem("Treat as own code", search.InPackage.Of(value)))
	}
	if by == analyze.ByModule {
		c := analyze.CollapseModule(value)
		items = append(items, widget.Item{Title: "Collapse", On: p.HasTransform(c), Do: func() { p.Transform(c) }})
	}
	return append(items, widget.Item{Title: "Search for this name", Do: func() { p.SearchFor(strings.TrimSpace(value)) }})
}
