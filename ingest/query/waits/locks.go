package waits

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

// A Lock is a lock, channel or other thing that threads waited for. Recordings do not
// identify it, so it is derived from places: waits at one place count as waits for one
// lock, and so do waits at several places that ended in the same line of the program.
//
// Holds are derived too. A hold begins when the first waiting thread began to wait, or when
// the previous holder let go, and ends when a thread woke one of them. So the time of a
// lock's holds is the time in which any thread waited for it. How long it was held while no
// thread waited is unknown.
type Lock struct {
	Kind   Kind
	Reason string  // the state's, such as sync, without "blocked: "
	Places []Place // at which threads waited, the one with the longest time first
	// Waits is the number of waits, Lost their total time and Longest the longest wait.
	// Waiters is the number of threads that waited.
	Waits, Waiters int
	Lost, Longest  int64
	// Held is the time of all holds; Holds are the holds in order of time, and Median and
	// LongestHold their durations.
	Held, Median, LongestHold int64
	Holds                     []Hold
	// Holders are the threads that held it, by their stacks when they let go, and Losers
	// the threads that waited, by their stacks; the longest time first.
	Holders []Holder
	Losers  []Loser
	// Pairs lists who waited for whom, the longest time first.
	Pairs []Pair
	// Convoy is the longest time during which at least two threads waited at every moment.
	Convoy Convoy
}

// A Hold is the time from when threads waited for a lock until Waker woke Woken of them.
type Hold struct {
	From, To int64
	Waker    recording.Waker // Call is what the waker was doing
	Woken    int
}

// A Holder is a thread that let go of a lock, with its holds by stack.
type Holder struct {
	Track                 int // recording.NoTrack if unknown
	Call                  recording.CallID
	Count                 int
	Held, Median, Longest int64
}

// A Loser is a thread that waited for a lock, with its waits by stack.
type Loser struct {
	Track         int
	Call          recording.CallID
	Count         int
	Lost, Longest int64
}

// A Pair is a thread that waited for another; State is the state of the longest wait.
type Pair struct {
	Waiter, Holder int // tracks; Holder may be recording.NoTrack
	State          int
	Count          int
	Lost, Longest  int64
}

// A Convoy is a time during which at least two threads wait for a lock at every moment.
// Most is the largest number that waited at once, Waits the number of waits that fall in
// it.
type Convoy struct {
	From, To    int64
	Most, Waits int
	// In are the first of the waits.
	In []Part
}

// A Part is the time of a wait of a thread.
type Part struct {
	Track    int
	From, To int64
}

// mostParts limits the waits of a convoy that are kept.
const mostParts = 1000

// short is a wait in compact form, for long lists.
type short struct {
	start, end   int64 // in the scope
	track, waker int32
	state        int32
	call, doing  recording.CallID
	ended        bool // the wait ends in the scope
	shared       bool // for a lock that many hold at once, for reading
}

// Of finds the locks of a scope, by kind, those with the longest waits first.
func Of(ctx context.Context, rec *recording.Recording, in recording.Scope) ([]Lock, error) {
	f := &finder{rec: rec, places: map[recording.CallID]Place{}, sites: map[site]int{}, ends: map[recording.FrameID]int{}}
	if err := Each(ctx, rec, in, f.add); err != nil {
		return nil, err
	}
	joined := map[int]int{}
	var locks []Lock
	var of [][]int // the sites of each lock
	for i := range f.all {
		root := f.root(i)
		k, ok := joined[root]
		if !ok {
			k = len(of)
			joined[root], of = k, append(of, nil)
		}
		of[k] = append(of[k], i)
	}
	for _, sites := range of {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		locks = append(locks, f.lock(sites))
	}
	order.By(locks, func(a, b Lock) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.Lost, a.Lost), cmp.Compare(b.Waits, a.Waits))
	})
	return locks, nil
}

type finder struct {
	rec    *recording.Recording
	places map[recording.CallID]Place
	sites  map[site]int
	ends   map[recording.FrameID]int // the site of a place that ends waits
	all    []found
}

// site is a reason and a place at which threads wait. If the stack is unknown, the thread
// stands for the place.
type site struct {
	reason recording.FuncID
	place  Place
	track  int
}

