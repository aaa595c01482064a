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

// OneRun reports whether a side has only the run that is shown.
func OneRun(p *panel.Side) bool { return len(p.Actions.Runs()) < 2 }

// Panel shows the runs of a side as a series: the total and each function over the runs.
type Panel struct{ view[*panel.Side] }

// New returns a panel with a store of its own.
func New() *Panel { return &Panel{view[*panel.Side]{Store: new(Store)}} }

// Become copies the view of another panel and the trends that it has computed.
func (t *Panel) Become(of *Panel) { t.become(&of.view) }

// Layout draws the trend, or the progress of reading the runs.
func (t *Panel) Layout(h *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) {
	if len(p.Actions.Runs()) < 2 {
		t.show(nil)
		widget.Empty(u, r, "Only one run", "Drop a folder or several files on the window and choose Show trend, or add runs to A")
		return
	}
	event := ""
	if p.Event < len(p.Rec.Events) {
		event = p.Rec.Events[p.Event].NameOrKind()
	}
	t.layoutOf(h, u, r, event, p.MetricOf().Name, &owner{
		picked:  p.PickedFunction,
		pick:    func(f *recording.FuncName) { pick(p, f) },
		compare: p.Actions.CompareRuns,
		items: func(f recording.Function) (items []widget.Item) {
			if len(panel.FunctionsOf(p.Rec, f)) > 0 {
				items = p.Actions.FunctionItems(f)
			}
			return itemsOf(items, &p.Actions)
		},
	}, p)
}

// summing returns a function that sums up a run of one or two sides. The runs that the
// sides show are not read again.
func summing(k question, files [2][]string, sides ...*panel.Side) func(context.Context, int) (*trend.Sum, error) {
	shown := make([]*recording.Recording, len(sides))
	reads := make([]func(context.Context, string) (*recording.Recording, error), len(sides))
	for i, p := range sides {
		shown[i], reads[i] = p.Rec, p.Actions.ReadRun
	}
	return func(ctx context.Context, i int) (sum *trend.Sum, err error) {
		side := 0
		if n := len(files[0]); i >= n {
			side, i = 1, i-n
		}
		rec := shown[side]
		if i > 0 {
			if rec, err = reads[side](ctx, files[side][i]); err != nil {
				return nil, err
			}
		}
		return trend.SumOf(ctx, rec, k.event, k.metric, false)
	}
}

// note names the settings of a view that a trend does not depend on.
func note(sides ...*panel.Side) string {
	var without []string
	if slices.ContainsFunc(sides, func(p *panel.Side) bool { return !p.Scope.IsWhole() }) {
		without = append(without, "the selection")
	}
	if len(sides[0].Transforms) > 0 {
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
