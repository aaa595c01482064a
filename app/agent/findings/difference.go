package findings

import (
	"context"
	"fmt"
	"math"

	"ashlar/app/core/evidence"
	"ashlar/app/core/view"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/render/units"
)

const differenceWrong = "the runs had different work, or runs vary this much: compare several runs per side"

// mostDifferences is the maximum number of functions listed for a comparison.
const mostDifferences = 5

// Differences lists significant changes of cost from A to B: of the total, and of the
// self cost of functions.
func Differences(ctx context.Context, a, b *recording.Recording) ([]Finding, error) {
	c, err := compare.Compare(ctx, []compare.Input{{Rec: a}}, []compare.Input{{Rec: b}}, compare.Options{})
	if err != nil {
		return nil, err
	}
	t, err := c.Table(ctx, compare.ByFunction, true)
	if err != nil {
		return nil, err
	}
	costs := &Costs{rec: a, metric: &c.Metric.Common, event: &a.Events[c.Metric.Event[0]], sum: c.A().RawTotal, behind: evidence.Sampled{Samples: c.A().Samples + c.B().Samples}}
	l := &look{Costs: costs, ctx: ctx, shown: []*recording.Recording{a, b}, out: []Finding{}}
	l.query.Metric = l.event.Primary
	add := func(claim, function string, conf *compare.Confidence, delta, was int64, state view.State) {
		f := Finding{Rule: "difference", WrongWhen: differenceWrong, Claim: claim, Function: function, Confidence: decimal(conf.Level()), Size: l.sizeOf(delta, was)}
		l.evidence(&f, state, "diff", evidence.File(a), evidence.File(b))
		l.out = append(l.out, f)
	}
	real := func(conf *compare.Confidence, delta int64) bool {
		return conf != nil && conf.Level() >= .99 && math.Abs(float64(delta)) >= .03*math.Abs(float64(l.sum))
	}
	signed := func(delta int64) string {
		if delta < 0 {
			return "−" + units.Value(-delta, l.metric)
		}
		return "+" + units.Value(delta, l.metric)
	}
	if delta := c.B().RawTotal - c.A().RawTotal; real(t.Whole, delta) {
		add(fmt.Sprintf("Total %s %s (A %s, B %s).", safetext.Short(l.metric.Name), signed(delta), units.Value(c.A().RawTotal, l.metric), units.Value(c.B().RawTotal, l.metric)), "", t.Whole, delta, l.sum, view.State{Tab: "table"})
	}
	n := 0
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Self == nil || !real(r.Self, r.DeltaSelf()) || n == mostDifferences {
			continue
		}
		n++
		name := recording.FuncName{Name: r.Name, Module: r.Module}
		add(fmt.Sprintf("%s self %s (A %s, B %s).", quoted(r.Name), signed(r.DeltaSelf()), units.Value(r.ASelf, l.metric), units.Value(r.BSelf, l.metric)),
			r.Name, r.Self, r.DeltaSelf(), l.sum, view.State{Tab: "difference", Function: &name})
	}
	return l.out, nil
}
