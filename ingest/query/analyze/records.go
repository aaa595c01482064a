package analyze

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"

	"ashlar/ingest/model/column"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/scan"
)

// Record is one stack record, sample, state of a thread, or row of a window.
type Record struct {
	Call    recording.CallID
	Value   int64 // may be recording.Missing
	Track   int   // or recording.NoTrack
	Context recording.ContextID
	CPU     int // -1 when not known
	// At is the time in picoseconds; for stacks without a time it is the index in the
	// file, for rows of a window the window's start.
	At int64
	// joined marks a record made from two; see join.
	joined bool
}

// sink takes records one by one.
type sink interface {
	add(*Record)
	// window is called before the rows of a window.
	window(*recording.Window)
}

// checkEvery is the number of records between checks for cancellation.
const checkEvery = 1 << 14

// records passes the records that answer a query, other than spans, to a sink. It ends
// early with ctx's error.
func records(ctx context.Context, rec *recording.Recording, q Query, to sink) error {
	q.Scope.Beside = nil // Beside excludes only spans
	if q.Scope.Idle == recording.Out || q.Scope.Idle == recording.Only {
		to = newIdle(rec, &q, to)
	}
	if q.Where != nil {
		to = &filtered{to, q.filter(rec)}
	}
	if join := newJoin(rec, &q, to); join != nil {
		return join.records(ctx)
	}
	return plainRecords(ctx, rec, q, to)
}

// plainRecords passes on all records unchanged.
func plainRecords(ctx context.Context, rec *recording.Recording, q Query, to sink) error {
	basis := q.Basis(rec)
	if basis == Windows && rec.Events[q.Event].Metrics[q.Metric].Kind == recording.Peak {
		p := &peaks{to: to, at: map[peakOf]int{}}
		defer p.flush()
		to = p
	}
	switch basis {
	case Samples:
		return sampleRecords(ctx, rec, q, to)
	case States:
		return stateRecords(ctx, rec, q, to)
	case Windows:
		for _, ws := range rec.Windows {
			if ws.Event != q.Event {
				continue
			}
			for _, i := range windowsFor(rec, &q, ws.Windows) {
				win := &ws.Windows[i]
				to.window(win)
				if err := rows(ctx, &ws.Rows, win.First, win.Last, q, func(int) int64 { return win.Start }, to); err != nil {
					return err
				}
			}
		}
	case Stacks:
		if s := rec.Stacks[q.Event]; s != nil {
			return rows(ctx, s, 0, s.Len(), q, func(i int) int64 { return int64(i) }, to)
		}
	}
	return ctx.Err()
}

// rows passes on stack records first..last-1.
func rows(ctx context.Context, s *recording.Stacks, first, last int, q Query, at func(int) int64, to sink) error {
	chosen := q.Scope.TrackTest()
	var r Record
	for i := first; i < last; i++ {
		if (i-first)%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if track := s.Track(i); chosen(track) {
			r = Record{Call: s.Call(i), Value: s.Value(i, q.Metric), Track: track, Context: s.Context(i), CPU: -1, At: at(i)}
			to.add(&r)
		}
	}
	return ctx.Err()
}

func sampleRecords(ctx context.Context, rec *recording.Recording, q Query, to sink) error {
	m := &rec.Events[q.Event].Metrics[q.Metric]
	chosen := q.Scope.TrackTest()
	var r Record
	for ti, t := range rec.Tracks {
		s := t.SamplesOf(q.Event)
		if s == nil || !chosen(ti) {
			continue
		}
		for _, run := range q.Scope.SamplesIn(rec, ti, s) {
			for i := run.First; i < run.Last; i++ {
				if (i-run.First)%checkEvery == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				r = Record{Call: s.Call(i), Value: s.Value(i, m, q.Metric), Track: ti, CPU: s.CPU(i), At: s.Time(i)}
				to.add(&r)
			}
		}
	}
	return ctx.Err()
}

// whenIn splits a scope into the times during which one of the scope's calls ran on a
// track.
func whenIn(rec *recording.Recording, in recording.Scope, track int) (parts []recording.Scope) {
	if in.Calls == nil {
		return []recording.Scope{in}
	}
	if track >= len(in.Calls.Times) {
		return nil
	}
	from, to := in.Bounds(rec)
	for _, t := range in.Calls.Times[track] {
		if t.From, t.To = max(t.From, from), min(t.To, to); t.From < t.To {
			parts = append(parts, in.Between(t.From, t.To))
		}
	}
	return parts
}

