package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ashlar/app/core/evidence"
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/repeat"
)

// mostLoops is the number of threads whose repeating calls are examined.
const mostLoops = 4

// repeating returns the repeating calls of the busiest threads.
func (l *look) repeating() (_ []repeat.Loop, err error) {
	if l.looped || !l.rec.HasTime {
		return l.loops, nil
	}
	devices, err := l.gpus()
	if err != nil {
		return nil, err
	}
	l.loops, err = repeat.Of(l.ctx, l.rec, func(track int) bool { return isStream(devices, track) || l.isProcessor(track) })
	l.looped = err == nil
	return l.loops, err
}

// on names a track in a sentence: by its title or, if another track has the same title, with
// its id.
func (l *look) on(track int) string {
	t := l.rec.Tracks[track]
	for i, other := range l.rec.Tracks {
		if i != track && other.Kind == t.Kind && other.Title() == t.Title() {
			return quoted(strings.TrimSpace(t.Label()))
		}
	}
	return quoted(strings.TrimSpace(t.Title()))
}

// kind returns the word for a track at the beginning of a sentence, such as Goroutine.
func (l *look) kind(track int) string {
	word := l.rec.ThreadWord(track)
	return strings.ToUpper(word[:1]) + word[1:]
}

// isProcessor reports whether a track shows a processor. Threads show the same work.
func (l *look) isProcessor(track int) bool { return l.rec.ThreadWord(track) == "processor" }

func (l *look) outlier(r rule) error {
	loops, err := l.repeating()
	if err != nil || len(l.devices) > 0 { // GPU steps have their own rule
		return err
	}
	for i := range loops[:min(len(loops), mostLoops)] {
		o := &loops[i]
		s := o.Slow()
		// Slow calls that take several times as long as others are reported even if they add less
		// time.
		least := o.Total / 20
		if s != nil && s.From >= 3*s.Median {
			least = o.Total / 50
		}
		if s == nil || s.Excess < least || o.Lasting(s) {
			continue
		}
		slow, others := slowQuery(s), slowQuery(s)
		others.Others = true
		t := l.rec.Tracks[o.Track]
		f := Finding{Thread: t.Name, Size: timePart(s.Excess, o.Total)}.saying("%s of %s of %s on %s took at least %s (median of the others: %s).",
			l.ofLoop(count(len(s.Calls)), "count", o, slow), l.ofLoop(plural(len(o.Spans), "call"), "count", o, &calls.Query{}), quoted(o.Name), l.on(o.Track),
			l.ofLoop(duration(s.From), "min", o, slow), l.ofLoop(duration(s.Median), "median", o, others))
		known := len(f.Claim)
		if f.Function, err = l.why(&f, o, s); err != nil {
			return err
		}
		if len(f.Claim) == known {
			continue
		}
		l.addCalls(r, f, o, s)
		l.explained = true
		return nil // one is enough: threads that wait for each other are slow together
	}
	return nil
}

// addCalls adds a finding with the slow calls of a loop as its evidence: all of them, selected
// by name and duration, or only the longest if the names contain numbers.
func (l *look) addCalls(r rule, f Finding, o *repeat.Loop, s *repeat.Slow) {
	if o.Numbered {
		longest := longest(o, s)
		state := view.State{Tab: "calls"}
		state.Sides[0].Select = recording.Offsets(o.Start(longest)-l.rec.Start, o.End(longest)-l.rec.Start)
		l.add(r, f, state, "top", evidence.File(l.rec), "--range", state.Sides[0].Select.String())
		return
	}
	fn := l.rec.Functions.At(int(o.Function))
	q := slowQuery(s)
	q.Functions = []string{typed(l.rec, fn)}
	which := q.String()
	state := of(fn, "calls")
	state.Sides[0].Calls = which
	l.add(r, f, state, "calls", evidence.File(l.rec), which)
}

// slowQuery selects the slow calls by their duration.
func slowQuery(s *repeat.Slow) *calls.Query {
	return &calls.Query{Duration: recording.Range{From: s.From, HasFrom: true}}
}

// ofLoop sets a field of the answer of calls as the source of a number, for calls of a loop
// that a query selects.
func (l *look) ofLoop(n Number, field string, o *repeat.Loop, q *calls.Query) Number {
	if o.Numbered {
		return n
	}
	q.Functions = []string{typed(l.rec, l.rec.Functions.At(int(o.Function)))}
	if args := l.callsOf(q, o.Function, o.Track, len(o.Spans)); args != nil {
		return n.by(field, args...)
	}
	return n
}

