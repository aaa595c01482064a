package ingest

import (
	"time"

	"ashlar/ingest/model/recording"
)

// Stats says what loading took.
type Stats struct {
	Elapsed time.Duration
	// Bytes of the file were read from disk; Events were found in it (spans,
	// samples, stack records, rows of windows and instants).
	Bytes, Events int64
	// PeakRSS is the most memory, in bytes, that the whole program has held
	// since it began, mapped files included; 0 if the system does not tell.
	PeakRSS int64
	// Full says that reading stopped because there was no more memory.
	Full bool
}

// BytesPerSecond is how fast the file was read.
func (s Stats) BytesPerSecond() float64 { return rate(s.Bytes, s.Elapsed) }

// EventsPerSecond is how fast events were found.
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
	return s
}

// events counts what a recording holds.
func events(r *recording.Recording) int64 {
	n := r.Counts.Spans + r.Counts.Samples + r.Counts.Stacks + r.Counts.Instants
	for _, w := range r.Windows {
		n += int64(w.Rows.Len())
	}
	return n
}
