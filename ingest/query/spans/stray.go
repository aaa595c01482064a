package spans

import (
	"cmp"
	"slices"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
)

// Core is the time range of a recording without a few events that lie far before or after
// all others, such as one with a wrong clock, and the numbers of such events.
type Core struct {
	From, To      int64
	Before, After int
}

// The events outside a core are at most strayEvents, and one in strayShare of all; the
// time between them and the core is more than emptyShare of the whole.
const (
	strayEvents = 16
	strayShare  = 50
	emptyShare  = .75
)

// NewCore finds the core of a recording: all of it if no events are far from the others.
func NewCore(rec *recording.Recording) Core {
	c := Core{From: rec.Start, To: rec.End}
	all, n := eventsOf(rec), 0
	for i := range all {
		n += all[i].n
	}
	most := min(strayEvents, n/strayShare)
	if most == 0 || !rec.HasTime {
		return c
	}
	if from, before := all.gap(c, most, false); before > 0 {
		c.From, c.Before = from, before
	}
	if to, after := all.gap(c, most, true); after > 0 {
		c.To, c.After = -to, after
	}
	return c
}

// events are columns of events, each in order of time.
type events []column

type column struct {
	n  int
	at func(i int) (start, end int64)
}

func eventsOf(rec *recording.Recording) (all events) {
	add := func(n int, at func(int) (start, end int64)) {
		if n > 0 {
			all = append(all, column{n, at})
		}
	}
	moment := func(at func(int) int64) func(int) (start, end int64) {
		return func(i int) (int64, int64) { return at(i), at(i) }
	}
	lane := func(l *lanes.Lane) {
		add(l.Len(), func(i int) (int64, int64) { return l.Start(i), l.End(i) })
	}
	for _, t := range rec.Tracks {
		for i := range t.Lanes {
			lane(&t.Lanes[i])
		}
		lane(&t.States)
		for _, s := range t.Samples {
			add(s.Len(), moment(s.Time))
		}
		add(len(t.Instants), moment(func(i int) int64 { return t.Instants[i].Time }))
	}
	for _, x := range rec.Counters {
		add(x.Len(), moment(x.Time))
	}
	for _, s := range rec.Windows {
		for i := range s.Windows { // these may overlap
			w := &s.Windows[i]
			add(1, func(int) (int64, int64) { return w.Start, w.End })
		}
	}
	return all
}

// gap looks for a gap after at most most first events. It returns its end and the number
// of events before it, 0 if there is none. With back set, time runs backwards, so the
// events are the last ones.
func (all events) gap(c Core, most int, back bool) (end int64, before int) {
	event := func(x *column, i int) (start, end int64) {
		if !back {
			return x.at(i)
		}
		start, end = x.at(x.n - 1 - i)
		return -end, -start
	}
	// Only the columns that begin first can have one of the first events.
	firsts := make([]int64, len(all))
	for i := range all {
		firsts[i], _ = event(&all[i], 0)
	}
	latest := slices.Clone(firsts)
	slices.Sort(latest)
	limit := latest[min(most, len(latest)-1)]
	type span struct{ start, end int64 }
	var some []span
	for i := range all {
		for k := range min(all[i].n, most+1) {
			start, end := event(&all[i], k)
			if start > limit {
				break
			}
			some = append(some, span{start, end})
		}
	}
	slices.SortFunc(some, func(x, y span) int { return cmp.Compare(x.start, y.start) })
	for i, until := 0, some[0].end; i < min(most, len(some)-1); i++ {
		until = max(until, some[i].end)
		if next := some[i+1].start; float64(next-until) > emptyShare*float64(c.To-c.From) {
			return next, i + 1
		}
	}
	return 0, 0
}
