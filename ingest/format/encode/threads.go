package encode

import (
	"ashlar/ingest/model/recording"
)

// ThreadID is the number of a track in a target that knows threads by number.
type ThreadID struct {
	PID, TID int64
	Name     string
	// Made: the tid is not the recording's.
	Made bool
}

// ThreadIDs gives each track of a recording a thread of its own. Rows of
// asynchronous operations, threads of which only the name is known, and threads
// whose number stands for another one before get tids from next on, in steps of
// step, that none has. wholeFile reports whether a tid is alone, as in SPAA,
// or beside a pid.
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

// LoseThreads notes the threads whose ids are not the recording's.
func (j *Job) LoseThreads(ids []ThreadID, used func(track int) bool) {
	var n int64
	for i := range ids {
		if ids[i].Made && used(i) {
			n++
		}
	}
	j.Lose(n, "thread ids", "threads without an id, or with one in use, got new ids and keep their names")
}
