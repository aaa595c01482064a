package findings

import (
	"ashlar/app/core/evidence"
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
)

// processor looks for threads that share one processor, as threads do that are bound to it.
func (l *look) processor(r rule) error {
	if l.rec.Counts.States == 0 || l.rec.Duration() <= 0 {
		return nil
	}
	var ready, ran, all, most int64
	n, on := 0, 0
	for i, t := range l.rec.Tracks {
		if t.Kind != recording.ThreadTrack {
			continue
		}
		if !l.rec.IsProcessor(i) {
			recording.Add(&ready, t.InState[recording.Runnable])
			recording.Add(&ran, t.InState[recording.Running])
			continue
		}
		n++
		busy := l.busyOn(i)
		if recording.Add(&all, busy); busy > most {
			most, on = busy, i
		}
	}
	if n == 0 || ran == 0 || 4*ready < l.rec.Duration() || ready < ran || 10*most < 9*max(all, l.rec.Duration()) {
		return nil
	}
	l.add(r, Finding{Thread: l.rec.Tracks[on].Name, Size: timePart(ready, ready+ran)}.saying("%ss wait for a processor for %s, %s of the time in which they could run, and %s has %s of the work of all (%s).",
		l.kind(recording.NoTrack), duration(ready), part(ready, ready+ran), l.on(on), part(most, all), plural(n, "processor")), view.State{}, "top", evidence.File(l.rec), "--by", "thread")
	return nil
}
