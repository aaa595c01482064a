package findings

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ashlar/app/core/evidence"
	"ashlar/app/core/pathreport"
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
	l.loops, err = repeat.Of(l.ctx, l.rec, func(track int) bool { return isStream(devices, track) || l.rec.IsProcessor(track) })
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
			l.ofLoop(count(len(s.Calls)), "count", o, slow), l.ofLoop(plural(len(o.Spans), "call"), "count", o, &calls.Query{}), l.loopName(o), l.on(o.Track),
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

// loopName names the calls of a loop in a sentence, with their depth if the thread has other calls
// of the function: the evidence shows these as well.
func (l *look) loopName(o *repeat.Loop) string {
	if d := l.depth(o); d > 0 {
		return fmt.Sprintf("%s at depth %d", quoted(o.Name), d)
	}
	return quoted(o.Name)
}

// depth returns the depth of a loop's calls if the thread has other calls of the function, else 0.
func (l *look) depth(o *repeat.Loop) int {
	if o.Numbered || l.callsOn(o.Function, o.Track) == len(o.Spans) {
		return 0
	}
	return l.rec.Calls.Depth(l.rec.Tracks[o.Track].Lanes[o.Lane].Call(o.Spans[0]))
}

// addCalls adds a finding with the slow calls of a loop as its evidence: all of them, selected
// by name, duration and, if necessary, thread, or only the longest if the names contain numbers.
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
	command := []string{"calls", evidence.File(l.rec), which}
	if l.callsIn(o.Function) > int64(l.callsOn(o.Function, o.Track)) { // other threads call it too
		command = l.onThread(&state, o.Track, command)
	}
	l.add(r, f, state, command...)
}

// onThread selects a thread in the view and by the command that show a finding.
func (l *look) onThread(state *view.State, track int, command []string) []string {
	state.Sides[0].Threads = []view.Thread{view.ThreadOf(l.rec, track)}
	return append(command, l.threadFlag(track)...)
}

// slowQuery selects the slow calls by their duration.
func slowQuery(s *repeat.Slow) *calls.Query {
	return &calls.Query{Duration: recording.Range{From: s.From, HasFrom: true}}
}

// ofLoop sets a field of the answer of calls as the source of a number, for calls of a loop
// that a query selects.
func (l *look) ofLoop(n Number, field string, o *repeat.Loop, q *calls.Query) Number {
	if o.Numbered {
		if q.Functions = l.numbered(o); q.Functions == nil {
			return n
		}
		return n.by(field, "calls", evidence.File(l.rec), q.String(), "-n", "1")
	}
	q.Functions = []string{typed(l.rec, l.rec.Functions.At(int(o.Function)))}
	if args := l.callsOf(q, o.Function, o.Track, len(o.Spans)); args != nil {
		return n.by(field, args...)
	}
	return n
}

var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[0-9]+") })

// numbered returns an expression for functions whose names differ only in numbers, nil if it
// matches other calls than those of the loop.
func (l *look) numbered(o *repeat.Loop) []string {
	parts := number().Split(l.rec.Functions.At(int(o.Function)).Name, -1)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	source := "^" + strings.Join(parts, "[0-9]+") + "$"
	is, err := regexp.Compile(source)
	if err != nil {
		return nil
	}
	n := 0
	for f := range l.rec.Functions.Len() {
		if is.MatchString(l.rec.Functions.At(f).Name) {
			n += int(l.callsIn(recording.FuncID(f)))
		}
	}
	if n != len(o.Spans) {
		return nil
	}
	return []string{"/" + source + "/"}
}

