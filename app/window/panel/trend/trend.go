// Package trend implements the panel with the costs over a series of runs, and the runs at
// which they changed.
package trend

import (
	"context"
	"image"
	"slices"
	"strings"

	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/trend"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// Panel shows the runs of a side as a series: the total and each function over the runs.
type Panel struct {
	view[*panel.Side]
	// Store computes the trends; it outlives the panel.
	Store *Store
}

// New returns a panel with a store of its own.
func New() *Panel { return &Panel{Store: new(Store)} }

// Become copies the view of another panel and the trends that it has computed.
func (t *Panel) Become(of *Panel) {
	t.Store.kept = slices.Clone(of.Store.kept)
	t.was, t.Down = of.name(), of.Down
}

// Layout draws the trend, or the progress of reading the runs.
func (t *Panel) Layout(h *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) {
	files := p.Actions.Runs()
	if t.place(r); len(files) < 2 {
		t.show(nil)
		widget.Empty(u, r, "Only one run", "Drop a folder or several files on the window and choose Show trend, or add runs to A")
		return
	}
	if !p.Rec.Done {
		t.wait(u, r, 0, len(files))
		return
	}
	of := t.ask(h, p, files)
	if of == nil {
		t.wait(u, r, t.Store.progress(t.asked(p, files)), len(files))
		return
	}
	t.layout(h, u, r, of, &owner{
		note: note(p), picked: p.PickedFunction,
		pick:    func(f *recording.FuncName) { pick(p, f) },
		compare: func(before, after []string, f *recording.FuncName) { p.Actions.CompareRuns(before, after, f) },
		items: func(f recording.Function) (items []widget.Item) {
			if len(panel.FunctionsOf(p.Rec, f)) > 0 {
				items = p.Actions.FunctionItems(f)
			}
			return widget.Grouped(items, append(p.Actions.TableItems(), p.Actions.CommandItem()))
		},
	})
}

// asked returns the key of the trend of the shown metric.
func (t *Panel) asked(p *panel.Side, files []string) question {
	k := question{files: strings.Join(files, "\x00"), metric: p.MetricOf().Name, generation: p.Generation}
	if p.Event < len(p.Rec.Events) {
		k.event = p.Rec.Events[p.Event].NameOrKind()
	}
	return k
}

func (t *Panel) ask(h *panel.Host, p *panel.Side, files []string) *result {
	k, rec, read := t.asked(p, files), p.Rec, p.Actions.ReadRun
	return t.Store.ask(k, files, h.Do.Wake, func(ctx context.Context, i int) (*trend.Sum, error) {
		of := rec
		if i > 0 {
			var err error
			if of, err = read(ctx, files[i]); err != nil {
				return nil, err
			}
		}
		return trend.SumOf(ctx, of, k.event, k.metric, false)
	})
}

// note names the settings of a view that a trend does not depend on.
func note(p *panel.Side) string {
	var without []string
	if !p.Scope.IsWhole() {
		without = append(without, "the selection")
	}
	if len(p.Transforms) > 0 {
		without = append(without, "transforms")
	}
	if without == nil {
		return ""
	}
	return "whole runs, without " + strings.Join(without, " and ")
}

// pick selects a function in the side; nil, or a function that the side lacks, selects
// nothing.
func pick(p *panel.Side, f *recording.FuncName) {
	p.Pick = panel.Picked{}
	if a := p.Doc.Answer(); f != nil && p.Counts(a) {
		for _, id := range panel.FunctionsOf(p.Rec, recording.Function{Name: f.Name, Module: f.Module}) {
			p.PickFunction(a, id)
		}
	}
}
