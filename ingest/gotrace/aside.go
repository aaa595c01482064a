package gotrace

import (
	"fmt"
	"strings"

	"golang.org/x/exp/trace"

	"ashlar/ingest/recording"
)

// rangeKey identifies a range that has begun: there is one of a name on each
// resource.
type rangeKey struct {
	scope trace.ResourceID
	name  string
}

// rangeTrack is the track that ranges lie on: the collector's phases and the stops
// of the world on one each, those of a goroutine or a processor beside it.
func (d *decoder) rangeTrack(k rangeKey) *recording.TrackBuilder {
	switch {
	case strings.HasPrefix(k.name, "stop-the-world"):
		return d.runtimeTrack("stop the world")
	case k.scope.Kind == trace.ResourceGoroutine:
		if g := d.goroutine(k.scope.Goroutine()); g != nil {
			return g.track
		}
	case k.scope.Kind == trace.ResourceProc:
		if p := d.proc(k.scope.Proc()); p != nil {
			if p.beside == nil {
				p.beside = d.b.Track(recording.TrackKey{Kind: recording.AsyncTrack, PID: processors, TID: int64(k.scope.Proc())})
				p.beside.SetName(p.track.Name() + " runtime")
				p.beside.SetSort(int(min(k.scope.Proc(), 1<<31-1)))
			}
			return p.beside
		}
	}
	return d.runtimeTrack("garbage collection")
}

func (d *decoder) rangeEvent(ev *trace.Event, at int64) {
	r := ev.Range()
	k := rangeKey{r.Scope, r.Name}
	switch ev.Kind() {
	case trace.EventRangeBegin:
		d.ranges[k] = opened{at: at, name: r.Name}
		d.collects(ev, k, 1, at)
	case trace.EventRangeActive:
		if _, ok := d.ranges[k]; !ok {
			d.ranges[k] = opened{at: d.sync, name: r.Name}
			d.collects(ev, k, 1, d.sync)
		}
	default:
		o, ok := d.ranges[k]
		if !ok {
			o = opened{at: d.sync, name: r.Name}
		} else {
			d.collects(ev, k, -1, at)
		}
		delete(d.ranges, k)
		d.rangeTrack(k).Span(o.at, max(at, o.at), d.frame(o.name), o.args, false)
	}
}

// collects notes that a goroutine works for the collector, or has done so.
func (d *decoder) collects(ev *trace.Event, k rangeKey, by int, at int64) {
	if k.scope.Kind == trace.ResourceGoroutine && strings.HasPrefix(k.name, "GC ") {
		if g := d.goroutine(k.scope.Goroutine()); g != nil {
			d.collect(g, d.call(ev.Stack()), by, at)
		}
	}
}

// region begins or ends a region of a goroutine; they nest.
func (d *decoder) region(ev *trace.Event, at int64) {
	g := d.goroutine(ev.Goroutine())
	if g == nil {
		return
	}
	r := ev.Region()
	args := arg(argTask, int64(r.Task))
	switch {
	case ev.Kind() == trace.EventRegionBegin:
		g.track.Begin(at, d.frame(r.Type), args)
	case g.track.Depth() > 0:
		g.track.End(at)
	default: // it began before the trace did
		g.track.Span(min(0, at), at, d.frame(r.Type), args, false)
	}
}

func (d *decoder) task(ev *trace.Event, at int64) {
	t := d.named
	o, open := d.tasks[t.ID]
	if ev.Kind() == trace.EventTaskBegin {
		d.tasks[t.ID] = opened{at: at, name: t.Type}
		return
	}
	if !open { // it began before the trace did
		o = opened{name: t.Type}
	}
	delete(d.tasks, t.ID)
	d.taskSpan(t.ID, o, at, false)
}

func (d *decoder) taskSpan(id trace.TaskID, o opened, at int64, unfinished bool) {
	if o.name == "" {
		o.name = fmt.Sprintf("task %d", id)
	}
	track := d.b.Track(recording.TrackKey{Kind: recording.AsyncTrack, PID: goroutines, Name: "tasks"})
	track.SetSort(-1)
	track.SpanOf(uint32(id), min(o.at, at), at, d.frame(o.name), arg(argTask, int64(id)), unfinished)
}
