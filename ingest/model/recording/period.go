package recording

import "slices"

const (
	// farPeriods is the largest distance, in periods, over which a sample is drawn up to
	// the next one of its thread. If the next is farther away, the thread did not run in
	// between, or nothing is known.
	farPeriods = 4
	// noPeriod is the period if there are no two samples to derive it from.
	noPeriod = 1e9
	// mostDistances is the maximum number of distances from which a period is derived.
	mostDistances = 2000
)

// period returns the sampling period of an event, from the file or else from its samples.
func (b *Builder) period(tracks []*Track, event int) int64 {
	if f := b.rec.Events[event].Frequency; f > 1e-6 && f < 1e12 {
		return int64(1e12 / f)
	}
	return period(tracks, event)
}

// period returns the usual distance between samples of an event on a thread, the median
// distance between neighbours. If there are very many, it looks at evenly spread ones. It
// looks at all threads, because a thread that hardly runs has no two samples that are a
// period apart.
func period(tracks []*Track, event int) int64 {
	total := 0
	for _, t := range tracks {
		if s := t.SamplesOf(event); s != nil {
			total += max(0, s.Len()-1)
		}
	}
	step := max(1, total/mostDistances)
	var ds []int64
	at := 0 // index into the distances of a track
	for _, t := range tracks {
		s := t.SamplesOf(event)
		if s == nil {
			continue
		}
		for ; at+1 < s.Len(); at += step {
			if d := s.Time(at+1) - s.Time(at); d > 0 {
				ds = append(ds, d)
			}
		}
		at -= max(0, s.Len()-1)
	}
	if len(ds) == 0 {
		return noPeriod
	}
	slices.Sort(ds)
	return ds[len(ds)/2]
}

// space sets the period of each track's samples. Tracks shared with other snapshots are
// replaced, not written to.
func (b *Builder) space(tracks []*Track) {
	periods := make([]int64, len(b.rec.Events))
	for i := range b.alive.From(0) { // finished tracks have no samples
		t := tracks[i]
		var c *Track
		for k, s := range t.Samples {
			if s.Event >= len(periods) {
				continue
			}
			if periods[s.Event] == 0 {
				periods[s.Event] = b.period(tracks, s.Event)
			}
			if s.period == periods[s.Event] {
				continue
			}
			if c == nil {
				d := *t
				d.Samples = slices.Clone(t.Samples)
				c = &d
			}
			spaced := *s
			spaced.period = periods[s.Event]
			c.Samples[k] = &spaced
		}
		if c != nil {
			b.order[i].replace(t, c)
			tracks[i] = c
		}
	}
}

// replace replaces one snapshot of the track with another.
func (t *TrackBuilder) replace(was, is *Track) {
	if t.track == was {
		t.track = is
	}
	if t.cached == was {
		t.cached = is
	}
	if t.shown == was {
		t.shown = is
	}
}
