package findings

import (
	"fmt"

	"ashlar/app/core/evidence"
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/waits"
)

// idleRun is the longest time, in picoseconds (25 µs), that a thread runs after it was woken in
// vain.
const idleRun = 25e6

// wakeup looks for threads that are woken in vain: they look at a condition and wait again at
// the same place.
func (l *look) wakeup(r rule) error {
	if l.rec.Counts.States == 0 || l.rec.Duration() <= 0 {
		return nil
	}
	all, err := l.Locks(l.ctx)
	if err != nil {
		return err
	}
	for i := range all {
		k := &all[i]
		if k.Kind != waits.Signals || k.Waits < 4*fewestWaits || k.Waiters < 3 || len(k.Places) == 0 {
			continue
		}
		at := map[recording.CallID]bool{}
		on := map[int]bool{}
		for _, x := range k.Losers {
			at[x.Call], on[x.Track] = true, true
		}
		again := 0
		for track := range on {
			again += l.inVain(track, at)
		}
		if 2*again < k.Waits {
			continue
		}
		of := func(n Number, field string) Number {
			return n.by(fmt.Sprintf("locks[%d].%s", i, field), "locks", evidence.File(l.rec), "-n", "0")
		}
		f := Finding{Size: counts(int64(again), int64(k.Waits), "wake-ups")}.saying("%s of %s of %s at %s end in vain: the %s runs for at most %s and waits again at the same place.",
			count(again), of(plural(k.Waits, "wait"), "waits"), of(plural(k.Waiters, l.threadWord()), "waiters"), quoted(k.Title(l.rec)), l.threadWord(), duration(idleRun))
		l.add(r, f, view.State{Tab: "blocked"}, "locks", evidence.File(l.rec))
		return nil
	}
	return nil
}

// inVain counts the waits of a track in some stacks after which it runs briefly, except for
// waits in the same function, and waits again in one of the stacks.
func (l *look) inVain(track int, at map[recording.CallID]bool) (n int) {
	lane := &l.rec.Tracks[track].States
	var own recording.FuncID // in which the last such wait was
	var ran int64
	waited := false
	for k := range lane.Len() {
		c := lane.Call(k)
		switch l.rec.State(c) {
		case recording.Blocked:
			stack := l.rec.Calls.Parent(c)
			in := l.ownOf(stack)
			if at[stack] {
				if waited && ran <= idleRun && in == own {
					n++
				}
				own, ran, waited = in, 0, true
			} else if in != own {
				waited = false
			}
		case recording.Runnable:
		default:
			ran += lane.Duration(k)
		}
	}
	return n
}

// ownOf returns the innermost function of a stack that is the program's own, or nobody.
func (l *look) ownOf(c recording.CallID) recording.FuncID {
	for ; c != recording.NoCall; c = l.rec.Calls.Parent(c) {
		id := l.rec.Func(c)
		if f := l.rec.Functions.At(int(id)); f.State == recording.NoState && !f.Library() {
			return id
		}
	}
	return nobody
}
