package trend

import (
	"image"

	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// FewRuns reports whether a comparison has too few runs for a trend.
func FewRuns(c *comparison.Comparison) bool {
	return len(c.Sides[0].Actions.Runs())+len(c.Sides[1].Actions.Runs()) < 6
}

// OfTwo shows the runs of both sides of a comparison as one series, those of A first.
type OfTwo struct{ view[*comparison.Comparison] }

// NewOfTwo returns a panel with a store of its own.
func NewOfTwo() *OfTwo { return &OfTwo{view[*comparison.Comparison]{Store: new(Store)}} }

// Become copies the view of another panel and the trends that it has computed.
func (t *OfTwo) Become(of *OfTwo) { t.become(&of.view) }

// Layout draws the trend, or the progress of reading the runs. The comparison
// must have an answer.
func (t *OfTwo) Layout(h *panel.Host, c *comparison.Comparison, u *ui.UI, r image.Rectangle) {
	a := c.Answer()
	m := a.Compared.Metric
	e := &a.Recs[0].Events[m.Event[0]]
	actions := &c.Sides[c.Focus].Actions
	t.layoutOf(h, u, r, e.NameOrKind(), e.Metrics[m.Metric[0]].Name, &owner{
		compare: actions.CompareRuns,
		picked: func() (f recording.Function, ok bool) {
			if c.Chosen == nil {
				return f, false
			}
			return recording.Function{Name: c.Chosen.Name, Module: c.Chosen.Module}, true
		},
		pick: func(f *recording.FuncName) { choose(c, f) },
		items: func(f recording.Function) (items []widget.Item) {
			if f.Name != "" {
				items = c.FunctionItems(f)
			}
			return itemsOf(items, actions)
		},
	}, c.Sides[:]...)
}

// choose selects a function in the comparison; nil, or a function that it lacks, selects
// nothing.
func choose(c *comparison.Comparison, f *recording.FuncName) {
	c.Node = -1
	a, key := c.Answer(), int32(-1)
	for i := range a.Compared.Tree.Funcs {
		if f != nil && a.Compared.Tree.Funcs[i].FuncName == *f {
			key = int32(i)
		}
	}
	c.Choose(a, key)
}
