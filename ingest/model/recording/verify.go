package recording

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"ashlar/ingest/model/column"
	"ashlar/ingest/model/lanes"
)

// Unpacked data is checked before use, because an index out of range would crash the
// program. If a store was written by this program, only its index, which has a checksum,
// and its call tree are checked. A store from elsewhere could be malicious, so all its
// columns are checked too (Verify).

// mostScale bounds exponents of ten: larger ones take for ever to write out.
const mostScale = 1 << 12

// verifyShape checks everything except the values in the columns of spans, samples,
// records and counters.
func (r *Recording) verifyShape() (err error) {
	defer column.Recover(&err)
	column.Must(r.Done, "the recording is incomplete")
	column.Must(r.Start <= r.End, "the recording ends before it starts")
	scaled := func(n int) { column.Must(n >= -mostScale && n <= mostScale, "a number has too many digits") }
	scaled(r.Clock.Origin.Scale)
	r.verifyCalls()
	column.Must(len(r.Stacks) == len(r.Events) && r.Contexts.Len() > 0, "events, records and contexts do not match")
	for i := range r.Events {
		e := &r.Events[i]
		column.Must(len(e.Metrics) > 0 && e.Primary >= 0 && e.Primary < len(e.Metrics), "event %d has no metric", i)
		column.Must((e.Basis != FromSpans || len(e.Metrics) > SpanCount) && (e.Basis != FromStates || len(e.Metrics) > StateSyscall), "event %d has no times", i)
		for m := range e.Metrics {
			scaled(e.Metrics[m].Decimals)
		}
		if r.Stacks[i] != nil {
			r.Stacks[i].verifyShape(r)
		}
	}
	column.Must(len(r.SpanTime) == len(r.SpanCount) && len(r.SpanTime) <= r.Calls.Len(), "a sum refers to a missing call")
	r.Durations.Verify(r.Functions.Len())
	for _, t := range r.Tracks {
		column.Must(t != nil && len(t.Open) == 0 && t.Process >= 0 && t.Process < len(r.Processes), "a track refers to a missing process")
		for i := range t.Lanes {
			t.Lanes[i].VerifyShape()
		}
		t.States.VerifyShape()
		column.Must(t.States.HasWakers() || t.States.Len() == 0, "thread states have no wakers")
		for _, s := range t.Samples {
			column.Must(s != nil && s.Event >= 0 && s.Event < len(r.Events) && s.calls.Len() == s.times.Len() && s.depth >= 0, "samples refer to a missing event")
		}
		for i := range t.Instants {
			column.Must(i == 0 || t.Instants[i-1].Time <= t.Instants[i].Time, "instants are out of order")
			column.Must(t.Instants[i].Args == 0 || r.Args != nil || r.ArgState != nil, "an instant refers to arguments that are not stored")
		}
	}
	for _, w := range r.Windows {
		column.Must(w != nil && w.Event >= 0 && w.Event < len(r.Events), "windows refer to a missing event")
		w.Rows.verifyShape(r)
		for i := range w.Windows {
			x := &w.Windows[i]
			column.Must(x.First >= 0 && x.First <= x.Last && x.Last <= w.Rows.Len(), "a window has no rows")
		}
	}
	for _, c := range r.Counters {
		column.Must(c != nil && c.Process >= 0 && c.Process < len(r.Processes) && c.values.Len() == c.times.Len(), "a counter refers to a missing process")
		for k := range c.levels {
			column.Must(c.levels[k].Len() <= c.Len()>>((k+1)*counterBits), "a counter has too many minima and maxima")
		}
	}
	for i := range r.Flows {
		for _, s := range r.Flows[i].Steps {
			column.Must(s.Track >= 0 && s.Track < len(r.Tracks), "a flow refers to a missing track")
		}
	}
	column.Must(r.Wakers.Len() > 0, "there are no wakers")
	for i := range r.Wakers.Len() {
		w := r.Wakers.At(i)
		column.Must(w.Track >= NoTrack && int(w.Track) < len(r.Tracks) && int(w.Call) < r.Calls.Len(), "a waker refers to a missing track or call")
	}
	for id := range r.shared {
		column.Must(int(id) < r.Functions.Len(), "a symbol refers to a missing function")
	}
	return nil
}

