package findings

import (
	"slices"
	"strings"

	"ashlar/app/core/evidence"
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
)

// fewestLeaked is the smallest number of threads that wait forever from which leak draws
// conclusions.
const fewestLeaked = 50

// leak looks for threads that are started again and again and never end.
func (l *look) leak(r rule) error {
	if l.rec.Counts.States == 0 || l.rec.Duration() <= 0 {
		return l.leaked(r)
	}
	type group struct {
		started int
		stuck   []int64 // starts, in order of the tracks
		first   int     // the track of the first stuck one
		in      map[place]int
	}
	var best *group
	var named string
	groups := map[string]*group{}
	whole := l.rec.Duration()
	for i, t := range l.rec.Tracks {
		n := t.States.Len()
		if n == 0 || t.Kind != recording.ThreadTrack || l.rec.OfRuntime(t) || t.States.Start(0) <= l.rec.Start+whole/100 {
			continue // it may have been there before
		}
		g := groups[t.Name]
		if g == nil {
			g = &group{first: i, in: map[place]int{}}
			groups[t.Name] = g
		}
		g.started++
		last := n - 1
		if c := t.States.Call(last); l.rec.State(c) == recording.Blocked && t.States.End(last) >= l.rec.End-whole/100 && t.States.Start(last) <= l.rec.End-whole/10 {
			g.stuck = append(g.stuck, t.States.Start(0))
			g.in[l.placeOf(c)]++
		}
	}
	for name, g := range groups {
		if len(g.stuck) >= fewestLeaked && 5*len(g.stuck) >= g.started && throughout(g.stuck, l.rec.Start, whole) && (best == nil || len(g.stuck) > len(best.stuck) || len(g.stuck) == len(best.stuck) && name < named) {
			best, named = g, name
		}
	}
	if best == nil {
		return nil
	}
	f := Finding{Size: counts(int64(len(best.stuck)), int64(best.started), l.threadWord()+"s")}.saying("%s of %s %ss that start in %s during the recording never end", count(len(best.stuck)), count(best.started), l.threadWord(), quoted(named))
	f.Function = named
	var where place
	for p, n := range best.in {
		if p.name != "" && (where.name == "" || n > best.in[where] || n == best.in[where] && p.name < where.name) {
			where = p
		}
	}
	if where.name != "" {
		f.say(": %s of them wait in %s", count(best.in[where]), quoted(where.name))
	}
	f.say(". At its end each has waited for at least %s.", duration(whole/10))
	l.add(r, f, view.State{Tab: "blocked"}, "locks", evidence.File(l.rec))
	return nil
}

// throughout reports whether moments are spread over the first nine tenths of a time: each
// third of it has at least a tenth of them.
func throughout(at []int64, start, whole int64) bool {
	var n [3]int
	for _, t := range at {
		n[min(2, 10*(t-start)/(3*whole))]++
	}
	return 10*slices.Min(n[:]) >= len(at)
}

// leaked is leak for profiles that count the goroutines at one moment by their stacks.
func (l *look) leaked(r rule) error {
	if l.weights == nil || !strings.HasPrefix(l.metric.Name, "goroutine") || l.metric.Unit != "count" {
		return nil
	}
	owners, _ := l.owners()
	id, n := most(l.byOwner(owners))
	if n < fewestLeaked || 2*n < l.sum {
		return nil
	}
	f := l.rec.Functions.At(int(id))
	amount, share := l.cost(id, n)
	l.add(r, Finding{Function: f.Name, Size: l.size(n)}.saying("%s has %s of %s (%s) in one function of the program.", quoted(f.Name), amount, name(l.metric.Name), share), of(f, "callers"), "top", evidence.File(l.rec), "--callers-of", typed(l.rec, f))
	return nil
}
