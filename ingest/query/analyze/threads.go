package analyze

import (
	"context"
	"runtime"
	"slices"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/scan"
)

// ByTrack lists each track's share of what a query selects, heaviest first, in one pass
// over the records. Self and Total of a track are the same, and their sum is Weights.Sum.
// Records without a thread have a row with Track recording.NoTrack. Tracks without any
// selected record have no row.
//
// With transforms, only the stacks that they keep count; changes to frames make no
// difference to a thread.
func ByTrack(ctx context.Context, rec *recording.Recording, q Query, transforms ...Transform) ([]Row, error) {
	if q.Event < 0 || q.Event >= len(rec.Events) {
		return nil, nil
	}
	t, err := trackSums(ctx, rec, q, transforms)
	if err != nil {
		return nil, err
	}
	rows := make([]Row, 0, len(t))
	for i, r := range t {
		r.Track, r.Name = recording.NoTrack, "[no thread]"
		if i < len(rec.Tracks) {
			r.Track, r.Name = i, rec.TrackTitle(i)
		}
		rows = append(rows, r)
	}
	return used(rows), nil
}

// ByContext lists the records that a query selects by the values of a context key (see
// ContextKeys), as ByTrack does by thread.
func ByContext(ctx context.Context, rec *recording.Recording, q Query, key string, transforms ...Transform) ([]Row, error) {
	if q.Event < 0 || q.Event >= len(rec.Events) {
		return nil, nil
	}
	t := newContextSums(rec, key, transforms)
	if q.Basis(rec) == Spans {
		rows, err := trackSums(ctx, rec, q, transforms)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			r := t.row(&Record{Track: i, CPU: -1})
			recording.Add(&r.Self, rows[i].Self)
			r.Count += rows[i].Count
		}
	} else if err := records(ctx, rec, q, t); err != nil {
		return nil, err
	}
	return used(t.rows), nil
}

