// Package sched turns the kernel's scheduler events into tracks: for each CPU the thread
// it ran, as spans, and for each thread its states and wakers.
package sched

import (
	"fmt"
	"maps"
	"slices"

	"ashlar/ingest/model/recording"
)

// Processors is the pid of the process whose tracks are the machine's CPUs.
const Processors = recording.TextID

// A Builder tracks the state of CPUs and threads. Events must be added in order of time.
type Builder struct {
	b       *recording.Builder
	cpus    map[int64]*processor
	threads map[int64]*thread
	frames  map[State]recording.FrameID
	last    int64
	any     bool // the event for states was added

	// Names and Owner map thread ids to the names and processes of threads.
	Names map[int64]string
	Owner map[int64]int64
}

type processor struct {
	track *recording.TrackBuilder
	runs  int64 // id of the running thread, 0 for none
	since int64
}

// thread is a thread and its current state, NoState if unknown.
type thread struct {
	id    int64
	track *recording.TrackBuilder
	since int64
	in    State
	waker int64 // the thread that woke it, 0 if that is not known
	// woken is the waker's stack at that moment.
	woken recording.CallID
	// stack is the call in which the thread was last switched away from; run is the call
	// it was in while it ran before that.
	stack, run recording.CallID
	held       []state // first states, while the process is unknown
	// frame is the frame of the thread's spans on CPU tracks, made for frameName.
	frame     recording.FrameID
	frameName string
}

// A State is a thread's state and the kernel's name for it.
type State struct {
	Is   recording.State
	Name string
}

var runnable, running = State{Is: recording.Runnable}, State{Is: recording.Running}

// New returns a builder that adds to b.
func New(b *recording.Builder) *Builder {
	return &Builder{b: b, cpus: map[int64]*processor{}, threads: map[int64]*thread{}, frames: map[State]recording.FrameID{}, Names: map[int64]string{}, Owner: map[int64]int64{}}
}

// states are the states of a thread that was switched away from, by lowest set bit.
var states = []State{{recording.Blocked, "sleeping"}, {recording.Blocked, "sleeping, uninterruptible"}, {recording.Blocked, "stopped"},
	{recording.Blocked, "traced"}, {}, {}, {recording.Blocked, "parked"}, {recording.Blocked, "idle"}}

// StateOf converts the kernel's state bits of a thread that was switched away from. A
// thread that has exited has no state.
func StateOf(bits int64) State {
	for i, s := range states {
		if bits>>i&1 != 0 {
			return s
		}
	}
	return runnable
}

// Begin adds the event for states if there is none yet.
func (s *Builder) Begin() {
	if !s.any {
		s.any = true
		s.b.AddEvent(recording.StateEvent())
	}
}

// Wake marks a thread as runnable from now on. waker is the thread that woke it, 0 if
// none did, and stack its stack then, NoCall if unknown.
func (s *Builder) Wake(at, waker int64, stack recording.CallID, tid int64) {
	s.last = max(s.last, at)
	if t := s.thread(tid); t != nil && t.in.Is != recording.Running && t.in.Is != recording.Runnable {
		s.enter(t, runnable, at)
		t.woken = stack
		if t.waker = waker; waker == tid {
			t.waker = 0
		}
	}
}

// Switch switches a CPU from thread prev, which enters the given state, to thread next.
// Thread 0 is the idle thread; negative ids are unknown threads. stack is the stack of
// prev, NoCall if unknown.
func (s *Builder) Switch(at, cpu, prev int64, state State, stack recording.CallID, next int64) {
	s.Begin()
	s.last = max(s.last, at)
	p := s.cpus[cpu]
	if p == nil {
		p = &processor{runs: prev, since: at, track: s.b.Track(recording.TrackKey{PID: Processors, TID: cpu})}
		p.track.SetName(fmt.Sprintf("CPU %d", cpu))
		p.track.SetSort(int(min(max(cpu, 0), 1<<31-1)))
		machine := s.b.ProcessInfo(s.b.Process(Processors))
		machine.Name, machine.Member = "processors", recording.ProcessorWord
		s.cpus[cpu] = p
	}
	if p.runs != prev && prev >= 0 {
		s.missed(p, prev)
	}
	p.track.End(at)
	if p.runs, p.since = next, at; next > 0 {
		p.track.Begin(at, s.frame(next), 0)
	}
	if t := s.thread(prev); t != nil {
		s.ran(t, stack)
		s.enter(t, state, at)
	}
	if t := s.thread(next); t != nil {
		s.enter(t, running, at)
	}
}

