package recording

import (
	"math"
	"time"
)

// How often a growing recording is shown: the first picture soon, then a few
// times a second, and never so often that making snapshots costs more than a
// small part of the decoding.
const (
	firstPublish = 15 * time.Millisecond
	emptyPublish = 300 * time.Millisecond // where there is nothing to look at yet
	publishEvery = 100 * time.Millisecond
	publishShare = 12                    // at most a twelfth of the time
	layoutShare  = 20 * time.Millisecond // for laying loose spans out, in one snapshot
)

// Progress is called by decoders at least every few milliseconds of work; it
// publishes a snapshot when one is due, and reports whether it did. One that
// waits for a pipe should call it again a little later when it did not.
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
	b.OnPublish(r) // which may wait
	b.next = time.Now().Add(max(publishEvery, publishShare*cost))
	return true
}

// nothing reports whether there is nothing to look at yet: dictionaries come
// first in some formats.
func (b *Builder) nothing() bool {
	c := &b.rec.Counts
	return c.Spans+c.Samples+c.Stacks+c.Instants == 0
}

// Snapshot returns what has been recorded so far.
func (b *Builder) Snapshot() *Recording { return b.snapshot(time.Time{}) }

// snapshot is Snapshot. Tracks whose loose spans have not been laid out again by
// a time, if there is one, are as they were last, and have their turn first in the
// next snapshot.
func (b *Builder) snapshot(until time.Time) *Recording {
	b.rec.Version++
	r := b.rec
	if b.timed {
		r.Start, r.End, r.HasTime = b.start, b.end, true
	}
	r.Tracks = make([]*Track, len(b.order))
	turn := b.turn
	for k := range b.order {
		i := (turn + k) % len(b.order)
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
	b.space(r.Tracks)
	r.Calls = b.rec.Calls // layouts may have added calls
	// The sums have room to grow, which is no call's.
	n := min(len(b.sums), r.Calls.Len())
	r.SpanTime, r.SpanCount = make([]int64, n), make([]int64, n)
	for c, s := range b.sums[:n] {
		r.SpanTime[c], r.SpanCount[c] = s.time, s.count
	}
	for _, t := range b.order {
		if t.loose == nil {
			continue
		}
		for c := range t.loose.time {
			if n := t.loose.count[c]; n != 0 {
				r.SpanTime, r.SpanCount = grown(r.SpanTime, c), grown(r.SpanCount, c)
				r.SpanTime[c] += t.loose.time[c]
				r.SpanCount[c] += n
			}
		}
	}
	n = min(len(r.SpanTime), r.Calls.Len())
	r.SpanTime, r.SpanCount = r.SpanTime[:n], r.SpanCount[:n]
	r.Events = make([]Event, len(b.rec.Events))
	for i, e := range b.rec.Events {
		e.Metrics = append([]Metric(nil), e.Metrics...)
		switch e.Basis {
		case FromSpans:
			e.Metrics[SpanTime].Total = outermost(&r)
			e.Metrics[SpanCount].Total = r.Counts.Spans
		case FromSamples:
			for m := range e.Metrics {
				e.Metrics[m].Total = b.sampled(i, m)
			}
		}
		r.Events[i] = e
	}
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

// sampled is the sum of a metric over all samples of an event.
func (b *Builder) sampled(event, metric int) (sum int64) {
	per := b.rec.Events[event].Metrics[metric].PerSample
	for _, t := range b.order {
		for _, s := range t.samples {
			switch {
			case s.Event != event:
			case per == SampleOne:
				sum += int64(s.Len())
			case per == SampleColumn && metric < len(s.sums):
				sum = saturated(sum, s.sums[metric])
			}
		}
	}
	return sum
}

// saturated is a+b, or what is nearest to it.
func saturated(a, b int64) int64 {
	switch s := a + b; {
	case a > 0 && b > 0 && s < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && s >= 0:
		return math.MinInt64 + 1
	default:
		return s
	}
}

// outermost is the time covered by the outermost calls: the sum of self times
// over everything.
func outermost(r *Recording) int64 {
	var sum int64
	for c, t := range r.SpanTime {
		if t != 0 && r.Calls.Depth(CallID(c)) == 1 {
			sum += t
		}
	}
	return sum
}

// Extent bounds the times so far; ok is false when there are none.
func (b *Builder) Extent() (start, end int64, ok bool) {
	end = b.end
	for _, t := range b.order {
		if t.any {
			end = max(end, t.last)
		}
	}
	return b.start, end, b.timed
}

// layOut lays the loose spans out for good, track by track. That takes longer
// than a picture should stand still, so what is ready is published meanwhile, the
// other tracks as they were last.
func (b *Builder) layOut() {
	if b.OnPublish == nil {
		return
	}
	for _, t := range b.order {
		t.waits = t.loose != nil
	}
	b.next = time.Now()
	for _, t := range b.order {
		if !t.waits {
			continue
		}
		t.waits = false
		t.snapshot()
		if now := time.Now(); now.After(b.next) {
			r := b.Snapshot()
			r.Done = false
			b.OnPublish(r)
			b.next = now.Add(publishEvery)
		}
	}
}

// Finish closes open spans at the end of the recording and returns the final
// snapshot. The builder must not be used afterwards.
func (b *Builder) Finish() *Recording {
	_, end, _ := b.Extent()
	for _, t := range b.order {
		t.finish(end)
	}
	if b.part != nil {
		for _, t := range b.order {
			if ok, _ := b.part.takes(&t.track); !ok {
				t.discard() // it never had a name
			}
		}
		b.tellPart()
		b.rec.Part = b.part.Part
	}
	b.rec.Done = true
	b.layOut()
	r := b.Snapshot()
	if b.OnPublish != nil {
		b.OnPublish(r)
	}
	return r
}
