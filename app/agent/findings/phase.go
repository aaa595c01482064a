package findings

import (
	"cmp"
	"slices"

	"ashlar/app/core/evidence"
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/repeat"
)

// phase looks for a stretch of time in which the calls that repeat on a thread call a
// function that they rarely call before and after. The function may load entries that a cache
// no longer holds.
func (l *look) phase(r rule) error {
	loops, err := l.repeating()
	if err != nil || len(l.devices) > 0 || !l.ofSpans() {
		return err
	}
	for i := range loops[:min(len(loops), mostLoops)] {
		o := &loops[i]
		all := o.Phases()
		all = slices.DeleteFunc(all, func(p repeat.Phase) bool { return 10*p.Time < o.Total })
		if len(all) == 0 {
			continue
		}
		// Of a caller and its callees, the innermost has the least time.
		p := slices.MaxFunc(all, func(a, b repeat.Phase) int {
			return cmp.Or(cmp.Compare(a.Self, b.Self), cmp.Compare(b.Function, a.Function))
		})
		f := l.rec.Functions.At(int(p.Function))
		from, to := o.Start(p.First)-l.rec.Start, o.End(p.Last)-l.rec.Start
		when := Finding{}
		switch {
		case p.Last == len(o.Spans)-1:
			when.say("From %s on,", duration(from))
		case p.First == 0:
			when.say("Until %s,", duration(to))
		default:
			when.say("From %s to %s,", duration(from), duration(to))
		}
		when.Function, when.Thread, when.Size = f.Name, l.rec.Tracks[o.Track].Name, timePart(p.Time, o.Total)
		when.say(" %s of %s of %s on %s call %s, but only %s of the %s others. Its calls in that time take %s, %s of the time of all calls of %s.",
			count(p.In), plural(p.Last-p.First+1, "call"), l.loopName(o), l.on(o.Track), quoted(f.Name), count(p.Out), count(len(o.Spans)-(p.Last-p.First+1)), duration(p.Time), part(p.Time, o.Total), quoted(o.Name))
		state := view.State{Tab: "functions"}
		state.Sides[0].Select = recording.Offsets(from, to)
		command := []string{"top", evidence.File(l.rec), "--range", state.Sides[0].Select.String(), "--callers-of", typed(l.rec, f)}
		if len(l.rec.Tracks) > 1 {
			command = l.onThread(&state, o.Track, command)
		}
		l.add(r, when, state, command...)
		return nil
	}
	return nil
}
