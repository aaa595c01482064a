package gotrace

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"ashlar/ingest/format/gotrace/wire"
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/pairmap"
	"ashlar/ingest/model/recording"
)

// goroutine is the state of an existing goroutine.
type goroutine struct {
	id    int64
	track *recording.TrackBuilder
	named bool
	over  bool             // the goroutine has ended
	call  recording.CallID // stands for the goroutine on processors' tracks
	known bool             // call is set

	state      wire.State
	since      int64
	why        recording.FrameID // the frame of the reason for blocking
	stack      recording.CallID  // the last known stack
	waker      recording.WakerID // the goroutine that made it runnable
	collecting int               // number of ranges in which it works for the collector
	proc       *proc             // the processor it runs on
}

// proc is a processor of the scheduler (P).
type proc struct {
	id            int64
	track, beside *recording.TrackBuilder
	running       *goroutine
	since, last   int64 // when running began, and when the previous goroutine stopped
	call          recording.CallID
	spans         []lanes.Span

	sweeping bool
	swept    int64 // during a sweep, its start; otherwise the end of the last sweep
	sweeps   []lanes.Span
}

// goroutine returns the data of a goroutine, nil if it is unknown.
func (d *decoder) goroutine(of *wire.G) *goroutine {
	if of == nil {
		return nil
	}
	if g, ok := of.Own.(*goroutine); ok && !g.over {
		return g
	}
	g := d.gs[of.ID]
	if g != nil && g.over { // flush first: it ends the old goroutine's track
		d.flush()
		g = nil
	}
	if g == nil {
		g = &goroutine{id: of.ID, track: d.b.Track(recording.TrackKey{PID: goroutines, TID: of.ID})}
		g.track.SetSort(int(min(of.ID, 1<<31-1)))
		d.gs[of.ID] = g
	}
	of.Own = g
	return g
}

func (d *decoder) proc(id int64) *proc {
	if id == wire.None {
		return nil
	}
	if uint64(id) < uint64(len(d.firstProcs)) && d.firstProcs[id] != nil {
		return d.firstProcs[id]
	}
	p := d.procs[id]
	if p == nil {
		p = &proc{id: id, track: d.b.Track(recording.TrackKey{PID: processors, TID: id})}
		p.track.SetName(fmt.Sprintf("P%d", id))
		p.track.SetSort(int(min(id, 1<<31-1)))
		d.procs[id] = p
		if uint64(id) < uint64(len(d.firstProcs)) {
			d.firstProcs[id] = p
		}
	}
	return p
}

// name names a goroutine after the function it started with.
func (d *decoder) name(g *goroutine, stack int32) {
	if g.named || stack == 0 {
		return
	}
	root := ""
	d.gen.EachFrame(stack, func(f *wire.Frame) { root = d.gen.Text(f.Func) })
	if root != "" {
		g.named, g.known = true, false
		g.track.SetName(root)
		if root == "runtime.gcBgMarkWorker" || root == "runtime.bgsweep" {
			g.collecting++
		}
	}
}

// blocked returns the frame of a blocked goroutine, by the number of the reason.
func (d *decoder) blocked(reason int32) recording.FrameID {
	if int(reason) >= len(d.reasons) {
		d.reasons = append(d.reasons, make([]recording.FrameID, d.gen.Texts()-len(d.reasons))...)
	}
	f := &d.reasons[reason]
	if *f == 0 {
		*f = 1 + d.b.StateFrame(recording.Blocked, d.gen.Text(reason))
	}
	return *f - 1
}

// unknown is the reason of a goroutine that was blocked when the trace began.
const unknown = "since before the trace"

// stateFrame returns the frame of a state without a reason.
func (d *decoder) stateFrame(s recording.State) recording.FrameID {
	f := &d.frames[s]
	if *f == 0 {
		*f = 1 + d.b.StateFrame(s, "")
	}
	return *f - 1
}