// missed handles a switch away from a thread other than the last one switched to. The
// events in between were not recorded (of threads in other containers, say). Like perf
// sched timehist, it assumes that prev ran all the time.
func (s *Builder) missed(p *processor, prev int64) {
	if t := s.threads[p.runs]; t != nil && t.in == running && t.since == p.since {
		t.in = State{}
	}
	if p.runs > 0 {
		p.track.Forget()
	}
	if t := s.thread(prev); t != nil {
		p.track.Begin(p.since, s.frame(prev), 0)
		if t.in != running {
			s.enter(t, running, max(p.since, t.since))
		}
	}
}

// ran records the stack at which a thread stopped running. While it ran, the thread was
// in the calls that this stack has in common with the previous one.
func (s *Builder) ran(t *thread, stack recording.CallID) {
	t.run, t.stack = s.b.CommonCall(t.stack, stack), stack
}

func (s *Builder) name(tid int64) string {
	if name := s.Names[tid]; name != "" {
		return name
	}
	return fmt.Sprintf("thread %d", tid)
}

// frame returns the frame of a thread's spans on CPU tracks.
func (s *Builder) frame(tid int64) recording.FrameID {
	name := s.name(tid)
	t := s.thread(tid)
	if t.frameName != name {
		t.frameName, t.frame = name, s.b.FunctionFrame(s.b.Function(recording.Function{Name: name}))
	}
	return t.frame
}

// stateFrame returns the frame of a state.
func (s *Builder) stateFrame(in State) recording.FrameID {
	f, ok := s.frames[in]
	if !ok {
		f = s.b.StateFrame(in.Is, in.Name)
		s.frames[in] = f
	}
	return f
}

func (s *Builder) thread(tid int64) *thread {
	if tid <= 0 {
		return nil
	}
	t := s.threads[tid]
	if t == nil {
		t = &thread{id: tid}
		s.threads[tid] = t
	}
	return t
}

// enter ends a thread's current state and starts the next.
func (s *Builder) enter(t *thread, in State, at int64) {
	s.addState(t, at)
	t.in, t.since, t.waker = in, at, 0
}

func (s *Builder) addState(t *thread, at int64) {
	if t.in.Is == recording.NoState || at <= t.since {
		return
	}
	waker := recording.NoWaker
	if w := s.thread(t.waker); w != nil {
		waker = s.b.Waker(s.trackOf(w).Index(), t.woken)
	}
	call := t.stack
	if t.in.Is == recording.Running {
		call = t.run
	}
	t.held = append(t.held, state{t.since, at, s.b.Call(call, s.stateFrame(t.in)), waker})
	if t.track != nil || s.Owner[t.id] != 0 || len(s.Owner) == 0 || len(t.held) == mostHeld {
		s.release(t)
	}
}

// state is a state of a thread, as [recording.TrackBuilder.StateBy] takes it.
type state struct {
	from, to int64
	call     recording.CallID
	waker    recording.WakerID
}

// mostHeld is the number of states of a thread that wait for its process: others wake it
// and switch to it before its own events name the process.
const mostHeld = 64

// release adds the held states of a thread to its track.
func (s *Builder) release(t *thread) {
	for _, h := range t.held {
		s.trackOf(t).StateBy(h.from, h.to, h.call, h.waker)
	}
	t.held = nil
}

func (s *Builder) trackOf(t *thread) *recording.TrackBuilder {
	if t.track == nil {
		t.track = s.b.Track(recording.TrackKey{PID: s.Owner[t.id], TID: t.id})
	}
	if t.track.Name() == "" {
		t.track.SetName(s.name(t.id))
	}
	return t.track
}

// End ends the current states of all threads, at the time of the last event or at a later
// time. Threads get their last name, since new threads have the name of the one that
// started them until they choose their own.
func (s *Builder) End(at int64) {
	at = max(at, s.last)
	for _, tid := range slices.Sorted(maps.Keys(s.threads)) {
		t := s.threads[tid]
		t.run = t.stack
		s.addState(t, at)
		s.release(t)
		if name := s.Names[tid]; name != "" && t.track != nil && t.track.Name() != name {
			t.track.SetName(name)
		}
	}
}
