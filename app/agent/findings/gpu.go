package findings

import (
	"fmt"
	"slices"

	"ashlar/app/core/evidence"
	"ashlar/app/core/gpureport"
	"ashlar/app/core/view"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/gpu"
	"ashlar/ingest/query/spans"
	"ashlar/render/units"
)

// fewestWork is the smallest number of kernels and copies from which rules draw
// conclusions.
const fewestWork = 50

// gpus returns the devices of the recording.
func (l *look) gpus() (_ []*gpu.Device, err error) {
	if !l.looked {
		l.devices, err = gpu.Devices(l.ctx, l.rec)
		l.looked = err == nil
	}
	return l.devices, err
}

// isStream reports whether a track is a stream: those of a GPU do not share its work.
func isStream(devices []*gpu.Device, track int) bool {
	return slices.ContainsFunc(devices, func(d *gpu.Device) bool { return slices.Contains(d.Streams, track) })
}

func (l *look) gpu(r rule) error {
	devices, err := l.gpus()
	if err != nil {
		return err
	}
	for _, d := range devices {
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
	devices, err := l.gpus()
	if err != nil {
		return err
	}
	s, err := gpu.StepsOf(l.ctx, l.rec, devices)
	if err != nil || s == nil {
		return err
	}
	if len(s.Slow) == 0 || s.Excess < .02 || s.Measure == gpu.Duration && l.saturated() {
		l.slowing(r, s)
		return nil
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
	l.addStep(r, f, &s.Steps[s.Slow[0]])
	return nil
}

// addStep adds a finding that a step shows.
func (l *look) addStep(r rule, f Finding, step *gpu.Step) {
	state := view.State{Tab: "calls"}
	state.Sides[0].Select = recording.Offsets(step.Start-l.rec.Start, step.End-l.rec.Start)
	l.add(r, f, state, "gpu", evidence.File(l.rec))
}

// saturated reports whether a GPU worked most of the time: then it does not matter how
// long the program took for a step.
func (l *look) saturated() bool {
	return slices.ContainsFunc(l.devices, func(d *gpu.Device) bool { return 10*d.Busy > 8*(d.To-d.From) })
}

// slowing reports steps that get slower.
func (l *look) slowing(r rule, s *gpu.Steps) {
	for _, m := range []gpu.Measure{gpu.GPUTime, gpu.Duration} {
		t := s.Trend[m]
		if t.Direction != spans.Slower || t.P > .001 || t.First <= 0 || t.Last < 1.5*t.First || m == gpu.Duration && l.saturated() {
			continue
		}
		what := ""
		if m == gpu.GPUTime {
			what = " of GPU time"
		}
		l.addStep(r, Finding{Claim: fmt.Sprintf("Steps of %s get slower: %s%s at the end, %s at the start.", quoted(s.Name), units.Duration(int64(t.Last)), what, units.Duration(int64(t.First))),
			Confidence: decimal(1 - t.P), Size: timePart(int64(t.Last-t.First), int64(t.Last))}, &s.Steps[len(s.Steps)-1])
		return
	}
}
