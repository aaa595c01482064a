package findings

import (
	"strings"

	"ashlar/app/core/evidence"
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/repeat"
	"ashlar/ingest/query/waits"
)

// fewestWaits is the smallest number of waits from which the rules bottleneck and disk draw
// conclusions.
const fewestWaits = 50

// ended sums up the waits of other threads that a thread ended.
type ended struct {
	lost    int64
	count   int
	waiters map[int]bool
}

// bottleneck looks for a thread that hardly waits itself and for which others wait at channels
// and conditions.
func (l *look) bottleneck(r rule) error {
	if l.rec.Counts.States == 0 || l.rec.Duration() <= 0 {
		return nil
	}
	all, err := l.Locks(l.ctx)
	if err != nil {
		return err
	}
	by := make([]ended, len(l.rec.Tracks))
	for i := range all {
		if k := all[i].Kind; k != waits.Channels && k != waits.Signals {
			continue
		}
		for _, p := range all[i].Pairs {
			if p.Holder == recording.NoTrack || p.Holder == p.Waiter {
				continue
			}
			e := &by[p.Holder]
			recording.Add(&e.lost, p.Lost)
			e.count += p.Count
			if e.waiters == nil {
				e.waiters = map[int]bool{}
			}
			e.waiters[p.Waiter] = true
		}
	}
	best := -1
	for i := range by {
		e, in := &by[i], &l.rec.Tracks[i].InState
		busy := in[recording.Running] + in[recording.Runnable] + in[recording.InSystemCall]
		if e.count >= fewestWaits && 2*e.lost >= l.rec.Duration() && 4*busy >= 3*l.rec.Duration() && (best < 0 || e.lost > by[best].lost) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	e, t := &by[best], l.rec.Tracks[best]
	f := Finding{Thread: t.Name, Size: timePart(l.rec.Duration()-t.InState[recording.Blocked], l.rec.Duration())}.saying("%s %s", l.kind(best), l.on(best))
	if where := l.mostlyIn(best, nil); where.name != "" {
		f.Function = where.function
		f.say(", mostly in %s,", quoted(where.name))
	}
	ends, of, lost, blocked := plural(e.count, "wait"), plural(len(e.waiters), l.threadWord()), duration(e.lost), part(t.InState[recording.Blocked], l.rec.Duration())
	if query := endedQuery(best, all); query != "" {
		ends, of, lost, blocked = l.sql(ends, 0, 0, query), l.sql(of, 0, 1, query), l.sql(lost, 0, 2, query), l.overAll(blocked, "rows[0][3]", "sql", evidence.File(l.rec), query)
	}
	f.say(" ends %s of %s for channels or signals, %s in total, and itself waits for %s of %s.", ends, of, lost,
		blocked, duration(l.rec.Duration()).by("time.duration_ns", "info", evidence.File(l.rec)))
	l.add(r, f, view.State{Tab: "blocked"}, "locks", evidence.File(l.rec))
	return nil
}

// uninterruptible begins the names of the states in which threads wait for a disk.
const uninterruptible = "uninterruptible"

// disk looks for a thread that waits for a disk: for a tenth of the recording, or many times
// where no similar thread does.
func (l *look) disk(r rule) error {
	if l.rec.Counts.States == 0 || l.rec.Duration() <= 0 {
		return nil
	}
	var state recording.Function
	had := make([]usage, len(l.rec.Tracks))
	for i, t := range l.rec.Tracks {
		for k := range t.States.Len() {
			f := l.rec.Functions.At(int(l.rec.Func(t.States.Call(k))))
			if f.State != recording.Blocked || !strings.Contains(f.Name, uninterruptible) {
				continue
			}
			state = f
			had[i].time += t.States.End(k) - t.States.Start(k)
			had[i].calls++
		}
	}
	best := -1
	for i, t := range l.rec.Tracks {
		// Kernel threads wait in this way for work.
		if had[i].calls < fewestWaits || 100*t.InState[recording.Running] < l.rec.Duration() {
			continue
		}
		if (10*had[i].time >= l.rec.Duration() || l.onlyOne(i, had)) && (best < 0 || had[i].time > had[best].time) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	t := l.rec.Tracks[best]
	q := calls.Query{Functions: []string{typed(l.rec, state)}}
	only := append([]string{"calls", evidence.File(l.rec), q.String()}, l.threadFlag(best)...)
	from := func(n Number, field string) Number {
		if len(only) == 3 {
			return n
		}
		return n.by(field, append(only, "-n", "1")...)
	}
	share := part(had[best].time, l.rec.Duration())
	if sum := from(share, "sum"); sum.args != nil {
		share = l.overAll(share, sum.path, sum.args...)
	}
	f := Finding{Thread: t.Name, Size: timePart(had[best].time, l.rec.Duration())}.saying("%s %s sleeps uninterruptibly, as threads do while they wait for a disk, %s times for %s in total (%s of the recording)",
		l.kind(best), l.on(best), from(count(had[best].calls), "count"), from(duration(had[best].time), "sum"), share)
	if most, n := l.peersHad(best, had); n > 0 {
		if most == 0 {
			f.say(", its %s never", l.ofPeers(plural(n, "peer"), best, n+1, 1))
		} else {
			f.say(", its %s at most %s times", l.ofPeers(plural(n, "peer"), best, n+1, 1), count(most))
		}
	}
	f.say(".")
	l.add(r, f, of(state, "calls"), only...)
	return nil
}

// usage is the time of a thread's calls and their number.
type usage struct{ time, calls int64 }

// peersHad returns the largest number of calls of a track's peers, and the number of peers.
func (l *look) peersHad(track int, had []usage) (most int64, n int) {
	of := l.rec.Tracks[track]
	if repeat.Stem(of.Name) == of.Name {
		return 0, 0
	}
	for i, t := range l.rec.Tracks {
		if i != track && t.Kind == of.Kind && t.PID == of.PID && repeat.Stem(t.Name) == repeat.Stem(of.Name) {
			most = max(most, had[i].calls)
			n++
		}
	}
	return most, n
}

// onlyOne reports whether a track has at least 20 times as many calls as each of its peers, at
// least two.
func (l *look) onlyOne(track int, had []usage) bool {
	most, n := l.peersHad(track, had)
	return n >= 2 && had[track].calls >= 20*max(1, most)
}
