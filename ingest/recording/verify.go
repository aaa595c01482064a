package recording

import (
	"context"
	"math"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
)

// What was unpacked is checked before it is used: a number that leads out of its table
// would end the program. Of a store that this program wrote itself the index is checked,
// which has a checksum, and the call tree; of one that came from elsewhere, and may be
// made to do harm, all columns too (Verify).

// mostScale bounds exponents of ten: larger ones take for ever to write out.
const mostScale = 1 << 12

func must(ok bool, format string, args ...any) {
	if !ok {
		fail(format, args...)
	}
}

// verifyShape checks all but what is in the columns of spans, samples, records and
// counters.
func (r *Recording) verifyShape() (err error) {
	defer recoverPack(&err)
	must(r.Done, "the recording is not complete")
	must(r.Start <= r.End, "it ends before it begins")
	scaled := func(n int) { must(n >= -mostScale && n <= mostScale, "a number has too many digits") }
	scaled(r.Clock.Origin.Scale)
	r.verifyCalls()
	must(len(r.Stacks) == len(r.Events) && r.Contexts.Len() > 0, "events, records and contexts do not go together")
	for i := range r.Events {
		e := &r.Events[i]
		must(len(e.Metrics) > 0 && e.Primary >= 0 && e.Primary < len(e.Metrics), "event %d has no metric", i)
		must((e.Basis != FromSpans || len(e.Metrics) > SpanCount) && (e.Basis != FromStates || len(e.Metrics) > StateSyscall), "event %d has no times", i)
		for m := range e.Metrics {
			scaled(e.Metrics[m].Decimals)
		}
		if r.Stacks[i] != nil {
			r.Stacks[i].verifyShape(r)
		}
	}
	must(len(r.SpanTime) == len(r.SpanCount) && len(r.SpanTime) <= r.Calls.Len(), "sums are of no calls")
	for _, t := range r.Tracks {
		must(t != nil && len(t.Open) == 0 && t.Process >= 0 && t.Process < len(r.Processes), "a track is of no process")
		for i := range t.Lanes {
			t.Lanes[i].verifyShape()
		}
		t.States.verifyShape()
		must(t.wakers.groups.Len() <= t.States.n>>groupBits && t.wakers.refs.Len() <= t.States.n, "a track has more wakers than states")
		for _, s := range t.Samples {
			must(s != nil && s.Event >= 0 && s.Event < len(r.Events) && s.calls.Len() == s.times.Len() && s.depth >= 0, "samples are of no event")
		}
		for i := range t.Instants {
			must(i == 0 || t.Instants[i-1].Time <= t.Instants[i].Time, "instants are in no order")
			must(t.Instants[i].Args == 0 || r.Args != nil || r.ArgState != nil, "there are arguments without texts")
		}
	}
	for _, w := range r.Windows {
		must(w != nil && w.Event >= 0 && w.Event < len(r.Events), "windows are of no event")
		w.Rows.verifyShape(r)
		for i := range w.Windows {
			x := &w.Windows[i]
			must(x.First >= 0 && x.First <= x.Last && x.Last <= w.Rows.Len(), "a window has no rows")
		}
	}
	for _, c := range r.Counters {
		must(c != nil && c.Process >= 0 && c.Process < len(r.Processes) && c.values.Len() == c.times.Len(), "a counter is of no process")
		for k := range c.levels {
			must(c.levels[k].Len() <= c.Len()>>((k+1)*counterBits), "a counter has too many sums")
		}
	}
	for i := range r.Flows {
		for _, s := range r.Flows[i].Steps {
			must(s.Track >= 0 && s.Track < len(r.Tracks), "a flow goes to no track")
		}
	}
	for id := range r.shared {
		must(int(id) < r.Functions.Len(), "a symbol is of no function")
	}
	return nil
}

// verifyCalls checks the call tree with its frames.
func (r *Recording) verifyCalls() {
	functions, frames := r.Functions.Len(), r.Frames.Len()
	for i := 0; i < frames; {
		run := r.Frames.Chunk(i)
		for k := range run {
			must(int(run[k].Func) < functions, "a frame is of no function")
		}
		i += len(run)
	}
	c := &r.Calls
	n := c.Len()
	must(n > 0 && c.frame.Len() == n && c.depth.Len() == n, "there is no root")
	must(c.Parent(NoCall) == NoCall && c.depth.At(0) == 0, "the root is no root")
	for i := 0; i < n; {
		parents, in, depths := c.parent.Chunk(i), c.frame.Chunk(i), c.depth.Chunk(i)
		for k, p := range parents {
			if i+k > 0 {
				must(int(p) < i+k && int(in[k]) < frames && depths[k] == c.depth.At(int(p))+1, "call %d has no place in the tree", i+k)
			}
		}
		i += len(parents)
	}
}

