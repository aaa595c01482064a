package encode

import (
	"ashlar/ingest/model/recording"
)

// A ThreadID identifies a track in a target that identifies threads by number.
type ThreadID struct {
	PID, TID int64
	Name     string
	// Made means that the recording has another tid, or none.
	Made bool
}

// ThreadIDs gives each track of a recording its own thread id. Tracks of asynchronous
// operations, threads known only by name, and threads whose id an earlier track uses get
// unused tids from next on, in steps of step. wholeFile reports whether a tid is unique
// in the file, as in SPAA, or only in its process.
func ThreadIDs(rec *recording.Recording, wholeFile bool, next, step int64) []ThreadID {
	type key struct{ pid, tid int64 }
	taken := map[key]bool{}
	of := func(t *recording.Track, tid int64) key {
		if wholeFile {
			return key{0, tid}
		}
		return key{t.PID, tid}
	}
	ids := make([]ThreadID, len(rec.Tracks))
	for i, t := range rec.Tracks {
		ids[i] = ThreadID{PID: t.PID, TID: t.TID, Name: t.Name}
		if t.Kind == recording.ThreadTrack && !taken[of(t, t.TID)] {
			taken[of(t, t.TID)] = true
			continue
		}
		ids[i].Made = true
	}
	for i, t := range rec.Tracks {
		if !ids[i].Made {
			continue
		}
		for taken[of(t, next)] {
			next += step
		}
		ids[i].TID = next
		taken[of(t, next)] = true
		next += step
		if ids[i].Name == "" {
			ids[i].Name = t.Title()
		}
	}
	return ids
}

// LoseThreads reports the threads that got new ids.
func (j *Job) LoseThreads(ids []ThreadID, used func(track int) bool) {
	var n int64
	for i := range ids {
		if ids[i].Made && used(i) {
			n++
		}
	}
	j.Lose(n, "thread ids", "threads without an id, or with a duplicate id, got new ids and keep their names")
}