// why explains in sentences what distinguishes the slow calls, and says nothing if nothing
// does. with is the function to blame.
func (l *look) why(f *Finding, o *repeat.Loop, s *repeat.Slow) (with string, err error) {
	before := len(f.Claim)
	if a := o.Argument(s); a != nil {
		have := func(n int, others bool) Number {
			q := slowQuery(s)
			if q.Args = []calls.Arg{{Key: a.Key, Is: "=", Value: a.Value}}; others {
				q.Duration = recording.Range{To: s.From, HasTo: true}
			}
			if n == 0 {
				return count(n)
			}
			return l.ofLoop(count(n), "count", o, q)
		}
		others := slowQuery(s)
		others.Others = true
		f.say(" %s of %s slow calls have %s, and %s of the %s others.", have(a.Slow, false), l.ofLoop(count(len(s.Calls)), "count", o, slowQuery(s)), quoted(a.Key+"="+a.Value),
			have(a.Others, true), l.ofLoop(count(len(s.Others)), "count", o, others))
	}
	over, err := o.Overlaps(l.ctx, s)
	if err != nil {
		return "", err
	}
	over = slices.DeleteFunc(over, func(x repeat.Overlap) bool { return l.isProcessor(x.Track) })
	if len(over) > 0 {
		with = l.rec.Functions.At(int(over[0].Function)).Name
		f.say(" ")
		times, rest := count(over[0].Times), count(over[0].Others)
		if over[0].Times == len(s.Calls) {
			times = l.ofLoop(times, "count", o, slowQuery(s))
		}
		if over[0].Others == len(s.Others) {
			others := slowQuery(s)
			others.Others = true
			rest = l.ofLoop(rest, "count", o, others)
		}
		l.sayOverlap(f, &over[0], times, rest, "slow calls")
	}
	f.sayRhythm(o.Rhythm(s), l.rec.Start)
	callee := l.sayCallees(f, o, s, len(f.Claim) > before)
	return cmp.Or(with, callee), nil
}

// RhythmText describes when slow calls occur, in sentences that each begin with a blank; "" if
// they follow no pattern. start is the recording's start.
func RhythmText(r repeat.Rhythm, start int64) string {
	var f Finding
	f.sayRhythm(r, start)
	return f.Claim
}

func (f *Finding) sayRhythm(r repeat.Rhythm, start int64) {
	switch {
	case r.Onset >= 0 && r.Every > 0:
		f.say(" The first starts at %s, then one every %s.", duration(r.Onset-start), duration(r.Every))
	case r.Onset >= 0:
		f.say(" The first starts at %s.", duration(r.Onset-start))
	case r.Every > 0:
		f.say(" They start every %s.", duration(r.Every))
	}
	if r.Apart > 0 {
		f.say(" One call in %s is slow.", count(r.Apart))
	}
}

// sayCallees names the function that adds most of the slow calls' extra time, the one that only
// slow calls call, and the function called more often in slow calls. The extra time alone explains nothing unless a
// callee takes it and the slow calls stand apart from the others.
func (l *look) sayCallees(f *Finding, o *repeat.Loop, s *repeat.Slow, reason bool) (with string) {
	var more *repeat.Callee
	all := o.Callees(s)
	named := func(c *repeat.Callee) string { return l.rec.Functions.At(int(c.Function)).Name }
	for i := range all {
		c := &all[i]
		if c.Function == o.Function || c.Whole < .5 || c.SlowCalls < 2 || c.SlowCalls < 2*c.Others {
			continue
		}
		if more == nil || c.Others == 0 {
			more, with = c, named(c)
		}
	}
	if len(all) > 0 && all[0].Share >= .5 && (reason || more != nil || s.Apart && all[0].Function != o.Function) {
		c := &all[0]
		who := quoted(named(c))
		if c.Function == o.Function {
			who = quoted(o.Name) + " itself"
		} else {
			with = cmp.Or(with, named(c))
		}
		f.say(" %s accounts for %s of the difference.", who, percentage(min(1, c.Share)))
	}
	if c := onlySlow(all); c != nil && c != more && c.Function != all[0].Function {
		f.say(" Only slow calls call %s: with its callees it accounts for %s of the difference.", quoted(named(c)), percentage(min(1, c.Whole)))
		if more == nil {
			with = named(c)
		}
	}
	if more != nil {
		times := func(v float64) Number { return plain(v, fmt.Sprintf("%.3g", v)) }
		f.say(" A slow call calls %s %s times, another %s times.", quoted(named(more)), times(more.SlowCalls), times(more.Others))
	}
	return with
}

