package gotrace

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/exp/trace"

	"ashlar/ingest/recording"
)

// goroutine is one that there is.
type goroutine struct {
	id     trace.GoID
	track  *recording.TrackBuilder
	beside *recording.TrackBuilder // of regions and ranges, nil before the first
	named  bool

	state   trace.GoState
	since   int64
	pending bool             // state has a stack that is told at its end
	stack   recording.CallID // of the transition into it
	proc    *proc            // that it runs on
	regions []opened
}

// proc is a processor of the scheduler (P).
type proc struct {
	track, beside *recording.TrackBuilder
	running       trace.GoID
}

// goroutine is one by its id, nil for none.
func (d *decoder) goroutine(id trace.GoID) *goroutine {
	if id == trace.NoGoroutine {
		return nil
	}
	g := d.gs[id]
	if g == nil {
		g = &goroutine{id: id, track: d.b.Track(recording.TrackKey{PID: goroutines, TID: int64(id)})}
		g.track.SetSort(int(min(id, 1<<31-1)))
		d.gs[id] = g
	}
	return g
}

func (d *decoder) proc(id trace.ProcID) *proc {
	if id == trace.NoProc {
		return nil
	}
	p := d.procs[id]
	if p == nil {
		p = &proc{track: d.b.Track(recording.TrackKey{PID: processors, TID: int64(id)}), running: trace.NoGoroutine}
		p.track.SetName(fmt.Sprintf("P%d", id))
		p.track.SetSort(int(min(id, 1<<31-1)))
		d.procs[id] = p
	}
	return p
}

// name calls a goroutine after the function that it began with.
func (d *decoder) name(g *goroutine, s trace.Stack) {
	if g.named || s == trace.NoStack {
		return
	}
	root := ""
	for f := range s.Frames() {
		root = f.Func
	}
	if root != "" {
		g.named = true
		g.track.SetName(root)
		if g.beside != nil {
			g.beside.SetName(root + " regions")
		}
	}
}

// aside is the track beside a goroutine's states.
func (d *decoder) aside(g *goroutine) *recording.TrackBuilder {
	if g.beside == nil {
		g.beside = d.b.Track(recording.TrackKey{Kind: recording.AsyncTrack, PID: goroutines, TID: int64(g.id)})
		g.beside.SetSort(int(min(g.id, 1<<31-1)))
		g.beside.SetName(g.track.Name() + " regions")
	}
	return g.beside
}

// states are what goroutines do, as spans call it and as samples do.
func stateName(s trace.GoState) (span, event string) {
	switch s {
	case trace.GoRunnable:
		return "runnable", "runnable"
	case trace.GoRunning:
		return "running", ""
	case trace.GoWaiting:
		return "waiting", "waiting"
	case trace.GoSyscall:
		return "system call", "system calls"
	}
	return "", ""
}

// transition takes a goroutine from one state to the next.
func (d *decoder) transition(ev *trace.Event, st *trace.StateTransition, at int64) {
	from, to := st.Goroutine()
	g := d.goroutine(st.Resource.Goroutine())
	if g == nil {
		return
	}
	d.name(g, st.Stack)
	if from == to {
		return
	}
	if from == trace.GoUndetermined {
		// What it is in it has been in since the last synchronization.
		at = d.sync
		g.state = from
	} else {
		d.leave(g, at)
	}
	d.count(g.state, -1)
	g.state, g.since = to, at
	d.count(to, 1)
	d.told(at)
	if to == trace.GoNotExist {
		d.closeRegions(g, at)
		delete(d.gs, g.id)
		return
	}
	d.enter(ev, st, g, from, at)
}

// leave ends what a goroutine is in.
func (d *decoder) leave(g *goroutine, at int64) {
	g.track.End(at)
	if p := g.proc; p != nil {
		if p.running == g.id {
			p.track.End(at)
			p.running = trace.NoGoroutine
		}
		g.proc = nil
	}
	if _, event := stateName(g.state); event != "" && g.pending {
		d.value[0] = (at - g.since) / 1000
		g.track.Sample(d.sampleEvent(event), g.since, g.stack, -1, d.value[:])
	}
	g.pending = false
}

