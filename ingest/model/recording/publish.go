package recording

import (
	"context"
	"math"
	"slices"
	"time"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/column"
	"ashlar/ingest/model/sets"
)

// How often snapshots of a growing recording are published: the first soon, then a few
// times a second, but never so often that making them takes more than a small part of the
// decoding time.
const (
	firstPublish = 15 * time.Millisecond
	emptyPublish = 300 * time.Millisecond // while there is nothing to look at
	publishEvery = 100 * time.Millisecond
	publishShare = 12                     // at most a twelfth of the time,
	publishLate  = 150 * time.Millisecond // but five times a second
	layoutShare  = 20 * time.Millisecond  // time for laying out loose spans, per snapshot
)

// Progress must be called by decoders at least every few milliseconds of work. It
// publishes a snapshot if one is due, and reports whether it did. A decoder that waits
// for input from a pipe should call it again a little later if not.
func (b *Builder) Progress() bool {
	if b.OnProgress != nil {
		b.OnProgress()
	}
	if b.OnPublish == nil {
		return false
	}
	now := time.Now()
	if b.next.IsZero() {
		b.next, b.empty = now.Add(firstPublish), now.Add(emptyPublish)
	}
	if now.Before(b.next) || now.Before(b.empty) && b.nothing() {
		return false
	}
	r := b.snapshot(now.Add(layoutShare))
	cost := time.Since(now)
	b.OnPublish(r) // may block
	b.next = time.Now().Add(min(publishLate, max(publishEvery, publishShare*cost)))
	return true
}

// nothing reports whether there is nothing to look at yet: some formats begin with
// dictionaries.
func (b *Builder) nothing() bool {
	c := &b.rec.Counts
	return c.Spans+c.States+c.Samples+c.Stacks+c.Instants == 0
}

// Snapshot returns what has been recorded so far.
func (b *Builder) Snapshot() *Recording { return b.snapshot(time.Time{}) }

// snapshot is Snapshot with a time limit, unless until is zero. Tracks whose loose spans
// were not laid out in time keep their last state, and come first in the next snapshot.
func (b *Builder) snapshot(until time.Time) *Recording {
	b.rec.Version++
	r := b.rec
	if b.timed {
		r.Start, r.End, r.HasTime = b.start, b.end, true
	}
	b.publishTracks(&r, until)
	r.Counts = b.rec.Counts // layouts may have been given up
	if _, said := b.warn[warnUnlaid]; b.unlaid > 0 && !said {
		b.Warn(warnUnlaid, "", "%s not shown because the layout failed (%v)", safetext.Plural(b.unlaid, "span"), context.Cause(b.until))
	}
	b.warnTorn()
	r.CPUTimes = new(CPUTimes)
	b.space(r.Tracks)
	r.Calls, r.Frames, r.Functions = b.rec.Calls, b.rec.Frames, b.rec.Functions // layouts may have added some
	b.publishSums(&r)
	r.Stacks = make([]*Stacks, len(b.rec.Stacks))
	for i, s := range b.rec.Stacks {
		if s != nil {
			r.Stacks[i] = s.snapshot()
		}
	}
	r.Windows = make([]*WindowSet, len(b.rec.Windows))
	for i, w := range b.rec.Windows {
		c := *w
		c.Windows = append([]Window(nil), w.Windows...)
		c.Rows = *w.Rows.snapshot()
		r.Windows[i] = &c
	}
	r.Events = make([]Event, len(b.rec.Events))
	for i := range b.rec.Events {
		r.Events[i] = b.event(&r, i)
	}
	r.Counters = make([]*Counter, len(b.rec.Counters))
	for i, c := range b.rec.Counters {
		c.sortByTime()
		d := *c
		r.Counters[i] = &d
	}
	r.Processes = append([]Process(nil), b.rec.Processes...)
	r.Warnings = append([]Warning(nil), b.rec.Warnings...)
	r.Flows = b.rec.Flows[:len(b.rec.Flows):len(b.rec.Flows)]
	r.Ledger = make([]Tally, len(b.tallys))
	for i, t := range b.tallys {
		r.Ledger[i] = *t
	}
	r.Counts.Frames = int64(r.Frames.Len())
	r.Counts.Functions = int64(r.Functions.Len())
	r.Counts.Counters = int64(len(r.Counters))
	r.Counts.Flows = int64(len(r.Flows))
	return &r
}

// publishTracks takes snapshots of as many tracks as time allows. For the other tracks it
// uses their last snapshots, and the next call begins with them.
func (b *Builder) publishTracks(r *Recording, until time.Time) {
	r.Tracks = slices.Clone(b.over)
	turn := b.turn
	for i := range b.alive.From(turn) {
		t := b.order[i]
		if !until.IsZero() && t.shown != nil && t.cached == nil && time.Now().After(until) {
			if r.Tracks[i] = t.shown; b.turn == turn {
				b.turn = i
			}
		} else {
			r.Tracks[i] = t.snapshot()
		}
		if t.any {
			r.End = max(r.End, t.last)
		}
	}
}

// publishSums sets the time and number of spans of each call.
func (b *Builder) publishSums(r *Recording) {
	if b.summed == nil {
		n := b.sums.Len()
		times, counts := column.Fresh[int64](n), column.Fresh[int64](n)
		for c := range n {
			s := b.sums.Ref(c)
			times[c], counts[c] = int64(s.low), s.count
			if s.high != 0 || s.low > math.MaxInt64 {
				times[c] = b.time(math.MaxInt64, math.MaxInt64)
			}
		}
		b.summed = &[2][]int64{times, counts}
	}
	r.SpanTime, r.SpanCount = b.summed[0], b.summed[1]
}

