package spall

import (
	"testing"
	"time"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
)

// TestManyThreads checks that the time to find threads with the ids of an earlier one does
// not grow with the square of their number.
func TestManyThreads(t *testing.T) {
	const threads = 100_000
	rec := &recording.Recording{}
	for i := range threads {
		rec.Tracks = append(rec.Tracks, &recording.Track{Kind: recording.ThreadTrack, PID: 1, TID: int64(i)})
	}
	rec.Tracks = append(rec.Tracks,
		&recording.Track{Kind: recording.AsyncTrack, PID: 2, TID: 5},
		&recording.Track{Kind: recording.ThreadTrack, PID: 2, TID: 5},
		&recording.Track{Kind: recording.ThreadTrack, PID: 1, TID: 7})
	s := &spallWriter{Job: &encode.Job{Rec: rec}, pids: map[int64]uint32{}, tids: map[spallThread]bool{}}
	began := time.Now()
	s.takeThreads()
	for i := range rec.Tracks {
		if got, want := s.shared(i), i == threads+2; got != want {
			t.Fatalf("track %d: %t, want %t", i, got, want)
		}
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("took %v", took)
	}
}