// transition takes a goroutine from one state to the next.
func (d *decoder) transition(ev *wire.Event, at int64) {
	g, from, to := d.goroutine(ev.On), ev.From, ev.To
	if g == nil {
		return
	}
	d.name(g, ev.OnStack)
	if from == to {
		return
	}
	if from == wire.Undetermined {
		// The goroutine has been in this state since the last synchronization.
		at = d.sync
		g.state = from
	}
	stack := d.call(ev.OnStack)
	if stack == recording.NoCall && ev.G != nil && ev.G.ID == g.id {
		stack = d.call(ev.Stack)
	}
	if from != wire.Undetermined {
		d.addState(g, at, stack)
		d.leave(g, at)
	}
	if stack != recording.NoCall {
		g.stack = stack
	}
	d.count(g.state, -1)
	g.state, g.since = to, at
	d.count(to, 1)
	d.addCounts(at)
	switch to {
	case wire.NotExist:
		g.over, g.since = true, at
		d.ended = append(d.ended, g)
	case wire.Running:
		d.run(ev, g, at)
	case wire.Waiting:
		if g.why = d.blocked(ev.Text); from == wire.Undetermined && d.gen.Text(ev.Text) == "" {
			g.why = d.b.StateFrame(recording.Blocked, unknown)
		}
	case wire.Runnable:
		if ev.G != nil && from != wire.Undetermined {
			if waker := d.goroutine(ev.G); waker != g {
				g.waker = d.b.Waker(waker.track.Index(), d.call(ev.Stack))
			}
		}
	}
}

// addState adds the state that a goroutine has been in until now. stop is the goroutine's
// stack where it stops running, NoCall if unknown.
func (d *decoder) addState(g *goroutine, at int64, stop recording.CallID) {
	if at <= g.since {
		g.waker = recording.NoWaker
		return
	}
	var in recording.State
	stack := g.stack
	switch g.state {
	case wire.Running:
		if in = recording.Running; g.collecting > 0 {
			in = recording.Collecting
		}
		stack = d.commonCall(stack, stop)
	case wire.Runnable:
		in = recording.Runnable
	case wire.Waiting:
		in = recording.Blocked
	case wire.InSyscall:
		in = recording.InSystemCall
	default:
		return
	}
	frame := g.why
	if in != recording.Blocked {
		frame = d.stateFrame(in)
	}
	d.states = append(d.states, recording.TrackState{Track: g.track, Start: g.since, End: at, Call: d.b.Call(stack, frame), Waker: g.waker, State: in})
	if len(d.states) == mostStates {
		d.flush()
	}
	g.waker = recording.NoWaker
}

// mostStates is the number of states to collect before adding them at once.
const mostStates = 1 << 15

// flush adds the collected states and spans to the recording.
func (d *decoder) flush() {
	d.b.AddStates(d.states)
	d.states = d.states[:0]
	for _, p := range d.procs {
		p.track.Nested(0, p.spans)
		p.spans = p.spans[:0]
		if p.beside != nil {
			p.beside.Nested(0, p.sweeps)
			p.sweeps = p.sweeps[:0]
		}
	}
	for _, g := range d.ended {
		d.nameByID(g)
		g.track.Over(g.since)
		delete(d.gs, g.id)
	}
	clear(d.ended)
	d.ended = d.ended[:0]
}

// mostCommon is the maximum number of cached pairs of stacks.
const mostCommon = 1 << 16

func (d *decoder) commonCall(before, stack recording.CallID) recording.CallID {
	if c := d.common.Get(uint32(before), uint32(stack)); c != 0 {
		return recording.CallID(c - 1)
	}
	if d.commons++; d.commons == mostCommon {
		d.common, d.commons = pairmap.Table{}, 0
	}
	c := d.b.CommonCall(before, stack)
	d.common.Put(uint32(before), uint32(stack), uint32(c)+1)
	return c
}

// collect begins (1) or ends (-1) a goroutine's work for the collector.
func (d *decoder) collect(g *goroutine, stack recording.CallID, by int, at int64) {
	if at = max(at, g.since); g.state == wire.Running {
		d.addState(g, at, cmp.Or(stack, g.stack))
		g.since = at
	}
	g.collecting = max(0, g.collecting+by)
}

