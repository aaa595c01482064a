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
	"ashlar/render/units"
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
		// Few calls that take several times as long are noticed even if they add little.
		least := o.Total / 20
		if s != nil && s.From >= 3*s.Median {
			least = o.Total / 50
		}
		if s == nil || s.Excess < least || o.Lasting(s) {
			continue
		}
		why, with, err := l.why(o, s)
		if err != nil {
			return err
		}
		if why == "" {
			continue
		}
		t := l.rec.Tracks[o.Track]
		f := Finding{Claim: fmt.Sprintf("%s of %s of %s on %s took at least %s, the median of the others is %s.%s",
			units.Count(int64(len(s.Calls))), units.Plural(int64(len(o.Spans)), "call"), quoted(o.Name), l.on(o.Track), units.Duration(s.From), units.Duration(s.Median), why),
			Function: with, Thread: t.Name, Size: timePart(s.Excess, o.Total)}
		l.addCalls(r, f, o, s)
		l.told = true
		return nil // one is enough: threads that wait for each other are slow together
	}
	return nil
}

// addCalls adds a finding with the slow calls of a loop as its evidence: all of them, selected
// by name and duration, or only the longest if the names contain numbers.
func (l *look) addCalls(r rule, f Finding, o *repeat.Loop, s *repeat.Slow) {
	if o.Numbered {
		longest := slices.MaxFunc(s.Calls, func(a, b int) int { return cmp.Compare(o.Duration(a), o.Duration(b)) })
		state := view.State{Tab: "calls"}
		state.Sides[0].Select = recording.Offsets(o.Start(longest)-l.rec.Start, o.End(longest)-l.rec.Start)
		l.add(r, f, state, "top", evidence.File(l.rec), "--range", state.Sides[0].Select.String())
		return
	}
	fn := l.rec.Functions.At(int(o.Function))
	which := (&calls.Query{Functions: []string{typed(l.rec, fn)}, Duration: recording.Range{From: s.From, HasFrom: true}}).String()
	state := of(fn, "calls")
	state.Sides[0].Calls = which
	l.add(r, f, state, "calls", evidence.File(l.rec), which)
}

// why explains in sentences what distinguishes the slow calls, "" if nothing does. with is the
// function to blame.
func (l *look) why(o *repeat.Loop, s *repeat.Slow) (text, with string, err error) {
	var b strings.Builder
	if a := o.Argument(s); a != nil {
		fmt.Fprintf(&b, " %d of %d slow calls have %s, and %d of the %d others.", a.Slow, len(s.Calls), quoted(a.Key+"="+a.Value), a.Others, len(s.Others))
	}
	over, err := o.Overlaps(l.ctx, s)
	if err != nil {
		return "", "", err
	}
	over = slices.DeleteFunc(over, func(x repeat.Overlap) bool { return l.isProcessor(x.Track) })
	if len(over) > 0 {
		with = l.rec.Functions.At(int(over[0].Function)).Name
		b.WriteString(" " + l.overlapText(&over[0], "slow calls"))
	}
	b.WriteString(RhythmText(o.Rhythm(s), l.rec.Start))
	text, callee := l.calleeText(o, s, b.Len() > 0, s.Apart)
	return b.String() + text, cmp.Or(with, callee), nil
}

// RhythmText describes when slow calls occur, in sentences that each begin with a blank; "" if
// they follow no pattern. start is the recording's start.
func RhythmText(r repeat.Rhythm, start int64) (text string) {
	switch {
	case r.Onset >= 0 && r.Every > 0:
		text = fmt.Sprintf(" The first starts at %s, then one every %s.", units.Duration(r.Onset-start), units.Duration(r.Every))
	case r.Onset >= 0:
		text = fmt.Sprintf(" The first starts at %s.", units.Duration(r.Onset-start))
	case r.Every > 0:
		text = fmt.Sprintf(" They start every %s.", units.Duration(r.Every))
	}
	if r.Apart > 0 {
		text += fmt.Sprintf(" One call in %d is slow.", r.Apart)
	}
	return text
}

// calleeText names the function that adds most of the slow calls' extra time, and the function
// called more often in slow calls. The extra time alone is no explanation unless a callee
// takes it and the slow calls stand apart from the others.
func (l *look) calleeText(o *repeat.Loop, s *repeat.Slow, reason, apart bool) (text, with string) {
	all := o.Callees(s)
	name := func(c *repeat.Callee) string { return l.rec.Functions.At(int(c.Function)).Name }
	for i := range all {
		c := &all[i]
		if c.Function == o.Function || c.Whole < .5 || c.SlowCalls < 2 || c.SlowCalls < 2*c.Others {
			continue
		}
		if with == "" || c.Others == 0 {
			text, with = fmt.Sprintf(" A slow call calls %s %.3g times, another %.3g times.", quoted(name(c)), c.SlowCalls, c.Others), name(c)
		}
	}
	if len(all) > 0 && all[0].Share >= .5 && (reason || text != "" || apart && all[0].Function != o.Function) {
		c := &all[0]
		who := quoted(name(c))
		if c.Function == o.Function {
			who = quoted(o.Name) + " itself"
		} else {
			with = cmp.Or(with, name(c))
		}
		text = fmt.Sprintf(" %s accounts for %s of the difference.", who, percent(min(1, c.Share))) + text
	}
	return text, with
}

// overlapText describes what runs on another track during slow calls or waits, as the words in
// what call them.
func (l *look) overlapText(o *repeat.Overlap, what string) string {
	return fmt.Sprintf("%d of %d %s overlap %s on %s, which runs for %s of their time; %d of %d other periods of that length do (overlap, not proof).",
		o.Hits, o.Times, what, quoted(l.rec.Functions.At(int(o.Function)).Name), l.on(o.Track), percent(o.Covered), o.Elsewhere, o.Others)
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
		l.add(r, Finding{Claim: fmt.Sprintf("%d of %d gaps between calls of %s on %s last at least %s (median %s): together %s of %s.", len(long), n-1, quoted(o.Name), l.on(o.Track), units.Duration(long[0]), units.Duration(median), units.Percent(sum, window), units.Duration(window)),
			Thread: t.Name, Size: timePart(sum, window)}, state, "top", evidence.File(l.rec), "--by", "thread", "--range", state.Sides[0].Select.String())
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
	l.add(r, Finding{Claim: fmt.Sprintf("Thread %s is idle between calls of %s for %s of %s, a median of %s each time.", l.on(o.Track), quoted(o.Name), units.Percent(sum, window), units.Duration(window), units.Duration(middle)),
		Thread: t.Name, Size: timePart(sum, window)}, state, "top", evidence.File(l.rec), "--by", "thread")
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
