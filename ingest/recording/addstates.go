package recording

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"ashlar/ingest/column"
)

// TrackState is what the thread of a track was in: see [TrackBuilder.State].
type TrackState struct {
	Track      *TrackBuilder
	Start, End int64
	Call       CallID
	Waker      int32 // the track of who woke it, or NoTrack
	State      State // that Call stands for
}

// fewStates are added one by one: it takes longer to share them out.
const fewStates = 1 << 10

// AddStates is [TrackBuilder.State] for many, those of each track in the order of time.
// They are added track by track, on all cores: that takes a third of the time on one.
func (b *Builder) AddStates(all []TrackState) {
	if len(all) < fewStates || b.part != nil {
		for i := range all {
			s := &all[i]
			s.Track.State(s.Start, s.End, s.Call, int(s.Waker))
		}
		return
	}
	b.check()
	g := b.byTrack(all)
	var next atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	work := func() {
		add := stateAdder{b: b, all: all, start: math.MaxInt64, end: math.MinInt64}
		for {
			i := int(next.Add(1)) - 1
			if i >= len(g.tracks) {
				break
			}
			add.track(g.tracks[i], g.of(i))
		}
		mu.Lock()
		defer mu.Unlock()
		add.done()
	}
	for range min(runtime.GOMAXPROCS(0), len(g.tracks)) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

// stateGroups has the places of states by their tracks.
type stateGroups struct {
	slot   []int32 // 1 + the group, by the track's number; 0 for none
	tracks []*TrackBuilder
	ends   []int32
	places []int32
}

func (g *stateGroups) of(i int) []int32 {
	if i == 0 {
		return g.places[:g.ends[0]]
	}
	return g.places[g.ends[i-1]:g.ends[i]]
}

// byTrack puts states of the same track together, in their order.
func (b *Builder) byTrack(all []TrackState) *stateGroups {
	g := &b.states
	if len(g.slot) < len(b.order) {
		g.slot = make([]int32, 2*len(b.order))
	}
	clear(g.tracks)
	g.tracks, g.ends = g.tracks[:0], g.ends[:0]
	for i := range all {
		t := all[i].Track
		if g.slot[t.index] == 0 {
			g.tracks, g.ends = append(g.tracks, t), append(g.ends, 0)
			g.slot[t.index] = int32(len(g.tracks))
		}
		g.ends[g.slot[t.index]-1]++
	}
	sum := int32(0)
	for i, n := range g.ends {
		g.ends[i] = sum // where it begins, and once places are known ends
		sum += n
	}
	if len(g.places) < len(all) {
		g.places = make([]int32, len(all))
	}
	for i := range all {
		end := &g.ends[g.slot[all[i].Track.index]-1]
		g.places[*end] = int32(i)
		*end++
	}
	for _, t := range g.tracks {
		g.slot[t.index] = 0
	}
	return g
}

// stateAdder is one goroutine of AddStates.
type stateAdder struct {
	b          *Builder
	all        []TrackState
	n          int64
	start, end int64
	over       int64 // is too much to be added up
}

func (a *stateAdder) track(t *TrackBuilder, places []int32) {
	t.own()
	t.cached = nil
	l := &t.track.States
	last := int64(math.MinInt64)
	if l.n > 0 {
		last = l.lastEnd()
	}
	for _, i := range places {
		s := &a.all[i]
		a.start, a.end = min(a.start, s.Start), max(a.end, s.End)
		start := max(s.Start, last)
		if s.End <= start {
			continue
		}
		last = s.End
		l.append(start, s.End, s.Call, 0, false)
		l.tail.wakers[(l.n-1)&(column.ChunkLen-1)] = uint32(s.Waker + 1)
		in := &t.track.InState[s.State]
		sum := Saturated(*in, s.End-start)
		if sum != *in+(s.End-start) {
			a.over = s.End - start
		}
		*in = sum
		a.n++
	}
}

// done tells the builder what was added.
func (a *stateAdder) done() {
	a.b.rec.Counts.States += a.n
	if a.start <= a.end {
		a.b.Cover(a.start, a.end)
	}
	if a.over != 0 {
		a.b.time(math.MaxInt64, a.over) // which warns
	}
}
