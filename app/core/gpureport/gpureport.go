// Package gpureport prints the GPU work of a recording as JSON and as text: busy and idle
// time, communication, memory, operators, slow steps and the ranks of a distributed job.
package gpureport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"ashlar/app/core/evidence"
	"ashlar/app/core/exactnum"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/gpu"
	"ashlar/ingest/query/ranks"
	"ashlar/render/units"
)

// Answer is the JSON output of gpu. Times are exact decimals in nanoseconds, starts
// counted from the recording's start; shares are from 0 to 1.
type Answer struct {
	File    string   `json:"file"`
	Devices []Device `json:"devices"`
	// Memory lists the memory of devices, if it was recorded (profile_memory=True).
	Memory []Memory `json:"memory"`
	// WorkTime is the sum of the durations of all kernels, copies and fills. Operators,
	// Modules and Annotations list what launched them, by Total; each is empty if the trace
	// has none. Operators are those of PyTorch, or in JAX's traces the operations of XLA and
	// the compiled functions around them. Modules are PyTorch's (with_stack=True), or the
	// scopes in JAX's names. Annotations are the program's own, without steps.
	WorkTime    json.Number `json:"work_time"`
	Operators   []Group     `json:"operators"`
	Modules     []Group     `json:"modules"`
	Annotations []Group     `json:"annotations"`
	// Loop describes all steps, in which the program launched the work. It is null if the
	// trace has none: repeated outermost calls that launched at least half of the work.
	Loop *Loop `json:"loop"`
	// Ranks compares the GPUs or processes of a distributed job. It is null if fewer than two
	// run the same collective operations.
	Ranks *Ranks `json:"ranks"`
	// Steps lists the steps in order of time, More is the number left out.
	Steps []Step `json:"steps"`
	More  int    `json:"more"`

	rec     *recording.Recording
	devices []*gpu.Device
	steps   *gpu.Steps
	groups  *gpu.Groups
	memory  []gpu.Memory
	ranks   *ranks.Report
}

// Device is a GPU. Window is the time from the start of its first to the end of its last
// work.
type Device struct {
	Name    string      `json:"name"`
	Streams int         `json:"streams"`
	Work    int         `json:"work"` // kernels, copies and fills
	Window  json.Number `json:"window"`
	// Busy is the time in which a stream worked, Copying the part in which only copies or
	// fills ran.
	Busy      json.Number `json:"busy"`
	BusyShare json.Number `json:"busy_share"`
	Copying   json.Number `json:"copying"`
	// Communication is the time in which a stream communicated with other devices: hidden
	// while another stream computed, exposed otherwise.
	Communication json.Number `json:"communication"`
	Hidden        json.Number `json:"hidden"`
	Exposed       json.Number `json:"exposed"`
	ExposedShare  json.Number `json:"exposed_share"` // of Window
	Idle          []Idle      `json:"idle"`
}

// Idle is the idle time of a device from one cause. The causes add up to the window
// without Busy.
type Idle struct {
	// Why is late (the program had not launched the next work), waited (as late, after
	// it had waited for the device), queued (launched, not yet started) or unknown.
	Why string `json:"why"`
	// Function is the call that the launching Thread was in, or in which it had waited;
	// empty if it was in none.
	Function string      `json:"function"`
	Thread   string      `json:"thread"`
	Time     json.Number `json:"time"`
	Share    json.Number `json:"share"` // of Window
}

// Loop describes the steps of a program.
type Loop struct {
	Name   string      `json:"name"` // of the steps, without the number
	Steps  int         `json:"steps"`
	Slow   int         `json:"slow"`       // how many are slow
	Median json.Number `json:"median"`     // duration
	GPU    json.Number `json:"median_gpu"` // GPU time
	// SlowBy is duration or gpu, by which the slow steps are slow; empty if none is.
	SlowBy string `json:"slow_by"`
	// Causes are the functions with the most additional time in slow steps: kernels if
	// SlowBy is gpu, else functions of the steps' thread by self time.
	Causes []Cause `json:"causes"`
}

// Step is one step. GPU is the time in which work ran that was launched in it.
type Step struct {
	Name     string      `json:"name"`
	Start    json.Number `json:"start"`
	Duration json.Number `json:"duration"`
	GPU      json.Number `json:"gpu"`
	Work     int         `json:"work"`
	Slow     bool        `json:"slow"`
}

// Cause is a function with its mean time in slow and in usual steps.
type Cause struct {
	Function string      `json:"function"`
	Slow     json.Number `json:"slow"`
	Usual    json.Number `json:"usual"`
}

// Limits on what is listed.
const (
	mostCauses  = 5 // maximum number of causes of slow steps
	textCauses  = 8 // maximum number of causes of idle time, in text
	textDevices = 8 // maximum number of GPUs, in text
)

// ErrNone says that a recording has no work of a GPU.
var ErrNone = errors.New("no GPU work found: record with PyTorch's profiler (ProfilerActivity.CUDA) or JAX's")

