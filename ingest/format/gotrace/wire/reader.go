package wire

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"ashlar/ingest/input/source"
)

// A Reader returns the events of a trace in order. The order follows from the sequence
// numbers of events and the states of processors, threads and goroutines; time only
// decides which thread is tried first.
type Reader struct {
	file    batches
	version int
	gen     *Generation
	spilled *batch // first batch of the next generation
	err     error  // error that ended the trace; returned after all events before it
	ended   bool
	front   frontier
	samples []sample
	order
}

// header is the length of a trace's header in bytes.
const header = 16

// VersionOf returns the minor Go version ("1.N") in the header of a trace that this
// package reads, or 0 for anything else.
func VersionOf(head []byte) int {
	for _, version := range []int{22, 23, 25, 26} { // versions that changed the form
		if len(head) >= header && string(head[:header]) == fmt.Sprintf("go 1.%d trace\x00\x00\x00", version) {
			return version
		}
	}
	return 0
}

// NewReader returns a Reader of a trace with a version from VersionOf.
func NewReader(in *source.Input, version int) *Reader {
	r := &Reader{file: batches{in: in}, version: version, order: newOrder()}
	r.file.skip(header)
	return r
}

// Most is the maximum number of events that a Reader returns for one event in the file.
const Most = 3

// Read appends events to the slice while it has room for Most events. It stops at the end
// of a generation, because the next one may take long to arrive. At the end of the trace
// or after a failure it returns the last events with io.EOF or another error.
func (r *Reader) Read(to []Event) ([]Event, error) {
	r.out = to
	for cap(r.out)-len(r.out) >= Most {
		if len(r.front) == 0 && len(r.samples) == 0 && len(r.out) > 0 {
			break
		}
		if err := r.step(); err != nil {
			return r.out, err
		}
	}
	return r.out, nil
}

// step adds the next events.
func (r *Reader) step() error {
	if len(r.front) == 0 && len(r.samples) == 0 {
		return r.turn()
	}
	if len(r.samples) > 0 && (len(r.front) == 0 || r.samples[0].time < r.front[0].time) {
		return r.sample()
	}
	ok, err := r.try(0)
	if ok || err != nil {
		return err
	}
	// Another thread must come first: the earliest one that can go on.
	slices.SortFunc(r.front, func(a, b ahead) int { return cmp.Compare(a.time, b.time) })
	for i := 1; i < len(r.front); i++ {
		if ok, err := r.try(i); ok || err != nil {
			return err
		}
	}
	ev := &r.front[0].c.ev
	return wrong(ev.at, "no thread can continue: each one's next event depends on missing events")
}

// try adds the next event of a thread, if it is its turn.
func (r *Reader) try(i int) (bool, error) {
	c := r.front[i].c
	ok, err := r.advance(c)
	if !ok || err != nil {
		return false, err
	}
	if ok, err = c.next(r.gen.perTick); err != nil {
		return false, err
	}
	if ok {
		r.front.moved(i)
	} else {
		r.front.remove(i)
	}
	return true, nil
}

// turn moves to the next generation. The error that ends the trace is returned after a
// last Sync.
func (r *Reader) turn() error {
	switch {
	case r.ended:
		return r.err
	case r.err != nil: // the error came after the generation just read
	case r.version < 26 && r.gen != nil && r.spilled == nil:
		r.err = io.EOF
	default:
		g, err := r.generation()
		if g != nil {
			r.err = err
			return r.install(g)
		}
		r.err = err
	}
	r.ended = true
	r.add(Sync, r.last, &noThread)
	return nil
}

func (r *Reader) install(g *Generation) error {
	r.gen, r.tables, r.samples = g, g, g.samples
	if r.initial == 0 {
		r.initial = g.id
	}
	r.front = r.front[:0]
	for _, c := range g.cursors {
		c.m = r.thread(c.id)
		ok, err := c.next(g.perTick)
		if err != nil {
			r.err, r.front = err, nil
			r.samples = nil
			return err
		}
		if ok {
			r.front.push(c)
		}
	}
	r.add(Sync, g.ns(g.first), &noThread).Gen = g
	return nil
}

// generation reads the batches of a generation. It may return a complete generation
// together with an error, which concerns the data after it. At the end of the trace it
// returns no generation.
func (r *Reader) generation() (*Generation, error) {
	g := newGeneration()
	take := func(b *batch) error {
		if g.first == 0 || b.time < g.first {
			g.first = b.time
		}
		return g.add(b, r.version)
	}
	if r.spilled != nil {
		b := *r.spilled
		r.spilled, g.id = nil, b.gen
		if err := take(&b); err != nil {
			return nil, err
		}
	}
	var behind error
	for {
		b, err := r.file.next()
		switch {
		case errors.Is(err, io.EOF) && r.version >= 26 && len(g.cursors) > 0:
			return nil, wrong(r.file.place(), "the last generation of events is incomplete")
		case errors.Is(err, io.EOF) && r.version >= 26:
			return nil, io.EOF
		case err != nil && r.version < 26 && (g.id != 0 || errors.Is(err, io.EOF)):
			behind = err
		case err != nil:
			return nil, err
		}
		if err != nil || b.end && r.version >= 26 {
			break
		}
		if g.id == 0 {
			g.id = b.gen
		}
		switch {
		case b.gen == 0 || b.gen != g.id && (r.version >= 26 || b.gen != g.id+1):
			return nil, wrong(r.file.place(), "the generations of events are out of order")
		case b.gen != g.id:
			r.spilled = &b
		default:
			if err := take(&b); err != nil {
				return nil, err
			}
		}
		if r.spilled != nil {
			break
		}
	}
	if err := g.complete(r.version, r.file.place()); err != nil {
		return nil, err
	}
	if errors.Is(behind, io.EOF) {
		behind = nil // at the end, r.spilled is nil
	}
	return g, behind
}

// sample adds the next CPU sample.
func (r *Reader) sample() error {
	s := &r.samples[0]
	stack, ok := r.gen.stacks.of(s.stack)
	if !ok {
		return wrong(s.reported, "a CPU sample refers to a missing stack")
	}
	ev := r.add(Sample, s.time, &noThread)
	ev.P, ev.Stack = s.p, stack
	if s.g != 0 {
		if ev.G = r.goroutine(uint64(s.g)); ev.G == nil {
			ev.G = &G{ID: s.g}
		}
	}
	r.samples = r.samples[1:]
	return nil
}
