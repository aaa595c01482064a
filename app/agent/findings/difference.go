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

const differenceWrong = "the runs did different work, or runs vary this much: compare several runs per side"

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
	add := func(f Finding, conf *compare.Confidence, delta, was int64, state view.State) {
		f.Rule, f.Kind, f.WrongWhen, f.Confidence, f.Size = "difference", Unusual, differenceWrong, decimal(conf.Level()), l.sizeOf(delta, was)
		l.evidence(&f, state, "diff", evidence.File(a), evidence.File(b))
		l.out = append(l.out, f)
	}
	real := func(conf *compare.Confidence, delta int64) bool {
		return conf != nil && conf.Level() >= .99 && math.Abs(float64(delta)) >= .03*math.Abs(float64(l.sum))
	}
	// say describes a change; its plus sign is not part of the number.
	say := func(f *Finding, a, b int64, of func(n Number, which string) Number) {
		plus, delta := "+", l.value(b-a)
		if b < a {
			plus, delta.Text = "", "−"+units.Value(a-b, l.metric)
		}
		f.say("%s%s (A %s, B %s).", plus, of(delta, "delta"), of(l.value(a), "a"), of(l.value(b), "b"))
	}
	if delta := c.B().RawTotal - c.A().RawTotal; real(t.Whole, delta) {
		f := Finding{}.saying("Total %s ", name(safetext.Short(l.metric.Name)))
		say(&f, c.A().RawTotal, c.B().RawTotal, func(n Number, which string) Number {
			path := which + ".raw_total"
			if which == "delta" {
				path = "b.raw_total - a.raw_total"
			}
			return n.by(path, l.withMetric("diff", evidence.File(a), evidence.File(b), "-n", "1")...)
		})
		add(f, t.Whole, delta, l.sum, view.State{Tab: "table"})
	}
	n := 0
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Self == nil || !real(r.Self, r.DeltaSelf()) || n == mostDifferences {
			continue
		}
		n++
		function := recording.FuncName{Name: r.Name, Module: r.Module}
		f := Finding{Function: r.Name}.saying("%s self ", quoted(r.Name))
		say(&f, r.ASelf, r.BSelf, func(n Number, which string) Number {
			return n.by(fmt.Sprintf("rows[%d].%s_self", i, which), l.withMetric("diff", evidence.File(a), evidence.File(b))...)
		})
		add(f, r.Self, r.DeltaSelf(), l.sum, view.State{Tab: "difference", Function: &function})
	}
	l.finish(evidence.File(a), evidence.File(b))
	return l.out, nil
}