// Of returns the answer for a recording with at most this many steps, 0 for all. The error
// is ErrNone if no GPU worked.
func Of(ctx context.Context, rec *recording.Recording, most int) (*Answer, error) {
	devices, err := gpu.Devices(ctx, rec)
	if err != nil {
		return nil, err
	}
	job, err := ranks.Of(ctx, rec, devices)
	if err != nil {
		return nil, err
	}
	if len(devices) == 0 && job == nil {
		return nil, ErrNone
	}
	steps, err := gpu.StepsOf(ctx, rec, devices)
	if err != nil {
		return nil, err
	}
	groups, err := gpu.GroupsOf(ctx, rec, devices, steps)
	if err != nil {
		return nil, err
	}
	memory, err := gpu.MemoryOf(ctx, rec, steps)
	if err != nil {
		return nil, err
	}
	a := &Answer{File: rec.Source.Path, rec: rec, devices: devices, steps: steps, groups: groups, Devices: []Device{}, Steps: []Step{},
		WorkTime: exactnum.Nanoseconds(groups.Time), Operators: groupsOf(rec, groups.Operators, groups.Time),
		Modules: groupsOf(rec, groups.Modules, groups.Time), Annotations: groupsOf(rec, groups.Annotations, groups.Time)}
	a.addMemory(memory)
	a.addRanks(job)
	for _, d := range devices {
		window := d.To - d.From
		out := Device{d.Name(rec), len(d.Streams), len(d.Work), exactnum.Nanoseconds(window), exactnum.Nanoseconds(d.Busy), evidence.Share(d.Busy, window), exactnum.Nanoseconds(d.Copying),
			exactnum.Nanoseconds(d.Communicating), exactnum.Nanoseconds(d.Hidden), exactnum.Nanoseconds(d.Communicating - d.Hidden), evidence.Share(d.Communicating-d.Hidden, window), []Idle{}}
		for i := range d.Idle {
			x := &d.Idle[i]
			thread := ""
			if x.Track != recording.NoTrack {
				thread = rec.TrackLabel(x.Track)
			}
			out.Idle = append(out.Idle, Idle{x.Why.String(), x.Name, thread, exactnum.Nanoseconds(x.Time), evidence.Share(x.Time, window)})
		}
		a.Devices = append(a.Devices, out)
	}
	if steps != nil {
		a.addSteps(steps, most)
	}
	return a, nil
}

func (a *Answer) addSteps(steps *gpu.Steps, most int) {
	a.Loop = &Loop{Name: steps.Name, Steps: len(steps.Steps), Slow: len(steps.Slow), Median: exactnum.Nanoseconds(steps.Median[gpu.Duration]), GPU: exactnum.Nanoseconds(steps.Median[gpu.GPUTime]),
		SlowBy: steps.Measure.String(), Causes: []Cause{}}
	for _, c := range steps.Causes[:min(len(steps.Causes), mostCauses)] {
		a.Loop.Causes = append(a.Loop.Causes, Cause{a.name(c.Function), exactnum.Nanoseconds(c.Slow), exactnum.Nanoseconds(c.Usual)})
	}
	n := len(steps.Steps)
	if most > 0 {
		n = min(n, most)
	}
	for i := range steps.Steps[:n] {
		s := &steps.Steps[i]
		a.Steps = append(a.Steps, Step{a.rec.FuncName(s.Call), exactnum.Nanoseconds(s.Start - a.rec.Start), exactnum.Nanoseconds(s.End - s.Start), exactnum.Nanoseconds(s.GPU), s.Work, s.Slow != gpu.None})
	}
	a.More = len(steps.Steps) - n
}

func (a *Answer) name(f recording.FuncID) string {
	if f == analyze.NoFunc {
		return ""
	}
	return a.rec.Functions.At(int(f)).Name
}