// event returns an event with its totals. The event has at least one metric, so that
// every view has something to show: if the file measures nothing, its records are
// counted.
func (b *Builder) event(r *Recording, i int) Event {
	e := b.rec.Events[i]
	e.Metrics = slices.Clone(e.Metrics)
	if len(e.Metrics) == 0 {
		e.Metrics = []Metric{{Name: "records", Unit: "count", PerSample: SampleOne}}
		if s := r.Stacks[i]; s != nil {
			s.ones = true
			e.Metrics[0].Total = int64(s.Len())
		}
		for _, w := range r.Windows {
			w.Rows.ones = w.Rows.ones || w.Event == i
		}
	}
	if e.Primary < 0 || e.Primary >= len(e.Metrics) {
		e.Primary = 0
	}
	switch e.Basis {
	case FromSpans:
		if b.rec.CPU != nil && len(e.Metrics) == plainSpanMetrics {
			e.Metrics = append(e.Metrics, cpuMetrics()...)
		}
		e.Metrics[SpanTime].Total = b.outermost(r)
		e.Metrics[SpanCount].Total = r.Counts.Spans
	case FromStates:
		for m := range e.Metrics {
			e.Metrics[m].Total = 0
			for s, ps := range b.inState {
				if State(s).Weighs(m) {
					e.Metrics[m].Total = b.total(e.Metrics[m].Total, ps, e.Metrics[m].Name)
				}
			}
		}
	case FromSamples:
		for m := range e.Metrics {
			e.Metrics[m].Total = b.sampled(&e, i, m)
		}
	}
	e.Primary = worth(e.Metrics, e.Primary)
	return e
}

// worth returns the metric to show first: primary or, if its total is zero (the lock
// times of a program without locks), the nearest metric with a nonzero total.
func worth(ms []Metric, primary int) int {
	for d := range len(ms) {
		for _, m := range []int{primary - d, primary + d} {
			if m >= 0 && m < len(ms) && ms[m].Total != 0 && ms[m].Total != Missing {
				return m
			}
		}
	}
	return primary
}

// sampled returns the sum of a metric over all samples of an event.
func (b *Builder) sampled(e *Event, event, metric int) (sum int64) {
	m := &e.Metrics[metric]
	for t := range b.live {
		for _, s := range t.samples {
			switch {
			case s.Event != event:
			case m.PerSample == SampleOne:
				sum += int64(s.Len())
			case m.PerSample == SampleColumn && metric < len(s.sums):
				sum = b.total(sum, s.sums[metric], m.Name)
			}
		}
	}
	return sum
}

// outermost returns the time covered by the outermost calls: the sum of all self times.
func (b *Builder) outermost(r *Recording) (sum int64) {
	for c, t := range r.SpanTime {
		if t != 0 && r.Calls.Depth(CallID(c)) == 1 {
			sum = b.time(sum, t)
		}
	}
	return sum
}

// Extent returns the first and last time so far; ok is false if there are none.
func (b *Builder) Extent() (start, end int64, ok bool) {
	end = b.end
	for t := range b.live {
		if t.any {
			end = max(end, t.last)
		}
	}
	return b.start, end, b.timed
}

// layOut lays out the loose spans for good, track by track. This can take long, and the
// display should not freeze, so the finished tracks are published meanwhile, with the
// other tracks in their last state.
func (b *Builder) layOut() {
	if b.OnPublish == nil {
		return
	}
	for t := range b.live {
		t.waits = t.loose != nil
	}
	b.next = time.Now()
	for t := range b.live {
		if !t.waits {
			continue
		}
		t.waits = false
		t.snapshot()
		if now := time.Now(); now.After(b.next) {
			r := b.Snapshot()
			r.Done = false
			cost := time.Since(now)
			b.OnPublish(r)
			b.next = time.Now().Add(max(publishEvery, publishShare*cost))
		}
	}
}

// warnUnlaid is the code of the warning that spans were not laid out.
const warnUnlaid = "not-laid-out"

// Finish closes open spans at the end of the recording and returns the final snapshot.
// The builder must not be used afterwards. If the context of Until has ended, spans that
// arrived out of order and are not laid out yet are left out, with a warning.
func (b *Builder) Finish() *Recording {
	if r := b.adopted; r != nil {
		r.Warnings = append(slices.Clip(r.Warnings), b.rec.Warnings...)
		if b.OnPublish != nil {
			b.OnPublish(r)
		}
		return r
	}
	b.halted.Store(false)
	_, end, _ := b.Extent()
	for t := range b.live {
		t.finish(end)
	}
	if b.part != nil {
		for t := range b.live {
			if ok, _ := b.part.takes(t.track); !ok {
				t.discard() // the track never got a name
			}
		}
		b.tellPart()
		b.rec.Part = b.part.Part
	}
	b.rec.Done = true
	b.layOut()
	b.splitStates()
	r := b.Snapshot()
	b.order, b.over, b.alive, b.tracks = nil, nil, sets.Bits{}, trackTable{} // the recording holds all that is needed of them
	if b.OnPublish != nil {
		b.OnPublish(r)
	}
	return r
}