// queried returns a function that sets a query about the calls of a loop as the source of a
// number, a column of its answer.
func (l *look) queried(o *repeat.Loop, query func(calls string) string) func(n Number, column int) Number {
	calls := l.loopCalls(o)
	return func(n Number, column int) Number {
		switch {
		case calls == "":
			return n
		case n.Unit == shareUnit:
			return l.rough(n, 0, column, query(calls))
		default:
			return l.sql(n, 0, column, query(calls))
		}
	}
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
			if n == 0 { // calls wants a call at least
				return l.queried(o, func(calls string) string {
					return fmt.Sprintf("SELECT count(*) AS calls FROM spans WHERE %s AND duration_ps < %d AND args ->> %s = %s", calls, s.From, text("$."+strconv.Quote(a.Key)), text(a.Value))
				})(count(n), 0)
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
	over = slices.DeleteFunc(over, func(x repeat.Overlap) bool { return l.rec.IsProcessor(x.Track) })
	if len(over) > 0 {
		with = l.rec.Functions.At(int(over[0].Function)).Name
		f.say(" ")
		as, err := l.candidate(o, s, &over[0])
		if err != nil {
			return "", err
		}
		l.sayOverlap(f, &over[0], "slow calls", as)
	}
	f.sayRhythm(o.Rhythm(s), l.rec.Start, func(n Number) Number {
		n = l.ofLoop(n, "rows[0].start", o, slowQuery(s))
		if n.args != nil {
			n.args = append(n.args, "--sort", "start")
		}
		return n
	}, l.queried(o, func(calls string) string { return rhythmQuery(calls, s) }))
	callee := l.sayCallees(f, o, s, len(f.Claim) > before)
	return cmp.Or(with, callee), nil
}

// RhythmText describes when slow calls occur, in sentences that each begin with a blank; "" if
// they follow no pattern. start is the recording's start.
func RhythmText(r repeat.Rhythm, start int64) string {
	var f Finding
	f.sayRhythm(r, start, func(n Number) Number { return n }, func(n Number, _ int) Number { return n })
	return f.Claim
}

// sayRhythm is [RhythmText] for a finding; first sets the source of the first call's start, and as
// that of a number that rhythmQuery asks for.
func (f *Finding) sayRhythm(r repeat.Rhythm, start int64, first func(Number) Number, as func(n Number, column int) Number) {
	switch {
	case r.Onset >= 0 && r.Every > 0:
		f.say(" The first starts at %s, then one every %s.", first(duration(r.Onset-start)), as(duration(r.Every), 1))
	case r.Onset >= 0:
		f.say(" The first starts at %s.", first(duration(r.Onset-start)))
	case r.Every > 0:
		f.say(" They start every %s.", as(duration(r.Every), 1))
	}
	if r.Apart > 0 {
		f.say(" One call in %s is slow.", as(count(r.Apart), 0))
	}
}

// sayCallees names the function that adds most of the slow calls' extra time, the one that only
// slow calls call, and the function called more often in slow calls. The extra time alone explains nothing unless a
// callee takes it more often than by chance and the slow calls stand apart from the others.
func (l *look) sayCallees(f *Finding, o *repeat.Loop, s *repeat.Slow, reason bool) (with string) {
	var more *repeat.Callee
	all := o.Callees(s)
	named := func(c *repeat.Callee) string { return l.rec.Functions.At(int(c.Function)).Name }
	of := func(c *repeat.Callee, n Number, column int) Number {
		return l.queried(o, func(calls string) string {
			callee := fmt.Sprintf("thread_id = %d AND function_id = %d", o.Track, c.Function)
			if c.Function == o.Function {
				callee = calls
			}
			return calleeQuery(calls, callee, s)
		})(n, column)
	}
	for i := range all {
		c := &all[i]
		if c.Function == o.Function || c.Whole < .5 || c.SlowCalls < 2 || c.SlowCalls < 2*c.Others {
			continue
		}
		if more == nil || c.Others == 0 {
			more, with = c, named(c)
		}
	}
	if len(all) > 0 && all[0].Share >= .5 && (reason || more != nil || s.Apart && all[0].Function != o.Function && o.Chosen(s, all[0].Function)) {
		c := &all[0]
		who := quoted(named(c))
		if c.Function == o.Function {
			who = quoted(o.Name) + " itself"
		} else {
			with = cmp.Or(with, named(c))
		}
		f.say(" %s accounts for %s of the difference.", who, of(c, percentage(min(1, c.Share)), selfShare))
	}
	if c := onlySlow(all); c != nil && c != more && c.Function != all[0].Function {
		f.say(" Only slow calls call %s: with its callees it accounts for %s of the difference.", quoted(named(c)), of(c, percentage(min(1, c.Whole)), totalShare))
		if more == nil {
			with = named(c)
		}
	}
	if more != nil {
		times := func(v float64, column int) Number { return of(more, plain(v, fmt.Sprintf("%.3g", v)), column) }
		f.say(" A slow call calls %s %s times, another %s times.", quoted(named(more)), times(more.SlowCalls, slowCalls), times(more.Others, otherCalls))
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
// argument what names. as sets the command of a number, which has this field there.
func (l *look) sayOverlap(f *Finding, o *repeat.Overlap, what string, as func(n Number, field string) Number) {
	f.say("%s of %s %s overlap %s on %s, which runs for %s of their time; so do %s of %s other periods of that length (overlap, not proof).",
		as(count(o.Hits), "overlaps"), as(count(o.Times), "waits"), what, quoted(l.rec.Functions.At(int(o.Function)).Name), l.on(o.Track), as(percentage(o.Covered), "covered"), as(count(o.Elsewhere), "elsewhere"), as(count(o.Others), "others"))
}

// candidate sets path as the command of the numbers of an overlap with slow calls, if it prints
// the same ones.
func (l *look) candidate(o *repeat.Loop, s *repeat.Slow, x *repeat.Overlap) (as func(n Number, field string) Number, err error) {
	as = func(n Number, _ string) Number { return n }
	q := slowQuery(s)
	args := l.ofLoop(Number{}, "", o, q).args
	if args == nil {
		return as, nil
	}
	var scope recording.Scope
	if len(args) > 5 { // only on the loop's thread
		scope.Tracks = []int{o.Track}
	}
	in, err := calls.Bind(l.ctx, l.rec, scope.Of(&recording.CallSet{Text: q.String()}))
	if err != nil {
		return nil, err
	}
	a, err := pathreport.Of(l.ctx, l.rec, in, 1)
	if err != nil {
		return nil, err
	}
	for i := range a.Candidates {
		c := &a.Candidates[i]
		if c.Function != l.rec.Functions.At(int(x.Function)).Name || c.Overlaps != x.Hits || c.Waits != x.Times || c.Elsewhere != x.Elsewhere || c.Others != x.Others {
			continue
		}
		return func(n Number, field string) Number {
			n = n.by(fmt.Sprintf("candidates[%d].%s", i, field), append([]string{"path", evidence.File(l.rec), "--calls", q.String()}, args[3:]...)...)
			if field == "covered" {
				n.claimed = c.Covered.String()
			}
			return n
		}, nil
	}
	return as, nil
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
		as := l.gaps(o, long[0])
		l.add(r, Finding{Thread: t.Name, Size: timePart(sum, window)}.saying("%s of %s gaps between calls of %s on %s last at least %s (median %s): together %s of %s.",
			as(count(len(long)), 1), as(count(n-1), 0), l.loopName(o), l.on(o.Track), as(duration(long[0]), 2), as(duration(median), 3), as(part(sum, window), 4), as(duration(window), 5)), state, "top", evidence.File(l.rec), "--by", "thread", "--range", state.Sides[0].Select.String())
		return nil
	}
	return l.idle(r, loops)
}

// gaps returns a function that sets the source of a number about the gaps of a loop, a column of
// the answer of gapsQuery.
func (l *look) gaps(o *repeat.Loop, from int64) func(n Number, column int) Number {
	return l.queried(o, func(calls string) string { return gapsQuery(calls, from) })
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
	// A thread that waits for events has many short gaps and a few long ones. A thread that is
	// paced by a clock, as by the display, waits until the next tick; unless its waits are recorded,
	// only those count that do not depend on the calls.
	if 4*sum < 3*window || 10*window < 9*l.rec.Duration() || 2*middle*int64(len(gaps)) < sum || l.rec.Counts.States == 0 && !o.Sleeps() {
		return nil
	}
	state, typical := view.State{Tab: "functions", Table: view.Table{Group: "thread"}}, slices.Index(gaps, middle)
	state.Sides[0].Select = recording.Offsets(o.End(typical)-l.rec.Start, o.Start(typical+1)-l.rec.Start)
	as := l.gaps(o, 0)
	l.add(r, Finding{Thread: t.Name, Size: timePart(sum, window)}.saying("%s %s is idle between calls of %s for %s of %s (median gap: %s).",
		l.kind(o.Track), l.on(o.Track), quoted(o.Name), as(part(sum, window), 4), as(duration(window), 5), as(duration(middle), 3)), state, "top", evidence.File(l.rec), "--by", "thread")
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