// stateRecords passes on the states of threads that count for a metric, split by the
// spans they fall in. Time on CPU, runnable and in system calls counts for the call in
// which it was spent. Blocked time and the total count for a frame of the state below
// that call.
func stateRecords(ctx context.Context, rec *recording.Recording, q Query, to sink) error {
	s := &stateScan{rec: rec, q: q, split: stateCalls(rec), into: make([]recording.CallID, rec.Calls.Len())}
	below := q.Metric == recording.StateWall || q.Metric == recording.StateBlocked
	for i := 1; i < len(s.into); i++ {
		c := recording.CallID(i)
		if !rec.State(c).Weighs(q.Metric) {
			continue
		}
		s.into[c] = c
		if up := rec.Calls.Parent(c); !below && up != recording.NoCall {
			s.into[c] = up
		}
	}
	s.below = below
	all := to
	f, ok := to.(*idle)
	if ok {
		all = f.to
	}
	if w, ok := all.(*Weights); ok && len(rec.Tracks) > 0 {
		return s.weigh(ctx, w, f)
	}
	chosen := q.Scope.TrackTest()
	for ti := range rec.Tracks {
		if chosen(ti) {
			s.track(ctx, ti, to)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// stateScan goes through the states of threads.
type stateScan struct {
	rec   *recording.Recording
	q     Query
	below bool // time counts for a frame of the state, not for the call above
	// into is the call that a state's time counts for, NoCall if it does not count.
	into  []recording.CallID
	split map[stateCall]recording.CallID
}

// track passes on the records of a track.
func (s *stateScan) track(ctx context.Context, ti int, to sink) {
	t := s.rec.Tracks[ti]
	if t.States.Len() == 0 {
		return
	}
	n := 0
	r := Record{Track: ti, CPU: -1}
	visit := func(call, span recording.CallID, start, end int64) {
		if n++; n%checkEvery == 0 && ctx.Err() != nil {
			return
		}
		into := s.into[call]
		if into == recording.NoCall {
			return
		}
		if span != recording.NoCall {
			if c, ok := s.split[stateCall{span, s.rec.Calls.Frame(call)}]; ok { // otherwise the file is still being read
				if into = span; s.below {
					into = c
				}
			}
		}
		r.Call, r.Value, r.At = into, end-start, start
		to.add(&r)
	}
	for _, in := range whenIn(s.rec, s.q.Scope, ti) {
		t.EachState(&s.rec.Calls, in, visit)
	}
}

// weigh adds up all records on all cores. drop, if not nil, drops some of them.
func (s *stateScan) weigh(ctx context.Context, to *Weights, drop *idle) error {
	const many = 1 << 16 // states that one goroutine takes at a time
	chosen := s.q.Scope.TrackTest()
	var from []int // start of each piece of the tracks
	states := many
	for ti, t := range s.rec.Tracks {
		if states >= many {
			from, states = append(from, ti), 0
		}
		states += t.States.Len()
	}
	parts := make([]*Weights, runtime.GOMAXPROCS(0))
	err := scan.Spread(ctx, len(from), func(worker, piece int) {
		w := parts[worker]
		if w == nil {
			w = &Weights{Self: column.Fresh[int64](len(to.Self)), Count: column.Fresh[int64](len(to.Count))}
			if to.First != nil {
				w.First = never(len(to.First))
			}
			parts[worker] = w
		}
		end := len(s.rec.Tracks)
		if piece+1 < len(from) {
			end = from[piece+1]
		}
		for ti := from[piece]; ti < end && ctx.Err() == nil; ti++ {
			if !chosen(ti) {
				continue
			}
			if drop != nil {
				f := *drop
				f.to, f.left = w, &w.Left
				s.track(ctx, ti, &f)
				continue
			}
			s.track(ctx, ti, w)
		}
	})
	for _, w := range parts {
		if w != nil {
			to.join(w)
			to.Left.Add(&w.Left)
		}
	}
	return err
}

type stateCall struct {
	span  recording.CallID
	frame recording.FrameID
}

// stateCalls returns the calls that stand for thread states, by their parent call and
// frame. States without a parent are left out.
func stateCalls(rec *recording.Recording) map[stateCall]recording.CallID {
	m := map[stateCall]recording.CallID{}
	for i := 1; i < rec.Calls.Len(); i++ {
		c := recording.CallID(i)
		if up := rec.Calls.Parent(c); up != recording.NoCall && rec.State(c) != recording.NoState {
			m[stateCall{up, rec.Calls.Frame(c)}] = c
		}
	}
	return m
}

// StatesIn returns the StateRows of all states of threads, whatever the metric.
func StatesIn(ctx context.Context, rec *recording.Recording, in recording.Scope) ([]Row, error) {
	for e := range rec.Events {
		if rec.Events[e].Basis == recording.FromStates {
			return StateRows(ctx, rec, Query{Event: e, Metric: recording.StateWall, Scope: in})
		}
	}
	return nil, nil
}

// StateRows lists how long threads were in each state, with a row for each reason, as
// ByTrack does for threads.
func StateRows(ctx context.Context, rec *recording.Recording, q Query, transforms ...Transform) ([]Row, error) {
	if q.Event < 0 || q.Event >= len(rec.Events) || q.Basis(rec) != States {
		return nil, nil
	}
	sums := map[recording.FuncID]*Row{}
	in := left(rec, transforms)
	// In the metric of the total, each record's state is a frame below its call.
	whole := q
	whole.Metric = recording.StateWall
	err := Each(ctx, rec, whole, func(r *Record) {
		f := rec.Func(r.Call)
		fn := rec.Functions.At(int(f))
		if !fn.State.Weighs(q.Metric) || in != nil && !in(r.Call) {
			return
		}
		row := sums[f]
		if row == nil {
			row = &Row{Name: strings.Trim(fn.Name, "[]"), Func: f, Track: recording.NoTrack}
			sums[f] = row
		}
		row.add(r.Value)
	})
	rows := make([]Row, 0, len(sums))
	for _, f := range slices.Sorted(maps.Keys(sums)) {
		rows = append(rows, *sums[f])
	}
	return used(rows), err
}

// Each calls f with the records that answer a query: stack records, samples or rows of
// windows, but not spans. Records of a track come together and in order of time; f must
// not keep the record.
func Each(ctx context.Context, rec *recording.Recording, q Query, f func(*Record)) error {
	return records(ctx, rec, q, each(f))
}

type each func(*Record)

func (f each) add(r *Record) { f(r) }

func (f each) window(*recording.Window) {}