// Text returns the answer for people, with at most n steps.
func (a *Answer) Text(n int) string {
	var b strings.Builder
	a.ranksText(&b)
	for i, d := range a.devices[:min(len(a.devices), textDevices)] {
		window := d.To - d.From
		fmt.Fprintf(&b, "%s: %s, %s kernels, copies and fills; %s from the first to the last\n", safetext.Short(a.Devices[i].Name), units.Plural(int64(len(d.Streams)), "stream"),
			units.Count(int64(len(d.Work))), units.Duration(window))
		fmt.Fprintf(&b, "%12s %7s  busy", units.Duration(d.Busy), units.Percent(d.Busy, window))
		if d.Copying > 0 {
			fmt.Fprintf(&b, ", of which %s (%s) copies and fills only", units.Duration(d.Copying), units.Percent(d.Copying, window))
		}
		if c := d.Communicating; c > 0 {
			fmt.Fprintf(&b, "\n%12s %7s    communication: %s hidden behind computation, %s (%s) exposed", units.Duration(c), units.Percent(c, window), units.Duration(d.Hidden), units.Duration(c-d.Hidden), units.Percent(c-d.Hidden, window))
		}
		fmt.Fprintf(&b, "\n%12s %7s  idle\n", units.Duration(window-d.Busy), units.Percent(window-d.Busy, window))
		others := int64(0)
		for k := range d.Idle {
			if x := &d.Idle[k]; k < textCauses {
				fmt.Fprintf(&b, "%12s %7s    %s\n", units.Duration(x.Time), units.Percent(x.Time, window), a.why(x))
			} else {
				others += x.Time
			}
		}
		if others > 0 {
			fmt.Fprintf(&b, "%12s %7s    %s\n", units.Duration(others), units.Percent(others, window), units.Plural(int64(len(d.Idle)-textCauses), "other cause"))
		}
	}
	if more := len(a.devices) - textDevices; more > 0 {
		fmt.Fprintf(&b, "… and %s; --json lists all\n", units.Plural(int64(more), "other GPU"))
	}
	a.memoryText(&b)
	a.groupText(&b, "operator", a.groups.Operators)
	a.groupText(&b, "module", a.groups.Modules)
	a.groupText(&b, "annotation", a.groups.Annotations)
	if a.steps != nil {
		a.stepText(&b, min(n, len(a.Steps)))
	}
	return b.String()
}

// why describes a cause of idle time.
func (a *Answer) why(x *gpu.Idle) string {
	in := "outside of calls"
	if x.Name != "" {
		in = "in " + safetext.Short(x.Name)
	}
	if x.Track != recording.NoTrack {
		in += ", " + safetext.Short(a.rec.TrackLabel(x.Track))
	}
	switch x.Why {
	case gpu.Late:
		return "before the next launch: " + in
	case gpu.Waited:
		return "before the next launch, after waiting for the GPU: " + in
	case gpu.Queued:
		return "from launch to start"
	}
	return "before work whose launch is not recorded"
}

func (a *Answer) stepText(b *strings.Builder, n int) {
	s := a.steps
	fmt.Fprintf(b, "\n%s of %s: median %s, with %s of GPU time\n", units.Plural(int64(len(s.Steps)), "step"), safetext.Short(s.Name), units.Duration(s.Median[gpu.Duration]), units.Duration(s.Median[gpu.GPUTime]))
	if len(s.Slow) > 0 {
		fmt.Fprintf(b, "%s\n", SlowText(a.rec, s))
		for _, c := range s.Causes[:min(len(s.Causes), mostCauses)] {
			if 20*(c.Slow-c.Usual) < s.Median[s.Measure] {
				break
			}
			fmt.Fprintf(b, "%12s more per slow step: %s instead of %s in %s\n", units.Duration(c.Slow-c.Usual), units.Duration(c.Slow), units.Duration(c.Usual), safetext.Short(a.name(c.Function)))
		}
	}
	b.WriteString("\n       start     duration     GPU time   work  step\n")
	for i := range a.Steps[:n] {
		x := &s.Steps[i]
		mark := ""
		if x.Slow != gpu.None {
			mark = "  slow"
		}
		fmt.Fprintf(b, "%12s %12s %12s %6s  %s%s\n", units.Duration(x.Start-a.rec.Start), units.Duration(x.End-x.Start), units.Duration(x.GPU), units.Count(int64(x.Work)), safetext.Short(a.rec.FuncName(x.Call)), mark)
	}
	if more := len(s.Steps) - n; more > 0 {
		fmt.Fprintf(b, "… and %s more; -n 0 prints all\n", units.Count(int64(more)))
	}
}

// MostNamed is the maximum number of slow steps that a sentence names.
const MostNamed = 4

// SlowText is a sentence about slow steps.
func SlowText(rec *recording.Recording, s *gpu.Steps) string {
	var names []string
	for _, i := range s.Slow[:min(len(s.Slow), MostNamed)] {
		name := rec.FuncName(s.Steps[i].Call)
		if name == s.Name { // the same for all
			name = "number " + units.Count(int64(i+1))
		}
		names = append(names, safetext.Short(name))
	}
	if more := len(s.Slow) - MostNamed; more > 0 {
		names = append(names, units.Count(int64(more))+" more")
	}
	list := names[0]
	if n := len(names) - 1; n > 0 {
		list = strings.Join(names[:n], ", ") + " and " + names[n]
	}
	low, high := s.Steps[s.Slow[0]].Of(s.Measure), int64(0)
	for _, i := range s.Slow {
		low, high = min(low, s.Steps[i].Of(s.Measure)), max(high, s.Steps[i].Of(s.Measure))
	}
	took := units.Duration(low)
	if to := units.Duration(high); to != took {
		took += " to " + to
	}
	if s.Measure == gpu.GPUTime {
		took += " of GPU time"
	}
	return fmt.Sprintf("%s of %s steps took %s (median %s): %s.", units.Count(int64(len(s.Slow))), units.Count(int64(len(s.Steps))), took, units.Duration(s.Median[s.Measure]), list)
}
