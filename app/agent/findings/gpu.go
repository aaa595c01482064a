package findings

import (
	"fmt"

	"ashlar/app/core/evidence"
	"ashlar/app/core/gpureport"
	"ashlar/app/core/view"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/gpu"
	"ashlar/render/units"
)

// fewestWork is the smallest number of kernels and copies from which rules draw
// conclusions.
const fewestWork = 50

func (l *look) gpu(r rule) (err error) {
	if l.devices, err = gpu.Devices(l.ctx, l.rec); err != nil {
		return err
	}
	for _, d := range l.devices {
		window := d.To - d.From
		if len(d.Work) < fewestWork || window <= 0 {
			continue
		}
		add := func(part int64, claim string, args ...any) {
			share := units.Percent(part, window) + " of " + units.Duration(window)
			l.add(r, Finding{Claim: safetext.Short(d.Name(l.rec)) + " " + fmt.Sprintf(claim, append([]any{share}, args...)...), Size: timePart(part, window)},
				view.State{Tab: "flamegraph"}, "gpu", evidence.File(l.rec))
		}
		if 4*d.Copying >= window {
			add(d.Copying, "only copies or fills memory for %s.")
		}
		if len(d.Idle) == 0 || 4*d.Idle[0].Time < window {
			continue
		}
		switch x := &d.Idle[0]; {
		case x.Why == gpu.Late && x.Name != "":
			add(x.Time, "is idle for %s because the program is in %s and has launched nothing.", quoted(x.Name))
		case x.Why == gpu.Late:
			add(x.Time, "is idle for %s because the program, outside of recorded calls, has launched nothing.")
		case x.Why == gpu.Waited:
			add(x.Time, "is idle for %s after the program waited for it in %s.", quoted(x.Name))
		case x.Why == gpu.Queued:
			add(x.Time, "is idle for %s between the launch and the start of its work, which is short: median %s.", units.Duration(d.Median))
		}
	}
	return nil
}

func timePart(part, whole int64) Size {
	s := Size{Value: nanoseconds(part), Unit: "ns", Metric: "duration", Of: nanoseconds(whole), share: float64(part) / float64(max(1, whole))}
	s.Share = *decimal(s.share)
	return s
}

func (l *look) step(r rule) error {
	s, err := gpu.StepsOf(l.ctx, l.rec, l.devices)
	if err != nil || s == nil || len(s.Slow) == 0 || s.Excess < .02 {
		return err
	}
	f := Finding{Claim: gpureport.SlowText(l.rec, s)}
	if len(s.Causes) > 0 {
		c := s.Causes[0]
		f.Function = l.rec.Functions.At(int(c.Function)).Name
		f.Claim += fmt.Sprintf(" %s adds %s.", quoted(f.Function), units.Duration(c.Slow-c.Usual))
	}
	more, all := int64(0), int64(0)
	for _, i := range s.Slow {
		more += s.Steps[i].Of(s.Measure) - s.Median[s.Measure]
	}
	for i := range s.Steps {
		all += s.Steps[i].Of(s.Measure)
	}
	f.Size = timePart(more, all)
	state := view.State{Tab: "calls"}
	first := s.Steps[s.Slow[0]]
	state.Sides[0].Select = recording.Offsets(first.Start-l.rec.Start, first.End-l.rec.Start)
	l.add(r, f, state, "gpu", evidence.File(l.rec))
	return nil
}
