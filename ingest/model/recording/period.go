package recording

import "slices"

const (
	// farPeriods is how many periods the next sample of a thread may be away for a
	// sample to be drawn up to it: beyond that the thread did not run meanwhile, or
	// nobody knows.
	farPeriods = 4
	// noPeriod is the period where no two samples tell one.
	noPeriod = 1e9
	// mostDistances bounds the distances that a period is derived from.
	mostDistances = 2000
)

// period returns the sampling period of an event, from the file or else from its samples.
func (b *Builder) period(tracks []*Track, event int) int64 {
	if f := b.rec.Events[event].Frequency; f > 1e-6 && f < 1e12 {
		return int64(1e12 / f)
	}
	return period(tracks, event)
}

// period is how far apart samples of an event usually are on a thread: the
// median of the distances between neighbours, or of some that are spread evenly
// over all of them. It is that of the whole recording, since a thread that
// hardly runs has no two samples that are a period apart.
func period(tracks []*Track, event int) int64 {
	total := 0
	for _, t := range tracks {
		if s := t.SamplesOf(event); s != nil {
			total += max(0, s.Len()-1)
		}
	}
	step := max(1, total/mostDistances)
	var ds []int64
	at := 0 // within the distances of a track
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

// space tells samples the period of their event. Tracks that other snapshots have
// too are not written to but replaced.
func (b *Builder) space(tracks []*Track) {
	periods := make([]int64, len(b.rec.Events))
	for i := range b.alive.From(0) { // the others have no samples
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

// replace keeps one snapshot of the track in the place of another.
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
