package ingest

import (
	"context"

	"ashlar/ingest/recording"
)

// Loaded is a Load that has ended, of a recording that was made otherwise.
func Loaded(rec *recording.Recording) *Load {
	l := newLoad(context.Background(), rec.Source.Path, Options{}, func() {})
	l.snap.Store(rec)
	close(l.done)
	close(l.kept)
	return l
}