// leave removes a goroutine from the processor it runs on.
func (d *decoder) leave(g *goroutine, at int64) {
	if p := g.proc; p != nil {
		if p.running == g {
			p.stop(at)
			p.running = nil
		}
		g.proc = nil
	}
}

// run makes g the running goroutine of its processor.
func (d *decoder) run(ev *wire.Event, g *goroutine, at int64) {
	p := d.proc(ev.P)
	if p == nil {
		return
	}
	if other := p.running; other != nil && other != g && !other.over {
		p.stop(at) // the old goroutine's start elsewhere may be reported before its stop here
		other.proc = nil
	}
	g.proc, p.running = p, g
	if !g.known {
		g.known, g.call = true, d.b.Call(recording.NoCall, d.frame(d.title(g)))
	}
	p.since, p.call = max(at, p.last), g.call
}

// stop ends the span of the running goroutine.
func (p *proc) stop(at int64) {
	p.last = max(at, p.since)
	p.spans = append(p.spans, lanes.Span{Start: p.since, End: p.last, Call: p.call})
}

// nameByID names a goroutine whose function is unknown.
func (d *decoder) nameByID(g *goroutine) {
	if g.track.Name() == "" {
		g.track.SetName(d.title(g))
	}
}

// title returns a goroutine's name on processors' tracks.
func (d *decoder) title(g *goroutine) string {
	if n := g.track.Name(); n != "" {
		return n
	}
	return fmt.Sprintf("goroutine %d", g.id)
}

// count counts goroutines by state.
func (d *decoder) count(s wire.State, by int64) {
	switch s {
	case wire.Undetermined, wire.NotExist:
		return
	case wire.Runnable:
		d.counts[1].n += by
	case wire.Running:
		d.counts[2].n += by
	}
	d.counts[0].n += by
}

// settle is the minimum time between points of a goroutine counter, in picoseconds. The
// counts change with each transition; keeping every change would take more space than
// everything else.
const settle = 20e6

var counted = [...]string{"all", "runnable", "running"}

// addCounts adds the counts that changed to their counters.
func (d *decoder) addCounts(at int64) {
	for i, series := range counted {
		c := &d.counts[i]
		if c.n == c.told && c.any || c.any && at-c.at < settle {
			continue
		}
		c.told, c.at, c.any = c.n, at, true
		if c.counter == 0 {
			c.counter = 1 + d.counter(goroutines, "goroutines", series, "goroutines")
		}
		d.b.CounterPoint(c.counter-1, at, float64(c.n))
	}
}

// end closes everything open at the end of the trace.
func (d *decoder) end() {
	for _, id := range slices.Sorted(maps.Keys(d.gs)) {
		if g := d.gs[id]; !g.over {
			d.addState(g, d.now, g.stack)
		}
	}
	d.flush()
	for _, id := range slices.Sorted(maps.Keys(d.gs)) {
		d.nameByID(d.gs[id])
		d.gs[id].track.Break(d.now)
	}
	for _, id := range slices.Sorted(maps.Keys(d.procs)) {
		p := d.procs[id]
		if p.running != nil {
			p.track.Open(p.since, p.call, 0)
		}
		if p.sweeping {
			p.runtime(d).Open(p.swept, d.sweepCall(), 0)
		}
	}
	open := slices.Collect(maps.Keys(d.ranges))
	order.By(open, func(a, b rangeKey) int { return cmp.Or(cmp.Compare(a.what, b.what), cmp.Compare(a.of, b.of)) })
	for _, k := range open {
		o := d.ranges[k]
		d.rangeTrack(k, o.of).Span(o.at, max(d.now, o.at), d.frame(o.name), o.args, true)
	}
	for _, id := range slices.Sorted(maps.Keys(d.tasks)) {
		d.taskSpan(id, d.tasks[id], d.now, true)
	}
}