// enter begins what a goroutine is in next.
func (d *decoder) enter(ev *trace.Event, st *trace.StateTransition, g *goroutine, from trace.GoState, at int64) {
	name, event := stateName(g.state)
	if name == "" {
		return
	}
	if g.state == trace.GoWaiting && st.Reason != "" {
		name += ": " + st.Reason
	}
	ref := uint64(0)
	waker := d.gs[ev.Goroutine()]
	switch {
	case g.state == trace.GoRunning:
		if p := d.proc(ev.Proc()); p != nil {
			if other := d.gs[p.running]; other != nil && p.running != g.id {
				p.track.End(at) // it is said to run elsewhere before it is said to stop here
				other.proc = nil
			}
			g.proc, p.running = p, g.id
			p.track.Begin(at, d.frame(d.title(g)), 0)
		}
	case g.state == trace.GoRunnable && waker != nil && waker != g && from != trace.GoUndetermined:
		ref = arg(argWoken, int64(waker.id))
		d.arrow(waker, g, from, at)
	}
	g.track.Begin(at, d.frame(name), ref)
	if event != "" && from != trace.GoUndetermined {
		g.pending, g.stack = true, d.call(ev.Stack())
	}
}

// title is a goroutine's name on a processor's track.
func (d *decoder) title(g *goroutine) string {
	if n := g.track.Name(); n != "" {
		return n
	}
	return fmt.Sprintf("goroutine %d", g.id)
}

// maxFlows bounds the arrows that are kept.
const maxFlows = 1 << 20

func (d *decoder) arrow(waker, g *goroutine, from trace.GoState, at int64) {
	if d.flows++; d.flows > maxFlows {
		d.b.Remark("flows", "", "There are more than %d arrows from who woke a goroutine; those behind are left out", maxFlows)
		return
	}
	name := "unblock"
	if from == trace.GoNotExist {
		name = "go"
	}
	d.b.AddFlow(recording.Flow{Name: name, Steps: []recording.FlowStep{{Track: waker.track.Index(), Time: at}, {Track: g.track.Index(), Time: at}}})
}

// count counts goroutines by state.
func (d *decoder) count(s trace.GoState, by int64) {
	switch s {
	case trace.GoUndetermined, trace.GoNotExist:
		return
	case trace.GoRunnable:
		d.counts[1].n += by
	case trace.GoRunning:
		d.counts[2].n += by
	}
	d.counts[0].n += by
}

// settle is how long the counts of goroutines may be behind, in picoseconds: they
// change with each transition, and take more room than all else if each is kept.
const settle = 20e6

// told adds the counts that changed to their counters.
func (d *decoder) told(at int64) {
	for i, series := range [...]string{"all", "runnable", "running"} {
		c := &d.counts[i]
		if c.n == c.told && c.any || c.any && at-c.at < settle {
			continue
		}
		c.told, c.at, c.any = c.n, at, true
		d.b.CounterPoint(d.counter(goroutines, "goroutines", series, "goroutines"), at, float64(c.n))
	}
}

// end closes what is open at the end of the trace.
func (d *decoder) end() {
	for _, id := range slices.Sorted(maps.Keys(d.gs)) {
		d.closeRegions(d.gs[id], d.now)
	}
	order := func(a, b rangeKey) int { return cmp.Compare(a.scope.String()+a.name, b.scope.String()+b.name) }
	for _, k := range slices.SortedFunc(maps.Keys(d.ranges), order) {
		o := d.ranges[k]
		d.rangeTrack(k).Span(o.at, max(d.now, o.at), d.frame(o.name), o.args, true)
	}
	for _, id := range slices.Sorted(maps.Keys(d.tasks)) {
		d.taskSpan(id, d.tasks[id], d.now, true)
	}
}
