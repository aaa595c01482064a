package ingest

import (
	"context"

	"ashlar/ingest/model/recording"
)

// Loaded returns a finished Load of a recording that was read by other means, or could
// not be read.
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
