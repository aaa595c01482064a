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
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/gpu"
	"ashlar/ingest/query/spans"
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
	for i, d := range devices {
		window := d.To - d.From
		if len(d.Work) < fewestWork || window <= 0 {
			continue
		}
		device, at := name(safetext.Short(d.Name(l.rec))), fmt.Sprintf("devices[%d].", i)
		whole := l.byGPU(duration(window), at+"window")
		add := func(of int64, claim string, args ...any) {
			l.add(r, Finding{Size: timePart(of, window)}.saying("%s "+claim, append([]any{device}, args...)...), view.State{Tab: "flamegraph"}, "gpu", evidence.File(l.rec))
		}
		if 4*d.Copying >= window {
			add(d.Copying, "only copies or fills memory for %s of %s.", l.ofGPU(d.Copying, window, at+"copying", at+"window"), whole)
		}
		l.turns(r, d)
		if len(d.Idle) == 0 || 4*d.Idle[0].Time < window && (10*d.Idle[0].Time < window || !allocates(d.Idle[0].Name)) {
			continue
		}
		x := &d.Idle[0]
		idle := l.ofGPU(x.Time, window, at+"idle[0].time", at+"window")
		switch {
		case x.Why == gpu.Late && x.Name != "":
			add(x.Time, "is idle for %s of %s because the program is in %s and has launched nothing.", idle, whole, quoted(x.Name))
		case x.Why == gpu.Late:
			add(x.Time, "is idle for %s of %s because the program, outside of recorded calls, has launched nothing.", idle, whole)
		case x.Why == gpu.Waited:
			add(x.Time, "is idle for %s of %s after the program waited for it in %s.", idle, whole, quoted(x.Name))
		case x.Why == gpu.Queued:
			add(x.Time, "is idle for %s of %s between the launch and the start of its work, which is short: median %s.", idle, whole, duration(d.Median))
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
	order.By(large, func(a, b *streamWork) int { return cmp.Or(cmp.Compare(b.busy, a.busy), cmp.Compare(a.track, b.track)) })
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
	l.add(r, Finding{Thread: l.rec.Tracks[b.track].Name, Size: timePart(b.busy, d.To-d.From)}.saying("%s and %s of %s take turns %s times: only %s of the %s of %s run at the same time.",
		l.on(a.track), l.on(b.track), name(safetext.Short(d.Name(l.rec))), count(changes/2), part(both, b.busy), duration(b.busy), l.on(b.track)), view.State{Tab: "functions", Table: view.Table{Group: "thread"}}, "top", evidence.File(l.rec), "--by", "thread")
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
	f := l.slowSteps(s)
	if len(s.Causes) > 0 {
		c := s.Causes[0]
		f.Function = l.rec.Functions.At(int(c.Function)).Name
		f.say(" %s adds %s.", quoted(f.Function), l.byGPU(duration(c.Slow-c.Usual), "loop.causes[0].slow - loop.causes[0].usual"))
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

// slowSteps returns a finding with the sentence of [gpureport.SlowText].
func (l *look) slowSteps(s *gpu.Steps) (f Finding) {
	field, measure, what := ".duration", "loop.median", ""
	if s.Measure == gpu.GPUTime {
		field, measure, what = ".gpu", "loop.median_gpu", " of GPU time"
	}
	took := func(i int) Number {
		return duration(s.Steps[i].Of(s.Measure)).by(fmt.Sprintf("steps[%d]%s", i, field), "gpu", evidence.File(l.rec), "-n", "0")
	}
	shortest := func(a, b int) int { return cmp.Compare(s.Steps[a].Of(s.Measure), s.Steps[b].Of(s.Measure)) }
	low, high := took(slices.MinFunc(s.Slow, shortest)), took(slices.MaxFunc(s.Slow, shortest))
	f.say("%s of %s steps took %s", l.byGPU(count(len(s.Slow)), "loop.slow"), l.byGPU(count(len(s.Steps)), "loop.steps"), low)
	if high.Text != low.Text {
		f.say(" to %s", high)
	}
	f.say("%s (median %s): ", what, l.byGPU(duration(s.Median[s.Measure]), measure))
	last := len(s.Slow) - 1
	if last >= gpureport.MostNamed {
		last = gpureport.MostNamed
	}
	for k, i := range s.Slow[:last+1] {
		switch {
		case k == 0:
		case k == last:
			f.say(" and ")
		default:
			f.say(", ")
		}
		switch step := l.rec.FuncName(s.Steps[i].Call); {
		case k == gpureport.MostNamed:
			f.say("%s more", count(len(s.Slow)-k))
		case step == s.Name: // the same for all
			f.say("number %s", count(i+1))
		default:
			f.say("%s", name(safetext.Short(step)))
		}
	}
	f.say(".")
	return f
}

// ofGPU returns a part of a whole as a percentage, with their paths in the answer of gpu.
func (l *look) ofGPU(of, whole int64, ofPath, wholePath string) Number {
	return part(of, whole).over(ofPath, wholePath, "gpu", evidence.File(l.rec), "-n", "1")
}

// byGPU sets a path in the answer of gpu as the source of a number.
func (l *look) byGPU(n Number, path string) Number {
	return n.by(path, "gpu", evidence.File(l.rec), "-n", "1")
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

// communication reports devices that communicate without computing, apart from waits for a rank
// that is reported as late: of a distributed job, only the one that does so for the longest time.
func (l *look) communication(r rule) error {
	devices, err := l.gpus()
	most := -1
	for i, d := range devices {
		window, exposed := d.To-d.From, d.Communicating-d.Hidden
		if len(d.Work) < fewestWork || exposed <= 0 || 4*(exposed-l.late) < window {
			continue
		}
		if most < 0 || exposed > devices[most].Communicating-devices[most].Hidden {
			most = i
		}
	}
	if most < 0 {
		return err
	}
	d, at := devices[most], fmt.Sprintf("devices[%d].", most)
	window, exposed := d.To-d.From, d.Communicating-d.Hidden
	l.add(r, Finding{Size: timePart(exposed, window)}.saying("%s communicates without computing for %s of %s; computation hides %s of %s of communication.", name(safetext.Short(d.Name(l.rec))),
		l.ofGPU(exposed, window, at+"exposed", at+"window"), l.byGPU(duration(window), at+"window"),
		l.byGPU(duration(d.Hidden), at+"hidden"), l.byGPU(duration(d.Communicating), at+"communication")), view.State{Tab: "flamegraph"}, "gpu", evidence.File(l.rec))
	return err
}

// operator reports an operator that launches most of the work of busy GPUs.
func (l *look) operator(r rule) error {
	devices, err := l.gpus()
	if err != nil || !l.saturated() {
		return err
	}
	groups, err := gpu.GroupsOf(l.ctx, l.rec, devices, nil)
	if err != nil {
		return err
	}
	most, launching := -1, 0
	for i, g := range groups.Operators {
		if g.Name != "" && g.Self > 0 {
			if launching++; most < 0 || g.Self > groups.Operators[most].Self {
				most = i
			}
		}
	}
	if launching < fewestOperators || 2*groups.Operators[most].Self < groups.Time || len(devices[0].Work) < fewestWork {
		return nil
	}
	g, at := &groups.Operators[most], fmt.Sprintf("operators[%d].", most)
	f := Finding{Size: timePart(g.Self, groups.Time)}.saying("%s launches %s of %s of GPU work, %s of it in %s.", quoted(g.Name),
		l.ofGPU(g.Self, groups.Time, at+"self", "work_time"), l.byGPU(duration(groups.Time), "work_time"),
		l.byGPU(duration(g.Parts[0].Time), at+"kernels[0].time"), quoted(l.rec.Functions.At(int(g.Parts[0].Function)).Name))
	f.Function = g.Name
	l.add(r, f, of(recording.Function{Name: g.Name, Module: "cpu_op"}, "flamegraph"), "gpu", evidence.File(l.rec))
	return nil
}

// fewestOperators is the smallest number of operators that launch work from which rules draw
// conclusions.
const fewestOperators = 3

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
		l.addStep(r, Finding{Confidence: decimal(1 - t.P), Size: timePart(int64(t.Last-t.First), int64(t.Last))}.saying("Steps of %s get slower: %s%s at the end, %s at the start.",
			quoted(s.Name), estimated(t.Last), what, estimated(t.First)), &s.Steps[len(s.Steps)-1])
		return
	}
}
