package findings

import (
	"fmt"

	"ashlar/app/core/evidence"
	"ashlar/app/core/view"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/query/ranks"
)

// rank reports the rank of a distributed job for which the others wait.
func (l *look) rank(r rule) error {
	devices, err := l.gpus()
	if err != nil {
		return err
	}
	report, err := ranks.Of(l.ctx, l.rec, devices)
	if err != nil || report == nil || report.Straggler < 0 {
		return err
	}
	x := &report.Ranks[report.Straggler]
	if 10*x.Late < report.Window {
		return nil
	}
	l.late = x.Late
	at := fmt.Sprintf("ranks.ranks[%d].", report.Straggler)
	f := Finding{Confidence: decimal(1 - report.P), Size: timePart(x.Late, report.Window)}.saying("%s is the last of %s to begin %s of %s: all others wait for it for %s, %s of %s.",
		name(safetext.Short(x.Name)), l.byGPU(plural(len(report.Ranks), "rank"), "ranks.count"), l.byGPU(count(x.Last), at+"last"), l.byGPU(plural(x.Operations, "collective operation"), at+"operations"),
		l.byGPU(duration(x.Late), at+"late"), l.ofGPU(x.Late, report.Window, at+"late", "ranks.window"), l.byGPU(duration(report.Window), "ranks.window"))
	state := view.State{Tab: "functions", Table: view.Table{Group: "thread"}}
	if c := report.Cause; c != nil {
		fn := l.rec.Functions.At(int(c.Function))
		f.Function = fn.Name
		f.say(" %s takes %s there, %s on the median of the others.", quoted(fn.Name), l.byGPU(duration(c.Time), "ranks.cause.time"), l.byGPU(duration(c.Median), "ranks.cause.median"))
		state = of(fn, "functions")
	}
	l.add(r, f, state, "gpu", evidence.File(l.rec))
	return nil
}
