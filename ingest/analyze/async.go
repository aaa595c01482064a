package analyze

import "ashlar/ingest/recording"

// Async says whether async operations are added up with what threads did: they
// overlap freely, so that their time is nobody's.
type Async string

// What is added up.
const (
	AsyncIn   Async = "in"
	AsyncOut  Async = "out"
	AsyncOnly Async = "only"
)

// Tracks limits a scope to threads, or to rows of async operations.
func (a Async) Tracks(rec *recording.Recording, in recording.Scope) recording.Scope {
	if a == AsyncIn || a == "" {
		return in
	}
	tracks, chosen := []int{}, in.TrackTest()
	for i, t := range rec.Tracks {
		if chosen(i) && (t.Kind == recording.AsyncTrack) == (a == AsyncOnly) {
			tracks = append(tracks, i)
		}
	}
	return in.On(tracks)
}

// AsyncSpans counts the async operations on a scope's tracks.
func AsyncSpans(rec *recording.Recording, in recording.Scope) (n int64) {
	chosen := in.TrackTest()
	for i, t := range rec.Tracks {
		if chosen(i) && t.Kind == recording.AsyncTrack {
			n += int64(t.Spans())
		}
	}
	return n
}