func (s *Stacks) verifyShape(r *Recording) {
	n := s.Len()
	must(s.tracks.Len() == n && s.contexts.Len() == n, "records are cut")
	for _, h := range s.halves {
		must(h.User >= 0 && h.User < n && h.Kernel >= 0 && h.Kernel < n && int(h.Joined) < r.Calls.Len(), "a half is of no record")
	}
}

func (l *Lane) verifyShape() {
	for k := range l.levels {
		must(l.levels[k].Len() == l.n>>(leafBits+k*fanBits), "a lane's detail levels are those of another")
	}
	last := -1
	for _, i := range l.unfinished {
		must(i > last && i < l.n, "an unfinished span is none of the lane's")
		last = i
	}
	must(l.long.Len() <= l.n && l.args.groups.Len() <= l.n>>groupBits && l.args.refs.Len() <= l.n, "a lane has more than spans")
}

// Verify checks the columns too: all that a recording says is what one can say. It
// takes a second for some GB.
func (r *Recording) Verify(ctx context.Context) error {
	var work []func()
	for _, t := range r.Tracks {
		for i := range t.Lanes {
			work = append(work, func() { t.Lanes[i].verify(r) })
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
		work = append(work, func() { must(sorted(&c.times), "a counter's points are in no order") })
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
	defer recoverPack(&err)
	check()
	return nil
}

func sorted(v *Vec[int64]) bool {
	last := int64(math.MinInt64)
	for i := 0; i < v.Len(); {
		run := v.Chunk(i)
		for _, t := range run {
			if t < last {
				return false
			}
			last = t
		}
		i += len(run)
	}
	return true
}

// below reports whether all ids are below n.
func below[T ~uint32](v *Vec[T], n int) bool {
	for i := 0; i < v.Len(); {
		run := v.Chunk(i)
		for _, id := range run {
			if int(id) >= n {
				return false
			}
		}
		i += len(run)
	}
	return true
}

func (s *Samples) verify(r *Recording) {
	must(sorted(&s.times) && below(&s.calls, r.Calls.Len()), "samples are in no order, or of no calls")
	for i := range s.Len() {
		must(r.Calls.Depth(s.Call(i)) <= s.depth, "a sample is deeper than its thread's")
	}
}

func (s *Stacks) verify(r *Recording) {
	must(below(&s.calls, r.Calls.Len()) && below(&s.contexts, r.Contexts.Len()), "a record is of no call, or of no context")
	for i := range s.Len() {
		t := s.Track(i)
		must(t == NoTrack || t >= 0 && t < len(r.Tracks), "a record is of no thread")
	}
}

func (t *Track) verifyStates(r *Recording) {
	t.States.verify(r)
	t.wakers.verify(t.States.n, true)
	for i := range t.wakers.refs.Len() {
		w := t.wakers.refs.At(i)
		must(w > 0 && w <= uint64(len(r.Tracks)), "a thread was woken by none")
	}
}

func (l *Lane) verify(r *Recording) {
	calls := r.Calls.Len()
	end, long := int64(math.MinInt64), 0
	for k := range l.chunks {
		c, n := &l.chunks[k], min(chunkLen, l.n-k<<chunkBits)
		for i, start := range c.starts[:n] {
			must(start >= end && int(c.calls[i]) < calls, "span %d is out of order, or of no call", k<<chunkBits+i)
			if d := c.durs[i]; d != isLong {
				end = start + int64(d)
			} else {
				must(long < l.long.Len() && l.long.At(long).index == k<<chunkBits+i, "a long span has no end")
				end = l.long.At(long).end
				long++
			}
			must(end >= start, "a span ends before it begins")
		}
	}
	must(long == l.long.Len(), "there are ends of no spans")
	must(l.n == 0 || l.Start(0) >= r.Start && end <= r.End, "spans lie outside of the recording")
	for k := range l.levels {
		lv := &l.levels[k]
		size := 1 << (leafBits + k*fanBits)
		for i := range lv.Len() {
			nd := lv.At(i)
			must(nd.Start == l.Start(i*size) && nd.End == l.End((i+1)*size-1) && int(nd.Call) < calls && nd.Busy >= 0, "detail levels are those of another lane")
		}
	}
	l.args.verify(l.n, r.Args != nil)
}

func (a *sparse) verify(spans int, told bool) {
	before := 0
	for i := range a.groups.Len() {
		g := a.groups.At(i)
		must(g.before == before, "arguments are in no order")
		before += bits.OnesCount64(g.bits)
	}
	for i := 0; i < a.refs.Len() && !told; i++ {
		must(a.refs.At(i) == 0, "there are arguments without texts")
	}
	must(before+bits.OnesCount64(a.open) == a.refs.Len(), "arguments are of no spans")
	if rest := spans - a.groups.Len()<<groupBits; rest < 1<<groupBits {
		must(a.open>>rest == 0, "arguments are of no spans")
	}
}