// found is a site with its waits; up is another site of the same lock.
type found struct {
	site
	kind  Kind
	up    int
	lost  int64
	waits []short
}

func (f *finder) root(i int) int {
	for f.all[i].up != i {
		f.all[i].up = f.all[f.all[i].up].up
		i = f.all[i].up
	}
	return i
}

func (f *finder) place(stack recording.CallID) Place {
	p, ok := f.places[stack]
	if !ok {
		p = placeOf(f.rec, stack)
		f.places[stack] = p
	}
	return p
}

// add adds a wait to its site, and joins sites whose waits end in the same line.
func (f *finder) add(w *Wait, from, to int64) {
	stack := w.Stack(f.rec)
	s := site{reason: f.rec.Func(w.Call), place: f.place(stack), track: recording.NoTrack}
	if !s.place.Known {
		s.track = w.Track
	}
	i, ok := f.sites[s]
	if !ok {
		i = len(f.all)
		f.sites[s] = i
		f.all = append(f.all, found{site: s, kind: kindOf(f.reason(&s), &s.place), up: i})
	}
	doing, recorded := w.Doing(f.rec)
	x := &f.all[i]
	x.waits = append(x.waits, short{from, to, int32(w.Track), w.Waker.Track, int32(w.State), stack, doing, to == w.End, strings.Contains(s.place.Via, "RWMutex).RLock")})
	recording.Add(&x.lost, to-from)
	if !recorded || to != w.End {
		return
	}
	if p := f.place(doing); p.Known && x.kind != Others {
		if other, ok := f.ends[p.Frame]; !ok {
			f.ends[p.Frame] = i
		} else if a, b := f.root(i), f.root(other); a != b && f.all[a].reason == f.all[b].reason && f.all[a].kind == f.all[b].kind {
			f.all[a].up = b
		}
	}
}

func (f *finder) reason(s *site) string {
	name := f.rec.Functions.At(int(s.reason)).Name
	return strings.TrimPrefix(strings.TrimPrefix(strings.Trim(name, "[]"), "blocked"), ": ")
}

// lock sums up the waits of sites.
func (f *finder) lock(sites []int) Lock {
	order.By(sites, func(a, b int) int { return cmp.Compare(f.all[b].lost, f.all[a].lost) })
	first := &f.all[sites[0]]
	l := Lock{Kind: first.kind, Reason: f.reason(&first.site)}
	var all []short
	for _, i := range sites {
		x := &f.all[i]
		if x.place.Known {
			l.Places = append(l.Places, x.place)
		}
		all = append(all, x.waits...)
		x.waits = nil
	}
	order.By(all, func(a, b short) int {
		return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.start, b.start), cmp.Compare(a.track, b.track))
	})
	l.waits(all)
	l.pairs(all)
	l.holds(all)
	l.convoy(all)
	return l
}

func (l *Lock) waits(all []short) {
	threads := map[int32]bool{}
	type key struct {
		track int32
		call  recording.CallID
	}
	at := map[key]int{}
	for i := range all {
		w := &all[i]
		d := w.end - w.start
		l.Waits++
		threads[w.track] = true
		recording.Add(&l.Lost, d)
		l.Longest = max(l.Longest, d)
		k, ok := at[key{w.track, w.call}]
		if !ok {
			k = len(l.Losers)
			at[key{w.track, w.call}] = k
			l.Losers = append(l.Losers, Loser{Track: int(w.track), Call: w.call})
		}
		x := &l.Losers[k]
		x.Count++
		recording.Add(&x.Lost, d)
		x.Longest = max(x.Longest, d)
	}
	l.Waiters = len(threads)
	order.By(l.Losers, func(a, b Loser) int { return cmp.Compare(b.Lost, a.Lost) })
}

// pairs sums up waits by who waited for whom.
func (l *Lock) pairs(all []short) {
	at := map[[2]int32]int{}
	for i := range all {
		w := &all[i]
		key := [2]int32{w.track, w.waker}
		k, ok := at[key]
		if !ok {
			k = len(l.Pairs)
			at[key] = k
			l.Pairs = append(l.Pairs, Pair{Waiter: int(w.track), Holder: int(w.waker)})
		}
		p, d := &l.Pairs[k], w.end-w.start
		p.Count++
		recording.Add(&p.Lost, d)
		if d > p.Longest || p.Count == 1 {
			p.Longest, p.State = d, int(w.state)
		}
	}
	order.By(l.Pairs, func(a, b Pair) int { return cmp.Compare(b.Lost, a.Lost) })
}

