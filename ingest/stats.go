package ingest

import (
	"time"

	"ashlar/ingest/model/recording"
)

// Stats describes the time and memory that loading took.
type Stats struct {
	Elapsed time.Duration
	// Bytes is the number of bytes read from the file. Events is the number of spans,
	// samples, stack records, rows of windows and instants in it.
	Bytes, Events int64
	// PeakRSS is the largest amount of memory, in bytes, that the program has used since
	// it started, mapped files included; 0 if unknown.
	PeakRSS int64
	// Full reports whether reading stopped because memory ran out.
	Full bool
}

// BytesPerSecond returns the speed of reading the file.
func (s Stats) BytesPerSecond() float64 { return rate(s.Bytes, s.Elapsed) }

// EventsPerSecond returns the number of events found per second.
func (s Stats) EventsPerSecond() float64 { return rate(s.Events, s.Elapsed) }

func rate(n int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

func (l *Load) measure() Stats {
	s := Stats{Elapsed: time.Since(l.began), Events: events(l.Snapshot()), PeakRSS: peakRSS(), Full: l.full}
	if in := l.in.Load(); in != nil {
		s.Bytes = in.Consumed()
	}
	if l.parts != nil {
		s.Bytes, _, _ = l.parts.progress()
	}
	return s
}

// events returns the number of events in a recording.
func events(r *recording.Recording) int64 {
	n := r.Counts.Spans + r.Counts.Samples + r.Counts.Stacks + r.Counts.Instants
	for _, w := range r.Windows {
		n += int64(w.Rows.Len())
	}
	return n
}
