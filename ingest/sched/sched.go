// Package sched turns what the kernel's scheduler traced into tracks: for each
// processor which thread it ran, and for each thread what it was in, as spans.
package sched

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"ashlar/ingest/recording"
)

// Processors is the process that stands for those of the machine.
const Processors = recording.TextID

// Builder follows processors and threads. Events come in the order of time.
type Builder struct {
	b       *recording.Builder
	cpus    map[int64]*processor
	threads map[int64]*thread
	last    int64

	// Names are those of threads, by id, and Owner their processes.
	Names map[int64]string
	Owner map[int64]int64
}

type processor struct {
	track *recording.TrackBuilder
	busy  bool
}

// thread is what one is in, "" while that is not known.
type thread struct {
	id    int64
	track *recording.TrackBuilder
	since int64
	in    string
}

// New returns a builder that adds to b.
func New(b *recording.Builder) *Builder {
	return &Builder{b: b, cpus: map[int64]*processor{}, threads: map[int64]*thread{}, Names: map[int64]string{}, Owner: map[int64]int64{}}
}

// states of threads that are switched away from, by the lowest bit that is set.
var states = []string{"sleeping", "sleeping, uninterruptible", "stopped", "traced", "dead", "zombie", "parked", "idle"}

const runnable, running = "runnable", "running"

// State is what a thread is in that was switched away from, as the kernel's bits
// say it.
func State(bits int64) string {
	for i, name := range states {
		if bits>>i&1 != 0 {
			return name
		}
	}
	return runnable
}

// Wake says that a thread may run from now on.
func (s *Builder) Wake(at, tid int64) {
	s.last = max(s.last, at)
	if t := s.thread(tid); t != nil && t.in != running && t.in != runnable {
		s.become(t, runnable, at)
	}
}

// Switch says that a processor goes from one thread, which is in a state from then
// on, to the next. Thread 0 is that of a processor that has nothing to do, and
// those below are not known.
func (s *Builder) Switch(at, cpu, prev int64, state string, next int64) {
	s.last = max(s.last, at)
	p := s.cpus[cpu]
	if p == nil {
		p = &processor{track: s.b.Track(recording.TrackKey{PID: Processors, TID: cpu})}
		p.track.SetName(fmt.Sprintf("CPU %d", cpu))
		p.track.SetSort(int(min(max(cpu, 0), 1<<31-1)))
		s.b.ProcessInfo(s.b.Process(Processors)).Name = "processors"
		s.cpus[cpu] = p
	}
	if p.busy {
		p.track.End(at)
	}
	if p.busy = next > 0; p.busy {
		p.track.Begin(at, s.frame(s.name(next)), 0)
	}
	if t := s.thread(prev); t != nil {
		s.become(t, state, at)
	}
	if t := s.thread(next); t != nil {
		s.become(t, running, at)
	}
}

func (s *Builder) name(tid int64) string {
	return cmp.Or(s.Names[tid], fmt.Sprintf("thread %d", tid))
}

func (s *Builder) frame(name string) recording.FrameID {
	return s.b.FunctionFrame(s.b.Function(recording.Function{Name: name}))
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

// become ends what a thread is in and begins the next.
func (s *Builder) become(t *thread, in string, at int64) {
	if t.in != "" && at > t.since {
		s.tell(t, at, false)
	}
	t.in, t.since = in, at
}

func (s *Builder) tell(t *thread, at int64, unfinished bool) {
	if t.track == nil {
		t.track = s.b.Track(recording.TrackKey{Kind: recording.AsyncTrack, PID: s.Owner[t.id], TID: t.id})
		t.track.SetName(s.name(t.id) + " states")
	}
	t.track.Span(t.since, at, s.frame(t.in), 0, unfinished)
}

// End ends what threads are in, at the last time or a later one.
func (s *Builder) End(at int64) {
	at = max(at, s.last)
	for _, tid := range slices.Sorted(maps.Keys(s.threads)) {
		if t := s.threads[tid]; t.in != "" {
			s.tell(t, at, true)
		}
	}
}
