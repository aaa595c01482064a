package findings

import (
	"cmp"
	"fmt"
	"slices"

	"ashlar/app/core/evidence"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/repeat"
	"ashlar/ingest/query/spans"
)

// join looks for what a thread waits for: calls of one function on another thread whose ends
// are the ends of most waits. A thread that waits for several others, each of which is the
// last at times, has no such function.
func (l *look) join(r rule) error {
	for _, row := range l.heavy() {
		if l.classes[row.Func]&l.locks() != 0 || row.Count < fewestCalls || 10*row.Self < 9*row.Total || 5*row.Total < l.rec.Duration() {
			continue
		}
		waits, on := l.callsOnOneTrack(row.Func)
		if on < 0 {
			continue
		}
		ends, err := repeat.Endings(l.ctx, l.rec, func(track int) bool { return track != on && !l.rec.IsProcessor(track) }, waits)
		if err != nil {
			return err
		}
		for i := range ends {
			e := &ends[i]
			d, err := spans.DurationsOf(l.ctx, l.rec, recording.Scope{}, []recording.FuncID{e.Function})
			if err != nil {
				return err
			}
			// What a thread waits for takes about as long as the wait, and threads that share
			// the work evenly have no one to blame.
			if sum, _ := d.Sum.Float64(); 2*sum < float64(row.Total) || l.evenly(on, e.Track) || !l.before(e, waits) {
				continue
			}
			f, g := l.rec.Functions.At(int(row.Func)), l.rec.Functions.At(int(e.Function))
			share := func(n Number) Number { return l.allCalls(n, row.Func, row.Count) }
			query := endsQuery(fmt.Sprintf("thread_id = %d AND function_id = %d", on, row.Func), len(waits), e)
			l.add(r, Finding{Function: g.Name, Thread: l.rec.Tracks[e.Track].Name, Size: l.size(row.Total)}.saying("%s of %s of %s on %s end within %s of the end of a call of %s on %s (correlation, not proof). The median of %s is %s.",
				l.sql(count(e.Hits), 0, 0, query), share(plural(row.Count, "call")), quoted(f.Name), l.on(on), l.sql(duration(e.Within), 0, 2, query), quoted(g.Name), l.on(e.Track), quoted(g.Name),
				duration(d.Median).by("median", "stats", evidence.File(l.rec), "--function", typed(l.rec, g))), of(g, "calls"), "calls", evidence.File(l.rec), analyze.RefTo(g).Typed(l.rec))
			return nil
		}
	}
	return nil
}

// callsOnOneTrack returns the times of a function's calls, in order, and their track; the
// track is -1 if there are several.
func (l *look) callsOnOneTrack(id recording.FuncID) (times []repeat.Range, on int) {
	on = -1
	for i, t := range l.rec.Tracks {
		if t.Kind != recording.ThreadTrack {
			continue
		}
		for row := range t.Lanes {
			lane := &t.Lanes[row]
			for k := range lane.Len() {
				if l.rec.Func(lane.Call(k)) != id {
					continue
				}
				if on >= 0 && on != i {
					return nil, -1
				}
				on = i
				times = append(times, repeat.Range{From: lane.Start(k), To: lane.End(k)})
			}
		}
	}
	slices.SortFunc(times, func(a, b repeat.Range) int { return cmp.Compare(a.From, b.From) })
	return times, on
}

// before reports whether most of the calls end before the waits that end with them, not after.
func (l *look) before(e *repeat.Ending, waits []repeat.Range) bool {
	n := 0
	for _, w := range waits {
		for row := range l.rec.Tracks[e.Track].Lanes {
			lane := &l.rec.Tracks[e.Track].Lanes[row]
			for k := lane.Search(w.To - e.Within - 1); k < lane.Len() && lane.End(k) <= w.To; k++ {
				if l.rec.Func(lane.Call(k)) == e.Function {
					n++
				}
			}
		}
	}
	return 10*n >= 9*e.Hits
}

// evenly reports whether another track than that of the waits has at least two thirds of the
// work of a track.
func (l *look) evenly(waits, track int) bool {
	work := func(i int) (sum int64) {
		if lanes := l.rec.Tracks[i].Lanes; len(lanes) > 0 {
			for k := range lanes[0].Len() {
				sum += lanes[0].End(k) - lanes[0].Start(k)
			}
		}
		return sum
	}
	most := work(track)
	for i, t := range l.rec.Tracks {
		if i != waits && i != track && t.Kind == recording.ThreadTrack && !l.rec.IsProcessor(i) && 3*work(i) >= 2*most {
			return true
		}
	}
	return false
}
