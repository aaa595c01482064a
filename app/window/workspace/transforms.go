package workspace

import (
	"ashlar/app/window/panel"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/search"
	"ashlar/render/widget"
)

// Apply applies a transform of a kind. If the kind needs a function, it uses the picked
// one.
func (p *Pane) Apply(d *Workspace, k *analyze.TransformKind) {
	f, ok := p.PickedFunction()
	switch {
	case k.Op == analyze.OpSplitRelated && p.Rec.Pairs() == 0:
		d.Say("This recording has no stack pairs to split")
	case k.Of == analyze.OfAll:
		p.Transform(k.Make(""))
	case ok:
		p.Transform(k.On(f))
	default:
		d.Say("Select a function first (click a bar or a row)")
	}
}

// transformItems returns the menu items for the transforms of a function, or of all
// stacks.
func (p *Pane) transformItems(of analyze.Argument, f recording.Function) (items []widget.Item) {
	for i := range analyze.Transforms {
		k := &analyze.Transforms[i]
		if k.Of != of || k.Item() == "" {
			continue
		}
		t := k.Make("")
		if of == analyze.OfFunction {
			t = k.On(f)
		}
		if k.Op == analyze.OpSplitRelated && p.Rec.Pairs() == 0 && !p.HasTransform(t) {
			continue
		}
		items = append(items, widget.Item{Title: k.Item(), Detail: k.Key, On: p.HasTransform(t), Do: func() { p.Transform(t) }})
	}
	return items
}

// FunctionItems lists the actions for a function.
func (p *Pane) FunctionItems(d *Workspace, f recording.Function) []widget.Item {
	items := []widget.Item{{Title: "Callers and callees", Detail: "Q", Do: func() {
		p.PutAround(f)
		p.Tab = panel.Callers
	}}}
	if d.Versus == nil {
		if p.Rec.Counts.Spans > 0 {
			items = append(items, widget.Item{Title: "List its calls", Detail: d.Callbacks.KeyOf("Calls"), Do: func() { p.Tab, p.List.All = panel.Calls, false }},
				widget.Item{Title: "Compare its slow calls", Do: func() { d.WhySlow(f, p.Scope) }})
		}
	}
	change := p.transformItems(analyze.OfFunction, f)
	if f.Module != "" {
		t := analyze.CollapseModule(f.Module)
		change = append(change, widget.Item{Title: "Collapse module " + panel.ShortModule(f.Module), On: p.HasTransform(t), Do: func() { p.Transform(t) }})
	}
	if pkg := funcname.Package(f.Name); pkg != "" {
		change = append(change, p.OwnCodeItem("Treat "+pkg+" as own code", search.InPackage.Of(pkg)))
	}
	items = append(items, widget.Item{Title: "Search for this name", Do: func() { p.SearchFor(f.Name) }})
	return widget.Grouped(items, change, p.Details.LabelItems(&d.Host))
}

// viewItems returns the menu items for viewing the whole flamegraph.
func (p *Pane) viewItems() []widget.Item {
	return append([]widget.Item{{Title: "Root at bottom", Detail: "U", On: p.Up, Do: func() { p.FlipFlamegraph() }}},
		p.transformItems(analyze.OfAll, recording.Function{})...)
}