// ContextKeys lists the keys by which ByContext can group an event's records, in order of
// name.
func ContextKeys(rec *recording.Recording) []string {
	set := map[string]bool{}
	for i := range rec.Contexts.Len() {
		for _, a := range rec.Contexts.At(i) {
			set[a.Key] = true
		}
		if !set[probeKey] {
			set[probeKey] = probeOf(rec.Contexts.At(i)) != ""
		}
	}
	for _, t := range rec.Tracks {
		set["tid"] = set["tid"] || t.TID != 0
		set["pid"] = set["pid"] || t.PID != 0
		set["comm"] = set["comm"] || t.Name != ""
		set[recording.LabelRecording] = set[recording.LabelRecording] || rec.Processes[t.Process].Recording != ""
		for _, s := range t.Samples {
			set["cpu"] = set["cpu"] || s.Len() > 0 && s.CPU(0) >= 0
		}
	}
	var keys []string
	for k, is := range set {
		if is {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// used returns the rows with any record, in order.
func used(rows []Row) []Row {
	n := 0
	for _, r := range rows {
		if r.Count != 0 {
			r.Total = r.Self
			rows[n] = r
			n++
		}
	}
	SortRows(rows[:n])
	return rows[:n]
}

// left returns a test for calls: whether transforms keep their stacks; nil if they keep
// all.
func left(rec *recording.Recording, ts []Transform) func(recording.CallID) bool {
	takes := false
	for _, t := range ts {
		if k := t.Kind(); k != nil {
			takes = takes || k.takes
		}
	}
	if !takes {
		return nil
	}
	p := pathsOf(rec, nil)
	p.apply(ts)
	return func(c recording.CallID) bool { return !p.out[c] }
}

// sums has a row for each track; the last row is for records without a track.
type sums struct {
	rows []Row
	left func(recording.CallID) bool
}

func (s *sums) window(*recording.Window) {}

func (s *sums) add(r *Record) {
	if s.left != nil && !s.left(r.Call) {
		return
	}
	row := &s.rows[len(s.rows)-1]
	if r.Track >= 0 && r.Track < len(s.rows)-1 {
		row = &s.rows[r.Track]
	}
	row.add(r.Value)
}

func (r *Row) add(v int64) {
	r.Count++
	if v != recording.Missing {
		recording.Add(&r.Self, v)
	}
}

func trackSums(ctx context.Context, rec *recording.Recording, q Query, ts []Transform) ([]Row, error) {
	t := sums{make([]Row, len(rec.Tracks)+1), left(rec, ts)}
	switch {
	case q.Basis(rec) != Spans:
		return t.rows, records(ctx, rec, q, &t)
	case t.left != nil:
		if err := t.spansLeft(ctx, rec, q); err != nil || !q.OfProcessors(rec) {
			return t.rows, err
		}
		return t.rows, t.cpuByTrack(ctx, rec, &q)
	}
	from, to := q.Scope.Bounds(rec)
	for _, s := range q.lanes(rec) {
		r := &t.rows[s.Track]
		n := int64(s.Len())
		r.Count += n
		if q.Metric == recording.SpanCount {
			recording.Add(&r.Self, n)
		} else if q.Metric == recording.SpanTime && q.Scope.Calls == nil && rec.Calls.Depth(s.Lane.Call(s.First)) == 1 {
			// All spans of a lane have the same depth. Several lanes of a track are
			// outermost if spans overlap without nesting.
			recording.Add(&r.Self, covered(ctx, &s, from, to))
		}
	}
	if q.Metric == recording.SpanTime {
		q.outermost(rec, func(track int, _ recording.CallID, covered int64) { recording.Add(&t.rows[track].Self, covered) })
	}
	if q.OfProcessors(rec) {
		return t.rows, t.cpuByTrack(ctx, rec, &q)
	}
	return t.rows, ctx.Err()
}

// covered returns how much of from..to the spans of a stretch cover.
func covered(ctx context.Context, s *scan.Stretch, from, to int64) int64 {
	var sum int64
	s.Each(func(_ int, starts, ends []int64, _ []recording.CallID) {
		if ctx.Err() != nil {
			return
		}
		for k := range starts {
			sum += min(ends[k], to) - max(starts[k], from)
		}
	})
	return sum
}

// spansLeft adds up the spans of stacks that transforms keep. The self time of a call is
// its own time minus the time of its direct callees. So the time of each span is added to
// its call and subtracted from its parent, for those of the two that are kept.
func (s *sums) spansLeft(ctx context.Context, rec *recording.Recording, q Query) error {
	from, to := q.Scope.Bounds(rec)
	items := scan.Cut(q.lanes(rec)...)
	counts, weighs := make([]int64, rec.Calls.Len()), make([]int64, rec.Calls.Len())
	for c := 1; c < len(counts); c++ {
		call := recording.CallID(c)
		if s.left(call) {
			counts[c], weighs[c] = 1, 1
		}
		if up := rec.Calls.Parent(call); up != recording.NoCall {
			weighs[c] -= counts[up]
		}
	}
	all := make([][]Row, runtime.GOMAXPROCS(0))
	err := scan.Spread(ctx, len(items), func(worker, i int) {
		if all[worker] == nil {
			all[worker] = make([]Row, len(s.rows))
		}
		r := &all[worker][items[i].Track]
		items[i].Each(func(_ int, starts, ends []int64, calls []recording.CallID) {
			for k, c := range calls {
				r.Count += counts[c]
				recording.Add(&r.Self, weighs[c]*(min(ends[k], to)-max(starts[k], from)))
			}
		})
	})
	for _, rows := range all {
		for i := range rows {
			s.rows[i].Count += rows[i].Count
			recording.Add(&s.rows[i].Self, rows[i].Self)
		}
	}
	q.outermost(rec, func(track int, c recording.CallID, covered int64) {
		if up := rec.Calls.Parent(c); up != recording.NoCall {
			recording.Add(&s.rows[track].Self, counts[up]*covered) // undo the subtraction: the parent's own span was not added
		}
	})
	if q.Metric == recording.SpanCount {
		for i := range s.rows {
			s.rows[i].Self = s.rows[i].Count
		}
	}
	return err
}

// contextSums has a row for each value of a context key.
type contextSums struct {
	labels *labels
	rows   []Row
	left   func(recording.CallID) bool
}

func newContextSums(rec *recording.Recording, key string, ts []Transform) *contextSums {
	s := &contextSums{left: left(rec, ts)}
	at := map[string]int{} // row by value, from 1
	s.labels = newLabels(rec, key, func(v string) int {
		i, ok := at[v]
		if !ok {
			i = len(s.rows) + 1
			at[v] = i
			s.rows = append(s.rows, Row{Name: orNone(v, "[no "+key+"]"), Track: recording.NoTrack})
		}
		return i
	})
	return s
}

func (s *contextSums) window(*recording.Window) {}

func (s *contextSums) add(r *Record) {
	if s.left == nil || s.left(r.Call) {
		s.row(r).add(r.Value)
	}
}

func (s *contextSums) row(r *Record) *Row { return &s.rows[s.labels.of(r)-1] }
