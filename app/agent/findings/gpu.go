package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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

// isStream reports whether a track is a stream of a GPU. Streams are not threads: they do not
// share a program's work.
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
		l.turns(r, d)
		if len(d.Idle) == 0 || 4*d.Idle[0].Time < window && (10*d.Idle[0].Time < window || !allocates(d.Idle[0].Name)) {
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

// allocates reports whether a function of a driver allocates or frees memory at once, for
// which it waits until the GPU has done all work (CUDA and HIP programming guides).
func allocates(name string) bool {
	for _, driver := range []string{"cuda", "hip", "cu"} {
		if what, ok := strings.CutPrefix(name, driver); ok {
			return slices.Contains([]string{"Malloc", "Free", "MallocHost", "FreeHost", "HostAlloc", "HostMalloc", "HostFree", "MemAlloc", "MemFree"}, what)
		}
	}
	return false
}

// turns reports two busy streams of a device that hardly ever work at the same time although
// they alternate often.
func (l *look) turns(r rule, d *gpu.Device) {
	of := map[int]*streamWork{}
	for i := range d.Work {
		w := &d.Work[i]
		s := of[w.Track]
		if s == nil {
			s = &streamWork{track: w.Track}
			of[w.Track] = s
		}
		s.count++
		s.busy += max(0, w.End-max(w.Start, s.end))
		s.end = max(s.end, w.End)
	}
	var large []*streamWork
	for _, s := range of {
		if 5*s.busy >= d.Busy && s.count >= fewestWork {
			large = append(large, s)
		}
	}
	slices.SortFunc(large, func(a, b *streamWork) int { return cmp.Or(cmp.Compare(b.busy, a.busy), cmp.Compare(a.track, b.track)) })
	if len(large) < 2 {
		return
	}
	a, b := large[0], large[1]
	changes, both := 0, int64(0)
	last, end := -1, [2]int64{}
	for i := range d.Work {
		w := &d.Work[i]
		if w.Track != a.track && w.Track != b.track {
			continue
		}
		own := 0
		if w.Track == b.track {
			own = 1
		}
		if w.Track != last {
			last = w.Track
			changes++
		}
		from := max(w.Start, end[own])
		both += max(0, min(w.End, end[1-own])-from)
		end[own] = max(end[own], w.End)
	}
	if changes < 2*fewestTurns || 20*both > b.busy {
		return
	}
	l.add(r, Finding{Claim: fmt.Sprintf("%s and %s of %s take turns %s times: %s of the %s of %s overlap the other.", l.on(a.track), l.on(b.track), safetext.Short(d.Name(l.rec)),
		units.Count(int64(changes/2)), units.Percent(both, b.busy), units.Duration(b.busy), l.on(b.track)), Thread: l.rec.Tracks[b.track].Name, Size: timePart(b.busy, d.To-d.From)},
		view.State{Tab: "functions", Table: view.Table{Group: "thread"}}, "top", evidence.File(l.rec), "--by", "thread")
}

// streamWork is the work on a stream.
type streamWork struct {
	track     int
	count     int
	busy, end int64
}

// fewestTurns is the smallest number of turns of two streams from which rules draw
// conclusions.
const fewestTurns = 10

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

// addStep adds a finding with a step as its evidence.
func (l *look) addStep(r rule, f Finding, step *gpu.Step) {
	state := view.State{Tab: "calls"}
	state.Sides[0].Select = recording.Offsets(step.Start-l.rec.Start, step.End-l.rec.Start)
	l.add(r, f, state, "gpu", evidence.File(l.rec))
}

// saturated reports whether a GPU worked most of the time. Then the time that the program took
// for a step does not matter.
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
