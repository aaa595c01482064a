package recording

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// TrackState is the state of a track's thread: see [TrackBuilder.State].
type TrackState struct {
	Track      *TrackBuilder
	Start, End int64
	Call       CallID
	Waker      WakerID
	State      State // the state that Call stands for
}

// fewStates is the number of states below which they are added one by one, because
// distributing them among goroutines takes longer.
const fewStates = 1 << 10

// AddStates adds many states, as [TrackBuilder.State] does; the states of each track must
// be in order of time. It adds them track by track on all cores, which takes a third of
// the time of one core.
func (b *Builder) AddStates(all []TrackState) {
	if len(all) < fewStates || b.part != nil {
		for i := range all {
			s := &all[i]
			s.Track.StateBy(s.Start, s.End, s.Call, s.Waker)
		}
		return
	}
	b.check()
	g := &b.states
	g.By(len(all), len(b.order), func(i int) int32 { return all[i].Track.index })
	var next atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	work := func() {
		add := stateAdder{b: b, all: all, start: math.MaxInt64, end: math.MinInt64}
		for {
			i := int(next.Add(1)) - 1
			if i >= g.Len() {
				break
			}
			add.track(g.Of(i))
		}
		mu.Lock()
		defer mu.Unlock()
		add.done()
	}
	for range min(runtime.GOMAXPROCS(0), g.Len()) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

// stateAdder is one goroutine of AddStates.
type stateAdder struct {
	b          *Builder
	all        []TrackState
	n          int64
	start, end int64
	over       int64 // a duration that overflowed a sum, or 0
	inState    [states]int64
}

// track adds the states of one track.
func (a *stateAdder) track(places []int32) {
	t := a.all[places[0]].Track
	t.own()
	t.cached = nil
	l := &t.track.States
	last := int64(math.MinInt64)
	if l.Len() > 0 {
		last = l.LastEnd()
	}
	for _, i := range places {
		s := &a.all[i]
		a.start, a.end = min(a.start, s.Start), max(a.end, s.End)
		start := max(s.Start, last)
		if s.End <= start {
			continue
		}
		last = s.End
		l.AppendState(start, s.End, s.Call, uint32(s.Waker))
		in := &t.track.InState[s.State]
		sum := Saturated(*in, s.End-start)
		if sum != *in+(s.End-start) {
			a.over = s.End - start
		}
		Add(&a.inState[s.State], sum-*in)
		*in = sum
		a.n++
	}
}

// done adds the results to the builder.
func (a *stateAdder) done() {
	a.b.rec.Counts.States += a.n
	for s, ps := range a.inState {
		Add(&a.b.inState[s], ps)
	}
	if a.start <= a.end {
		a.b.Cover(a.start, a.end)
	}
	if a.over != 0 {
		a.b.time(math.MaxInt64, a.over) // adds the overflow warning
	}
}
