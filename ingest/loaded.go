package ingest

import (
	"context"

	"ashlar/ingest/model/recording"
)

// Loaded is a Load that has ended, of a recording that was read otherwise, or could not
// be.
func Loaded(rec *recording.Recording, stats Stats, err error) *Load {
	path := ""
	if rec != nil {
		path = rec.Source.Path
	}
	l := newLoad(context.Background(), path, Options{}, func() {})
	if l.stats, l.err, l.full = stats, err, stats.Full; rec != nil {
		l.snap.Store(rec)
	}
	l.first.Do(func() { close(l.begun) })
	close(l.done)
	close(l.kept)
	return l
}
