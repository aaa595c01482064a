package findings

import (
	"cmp"
	"slices"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/waits"
)

// A place is one of the program's own functions. name is the function's name, preceded by its
// caller's if the caller is the program's own, too.
type place struct{ function, name string }

// mostlyIn returns the place of most stacks of a thread, or of those during its holds if
// there are any; the zero place if it has no stacks.
func (l *look) mostlyIn(track int, holds []waits.Hold) (best place) {
	holds = slices.DeleteFunc(slices.Clone(holds), func(h waits.Hold) bool { return int(h.Waker.Track) != track })
	during := func(at int64) bool {
		i, found := slices.BinarySearchFunc(holds, at, func(h waits.Hold, at int64) int { return cmp.Compare(h.From, at) })
		return len(holds) == 0 || found || i > 0 && at < holds[i-1].To
	}
	count := map[place]int{}
	t := l.rec.Tracks[track]
	for _, s := range t.Samples {
		for i := range s.Len() {
			if during(s.Time(i)) {
				count[l.placeOf(s.Call(i))]++
			}
		}
	}
	for i := range t.States.Len() {
		if during(t.States.Start(i)) {
			count[l.placeOf(t.States.Call(i))]++
		}
	}
	delete(count, place{})
	for p, n := range count {
		if best == (place{}) || n > count[best] || n == count[best] && p.name < best.name {
			best = p
		}
	}
	return best
}

// placeOf returns the innermost place of a stack, the zero place if it has none of the
// program's own functions.
func (l *look) placeOf(c recording.CallID) (p place) {
	for ; c != recording.NoCall; c = l.rec.Calls.Parent(c) {
		switch f := l.rec.Functions.At(int(l.rec.Func(c))); {
		case f.State != recording.NoState || f.Library():
			if p.name != "" {
				return p
			}
		case p.name != "":
			p.name = f.Name + " → " + p.name
			return p
		default:
			p = place{f.Name, f.Name}
		}
	}
	return p
}