// onlySlow returns the callee of slow calls with at least half of the difference that no other
// call of the loop has, the one with the most; nil if there is none.
func onlySlow(all []repeat.Callee) (most *repeat.Callee) {
	for i := range all {
		if c := &all[i]; c.Others == 0 && c.Whole >= .5 && (most == nil || c.Whole > most.Whole) {
			most = c
		}
	}
	return most
}

// sayOverlap describes what runs on another track during slow calls or waits, which the
// argument what names. times and others are the overlap's numbers with their commands.
func (l *look) sayOverlap(f *Finding, o *repeat.Overlap, times, others Number, what string) {
	f.say("%s of %s %s overlap %s on %s, which runs for %s of their time; so do %s of %s other periods of that length (overlap, not proof).",
		count(o.Hits), times, what, quoted(l.rec.Functions.At(int(o.Function)).Name), l.on(o.Track), percentage(o.Covered), count(o.Elsewhere), others)
}

// pause examines the gaps between repeating calls.
func (l *look) pause(r rule) error {
	loops, err := l.repeating()
	if err != nil || len(l.devices) > 0 || len(loops) == 0 {
		return err
	}
	for i := range loops[:min(len(loops), mostLoops)] {
		o := &loops[i]
		if !o.Outer {
			continue // a caller explains the gaps
		}
		gaps := o.Gaps()
		sorted := slices.Sorted(slices.Values(gaps))
		median := sorted[(len(sorted)-1)/2]
		bound := max(8*median, o.Total/int64(len(o.Spans)))
		at, _ := slices.BinarySearch(sorted, bound)
		long := sorted[at:]
		var sum int64
		for _, g := range long {
			sum += g
		}
		n, window := len(o.Spans), o.End(len(o.Spans)-1)-o.Start(0)
		if 10*len(long) > len(gaps) || len(long) < 4 || 10*sum < window || long[0] < 4*sorted[max(0, at-1)] {
			continue
		}
		longest := slices.Index(gaps, sorted[len(sorted)-1])
		state := view.State{}
		state.Sides[0].Select = recording.Offsets(o.End(longest)-l.rec.Start, o.Start(longest+1)-l.rec.Start)
		t := l.rec.Tracks[o.Track]
		l.add(r, Finding{Thread: t.Name, Size: timePart(sum, window)}.saying("%s of %s gaps between calls of %s on %s last at least %s (median %s): together %s of %s.",
			count(len(long)), count(n-1), quoted(o.Name), l.on(o.Track), duration(long[0]), duration(median), part(sum, window), duration(window)), state, "top", evidence.File(l.rec), "--by", "thread", "--range", state.Sides[0].Select.String())
		return nil
	}
	return l.idle(r, loops)
}

// idle reports the busiest thread without peers if it mostly waits between its calls.
func (l *look) idle(r rule, loops []repeat.Loop) error {
	at := slices.IndexFunc(loops, func(o repeat.Loop) bool { return o.Outer && l.peers(o.Track) == 0 })
	if at < 0 {
		return nil
	}
	o := &loops[at]
	t := l.rec.Tracks[o.Track]
	window := o.End(len(o.Spans)-1) - o.Start(0)
	var sum int64
	gaps := o.Gaps()
	for _, g := range gaps {
		sum += g
	}
	middle := slices.Sorted(slices.Values(gaps))[(len(gaps)-1)/2]
	// A thread that waits for events has many short gaps and a few long ones.
	if 4*sum < 3*window || 10*window < 9*l.rec.Duration() || 2*middle*int64(len(gaps)) < sum {
		return nil
	}
	state, typical := view.State{Tab: "functions", Table: view.Table{Group: "thread"}}, slices.Index(gaps, middle)
	state.Sides[0].Select = recording.Offsets(o.End(typical)-l.rec.Start, o.Start(typical+1)-l.rec.Start)
	l.add(r, Finding{Thread: t.Name, Size: timePart(sum, window)}.saying("%s %s is idle between calls of %s for %s of %s (median gap: %s).",
		l.kind(o.Track), l.on(o.Track), quoted(o.Name), part(sum, window), duration(window), duration(middle)), state, "top", evidence.File(l.rec), "--by", "thread")
	return nil
}

// peers returns the number of other tracks of the process whose names differ from this one's
// only in digits.
func (l *look) peers(track int) (n int) {
	of := l.rec.Tracks[track]
	for i, t := range l.rec.Tracks {
		if i != track && t.Kind == of.Kind && t.PID == of.PID && repeat.Stem(t.Name) == repeat.Stem(of.Name) && t.Name != "" {
			n++
		}
	}
	return n
}
