package convert

import (
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
)

// threadID is what a track is called in a target that knows threads by number.
type threadID struct {
	pid, tid int64
	name     string
	// made tells that the tid is not the recording's.
	made bool
}

// threadIDs gives each track of a recording a thread of its own. Rows of
// asynchronous operations, threads of which only the name is known, and threads
// whose number stands for another one before get tids from next on, in steps of
// step, that none has. wholeFile tells whether a tid stands alone, as in SPAA,
// or beside a pid.
func threadIDs(rec *recording.Recording, wholeFile bool, next, step int64) []threadID {
	type key struct{ pid, tid int64 }
	taken := map[key]bool{}
	of := func(t *recording.Track, tid int64) key {
		if wholeFile {
			return key{0, tid}
		}
		return key{t.PID, tid}
	}
	ids := make([]threadID, len(rec.Tracks))
	for i, t := range rec.Tracks {
		ids[i] = threadID{pid: t.PID, tid: t.TID, name: t.Name}
		if t.Kind == recording.ThreadTrack && !taken[of(t, t.TID)] {
			taken[of(t, t.TID)] = true
			continue
		}
		ids[i].made = true
	}
	for i, t := range rec.Tracks {
		if !ids[i].made {
			continue
		}
		for taken[of(t, next)] {
			next += step
		}
		ids[i].tid = next
		taken[of(t, next)] = true
		next += step
		if ids[i].name == "" {
			ids[i].name = analyze.TrackName(t)
		}
	}
	return ids
}

// loseThreads notes the threads whose ids are not the recording's.
func (j *job) loseThreads(ids []threadID, used func(track int) bool) {
	var n int64
	for i := range ids {
		if ids[i].made && used(i) {
			n++
		}
	}
	j.lose(n, "thread ids", "the threads have none, or it stands for another thread; they got new ones and keep their names")
}
