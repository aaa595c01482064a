// Package gpu analyses GPU work in a trace: busy time, idle time and its causes,
// communication, memory, the operators that launched the work, and slow steps of a loop.
//
// It reads the traces of PyTorch's profiler (CUDA and ROCm) and of JAX. Times are in
// picoseconds.
package gpu

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

// Kind is a kind of work on a stream.
type Kind uint8

// Kinds of work.
const (
	Kernel Kind = iota
	Copy        // between memories
	Fill        // memory filled with a value
)

// kinds maps the categories of PyTorch's traces to kinds (libkineto/src/ActivityType.cpp
// in github.com/pytorch/kineto, and its names of 2020).
var kinds = map[string]Kind{
	"kernel": Kernel, "gpu_memcpy": Copy, "gpu_memset": Fill, "concurrent_kernel": Kernel,
	"Kernel": Kernel, "Memcpy": Copy, "Memset": Fill,
}

// A Span is a call on a thread or a stream.
type Span struct {
	Track      int // recording.NoTrack for none
	Call       recording.CallID
	Start, End int64
}

// Work is a kernel, copy or fill on a stream.
type Work struct {
	Span
	Kind Kind
	// Collective is set if it communicates with other devices.
	Collective bool
	// Launch is the call that launched it; its Track is recording.NoTrack if the trace
	// does not have it.
	Launch Span

	// in is Launch or, if that is not recorded, the call of the program around it. Its Track
	// is recording.NoTrack if the trace has neither.
	in   Span
	args uint64
}

// Args returns the arguments of work as JSON, "" for none.
func (w *Work) Args(rec *recording.Recording) string {
	if w.args == 0 || rec.Args == nil {
		return ""
	}
	return rec.Args(w.args)
}

// A Device is a GPU: a process with streams.
type Device struct {
	Process int
	Streams []int // tracks
	Work    []Work
	// From and To are the start of its first and the end of its last work.
	From, To int64
	// Busy is the time in which at least one stream worked, Copying the part in which
	// only copies or fills ran.
	Busy, Copying int64
	// Communicating is the time in which at least one stream communicated with other devices,
	// Hidden the part in which another stream computed.
	Communicating, Hidden int64
	// Median is the median duration of its work.
	Median int64
	// Idle lists the rest of the time by cause, the longest first.
	Idle []Idle
}

// Devices returns the GPUs of a recording in the order of their processes.
func Devices(ctx context.Context, rec *recording.Recording) ([]*Device, error) {
	kind := functionKinds(rec)
	found, none := map[int]*Device{}, Span{Track: recording.NoTrack, Call: recording.NoCall}
	for i, t := range rec.Tracks {
		all := streamOfDevice(rec, t)
		if t.Kind != recording.ThreadTrack || !all && (len(kind) == 0 || !isStream(rec, t)) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var work []Work
		for k := range t.Lanes {
			l := &t.Lanes[k]
			for n := range l.Len() {
				call := l.Call(n)
				what, ok := kind[rec.Func(call)]
				if !ok && all && rec.Calls.Depth(call) == 1 {
					what, ok = kindOf(rec.FuncName(call)), true
				}
				if ok && !l.Unfinished(n) {
					work = append(work, Work{Span{i, call, l.Start(n), l.End(n)}, what, false, none, none, l.Args(n)})
				}
			}
		}
		if len(work) == 0 {
			continue
		}
		d := found[t.Process]
		if d == nil {
			d = &Device{Process: t.Process}
			found[t.Process] = d
		}
		d.Streams, d.Work = append(d.Streams, i), append(d.Work, work...)
	}
	devices := slices.SortedFunc(maps.Values(found), func(a, b *Device) int { return cmp.Compare(a.Process, b.Process) })
	if len(devices) == 0 {
		return nil, nil
	}
	if err := launches(ctx, rec, devices); err != nil {
		return nil, err
	}
	for _, d := range devices {
		order.By(d.Work, func(a, b Work) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Track, b.Track))
		})
		if err := d.sum(ctx, rec); err != nil {
			return nil, err
		}
	}
	return devices, nil
}

// functionKinds returns the functions that are work on a stream.
func functionKinds(rec *recording.Recording) map[recording.FuncID]Kind {
	of := map[recording.FuncID]Kind{}
	for i := range rec.Functions.Len() {
		if k, ok := kinds[rec.Functions.At(i).Module]; ok {
			of[recording.FuncID(i)] = k
		}
	}
	return of
}

// isStream reports whether a track may be a stream in a trace of PyTorch's, by its name, its
// process or the arguments of its first span: other programs use the categories with other
// meanings.
func isStream(rec *recording.Recording, t *recording.Track) bool {
	if strings.HasPrefix(t.Name, "stream ") || strings.HasPrefix(rec.Processes[t.Process].Labels, "GPU") {
		return true
	}
	if rec.Args == nil || len(t.Lanes) == 0 || t.Lanes[0].Len() == 0 || t.Lanes[0].Args(0) == 0 {
		return false
	}
	args := rec.Args(t.Lanes[0].Args(0))
	return argument(args, "stream") != "" && (argument(args, "device") != "" || argument(args, "correlation") != "")
}

// streamOfDevice reports whether all outermost calls of a track are work: in JAX's traces,
// streams are threads of a process named after the device. Redacted names lack the slash.
func streamOfDevice(rec *recording.Recording, t *recording.Track) bool {
	return strings.HasPrefix(strings.TrimPrefix(rec.Processes[t.Process].OwnName(), "/"), "device:GPU:") && strings.HasPrefix(t.Name, "Stream #")
}

func kindOf(name string) Kind {
	switch {
	case strings.HasPrefix(name, "Memcpy"):
		return Copy
	case strings.HasPrefix(name, "Memset"):
		return Fill
	}
	return Kernel
}

// Name returns the name of a device for display, such as "GPU 0".
func (d *Device) Name(rec *recording.Recording) string {
	p := &rec.Processes[d.Process]
	own := recording.Process{Name: cmp.Or(p.Labels, strings.TrimPrefix(strings.TrimPrefix(p.OwnName(), "/"), "device:"), "GPU")}
	if p.Recording != "" {
		own.In(p.Recording)
	}
	return own.Name
}

// sum computes the fields that follow from Work.
func (d *Device) sum(ctx context.Context, rec *recording.Recording) error {
	d.From, d.To = d.Work[0].Start, d.Work[0].Start
	kernels := int64(0)
	idle := newCauses(rec)
	for i := range d.Work {
		w := &d.Work[i]
		if w.Start > d.To {
			if err := ctx.Err(); err != nil {
				return err
			}
			idle.gap(d.To, w)
		}
		d.Busy += max(0, w.End-max(w.Start, d.To))
		d.To = max(d.To, w.End)
	}
	until := d.From
	for i := range d.Work {
		if w := &d.Work[i]; w.Kind == Kernel {
			kernels += max(0, w.End-max(w.Start, until))
			until = max(until, w.End)
		}
	}
	d.Copying = d.Busy - kernels
	d.overlap()
	d.Median = median(len(d.Work), func(i int) int64 { return d.Work[i].End - d.Work[i].Start })
	d.Idle = idle.list()
	return nil
}
