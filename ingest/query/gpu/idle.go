package gpu

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// Why is the cause of idle time of a device.
type Why uint8

// Causes of idle time, which lasts from the end of all work to the start of the next.
const (
	// Late: the program had not launched the next work.
	Late Why = iota
	// Waited: as Late, after the program had waited for the device in that call.
	Waited
	// Queued: the next work was launched and had not started yet.
	Queued
	// Unknown: the trace does not say what launched the next work.
	Unknown
)

// Idle is the idle time of a device from one cause.
type Idle struct {
	Why Why
	// Track is the thread that launched the next work, recording.NoTrack if Why is Queued
	// or Unknown.
	Track int
	// Function is the call that the thread was in, analyze.NoFunc for none. Functions whose
	// names differ only in numbers are combined: it is then the first of them, and Name is
	// the name without the numbers.
	Function recording.FuncID
	Name     string
	Time     int64
}

// waits are the functions in which a program waits for a device.
var waits = []string{"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy", "cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize",
	"hipDeviceSynchronize", "hipStreamSynchronize", "hipEventSynchronize", "hipMemcpy"}

// causes adds up idle time by its cause.
type causes struct {
	inner
	waiting []bool // by function
	sums    map[cause]*sum
}

type cause struct {
	why   Why
	track int
	call  recording.CallID
}

type sum struct {
	cause
	time int64
}

func newCauses(rec *recording.Recording) *causes {
	c := &causes{inner: newInner(rec), waiting: make([]bool, rec.Functions.Len()), sums: map[cause]*sum{}}
	for i := range c.waiting {
		name := rec.Functions.At(i).Name
		c.waiting[i] = slices.ContainsFunc(waits, func(w string) bool { return name == w || strings.HasPrefix(name, w+"_") })
	}
	return c
}

func (c *causes) add(why Why, track int, call recording.CallID, time int64) {
	if time <= 0 {
		return
	}
	k := cause{why, track, call}
	s := c.sums[k]
	if s == nil {
		s = &sum{cause: k}
		c.sums[k] = s
	}
	s.time += time
}

// gap divides the idle time before the next work among its causes.
func (c *causes) gap(from int64, next *Work) {
	if next.Launch.Track == recording.NoTrack {
		c.add(Unknown, recording.NoTrack, recording.NoCall, next.Start-from)
		return
	}
	thread, launched := next.Launch.Track, max(from, next.Launch.Start)
	c.add(Queued, recording.NoTrack, recording.NoCall, next.Start-launched)
	if launched == from {
		return
	}
	if at := c.at(thread, from); at != recording.NoCall {
		for call := at; call != recording.NoCall; call = c.rec.Calls.Parent(call) {
			if c.waiting[c.rec.Func(call)] {
				c.add(Waited, thread, call, launched-from)
				return
			}
		}
	}
	c.during(thread, from, launched)
}

// during adds the time in which a thread was late, by innermost call.
func (c *causes) during(track int, from, to int64) {
	columns := c.of(track)
	if len(columns) == 0 {
		c.add(Late, track, recording.NoCall, to-from)
		return
	}
	c.rec.Tracks[track].Innermost(columns[0], recording.NoCall, from, to, func(call recording.CallID, time int64) { c.add(Late, track, call, time) })
}

// place is a node of the tree of calls that ran while a device was idle. Functions whose
// names differ only in numbers, such as steps, share a place.
type place struct {
	name     string // without numbers
	function recording.FuncID
	several  bool // it stands for several functions
	time     int64
	below    map[string]*place
	order    []*place // below, in order of first use
}

func (p *place) child(rec *recording.Recording, call recording.CallID) *place {
	f := rec.Func(call)
	name := funcname.FoldDigits(rec.Functions.At(int(f)).Name)
	c := p.below[name]
	if c == nil {
		c = &place{name: name, function: f, below: map[string]*place{}}
		p.below[name] = c
		p.order = append(p.order, c)
	}
	c.several = c.several || c.function != f
	return c
}

// list returns the causes, the longest first; see place.causes.
func (c *causes) list() (all []Idle) {
	calls := &c.rec.Calls
	sums := slices.SortedFunc(maps.Values(c.sums), func(a, b *sum) int {
		return cmp.Or(cmp.Compare(a.why, b.why), cmp.Compare(a.track, b.track), cmp.Compare(a.call, b.call))
	})
	type root struct {
		why   Why
		track int
	}
	trees := map[root]*place{}
	var roots []root
	for _, s := range sums {
		k := root{s.why, s.track}
		if trees[k] == nil {
			trees[k] = &place{function: analyze.NoFunc, below: map[string]*place{}}
			roots = append(roots, k)
		}
		var path []recording.CallID
		for call := s.call; call != recording.NoCall; call = calls.Parent(call) {
			path = append(path, call)
		}
		at := trees[k]
		at.time += s.time
		for _, call := range slices.Backward(path) {
			at = at.child(c.rec, call)
			at.time += s.time
		}
	}
	for _, k := range roots {
		trees[k].causes(k.why != Waited, func(p *place, time int64) {
			all = append(all, Idle{Why: k.why, Track: k.track, Function: p.function, Name: strings.TrimRight(p.name, "#"), Time: time})
		})
	}
	order.By(all, func(a, b Idle) int { return cmp.Compare(b.Time, a.Time) })
	return all
}

// causes visits the places for which time is reported. It descends through steps and
// through calls with at least nine tenths of the time. If deep is set, it reports the
// deepest call in each place instead.
func (p *place) causes(deep bool, visit func(*place, int64)) {
	own := p.time
	for _, c := range p.order {
		own -= c.time
		switch {
		case len(c.order) > 0 && (c.several || 10*c.time >= 9*p.time):
			c.causes(deep, visit)
		case deep:
			visit(c.deepest(), c.time)
		default:
			visit(c, c.time)
		}
	}
	if own > 0 {
		visit(p, own)
	}
}

// deepest descends while one call has at least four fifths of the time.
func (p *place) deepest() *place {
	for {
		i := slices.IndexFunc(p.order, func(c *place) bool { return 5*c.time >= 4*p.time })
		if i < 0 {
			return p
		}
		p = p.order[i]
	}
}

// String returns the cause in a word.
func (w Why) String() string { return [...]string{"late", "waited", "queued", "unknown"}[w] }
