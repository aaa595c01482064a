package findings

import (
	"cmp"
	"math"
	"slices"

	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/repeat"
)

const (
	// mostRare is the largest number of calls that are rare; more of them are outliers.
	mostRare = 3
	// longRare is the shortest duration of a rare call (100 ms). Shorter ones happen by chance
	// where other programs run.
	longRare = 1e11
	// certainRare is the duration from which a rare call needs no explanation (1 s). A busy
	// machine may keep a thread from running for some tenths of a second.
	certainRare = 1e12
)

// rare looks for the few calls among those that repeat on a thread that are very long, such as
// the first ones.
func (l *look) rare(r rule) error {
	loops, err := l.repeating()
	if err != nil || len(l.devices) > 0 || l.explained {
		return err
	}
	for i := range loops[:min(len(loops), mostLoops)] {
		o := &loops[i]
		s := rareCalls(o)
		window := o.End(len(o.Spans)-1) - o.Start(0)
		if s == nil || 10*s.Excess < window || !l.explains(o, s) {
			continue
		}
		others := slowQuery(s)
		others.Others = true
		share := part(s.Excess, window)
		share = l.queried(o, func(calls string) string { return excessQuery(calls, s) })(share, 0)
		f := Finding{Thread: l.rec.Tracks[o.Track].Name, Size: timePart(s.Excess, window)}.saying("%s of %s of %s on %s took at least %s (median of the others: %s), %s of the time from the first to the last.",
			l.ofLoop(count(len(s.Calls)), "count", o, slowQuery(s)), l.ofLoop(plural(len(o.Spans), "call"), "count", o, &calls.Query{}), l.loopName(o), l.on(o.Track),
			l.ofLoop(duration(s.From), "min", o, slowQuery(s)), l.ofLoop(duration(s.Median), "median", o, others), share)
		switch last := s.Calls[len(s.Calls)-1]; {
		case last == 0:
			f.say(" It is the first call.")
		case last == len(s.Calls)-1:
			f.say(" They are the first calls.")
		default:
			f.say(" The longest starts at %s.", l.ofLoop(duration(o.Start(longest(o, s))-l.rec.Start), "rows[0].start", o, slowQuery(s)))
		}
		f.Function = cmp.Or(l.sayCallees(&f, o, s, true), l.rec.Functions.At(int(o.Function)).Name)
		l.addCalls(r, f, o, s)
		return nil
	}
	return nil
}

// explains reports whether rare calls are too long for a disturbance by other programs, or the
// first ones, or call what no other call of the loop does.
func (l *look) explains(o *repeat.Loop, s *repeat.Slow) bool {
	return s.From >= certainRare || s.Calls[len(s.Calls)-1] == len(s.Calls)-1 || onlySlow(o.Callees(s)) != nil
}

// longest returns the longest of the slow calls.
func longest(o *repeat.Loop, s *repeat.Slow) int {
	return slices.MaxFunc(s.Calls, func(a, b int) int { return cmp.Compare(o.Duration(a), o.Duration(b)) })
}

// rareCalls returns the calls that take at least ten times the median of the others, and at
// least 100 ms; nil if there are none or more than three, or if another takes nearly as long.
func rareCalls(o *repeat.Loop) *repeat.Slow {
	s := &repeat.Slow{Median: o.Median(0, len(o.Spans)), From: math.MaxInt64, Apart: true}
	least := max(10*s.Median, longRare)
	for i := range o.Spans {
		d := o.Duration(i)
		if d < least {
			s.Others = append(s.Others, i)
			continue
		}
		s.Calls = append(s.Calls, i)
		s.From = min(s.From, d)
	}
	if n := len(s.Calls); n == 0 || n > mostRare {
		return nil
	}
	all := make([]int64, len(s.Others))
	for k, i := range s.Others {
		all[k] = o.Duration(i)
	}
	slices.Sort(all)
	if s.Median = all[(len(all)-1)/2]; 5*all[len(all)-1] >= 4*s.From {
		return nil // others are nearly as long
	}
	for _, i := range s.Calls {
		s.Excess += o.Duration(i) - s.Median
	}
	return s
}
