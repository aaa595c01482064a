package findings

import (
	"ashlar/app/core/evidence"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/spans"
)

// start looks for one long call before calls begin to repeat on a thread.
func (l *look) start(r rule) error {
	loops, err := l.repeating()
	if err != nil || len(l.devices) > 0 {
		return err
	}
	for i := range loops[:min(len(loops), mostLoops)] {
		o := &loops[i]
		var longest recording.Range
		var call recording.CallID
		for row := range l.rec.Tracks[o.Track].Lanes {
			lane := &l.rec.Tracks[o.Track].Lanes[row]
			for k := 0; k < lane.Len() && lane.Start(k) < o.Start(0); k++ {
				if d := lane.End(k) - lane.Start(k); lane.End(k) <= o.Start(0) && 4*d >= l.rec.Duration() && d > longest.To-longest.From {
					longest, call = recording.Offsets(lane.Start(k)-l.rec.Start, lane.End(k)-l.rec.Start), lane.Call(k)
				}
			}
		}
		took := longest.To - longest.From
		if took == 0 {
			continue
		}
		id := l.rec.Func(call)
		f := l.rec.Functions.At(int(id))
		all, err := spans.DurationsOf(l.ctx, l.rec, recording.Scope{}, []recording.FuncID{id})
		if err != nil {
			return err
		}
		time, share := duration(took), part(took, l.rec.Duration())
		if all.Max == took {
			stats := []string{"stats", evidence.File(l.rec), "--function", typed(l.rec, f)}
			time, share = time.by("max", stats...), l.overAll(share, "max", stats...)
		}
		state := of(f, "functions")
		state.Sides[0].Select = longest
		l.add(r, Finding{Function: f.Name, Thread: l.rec.Tracks[o.Track].Name, Size: timePart(took, l.rec.Duration())}.saying("One call of %s takes %s, %s of the recording, before the first of %s of %s on %s.",
			quoted(f.Name), time, share, l.ofLoop(plural(len(o.Spans), "call"), "count", o, &calls.Query{}), l.loopName(o), l.on(o.Track)), state, "top", evidence.File(l.rec), "--range", longest.String())
		return nil
	}
	return nil
}