// holds derives the holds from waits in order of their ends.
func (l *Lock) holds(all []short) {
	earliest := make([]int64, len(all)+1) // start of the waits from i on
	earliest[len(all)] = int64(1)<<62 + (1<<62 - 1)
	for i := len(all) - 1; i >= 0; i-- {
		earliest[i] = min(earliest[i+1], all[i].start)
	}
	var before int64
	for i := 0; i < len(all); {
		w := &all[i]
		h := Hold{From: earliest[i], To: w.end, Waker: recording.Waker{Track: recording.NoTrack}}
		if len(l.Holds) > 0 {
			h.From = max(h.From, before)
		}
		released := h.To
		for ; i < len(all) && (all[i].end == h.To || all[i].readsAfter(w, released)); i++ {
			h.To = all[i].end
			h.Woken++
			if all[i].ended && h.Waker.Track == recording.NoTrack {
				h.Waker = recording.Waker{Track: all[i].waker, Call: all[i].doing}
			}
		}
		before = h.To
		l.Holds = append(l.Holds, h)
	}
	took := make([]int64, len(l.Holds))
	for i := range l.Holds {
		took[i] = l.Holds[i].To - l.Holds[i].From
		recording.Add(&l.Held, took[i])
	}
	l.Median, l.LongestHold = middle(took), slices.Max(took)
	l.holders()
}

// middle returns the median, the lower of two. It sorts the values.
func middle(of []int64) int64 {
	slices.Sort(of)
	return of[(len(of)-1)/2]
}

// readsAfter reports whether a wait ended with another one, at some time, because the
// release of a lock wakes all its readers one after the other.
func (s *short) readsAfter(first *short, released int64) bool {
	return s.shared && first.shared && s.ended && s.start < released && s.waker == first.waker && s.doing == first.doing && s.waker != recording.NoTrack
}

// holders groups the holds by thread and stack.
func (l *Lock) holders() {
	at := map[recording.Waker]int{}
	var took [][]int64
	for i := range l.Holds {
		h := &l.Holds[i]
		k, ok := at[h.Waker]
		if !ok {
			k = len(l.Holders)
			at[h.Waker], took = k, append(took, nil)
			l.Holders = append(l.Holders, Holder{Track: int(h.Waker.Track), Call: h.Waker.Call})
		}
		l.Holders[k].Count++
		recording.Add(&l.Holders[k].Held, h.To-h.From)
		took[k] = append(took[k], h.To-h.From)
	}
	for k := range l.Holders {
		l.Holders[k].Longest, l.Holders[k].Median = slices.Max(took[k]), middle(took[k])
	}
	order.By(l.Holders, func(a, b Holder) int { return cmp.Compare(b.Held, a.Held) })
}

// convoy finds the longest time during which at least two threads waited at every moment.
func (l *Lock) convoy(all []short) {
	type edge struct {
		at int64
		by int
	}
	edges := make([]edge, 0, 2*len(all))
	for i := range all {
		edges = append(edges, edge{all[i].start, 1}, edge{all[i].end, -1})
	}
	order.By(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	var c Convoy
	n := 0
	for i := 0; i < len(edges); {
		at, before := edges[i].at, n
		for ; i < len(edges) && edges[i].at == at; i++ {
			n += edges[i].by
		}
		switch {
		case before < 2 && n >= 2:
			c = Convoy{From: at}
		case before >= 2 && n < 2:
			if c.To = at; c.To-c.From > l.Convoy.To-l.Convoy.From {
				l.Convoy = c
			}
		}
		c.Most = max(c.Most, n)
	}
	first := sort.Search(len(all), func(i int) bool { return all[i].end > l.Convoy.From })
	for _, w := range all[first:] {
		if w.start < l.Convoy.To && l.Convoy.To > l.Convoy.From {
			if l.Convoy.Waits++; l.Convoy.Waits <= mostParts {
				l.Convoy.In = append(l.Convoy.In, Part{int(w.track), w.start, w.end})
			}
		}
	}
}
