package findings

import (
	"cmp"
	"slices"

	"ashlar/app/core/evidence"
	"ashlar/ingest/model/recording"
)

// A work is a kind of library work that programs often do more of than they need.
type work struct {
	is   class
	what string // begins a sentence
	// least is the share of the total, without waits, from which it is reported.
	least float64
}

var works = []work{
	{throwing, "Throwing exceptions or walking stacks", .25},
	{syncing, "Waiting until files are on the disk", .25},
	{matching, "Compiling regular expressions", .25},
	{coding, "Encoding and decoding JSON", .25},
	{copying, "Copying objects with all their parts", .25},
	{formatting, "Formatting text", .25},
	{faulting, "Handling page faults", .25},
	{moving, "Copying and clearing memory", .25},
	{allocating, "Allocating and freeing memory", .4},
	{spawning, "Starting processes", .25},
	{searching, "Searching lists from their start", .25},
	{measuring, "Measuring the length of text", .25},
	{connecting, "Setting up encrypted connections", .25},
	{accessing, "Accessing files while the event loop waits", .25},
}

// library reports the kind of library work with the largest cost, with the function of the
// program that calls it.
func (l *look) library(r rule) error {
	states := l.weights != nil && l.event.Basis == recording.FromStates
	if devices, err := l.gpus(); err != nil || !l.ofCode() && !l.ofSpans() && !states || len(devices) > 0 {
		return err
	}
	busy := l.busy()
	var best work
	var cost classed
	for _, w := range works {
		if states && w.is != syncing {
			continue // the stacks of states do not tell what a running thread did
		}
		if c := l.classed(w.is, idling); c.total > cost.total && l.share(c.total, busy) >= w.least {
			best, cost = w, c
		}
	}
	sure, ok := l.above(cost.total, busy, best.least)
	if !ok || cost.total == 0 {
		return nil
	}
	id, _ := most(cost.first)
	f := l.rec.Functions.At(int(id))
	all := l.stacksWith(cost.first, cost.total)
	found := Finding{Function: f.Name, Size: l.sizeOf(cost.total, busy), Confidence: sure}.saying("%s: %s (%s)", best.what, all.sum, all.share)
	l.sayCost(&found, &all)
	who, own := l.callersOf(best.is)
	if 5*own > cost.total {
		g := l.rec.Functions.At(int(who))
		found.Function = cmp.Or(g.Name, found.Function)
		found.say(", %s of it below %s", l.owner(part(own, cost.total), l.expression(cost.first), who, own, cost.total), quoted(g.Name))
	} else if len(cost.first) > 1 {
		found.say(", above all in %s", quoted(f.Name))
	}
	found.say(".")
	// A hot function of this kind is the same finding, and so is the function that calls it if it
	// does little else.
	l.out = slices.DeleteFunc(l.out, func(x Finding) bool {
		return x.Rule == "hot" && l.isOf(x.Function, best.is) || x.Rule == "own" && x.Function == found.Function && l.share(own, busy) >= .9*x.Size.share
	})
	l.add(r, found, of(f, "callers"), "top", evidence.File(l.rec), "--callers-of", typed(l.rec, f))
	return nil
}

// isOf reports whether a function of this name is of a class.
func (l *look) isOf(name string, is class) bool {
	for id, c := range l.classes {
		if c&is != 0 && l.rec.Functions.At(id).Name == name {
			return true
		}
	}
	return false
}

// callersOf returns the function of the program itself that calls most of a class's work,
// without idle stacks, and its part of the cost.
func (l *look) callersOf(is class) (recording.FuncID, int64) {
	owners, _ := l.owners()
	cost := map[recording.FuncID]int64{}
	const none, idle = nobody, nobody - 1
	from := make([]recording.FuncID, len(owners)) // the function that called into the class on a path
	for c := range from {
		if from[c] = none; c == 0 {
			continue
		}
		up := l.rec.Calls.Parent(recording.CallID(c))
		switch own := l.classes[l.rec.Func(recording.CallID(c))]; {
		case own&idling != 0:
			from[c] = idle
		case from[up] != none:
			from[c] = from[up]
		case own&is != 0:
			if from[c] = owners[up]; owners[up] == nobody {
				from[c] = idle
			}
		}
		if self := l.weights.Self[c]; self != 0 && from[c] < idle {
			cost[from[c]] += self
		}
	}
	return most(cost)
}
