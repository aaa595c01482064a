package findings

import (
	"cmp"
	"maps"
	"slices"

	"ashlar/app/core/evidence"
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/repeat"
)

// uneven looks for work that is divided badly: one of several similar threads has several times
// as much of it as each other.
func (l *look) uneven(r rule) error {
	devices, err := l.gpus()
	if err != nil || len(devices) > 0 || l.weights == nil || !l.rec.HasTime || l.rec.Duration() <= 0 {
		return err
	}
	states := l.weights.Basis == analyze.States
	if !states && !l.ofSpans() {
		return nil
	}
	has, groups := map[int]int64{}, map[string][]int{}
	for i, t := range l.rec.Tracks {
		k := repeat.Stem(t.Name)
		if t.Kind != recording.ThreadTrack || k == "" || l.rec.IsProcessor(i) || l.rec.OfRuntime(t) {
			continue
		}
		if has[i] = t.InState[recording.Running] + t.InState[recording.Collecting]; !states {
			has[i] = l.busyOn(i)
		}
		if has[i] > 0 {
			groups[k] = append(groups[k], i)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(groups)) {
		tracks := groups[k]
		if len(tracks) < 3 || len(tracks) > mostPeers {
			continue
		}
		slices.SortStableFunc(tracks, func(a, b int) int { return cmp.Compare(has[a], has[b]) })
		sums, n := make([]int64, len(tracks)), len(tracks)-1
		for i, t := range tracks {
			sums[i] = has[t]
		}
		// The thread with the most work holds the others up only if it is busy most of the time.
		if !badly(sums) || !l.together(tracks) || 4*l.busyOn(tracks[n]) < l.rec.Duration() {
			continue
		}
		return l.unevenOn(r, tracks)
	}
	return nil
}

// unevenOn adds the finding about some threads; the last of them has the most work.
func (l *look) unevenOn(r rule, tracks []int) (err error) {
	on := l
	if l.weights.Basis == analyze.States { // the wall time of threads is the same
		if on, err = l.other(l.query.Event, recording.StateCPU); err != nil {
			return err
		}
	}
	rows, err := analyze.ByTrack(l.ctx, l.rec, on.query)
	if err != nil {
		return err
	}
	has := map[int]int64{}
	for i := range rows {
		has[rows[i].Track] = rows[i].Self
	}
	n := len(tracks) - 1
	var all int64
	for _, t := range tracks {
		recording.Add(&all, has[t])
	}
	number := func(track int) Number {
		n := on.value(has[track])
		if row := l.trackRow(track); row != "" {
			n = n.by(row+"self", on.withMetric("top", evidence.File(l.rec), "--by", "thread", "-n", "0")...)
		}
		return n
	}
	top := tracks[n]
	f := Finding{Thread: l.rec.Tracks[top].Name, Size: on.sizeOf(has[top], all)}.saying("%s %s has %s of %s, %s of that of the %s %ss with such names; the median of the others is %s.",
		l.kind(top), l.on(top), number(top), name(on.metric.Name), part(has[top], all), count(n+1), l.threadWord(), number(tracks[(n-1)/2]))
	if where := l.mostlyIn(top, nil); where.name != "" {
		f.Function = where.function
		f.say(" Most of its stacks are in %s.", quoted(where.name))
	}
	on.add(r, f, view.State{Tab: "functions", Table: view.Table{Group: "thread"}}, "top", evidence.File(l.rec), "--by", "thread")
	l.out = on.out
	return nil
}

// badly reports whether the last of some sums, in ascending order, is at least three times
// their median without it and twice the next one.
func badly(sums []int64) bool {
	n := len(sums) - 1
	return n >= 2 && sums[n] >= 3*sums[(n-1)/2] && sums[n] >= 2*sums[n-1] && sums[0] > 0
}

// busyOn returns the time in which a thread does not wait: in states other than blocked, or
// in spans.
func (l *look) busyOn(track int) (sum int64) {
	t := l.rec.Tracks[track]
	if t.States.Len() > 0 {
		return t.States.LastEnd() - t.States.Start(0) - t.InState[recording.Blocked]
	}
	for _, lane := range t.Outermost(&l.rec.Calls) {
		for i := range lane.Len() {
			sum += lane.Duration(i)
		}
	}
	return sum
}

// together reports whether threads begin within the first quarter of the time in which any of
// them is recorded, so that they could share their work.
func (l *look) together(tracks []int) bool {
	var first, last, end int64
	for k, i := range tracks {
		t := l.rec.Tracks[i]
		lane := &t.States
		if lane.Len() == 0 {
			lane = &t.Lanes[0]
		}
		at := lane.Start(0)
		if k == 0 {
			first, last, end = at, at, lane.LastEnd()
		}
		first, last, end = min(first, at), max(last, at), max(end, lane.LastEnd())
	}
	return 4*(last-first) <= end-first
}
