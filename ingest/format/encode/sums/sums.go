// Package sums adds up the values of an event by thread, context and stack, for formats
// that hold such sums.
package sums

import (
	"cmp"
	"fmt"
	"slices"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// Key identifies a row of an event.
type Key struct {
	Track int32
	Ctx   recording.ContextID
	Call  recording.CallID
}

// Rows holds an event's values by track, context and stack, summed over records of any
// kind. The values of row i are values[i*metrics:][:metrics]; a value that is absent is
// recording.Missing.
type Rows struct {
	Keys []Key
	encode.Adder
	metrics int
	values  []int64
	index   map[Key]int32
}

// At returns the values of row i.
func (r *Rows) At(i int) []int64 { return r.values[i*r.metrics:][:r.metrics] }

// Row returns the values of a row, and adds it if it is new.
func (r *Rows) Row(k Key) []int64 {
	i, ok := r.index[k]
	if !ok {
		i = int32(len(r.Keys))
		r.index[k] = i
		r.Keys = append(r.Keys, k)
		for range r.metrics {
			r.values = append(r.values, recording.Missing)
		}
	}
	return r.At(int(i))
}

// Of sums the values of an event by row. Spans count with their self time, so that
// all rows together give the time covered.
func Of(j *encode.Job, event int) (*Rows, error) {
	rec := j.Rec
	r := &Rows{metrics: len(rec.Events[event].Metrics), index: map[Key]int32{}}
	var err error
	switch rec.Events[event].Basis {
	case recording.FromSpans:
		err = r.spans(j)
	case recording.FromSamples:
		err = r.samples(j, event)
	case recording.FromStates:
		err = r.states(j, event)
	default:
		err = r.stacks(j, event)
	}
	if err == nil {
		err = r.fit(rec)
	}
	if r.Overflow > 0 {
		j.Lose(r.Overflow, "sums", "values above 64 bits were limited")
	}
	if err == nil {
		LoseApart(j, event)
	}
	return r, err
}

// mostFrames is the maximum number of frames to write if each stack is written out in full.
// Spans nested millions deep would turn a small recording into a file larger than any disk.
const mostFrames = 1 << 31

func (r *Rows) fit(rec *recording.Recording) error {
	if frames := r.Frames(rec); frames > mostFrames {
		return fmt.Errorf("its %s have %d frames in total, but at most %d are written; write a part (--range) or use a format with spans", safetext.Plural(len(r.Keys), "stack"), frames, int64(mostFrames))
	}
	return nil
}

// Frames returns the number of frames of all rows together.
func (r *Rows) Frames(rec *recording.Recording) (n int64) {
	for _, k := range r.Keys {
		if k.Call != recording.NoCall {
			n += int64(rec.Calls.Depth(k.Call))
		}
	}
	return n
}

// Expect notes that the rows will be written with size bytes, and returns an error if the
// output would become too large.
func (r *Rows) Expect(j *encode.Job, size int64) error {
	return j.Expect(size, int64(len(r.Keys)), r.Frames(j.Rec))
}

func (r *Rows) stacks(j *encode.Job, event int) error {
	s := j.Rec.Stacks[event]
	if s == nil {
		return nil
	}
	if len(s.Halves()) > 0 {
		return r.joined(j, event)
	}
	for i := range s.Len() {
		vs := r.Row(Key{int32(s.Track(i)), s.Context(i), s.Call(i)})
		for m := range vs {
			r.Add(&vs[m], s.Value(i, m))
		}
		if err := j.Tick(1); err != nil {
			return err
		}
	}
	return nil
}

// joined sums stack records. Records that are halves of one stack count once.
func (r *Rows) joined(j *encode.Job, event int) error {
	var err error
	for m := range j.Rec.Events[event].Metrics {
		broken := analyze.Each(j.Ctx, j.Rec, analyze.Query{Event: event, Metric: m}, func(s *analyze.Record) {
			if vs := r.Row(Key{int32(s.Track), s.Context, s.Call}); s.Value != recording.Missing {
				r.Add(&vs[m], s.Value)
			}
			if err == nil {
				err = j.Tick(1)
			}
		})
		if err = cmp.Or(err, broken); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rows) samples(j *encode.Job, event int) error {
	ms := j.Rec.Events[event].Metrics
	for ti, t := range j.Rec.Tracks {
		s := t.SamplesOf(event)
		if s == nil {
			continue
		}
		for i := range s.Len() {
			vs := r.Row(Key{int32(ti), 0, s.Call(i)})
			for m := range vs {
				r.Add(&vs[m], s.Value(i, &ms[m], m))
			}
			if err := j.Tick(1); err != nil {
				return err
			}
		}
	}
	return nil
}

// states sums the time that threads spent in each state, by track and call, like the flame
// graph of all states. The event's other metrics are parts of this time.
func (r *Rows) states(j *encode.Job, event int) error {
	var err error
	broken := analyze.Each(j.Ctx, j.Rec, analyze.Query{Event: event, Metric: recording.StateWall}, func(s *analyze.Record) {
		vs := r.Row(Key{int32(s.Track), 0, s.Call})
		for m := range vs {
			if j.Rec.State(s.Call).Weighs(m) {
				r.Add(&vs[m], s.Value)
			} else if vs[m] == recording.Missing {
				vs[m] = 0
			}
		}
		if err == nil {
			err = j.Tick(1)
		}
	})
	return cmp.Or(err, broken)
}

// spans sums self time and count by track and call. It uses slices indexed by call,
// because a track usually contains many of the calls.
func (r *Rows) spans(j *encode.Job) error {
	calls := &j.Rec.Calls
	self, count := make([]int64, calls.Len()), make([]int64, calls.Len())
	seen := make([]bool, calls.Len())
	var touched []recording.CallID
	touch := func(c recording.CallID) {
		if !seen[c] {
			seen[c] = true
			touched = append(touched, c)
		}
	}
	var room lanes.Room
	for ti, t := range j.Rec.Tracks {
		for k := range t.Lanes {
			l := &t.Lanes[k]
			for i := 0; i < l.Len(); {
				starts, ends, ids := l.Columns(i, l.Len(), &room)
				for n, c := range ids {
					d := ends[n] - starts[n]
					touch(c)
					recording.Add(&self[c], d)
					count[c]++
					if p := calls.Parent(c); p != recording.NoCall {
						touch(p)
						recording.Add(&self[p], -d)
					}
				}
				i += len(ids)
				if err := j.Tick(int64(len(ids))); err != nil {
					return err
				}
			}
		}
		slices.Sort(touched)
		for _, c := range touched {
			vs := r.Row(Key{int32(ti), 0, c})
			vs[recording.SpanTime], vs[recording.SpanCount] = self[c], count[c]
			self[c], count[c], seen[c] = 0, 0, false
		}
		touched = touched[:0]
	}
	return nil
}

// OneEvent returns the event to write to a target that holds only one, and notes the
// others as lost.
func OneEvent(j *encode.Job) (int, error) {
	event, _, err := analyze.Choose(j.Rec, j.Opt.Event, "")
	if err != nil {
		return 0, &encode.ChoiceError{Err: err}
	}
	if event < 0 {
		return 0, encode.ErrNothing
	}
	for i := range j.Rec.Events {
		if i != event && hasRows(j, i) {
			j.Lose(1, "events", "%s: the file can hold only one event; choose it with --event", j.Rec.Events[i].NameOrKind())
		}
	}
	return event, nil
}

// hasRows reports whether an event has records.
func hasRows(j *encode.Job, event int) bool {
	if s := j.Rec.Stacks[event]; s != nil && s.Len() > 0 {
		return true
	}
	switch j.Rec.Events[event].Basis {
	case recording.FromSpans:
		return j.Rec.Counts.Spans > 0
	case recording.FromStates:
		return j.Rec.Counts.States > 0
	}
	return j.HasSamples(event)
}
