// Package extract copies part of a recording into a new one: a time range, some threads,
// and stacks after transforms. A copy of the scope gives the same answers as the original
// does for that scope.
package extract

import (
	"context"
	"slices"
	"sort"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// Recording copies a scope of a recording after transforms of its stacks. Notes are
// sentences about differences between the copy and the scope of the original.
func Recording(ctx context.Context, rec *recording.Recording, in recording.Scope, ts []analyze.Transform) (part *recording.Recording, notes []string, err error) {
	return extracted(ctx, &extraction{rec: rec, in: in, transforms: ts})
}

// During copies the parts of a scope that lie in the given times of each track, with
// their enclosing spans, at their original times. The times must be in order and
// disjoint.
func During(ctx context.Context, rec *recording.Recording, in recording.Scope, times [][]recording.Time) (part *recording.Recording, notes []string, err error) {
	return extracted(ctx, &extraction{rec: rec, in: in, times: times, some: true})
}

func extracted(ctx context.Context, x *extraction) (part *recording.Recording, notes []string, err error) {
	rec, in, ts := x.rec, x.in, x.transforms
	x.ctx, x.b, x.tracks = ctx, recording.NewBuilder(), make([]*recording.TrackBuilder, len(rec.Tracks))
	x.stacks = newCalls(rec, x.b, ts)
	*x.b.Source() = rec.Source
	*x.b.Clock() = rec.Clock
	if rec.Args != nil {
		x.b.SetArgs(rec.Args)
	}
	x.from, x.to = in.Bounds(rec)
	if in.Ranged && rec.HasTime {
		x.b.Cover(x.from, x.to)
	}
	for _, p := range rec.Processes {
		*x.b.ProcessInfo(x.b.Process(p.PID)) = p
	}
	for i, t := range rec.Tracks {
		if in.HasTrack(i) {
			x.tracks[i] = x.b.Track(recording.TrackKey{Kind: t.Kind, PID: t.PID, TID: t.TID, Name: t.Name})
			x.tracks[i].SetSort(t.Sort)
		}
	}
	for e := range rec.Events {
		if err := x.event(e); err != nil {
			return nil, nil, err
		}
	}
	x.moments()
	return x.b.Finish(), x.notes, ctx.Err()
}

// extraction is a copy in progress.
type extraction struct {
	ctx        context.Context
	rec        *recording.Recording
	in         recording.Scope
	transforms []analyze.Transform
	from, to   int64 // the bounds of in
	some       bool  // copy only what overlaps times
	times      [][]recording.Time
	b          *recording.Builder
	stacks     *Calls
	tracks     []*recording.TrackBuilder // by track of rec, nil for those left out
	notes      []string
}

// has reports whether something on a track between two times is copied.
func (x *extraction) has(track int, from, to int64) bool {
	if !x.some {
		return true
	}
	if track >= len(x.times) {
		return false
	}
	ts := x.times[track]
	i := sort.Search(len(ts), func(k int) bool { return ts[k].To >= from })
	return i < len(ts) && ts[i].From <= to
}

// note adds a sentence, unless it is there already.
func (x *extraction) note(text string) {
	if !slices.Contains(x.notes, text) {
		x.notes = append(x.notes, text)
	}
}

func (x *extraction) query(event, metric int) analyze.Query {
	q := analyze.Query{Event: event, Metric: metric, Scope: x.in}
	return q.With(x.rec, x.transforms)
}

// event copies an event with its records.
func (x *extraction) event(e int) error {
	ev := x.rec.Events[e].Plain()
	ev.Metrics = append([]recording.Metric(nil), ev.Metrics...)
	for m := range ev.Metrics {
		ev.Metrics[m].Total = 0
	}
	if ev.Basis == recording.FromSpans && (x.transforms != nil || x.in.Calls != nil) {
		// Removing frames from stacks can leave gaps in the spans above, and selected
		// calls lack the spans above them.
		ev.Basis = recording.FromStacks
		x.note("spans were summed by stack because of transforms or selected calls; the copy has no timeline of spans")
		to := x.b.AddEvent(ev)
		return x.spanSums(e, to)
	}
	if ev.Basis == recording.FromStates && (x.transforms != nil || x.in.Calls != nil) {
		ev.Basis = recording.FromStacks
		x.note("thread states were summed by stack because of transforms; the copy has no thread states")
	}
	to := x.b.AddEvent(ev)
	switch ev.Basis {
	case recording.FromSpans:
		return x.spans()
	case recording.FromStates:
		return x.states()
	case recording.FromStacks:
		if err := x.rows(e, to); err != nil {
			return err
		}
	}
	return x.samples(e, to)
}

// rowKey groups values that are added up.
type rowKey struct {
	call  recording.CallID
	track int
	of    recording.ContextID
}

// rows adds up the values of an event by stack, thread and context. The values of each
// metric come from the records that would answer for the selection.
func (x *extraction) rows(e, to int) error {
	metrics := x.rec.Events[e].Metrics
	values := map[rowKey][]int64{}
	var order []rowKey
	for m := range metrics {
		err := analyze.Each(x.ctx, x.rec, x.query(e, m), func(r *analyze.Record) {
			call, ok := x.stacks.call(r.Call)
			if !ok {
				return
			}
			k := rowKey{call, recording.NoTrack, r.Context}
			if r.Track >= 0 && x.tracks[r.Track] != nil {
				k.track = x.tracks[r.Track].Index()
			}
			row := values[k]
			if row == nil {
				row = make([]int64, len(metrics))
				for i := range row {
					row[i] = recording.Missing
				}
				values[k] = row
				order = append(order, k)
			}
			switch {
			case r.Value == recording.Missing:
			case row[m] == recording.Missing:
				row[m] = r.Value
			default:
				recording.Add(&row[m], r.Value)
			}
		})
		if err != nil {
			return err
		}
		w, err := analyze.Weigh(x.ctx, x.rec, x.query(e, m))
		if err == nil && (x.in.Ranged && !w.Ranged || x.in.Calls != nil && !w.Called) && w.Sum != 0 {
			x.note("the stacks of " + metrics[m].Name + " have no timestamps; the copy has all of them, not only the selection")
		}
	}
	for _, k := range order {
		x.b.AddStack(to, k.call, k.track, x.b.Context(x.rec.Contexts.At(int(k.of))), values[k])
	}
	return x.ctx.Err()
}

// spanSums adds up spans by thread and stack.
func (x *extraction) spanSums(e, to int) error {
	for i, t := range x.tracks {
		if t == nil {
			continue
		}
		q := x.query(e, recording.SpanTime)
		if !q.Scope.HasTrack(i) {
			continue // excluded by a label
		}
		q.Scope = q.Scope.On([]int{i})
		time, err := analyze.Weigh(x.ctx, x.rec, q)
		if err != nil {
			return err
		}
		sums := map[recording.CallID][2]int64{}
		var order []recording.CallID
		for c := range time.Self {
			if time.Self[c] == 0 && time.Count[c] == 0 {
				continue
			}
			if call, ok := x.stacks.call(recording.CallID(c)); ok {
				s, known := sums[call]
				if !known {
					order = append(order, call)
				}
				sums[call] = [2]int64{s[0] + time.Self[c], s[1] + time.Count[c]}
			}
		}
		for _, call := range order {
			s := sums[call]
			x.b.AddStack(to, call, t.Index(), x.b.Context(nil), s[:])
		}
	}
	return nil
}

// samples copies the samples of an event.
func (x *extraction) samples(e, to int) error {
	metrics := x.rec.Events[e].Metrics
	values := make([]int64, len(metrics))
	q := x.query(e, 0)
	if !q.OfSamples() {
		if slices.ContainsFunc(x.rec.Tracks, func(t *recording.Track) bool { return t.SamplesOf(e) != nil }) {
			x.note("samples on the timeline have no labels except thread and CPU; the copy has none of them")
		}
		return nil
	}
	takes := q.Takes(x.rec)
	for i, t := range x.tracks {
		if t == nil {
			continue
		}
		s := x.rec.Tracks[i].SamplesOf(e)
		if s == nil {
			continue
		}
		for _, run := range x.in.SamplesIn(x.rec, i, s) {
			for k := run.First; k < run.Last; k++ {
				call, ok := x.stacks.call(s.Call(k))
				if !ok || !x.has(i, s.Time(k), s.Time(k)) || !takes(i, 0, s.CPU(k)) { // samples have the empty context
					continue
				}
				for m := range metrics {
					values[m] = s.Value(k, &metrics[m], m)
				}
				t.Sample(to, s.Time(k), call, s.CPU(k), values)
			}
		}
		if x.ctx.Err() != nil {
			return x.ctx.Err()
		}
	}
	return nil
}

// moments copies everything without stacks: instants, counters and flows.
func (x *extraction) moments() {
	for i, t := range x.tracks {
		if t == nil || x.transforms != nil || x.in.Calls != nil {
			continue
		}
		for _, m := range x.rec.Tracks[i].Instants {
			if x.in.HasTime(m.Time) && x.has(i, m.Time, m.Time) {
				t.Instant(m.Time, m.Name, m.Args)
			}
		}
	}
	for _, c := range x.rec.Counters {
		k := -1
		for i := range c.Len() {
			if !x.in.HasTime(c.Time(i)) {
				continue
			}
			if k < 0 {
				k = x.b.AddCounter(x.b.Process(x.rec.Processes[c.Process].PID), c.Name, c.Series, c.Unit)
				if i > 0 && c.Time(i) > x.from && x.in.Ranged {
					x.b.CounterPoint(k, x.from, c.Value(i-1))
				}
			}
			x.b.CounterPoint(k, c.Time(i), c.Value(i))
		}
	}
	for _, f := range x.rec.Flows {
		if flow, ok := x.flow(f); ok {
			x.b.AddFlow(flow)
		}
	}
}

// flow copies a flow if all its steps are in the copy.
func (x *extraction) flow(f recording.Flow) (recording.Flow, bool) {
	steps := make([]recording.FlowStep, len(f.Steps))
	for i, s := range f.Steps {
		if x.transforms != nil || x.in.Calls != nil || x.tracks[s.Track] == nil || s.Time < x.from || s.Time > x.to || !x.has(s.Track, s.Time, s.Time) {
			return f, false
		}
		steps[i] = recording.FlowStep{Track: x.tracks[s.Track].Index(), Time: s.Time}
	}
	return recording.Flow{Name: f.Name, Steps: steps}, true
}
