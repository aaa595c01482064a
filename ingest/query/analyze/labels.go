package analyze

import (
	"strconv"

	"ashlar/ingest/model/recording"
)

// labels finds the value of a key for records: from their own context, else from their
// processor, else from their track. It calls ask once per value; ask returns the value's
// number, from 1.
type labels struct {
	rec *recording.Recording
	key string
	ask func(value string) int
	// Known numbers; 0 if not known yet.
	byTrack, byContext []int
	byCPU              map[int]int
}

func newLabels(rec *recording.Recording, key string, ask func(value string) int) *labels {
	return &labels{rec: rec, key: key, ask: ask, byTrack: make([]int, len(rec.Tracks)+1), byContext: make([]int, rec.Contexts.Len()), byCPU: map[int]int{}}
}

// of returns the number of a record's value.
func (l *labels) of(r *Record) int {
	known := &l.byContext[r.Context]
	if r.Context != 0 && *known != 0 {
		return *known
	}
	v := contextValue(l.rec.Contexts.At(int(r.Context)), l.key)
	switch {
	case v != "":
		*known = l.ask(v)
		return *known
	case l.key == "cpu" && r.CPU >= 0:
		i, ok := l.byCPU[r.CPU]
		if !ok {
			i = l.ask(strconv.Itoa(r.CPU))
			l.byCPU[r.CPU] = i
		}
		return i
	}
	track := r.Track
	if track < 0 || track >= len(l.rec.Tracks) {
		track = len(l.rec.Tracks)
	}
	if known = &l.byTrack[track]; *known == 0 {
		*known = l.ask(l.ofTrack(track))
	}
	return *known
}

func (l *labels) ofTrack(i int) string {
	if i == len(l.rec.Tracks) {
		return ""
	}
	t := l.rec.Tracks[i]
	switch l.key {
	case "tid":
		return number(t.TID)
	case "pid":
		return number(t.PID)
	case "comm":
		return t.Name
	case recording.LabelRecording:
		return l.rec.Processes[t.Process].Recording
	}
	return ""
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
