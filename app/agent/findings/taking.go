package findings

import (
	"fmt"
	"strings"

	"ashlar/app/core/evidence"
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/waits"
)

// taking looks for threads that wait for each other at one place, as they do for the few
// connections of a pool, or for the results of others.
func (l *look) taking(r rule) error {
	if l.rec.Counts.States == 0 || l.rec.Duration() <= 0 {
		return nil
	}
	all, err := l.Locks(l.ctx)
	if err != nil {
		return err
	}
	for i := range all {
		k := &all[i]
		if k.Kind != waits.Channels && k.Kind != waits.Signals || k.Waits < fewestWaits || k.Waiters < 3 || len(k.Places) == 0 {
			continue
		}
		lost := l.lostShare(k)
		each := float64(k.Lost) / float64(k.Waiters) / float64(l.rec.Duration()) // part of the recording in which a waiter waits
		inTurn := takenInTurn(k)
		if lost < .25 || each < .25 || !inTurn && !forResult(k) {
			continue
		}
		of := func(n Number, field string) Number {
			return n.by(fmt.Sprintf("locks[%d].%s", i, field), "locks", evidence.File(l.rec), "-n", "0")
		}
		f := Finding{Size: timePart(min(k.Held, l.rec.Duration()), l.rec.Duration())}
		who := "for each other"
		if !inTurn {
			who = "for a result or a free resource"
		}
		f.say("%s wait %s at %s: %s, the longest %s, together %s, %s of the time in which they had work. At least one of them waits for %s of the recording.",
			of(plural(k.Waiters, l.threadWord()), "waiters"), who, quoted(k.Title(l.rec)), of(plural(k.Waits, "wait"), "waits"), of(duration(k.Longest), "longest"), of(duration(k.Lost), "lost"), percentage(lost), part(k.Held, l.rec.Duration()))
		l.add(r, f, view.State{Tab: "blocked"}, "locks", evidence.File(l.rec))
		return nil
	}
	return nil
}

// takenInTurn reports whether most waits were ended by threads that wait there, too, one at a
// time. At a barrier, the last thread wakes all others at once.
func takenInTurn(k *waits.Lock) bool {
	waiters := map[int]bool{}
	for _, p := range k.Pairs {
		waiters[p.Waiter] = true
	}
	n, one := 0, 0
	for _, p := range k.Pairs {
		if p.Holder != recording.NoTrack && p.Holder != p.Waiter && waiters[p.Holder] {
			n += p.Count
		}
	}
	for i := range k.Holds {
		if k.Holds[i].Woken == 1 {
			one++
		}
	}
	return 5*n >= 4*k.Waits && 5*one >= 4*len(k.Holds)
}

// forResult reports whether threads wait in a library function for a result or a resource, rather
// than for work.
func forResult(k *waits.Lock) bool {
	via := strings.ToLower(k.Places[0].Via)
	for _, w := range []string{"semaphore", "futuretask.get", "completablefuture.get", "completablefuture.join", "exchanger"} {
		if strings.Contains(via, w) {
			return true
		}
	}
	return false
}
