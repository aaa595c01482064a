package gotrace

import (
	"fmt"

	"ashlar/ingest/format/gotrace/wire"
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
)

// A rangeKey identifies an open range; each goroutine has at most one of a kind. Ranges
// of processors are stored in proc.
type rangeKey struct {
	what uint8
	of   int64 // the goroutine's id
}

// rangeNames are the names of ranges other than stop-the-world pauses.
var rangeNames = [...]string{wire.MarkPhase: "GC concurrent mark phase", wire.Sweep: "GC incremental sweep", wire.MarkAssist: "GC mark assist"}

// rangeTrack returns the track of a range. The collector's phases share one track, and
// stop-the-world pauses another; a goroutine's other ranges are on its own track.
func (d *decoder) rangeTrack(k rangeKey, of *goroutine) *recording.TrackBuilder {
	switch k.what {
	case wire.StopTheWorld:
		return d.runtimeTrack("stop the world")
	case wire.MarkAssist:
		if of != nil && !of.over {
			return of.track
		} else if of != nil { // the goroutine has ended, and another one may use its builder
			return d.b.Track(recording.TrackKey{PID: goroutines, TID: of.id})
		}
	}
	return d.runtimeTrack("garbage collection")
}

// runtime returns the track of the runtime's own work on a processor.
func (p *proc) runtime(d *decoder) *recording.TrackBuilder {
	if p.beside == nil {
		p.beside = d.b.Track(recording.TrackKey{Kind: recording.AsyncTrack, PID: processors, TID: p.id})
		p.beside.SetName(p.track.Name() + " runtime")
		p.beside.SetSort(int(min(p.id, 1<<31-1)))
	}
	return p.beside
}

func (d *decoder) sweepCall() recording.CallID {
	if d.sweep == recording.NoCall {
		d.sweep = d.b.Call(recording.NoCall, d.frame(rangeNames[wire.Sweep]))
	}
	return d.sweep
}

// sweeps begins or ends the sweeping of a processor.
func (d *decoder) sweeps(ev *wire.Event, at int64) {
	p := d.proc(ev.P)
	if p == nil {
		return
	}
	if ev.Kind == wire.RangeEnd {
		if !p.sweeping {
			p.swept = max(d.sync, p.swept)
		}
		p.runtime(d)
		p.sweeps = append(p.sweeps, lanes.Span{Start: p.swept, End: max(at, p.swept), Call: d.sweepCall()})
		p.sweeping, p.swept = false, max(at, p.swept)
		return
	}
	if ev.Kind == wire.RangeActive {
		at = d.sync
	}
	if !p.sweeping || ev.Kind == wire.RangeBegin {
		p.sweeping, p.swept = true, max(at, p.swept)
	}
}

func (d *decoder) rangeEvent(ev *wire.Event, at int64) {
	if ev.What == wire.Sweep {
		d.sweeps(ev, at)
		return
	}
	k := rangeKey{ev.What, 0}
	switch {
	case ev.On != nil:
		k.of = ev.On.ID
	case ev.What != wire.MarkPhase:
		k.of = wire.None
	}
	name := rangeNames[ev.What]
	if ev.What == wire.StopTheWorld {
		name = "stop-the-world (" + d.gen.Text(ev.Text) + ")"
	}
	switch ev.Kind {
	case wire.RangeBegin:
		d.ranges[k] = opened{at: at, name: name, of: d.goroutine(ev.On)}
		d.collects(ev, 1, at)
	case wire.RangeActive:
		if _, ok := d.ranges[k]; !ok {
			d.ranges[k] = opened{at: d.sync, name: name, of: d.goroutine(ev.On)}
			d.collects(ev, 1, d.sync)
		}
	default:
		o, ok := d.ranges[k]
		if !ok {
			o = opened{at: d.sync, name: name, of: d.goroutine(ev.On)}
		} else {
			d.collects(ev, -1, at)
		}
		delete(d.ranges, k)
		d.rangeTrack(k, o.of).Span(o.at, max(at, o.at), d.frame(o.name), o.args, false)
	}
}

// collects notes that a goroutine begins (1) or ends (-1) work for the collector.
func (d *decoder) collects(ev *wire.Event, by int, at int64) {
	if ev.What == wire.MarkAssist {
		if g := d.goroutine(ev.On); g != nil {
			d.collect(g, d.call(ev.Stack), by, at)
		}
	}
}

// region begins or ends a region of a goroutine; they nest.
func (d *decoder) region(ev *wire.Event, at int64) {
	g := d.goroutine(ev.G)
	if g == nil {
		return
	}
	name, args := d.gen.Text(ev.Text), arg(argTask, int64(ev.Value))
	switch {
	case ev.Kind == wire.RegionBegin:
		g.track.Begin(at, d.frame(name), args)
	case ev.Unbegun:
		d.b.Warn("unbegun-region", "", "Goroutine %d ends region %q inside its region %q, but has not begun it; the end is left out", ev.G.ID, name, ev.Inner[0])
	case g.track.Depth() > 0:
		for _, in := range ev.Inner {
			d.b.Warn("crossing-regions", "", "Goroutine %d ends region %q before region %q inside it; %q is shown as ending there too", ev.G.ID, name, in, in)
			g.track.End(at)
		}
		g.track.End(at)
	default: // the region began before the trace
		g.track.Span(min(0, at), at, d.frame(name), args, false)
	}
}

func (d *decoder) task(ev *wire.Event, at int64) {
	t := ev.Task
	o, open := d.tasks[t.ID]
	if ev.Kind == wire.TaskBegin {
		d.tasks[t.ID] = opened{at: at, name: t.Name}
		return
	}
	if !open { // the task began before the trace
		o = opened{name: t.Name}
	}
	delete(d.tasks, t.ID)
	d.taskSpan(t.ID, o, at, false)
}

func (d *decoder) taskSpan(id uint64, o opened, at int64, unfinished bool) {
	if o.name == "" {
		o.name = fmt.Sprintf("task %d", id)
	}
	track := d.b.Track(recording.TrackKey{Kind: recording.AsyncTrack, PID: goroutines, Name: "tasks"})
	track.SetSort(-1)
	track.SpanOf(uint32(id), min(o.at, at), at, d.frame(o.name), arg(argTask, int64(id)), unfinished)
}