// verifyCalls checks the call tree with its frames.
func (r *Recording) verifyCalls() {
	functions, frames := r.Functions.Len(), r.Frames.Len()
	for i := 0; i < frames; {
		run := r.Frames.Chunk(i)
		for k := range run {
			column.Must(int(run[k].Func) < functions, "a frame refers to a missing function")
		}
		i += len(run)
	}
	c := &r.Calls
	n := c.Len()
	column.Must(n > 0 && c.frame.Len() == n && c.depth.Len() == n, "the call tree has no root")
	column.Must(c.Parent(NoCall) == NoCall && c.depth.At(0) == 0, "the root of the call tree is invalid")
	for i := 0; i < n; {
		parents, in, depths := c.parent.Chunk(i), c.frame.Chunk(i), c.depth.Chunk(i)
		for k, p := range parents {
			if i+k > 0 && (int(p) >= i+k || int(in[k]) >= frames || depths[k] != c.depth.At(int(p))+1) {
				column.Must(false, "call %d has an invalid parent", i+k)
			}
		}
		i += len(parents)
	}
}

func (s *Stacks) verifyShape(r *Recording) {
	n := s.Len()
	column.Must(s.tracks.Len() == n && s.contexts.Len() == n, "a column of records is too short")
	for _, h := range s.halves {
		column.Must(h.User >= 0 && h.User < n && h.Kernel >= 0 && h.Kernel < n && int(h.Joined) < r.Calls.Len(), "the user or kernel part of a sample refers to a missing record")
	}
}

// Verify also checks the columns, so that no index in them is out of range. It takes a
// second for some GB.
func (r *Recording) Verify(ctx context.Context) error {
	var work []func()
	for _, t := range r.Tracks {
		for i := range t.Lanes {
			work = append(work, func() { r.verifyLane(&t.Lanes[i]) })
		}
		work = append(work, func() { t.verifyStates(r) })
		for _, s := range t.Samples {
			work = append(work, func() { s.verify(r) })
		}
	}
	for _, s := range r.Stacks {
		if s != nil {
			work = append(work, func() { s.verify(r) })
		}
	}
	for _, w := range r.Windows {
		work = append(work, func() { w.Rows.verify(r) })
	}
	for _, c := range r.Counters {
		work = append(work, func() { column.Must(column.Sorted(&c.times), "a counter's points are out of order") })
	}
	var next atomic.Int64
	var found atomic.Pointer[error]
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for found.Load() == nil && ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(work) {
					return
				}
				if err := verified(work[i]); err != nil {
					found.Store(&err)
				}
			}
		})
	}
	all.Wait()
	if err := found.Load(); err != nil {
		return *err
	}
	return ctx.Err()
}

func verified(check func()) (err error) {
	defer column.Recover(&err)
	check()
	return nil
}

func (s *Samples) verify(r *Recording) {
	column.Must(column.Sorted(&s.times) && column.Below(&s.calls, r.Calls.Len()), "samples are out of order, or refer to missing calls")
	for i := range s.Len() {
		column.Must(r.Calls.Depth(s.Call(i)) <= s.depth, "a sample is deeper than its thread's maximum depth")
	}
}

func (s *Stacks) verify(r *Recording) {
	column.Must(column.Below(&s.calls, r.Calls.Len()) && column.Below(&s.contexts, r.Contexts.Len()), "a record refers to a missing call or context")
	for i := range s.Len() {
		t := s.Track(i)
		column.Must(t == NoTrack || t >= 0 && t < len(r.Tracks), "a record refers to a missing thread")
	}
}

func (t *Track) verifyStates(r *Recording) {
	r.verifyLane(&t.States)
	for i := range t.States.Len() {
		column.Must(int(t.States.Waker(i)) < r.Wakers.Len(), "a thread state refers to a missing waker")
	}
}

func (r *Recording) verifyLane(l *lanes.Lane) {
	l.Verify(r.Calls.Len(), r.Start, r.End, r.Args != nil)
}
